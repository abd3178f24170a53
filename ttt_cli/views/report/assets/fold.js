const LETTERS = { ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ß: "ss" };
const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/[\p{M}'’‘`´]/gu, "")
  .replace(/[øłđðþæœıß]/g, (letter) => LETTERS[letter]).replace(/[^\p{L}\p{N}]+/gu, " ").trim();
