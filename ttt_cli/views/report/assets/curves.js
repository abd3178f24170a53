const NARROW = 620;
const LINE = 15;
const LETTER = 7.2; // pixels, about
const BANDS = 6; // with more curves, bands are shown under the pointer only
const chosen = [];
let shorten = false;

/** The name beside a curve: on a phone what stands before the comma. */
const labelOf = (player) => (shorten ? player.name.split(",")[0] : player.name);

/** A text of so many letters at most. */
const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(Math.floor(most) - 1, 1))}…` : text);

/** Neighbouring rows in pieces that share their ends: whether games were played at both ends of every step. */
function pieces(player) {
  const found = [];
  for (let i = 0; i + 1 < player.at.length; i++) {
    const active = player.played[i] > 0 && player.played[i + 1] > 0 && player.at[i + 1] === player.at[i] + 1;
    const last = found[found.length - 1];
    if (last && last.active === active) last.rows.push(i + 1);
    else found.push({ active, rows: [i, i + 1] });
  }
  return found;
}

function path(rows, player, scale, value) {
  return rows.map((i, n) => `${n ? "L" : "M"}${scale.x(yearOf(player.at[i])).toFixed(1)} ${scale.y(value(i)).toFixed(1)}`).join("");
}

function curve(player, slot, scale) {
  const colour = colourOf(slot);
  const parts = [];
  for (const { active, rows } of pieces(player)) {
    const idle = active ? "" : " idle";
    const up = path(rows, player, scale, (i) => player.mean[i] + player.sd[i]);
    const down = path([...rows].reverse(), player, scale, (i) => player.mean[i] - player.sd[i]);
    parts.push(shape("path", { class: `band${idle}`, d: `${up}L${down.slice(1)}Z`, fill: colour }));
    parts.push(shape("path", { class: `curve${idle}`, d: path(rows, player, scale, (i) => player.mean[i]), stroke: colour, "stroke-dasharray": dashes(slot) }));
    if (player.margin) {
      parts.push(shape("path", { class: `curve margin${idle}`, d: path(rows, player, scale, (i) => player.mean[i] + player.margin[i]), stroke: colour }));
    }
  }
  if (player.at.length === 1) { // a band needs two
    const [top, low] = [1, -1].map((sign) => scale.y(player.mean[0] + sign * player.sd[0]));
    parts.push(shape("rect", { class: "band", x: scale.x(yearOf(player.at[0])) - 3.5, y: top, width: 7, height: low - top, fill: colour }));
  }
  if (player.rated.length) {
    const d = player.rated.map(([t, value], n) => `${n ? "L" : "M"}${scale.x(yearOf(t)).toFixed(1)} ${scale.y(value).toFixed(1)}`).join("");
    parts.push(shape("path", { class: "curve rated", d, stroke: colour }));
  }
  player.at.forEach((t, i) => {
    if (player.played[i] > 0) parts.push(shape("circle", { cx: scale.x(yearOf(t)).toFixed(1), cy: scale.y(player.mean[i]).toFixed(1), r: 2.4, fill: colour }));
  });
  return shape("g", { class: "player-curve", "data-player": player.name }, ...parts);
}

/** Names beside the line ends, pushed down where one would cover another. */
function names(scale) {
  const labels = chosen.map(({ player, slot }) => {
    const end = player.at.length - 1;
    const x = scale.x(yearOf(player.at[end]));
    return { player, slot, x, y: scale.y(player.mean[end]), name: cut(labelOf(player), (scale.width - x - 7) / LETTER) };
  }).sort((a, b) => a.y - b.y);
  const placed = [];
  for (const label of labels) {
    label.at = label.y;
    const right = (l) => l.x + 7 + l.name.length * LETTER;
    const covers = (other) => Math.abs(other.at - label.at) < LINE && label.x < right(other) && other.x < right(label);
    for (let tries = 0; tries < labels.length; tries++) {
      const other = placed.find(covers);
      if (!other) break;
      label.at = other.at + LINE;
    }
    placed.push(label);
  }
  return placed.flatMap(({ name, slot, x, y, at }) => [
    ...(at - y > 4 ? [shape("line", { class: "tie", x1: x, y1: y, x2: x + 6, y2: at, stroke: colourOf(slot) })] : []),
    shape("text", { class: "name", x: x + 7, y: at + 4, style: `fill: ${colourOf(slot)}` }, name),
  ]);
}

function drawCurves() {
  const box = byId("chart");
  const width = Math.max(box.clientWidth, 280);
  const height = width < NARROW ? 320 : 420;
  if (!chosen.length) {
    box.replaceChildren(element("p", { class: "help" }, say("No player is shown: add one above.")));
    return;
  }
  shorten = width < NARROW;
  const longest = Math.max(...chosen.map(({ player }) => labelOf(player).length));
  const right = Math.min(longest * LETTER + 14, width / 3);
  const scale = scales(chosen.map(({ player }) => player), width, height, right);
  const svg = shape("svg", {
    viewBox: `0 0 ${width} ${height}`,
    height,
    class: chosen.length > BANDS ? "many" : "",
    tabindex: "0",
    role: "img",
    "aria-label": say("Skill curves of {}. Left and right arrow keys read the values.", chosen.map(({ player }) => player.name).join("; ")),
  }, ...axes(scale), ...chosen.map(({ player, slot }) => curve(player, slot, scale)));
  svg.append(...names(scale));
  box.replaceChildren(svg);
  startHover(box, svg, scale);
}

function drawChips() {
  byId("chosen").replaceChildren(...chosen.map(({ player, slot }) => element("li", {}, element("button", {
    type: "button",
    "aria-label": say("remove {}", player.name),
    onclick: () => drop(player),
  }, element("span", { class: "swatch", style: `background: ${colourOf(slot)}` }), player.name, " ×"))));
}

function listCurves() {
  const rows = chosen.flatMap(({ player }) => player.at.map((t, i) =>
    [player.name, D.labels[t], plain(player.mean[i]), D.hasSd ? plain(player.sd[i]) : "", plain(player.played[i]), ...(D.beside ? [ratingIn(player, player.at[i])] : [])]));
  show("curves-table", ["player", D.period, "#skill", "#sd", "#games", ...(D.beside ? ["#rating"] : [])], rows,
    0, say("No player is shown: add one above."));
}

/** The published rating of a player in a period, as text; empty where there is none. */
function ratingIn(player, t) {
  const found = player.rated.find(([at]) => at === t);
  return found ? points(found[1]) : "";
}

function redraw() {
  drawChips();
  drawCurves();
  if (byId("curves-table").closest("details").open) listCurves();
  document.dispatchEvent(new Event("redrawn"));
}

function choose(player, told = true) {
  if (!chosen.some((entry) => entry.player === player)) {
    const taken = new Set(chosen.map(({ slot }) => slot));
    let slot = 0;
    while (taken.has(slot)) slot++;
    chosen.push({ player, slot });
    redraw();
  }
  if (told) byId("curves-status").textContent = say("{} is shown, {} in all", player.name, chosen.length);
}

function drop(player) {
  const index = chosen.findIndex((entry) => entry.player === player);
  chosen.splice(index, 1);
  redraw();
  byId("curves-status").textContent = say("{} is removed", player.name);
  const left = byId("chosen").querySelectorAll("button");
  (left[Math.min(index, left.length - 1)] || byId("player")).focus();
}
