const LIMITS = [0.5, 2, 10, 30, 100, 300, 1000, 3000, 10000];
const STEPS = ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4989", "#482878", "#440154"];
const DARK_FROM = 4;

/** The stored grid of evidence: a cell per point, the loss against the best in nats, the best marked. */
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
  const cellWidth = (width - left) / xs.length;
  const cellHeight = Math.max(18, Math.min(34, 360 / ys.length));
  const height = ys.length * cellHeight + 44;
  const top = values[ys.indexOf(best[1])][xs.indexOf(best[0])];
  const parts = [];
  values.forEach((row, j) => row.forEach((value, i) => {
    const x = left + i * cellWidth;
    const y = (ys.length - 1 - j) * cellHeight;
    if (value === null) return;
    const step = LIMITS.findIndex((limit) => top - value <= limit);
    const level = step < 0 ? LIMITS.length : step;
    const told = `${keys[0]} ${xs[i]}, ${keys[1]} ${ys[j]}: ${value.toFixed(2)} nats, ${(top - value).toFixed(2)} below the best`;
    parts.push(shape("rect", { x, y, width: cellWidth + 0.5, height: cellHeight + 0.5, fill: STEPS[level] }, shape("title", {}, told)));
    if (cellWidth >= 44) parts.push(shape("text", { x: x + cellWidth / 2, y: y + cellHeight / 2 + 4, "text-anchor": "middle", style: `fill: ${level >= DARK_FROM ? "#fff" : "#111"}; pointer-events: none; font-weight: ${top === value ? 700 : 400}` }, top === value ? "best" : (top - value).toFixed(0)));
    else if (top === value) parts.push(shape("circle", { cx: x + cellWidth / 2, cy: y + cellHeight / 2, r: 6, fill: "#000", stroke: "#fff", "stroke-width": 2 }));
  }));
  const every = Math.ceil(38 / cellWidth);
  xs.forEach((value, i) => {
    if (i % every === 0) parts.push(shape("text", { class: "tick", x: left + (i + 0.5) * cellWidth, y: ys.length * cellHeight + 16, "text-anchor": "middle" }, plain(value)));
  });
  ys.forEach((value, j) => parts.push(shape("text", { class: "tick", x: left - 6, y: (ys.length - 0.5 - j) * cellHeight + 4, "text-anchor": "end" }, plain(value))));
  parts.push(shape("text", { class: "unit", x: left + (width - left) / 2, y: height - 8, "text-anchor": "middle" }, `${keys[0]} across, ${keys[1]} upwards, points`));
  const words = `The best of ${values.flat().filter((value) => value !== null).length} points: ${keys[0]} ${best[0]}, ${keys[1]} ${best[1]}, log-evidence ${top.toFixed(2)}. Cells: nats below the best, the brighter the better.`;
  box.replaceChildren(element("p", { class: "help" }, words),
    shape("svg", { viewBox: `0 0 ${width} ${height}`, style: `max-width: ${width}px`, role: "img", "aria-label": words }, ...parts));
}
