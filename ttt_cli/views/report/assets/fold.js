const LETTERS = { ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ħ: "h", ŧ: "t", ß: "ss" };
const bare = (text) => text.replace(/['’‘ʼ`´]/g, "");
const fold = (text) => bare(bare(text).toLowerCase().normalize("NFKD").toLowerCase().replace(/\p{M}/gu, ""))
  .replace(/[øłđðþæœıħŧß]/g, (letter) => LETTERS[letter]).replace(/[^\p{L}\p{N}]+/gu, " ").trim();
