const NARROW = 620;
const LINE = 15;
const LETTER = 7.2; // pixels, about
const BANDS = 6; // with more curves there are no bands
const chosen = [];
let shorten = false;

/**
 * What curves are drawn over: periods, unless a page chooses another axis. `of`: a player with its positions there, or
 * null; position t is at `first + t * step`; `label` of a position; `title`: of the axis, where it is not years.
 */
const BY_PERIOD = { of: (player) => player, first: D.years[0], step: D.years[1], label: (t) => D.labels[t], title: null };
let axis = BY_PERIOD;
const positionOf = (t) => axis.first + t * axis.step;

/** Chosen players that have a curve over the axis. */
const withCurves = () => chosen.map(({ player, slot }) => ({ player: axis.of(player), slot })).filter(({ player }) => player);

/** The name beside a curve: on a phone what stands before the comma. */
const labelOf = (player) => (shorten ? player.name.split(",")[0] : player.name);

/** A text of so many letters at most. */
const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(Math.floor(most) - 1, 1))}…` : text);

/** Names beside the line ends, pushed down where one would cover another. */
function names({ x: across, y: up, width }) {
  const labels = withCurves().map(({ player, slot }) => {
    const end = player.at.length - 1;
    const x = across.at(positionOf(player.at[end]));
    return { player, slot, x, y: up.at(player.mean[end]), name: cut(labelOf(player), (width - x - 7) / LETTER) };
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
  const shown = withCurves();
  if (!shown.length) {
    const none = chosen.length ? "No birth is known." : "No player is shown: add one above.";
    box.replaceChildren(element("p", { class: "help" }, none));
    return;
  }
  shorten = width < NARROW;
  const longest = Math.max(...shown.map(({ player }) => labelOf(player).length));
  const right = Math.min(longest * LETTER + 14, width / 3);
  const { data, domains } = curveData(shown.map(({ player }) => player), positionOf);
  const drawn = drawFigure(box, { ...(D.curves ?? CURVES), datasets: data }, {
    label: `Skill curves of ${shown.map(({ player }) => player.name).join("; ")}${axis.title ? ` by ${axis.title}` : ""}. Left and right arrow keys read the values.`,
    width, height, right, domains, title: axis.title, colours: new Map(shown.map(({ player, slot }) => [player.name, colourOf(slot)])),
  });
  const { svg } = drawn;
  svg.setAttribute("tabindex", "0");
  if (shown.length > BANDS) svg.setAttribute("class", "many");
  svg.append(...names(drawn));
  startHover(box, drawn);
}

function drawChips() {
  byId("chosen").replaceChildren(...chosen.map(({ player, slot }) => element("li", {}, element("button", {
    type: "button",
    "aria-label": `remove ${player.name}`,
    onclick: () => drop(player),
  }, element("span", { class: "swatch", style: `background: ${colourOf(slot)}` }), player.name, " ×"))));
}

function listCurves() {
  const rows = chosen.flatMap(({ player }) => player.at.map((t, i) =>
    [player.name, D.labels[t], plain(player.mean[i]), D.hasSd ? plain(player.sd[i]) : "", plain(player.played[i]), ...(D.beside ? [ratingIn(player, player.at[i])] : [])]));
  show("curves-table", ["player", D.period, "#skill", "#sd", "#games", ...(D.beside ? ["#rating"] : [])], rows,
    0, "No player is shown: add one above.");
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
  if (told) byId("curves-status").textContent = `${player.name} is shown, ${chosen.length} in all`;
}

function drop(player) {
  const index = chosen.findIndex((entry) => entry.player === player);
  chosen.splice(index, 1);
  redraw();
  byId("curves-status").textContent = `${player.name} is removed`;
  const left = byId("chosen").querySelectorAll("button");
  (left[Math.min(index, left.length - 1)] || byId("player")).focus();
}
