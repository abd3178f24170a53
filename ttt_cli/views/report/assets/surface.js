const LIMITS = [0.5, 2, 10, 30, 100, 300, 1000, 3000, 10000];
const STEPS = ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4989", "#482878", "#440154"];
const DARK_FROM = 4;

const ROW = 26;

/** The stored grid of evidence: a tile per point, as wide as its steps, the loss against the best in nats. */
function drawSurface() {
  const surface = D.surface;
  const box = byId("surface");
  if (!surface) {
    box.append(element("p", { class: "help" }, "No grid of evidence is stored in the run: `ttt evidence --grid beta,tau` makes one."));
    return;
  }
  const { keys, x: xs, y: ys, values, best } = surface;
  const width = Math.max(Math.min(box.clientWidth, 760), 280);
  const left = 46;
  const deep = Math.max(140, Math.min(380, ROW * ys.length));
  const height = deep + 44;
  const [across, upwards] = surface.sides.map((side, axis) => side.map((places) =>
    places.map((share) => (axis ? deep * (1 - share) : left + (width - left) * share))));
  const top = values[ys.indexOf(best[1])][xs.indexOf(best[0])];
  const known = values.flat().filter((value) => value !== null).length;
  const isFull = known === xs.length * ys.length;
  const parts = [];
  values.forEach((row, j) => row.forEach((value, i) => {
    if (value === null) return;
    const [start, middle, end] = across[i];
    const [low, centre, high] = upwards[j];
    const step = LIMITS.findIndex((limit) => top - value <= limit);
    const level = step < 0 ? LIMITS.length : step;
    const told = `${keys[0]} ${xs[i]}, ${keys[1]} ${ys[j]}: ${value.toFixed(2)} nats, ${(top - value).toFixed(2)} below the best`;
    const place = isFull ? { x: start, y: high, width: end - start + 0.5, height: low - high + 0.5 } : { x: middle - 5, y: centre - 5, width: 10, height: 10 };
    parts.push(shape("rect", { class: "tile", ...place, fill: STEPS[level] }, shape("title", {}, told)));
    if (top === value) parts.push(shape("circle", { cx: middle, cy: centre, r: 6, fill: "#000", stroke: "#fff", "stroke-width": 2, "pointer-events": "none" }));
    else if (isFull && end - start >= 44 && low - high >= 16) parts.push(shape("text", { x: (start + end) / 2, y: (low + high) / 2 + 4, "text-anchor": "middle", style: `fill: ${level >= DARK_FROM ? "#fff" : "#111"}; pointer-events: none` }, (top - value).toFixed(0)));
  }));
  let end = -Infinity;
  xs.forEach((value, i) => {
    const half = (plain(value).length * 7) / 2;
    if (across[i][1] - half < end || across[i][1] + half > width) return;
    end = across[i][1] + half + 6;
    parts.push(shape("text", { class: "tick", x: across[i][1], y: deep + 16, "text-anchor": "middle" }, plain(value)));
  });
  let above = Infinity;
  ys.forEach((value, j) => {
    if (upwards[j][1] + 14 > above) return;
    above = upwards[j][1];
    parts.push(shape("text", { class: "tick", x: left - 6, y: upwards[j][1] + 4, "text-anchor": "end" }, plain(value)));
  });
  parts.push(shape("text", { class: "unit", x: left + (width - left) / 2, y: height - 8, "text-anchor": "middle" }, `${keys[0]} across, ${keys[1]} upwards, points`));
  const words = `The best of ${known} points (dot): ${keys[0]} ${best[0]}, ${keys[1]} ${best[1]}, log-evidence ${top.toFixed(2)}. ${isFull ? "Tiles" : "Squares"}: nats below the best, the brighter the better.`;
  box.replaceChildren(element("p", { class: "help" }, words),
    shape("svg", { viewBox: `0 0 ${width} ${height}`, style: `max-width: ${width}px`, role: "img", "aria-label": words }, ...parts));
}
