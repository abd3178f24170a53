const points = (value) => Math.round(value).toString();
const spread = (sd) => (D.hasSd ? points(sd) : "");
const unitTitle = D.unitTitle;
const PALETTE = 7;
const colourOf = (slot) => `var(--c${slot % PALETTE})`;
const dashes = (slot) => ["none", "1 4", "9 3"][Math.floor(slot / PALETTE) % 3];
