const points = (value) => Math.round(value).toString();
const spread = (sd) => (D.hasSd ? points(sd) : "");
const PALETTE = 7;
const colourOf = (slot) => `var(--c${slot % PALETTE})`;
