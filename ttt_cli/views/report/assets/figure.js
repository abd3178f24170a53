const FRAME = { left: 48, top: 18, bottom: 26 };
const RIVALS = 96; // the same with names of rivals
const BESIDE = 12; // pixels to the right of a figure without names
const THEME = {
  "#0072B2": "var(--c0)", "#D55E00": "var(--c1)", "#009E73": "var(--c2)", "#CC79A7": "var(--c3)", "#000000": "var(--c4)",
  "#E69F00": "var(--c5)", "#56B4E9": "var(--c6)", "#222222": "var(--ink)", "#777777": "var(--pale)",
};
const themed = (colour) => THEME[colour] ?? colour;

/** Round numbers between two, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + 1e-9; n++) found.push(n * step);
  return found;
}

/** The scale of a channel of a Vega-Lite specification between two pixels. */
function scaleOf(spec, channel, from, to, domain) {
  const given = spec.layer.map(({ encoding }) => encoding[channel]).find((one) => one?.scale?.domain || (domain && one));
  const label = (value) => (given.axis.labelExpr ? Math.abs(value).toFixed(1) : plain(value));
  const told = { from, to, label, field: given.field, axis: given.axis, title: given.axis.title ?? given.title };
  if (given.scale?.type === "band") {
    const values = channel === "y" ? given.scale.domain.toReversed() : given.scale.domain;
    const band = (to - from) / values.length;
    return { ...told, band, at: (value) => from + (values.indexOf(value) + 0.5) * band };
  }
  const [low, high] = domain ?? given.scale.domain;
  return { ...told, low, high, at: (value) => from + (value - low) / (high - low || 1) * (to - from) };
}

function axes(x, y, height) {
  const parts = [];
  for (const value of y.axis.values ?? ticks(y.low, y.high, height / 60)) {
    const at = y.at(value);
    if (y.axis.grid !== false) parts.push(shape("line", { class: "grid", x1: x.from, x2: x.to, y1: at, y2: at }));
    parts.push(shape("text", { class: "tick", x: x.from - 6, y: at + 4, "text-anchor": "end" }, y.label(value)));
  }
  let end = -Infinity;
  const marked = x.axis.values ?? ticks(x.low, x.high, (x.to - x.from) / 70).filter(Number.isInteger);
  for (const value of marked) {
    const [at, half] = [x.at(value), x.label(value).length * 3.5];
    if (at - half < end) continue;
    end = at + half + 6;
    parts.push(shape("line", { class: "axis", x1: at, x2: at, y1: y.from, y2: y.from + 5 }));
    parts.push(shape("text", { class: "tick", x: at, y: y.from + 19, "text-anchor": "middle" }, x.field === "year" ? String(value) : x.label(value)));
  }
  parts.push(shape("line", { class: "axis", x1: x.from, x2: x.to, y1: y.from, y2: y.from }));
  const unit = x.field === "year" ? `${y.title}${x.title && x.title !== "year" ? `, by ${x.title}` : ""}` : `${x.title} (across), ${y.title} (upwards)`;
  return [...parts, shape("text", { class: "unit", x: 0, y: 11 }, unit)];
}

/** The marks of one layer. */
function marks({ name, mark, encoding }, rows, x, y, colours) {
  const field = (channel) => encoding[channel]?.field;
  const xOf = (row, channel = "x") => x.at(row[field(channel)]);
  const yOf = (row, channel = "y") => y.at(row[field(channel)]);
  const point = (row, channel) => `${xOf(row).toFixed(1)} ${yOf(row, channel).toFixed(1)}`;
  const paint = (row) => {
    if (!encoding.color) return themed(mark.color ?? "#222222");
    const { domain, range } = encoding.color.scale;
    return colours?.get(row.player) ?? themed(range[domain.indexOf(row[field("color")])]);
  };
  const look = (row) => ({
    class: name, opacity: field("opacity") ? row[field("opacity")] : mark.opacity ?? 1, ...(row.player ? { "data-player": row.player } : {}),
  });
  const told = (row) => (encoding.tooltip && name !== "points"
    ? [shape("title", {}, encoding.tooltip.map((one) => `${one.title ?? one.field} ${row[one.field]}`).join(", "))] : []);
  if (mark.type === "line" || mark.type === "area") {
    const groups = new Map();
    for (const row of rows) {
      if (row[field("y")] === undefined) continue;
      const key = row[field("detail")];
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    return [...groups.values()].map((some) => {
      const up = some.map((row, n) => `${n ? "L" : "M"}${point(row)}`).join("");
      if (mark.type === "line") {
        return shape("path", { ...look(some[0]), d: up, fill: "none", stroke: paint(some[0]), "stroke-width": mark.strokeWidth, ...((mark.strokeDash?.[1]) ? { "stroke-dasharray": mark.strokeDash.join(" ") } : {}) });
      }
      const down = some.toReversed().map((row) => `L${point(row, "y2")}`).join("");
      return shape("path", { ...look(some[0]), d: `${up}${down}Z`, fill: paint(some[0]) });
    });
  }
  return rows.map((row) => {
    if (mark.type === "rule") {
      const [left, right] = field("x") ? [xOf(row), xOf(row)] : [x.from, x.to];
      return shape("line", { ...look(row), x1: left, x2: right, y1: yOf(row), y2: yOf(row, field("y2") ? "y2" : "y"), stroke: paint(row), "stroke-width": mark.strokeWidth ?? 1 });
    }
    if (mark.type === "rect") {
      const [left, right] = x.band ? [xOf(row) - x.band / 2, xOf(row) + x.band / 2] : [xOf(row), xOf(row, "x2")];
      const [low, high] = y.band ? [yOf(row) - y.band / 2, yOf(row) + y.band / 2] : [yOf(row), yOf(row, "y2")];
      return shape("rect", { ...look(row), x: left, y: Math.min(low, high), width: right - left, height: Math.abs(low - high), fill: paint(row) }, ...told(row));
    }
    if (mark.type === "text") {
      const turned = mark.angle ? { transform: `translate(${xOf(row) + 4} ${yOf(row)})rotate(-90)` } : { x: xOf(row), y: yOf(row) + 4 };
      const anchor = mark.align === "right" ? { "text-anchor": "end" } : {};
      return shape("text", { class: "name", ...turned, ...anchor, style: `fill: ${paint(row)}` }, row[field("text")]);
    }
    const size = Math.sqrt(mark.size / Math.PI);
    return shape("circle", { ...look(row), cx: xOf(row).toFixed(1), cy: yOf(row).toFixed(1), r: size.toFixed(1), fill: paint(row), ...(mark.stroke ? { stroke: mark.stroke } : {}) }, ...told(row));
  });
}

/**
 * Draw a Vega-Lite specification of layers into a box: the marks, scales and axes that our figures use.
 * `domains`, `colours` (of players) and `title` (of the x-axis) replace those of the specification. Returns the picture and its scales.
 */
function drawFigure(box, spec, { label, width = Math.max(box.clientWidth, 280), height, right = BESIDE, domains = {}, colours = null, title = null }) {
  const x = { ...scaleOf(spec, "x", FRAME.left, width - right, domains.x), ...(title ? { title } : {}) };
  const y = scaleOf(spec, "y", height - FRAME.bottom, FRAME.top, domains.y);
  const layers = spec.layer.filter(({ name, data }) => name !== "halo" && spec.datasets[data.name]?.length);
  const parts = layers.flatMap((one) => marks(one, spec.datasets[one.data.name], x, y, colours));
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...axes(x, y, height), ...parts);
  box.replaceChildren(svg);
  return { svg, x, y, width, height };
}

/** Neighbouring rows of a history in pieces that share their ends: whether games were played at both ends of every step. */
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

/** The datasets of the figure of curves, and the domains of its axes; `year`: of a period. */
function curveData(players, year) {
  const data = { bars: [], idle: [], active: [], other_active: [], points: [] };
  const [years, values] = [[], []];
  for (const player of players) {
    const row = (i, piece) => ({
      player: player.name, piece: `${player.name} ${piece}`, year: year(player.at[i]), value: player.mean[i], low: player.mean[i] - player.sd[i],
      high: player.mean[i] + player.sd[i], ...(player.margin ? { margin: player.mean[i] + player.margin[i] } : {}),
    });
    pieces(player).forEach(({ active, rows }, n) => data[active ? "active" : "idle"].push(...rows.map((i) => row(i, n))));
    if (player.at.length === 1) data.bars.push(row(0, 0));
    data.other_active.push(...player.rated.map(([t, value]) => ({ player: player.name, piece: player.name, year: year(t), value })));
    player.at.forEach((_, i) => { if (player.played[i] > 0) data.points.push(row(i, 0)); });
    for (const i of player.at.keys()) {
      const { low, high, margin } = row(i, 0);
      years.push(year(player.at[i]));
      values.push(low, high, ...(margin === undefined ? [] : [margin]));
    }
    values.push(...player.rated.map(([, value]) => value));
  }
  const extent = (some) => some.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  let [x, y] = [extent(years), extent(values)];
  if (x[1] - x[0] < 1) x = [x[0] - 0.5, x[1] + 0.5];
  if (y[0] === y[1]) y = [y[0] - 1, y[1] + 1];
  return { data, domains: { x, y } };
}

/** Draw the figures of a page; hidden ones when they come into view, since their size is known then. */
function startFigures() {
  const drawn = (box) => {
    const given = box.querySelector("script");
    if (given) box.figure = JSON.parse(given.textContent);
    const { figure, dataset } = box;
    if (figure) drawFigure(box, figure, { label: figure.label, height: Number(dataset.height), ...(dataset.width ? { width: Number(dataset.width) } : {}) });
    else if (dataset.of) drawCareer(box, JSON.parse(dataset.of));
  };
  const seen = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach(({ target }) => {
    seen.unobserve(target);
    drawn(target);
  }));
  const boxes = document.querySelectorAll(".chart[data-height]");
  boxes.forEach((box) => (box.clientWidth ? drawn(box) : seen.observe(box)));
  addEventListener("beforeprint", () => boxes.forEach(drawn));
}

const NAME = 15; // pixels between names at the right

/** Curves of rivals, and names at the right: the player's own and theirs, none over another. */
function drawRivals({ svg, x, y }, name, last, rivals) {
  const ends = [[name, last, "var(--c0)"], ...rivals.map(([rival, , means], i) => [rival, means.at(-1), `var(--c${i + 1})`])];
  rivals.forEach(([, first, means], i) => svg.append(shape("path", {
    class: "rival", fill: "none", stroke: ends[i + 1][2],
    d: means.map((value, t) => `${t ? "L" : "M"}${x.at(first + t).toFixed(1)} ${y.at(value).toFixed(1)}`).join(""),
  })));
  let lowest = -Infinity;
  for (const [text, value, colour] of ends.toSorted((a, b) => b[1] - a[1])) {
    lowest = Math.max(y.at(value) + 4, lowest + NAME);
    svg.append(shape("text", { class: "name", x: x.to + 6, y: lowest.toFixed(1), style: `fill:${colour}` }, text));
  }
}

/** The career of one player: the first year, means, sds, games, published ratings, and means of rivals. */
function drawCareer(box, [first, mean, sd, played, rated, rivals = []]) {
  const { name } = box.dataset;
  const at = mean.map((_, i) => first + i);
  const player = { name, at, mean, sd: sd.length ? sd : mean.map(() => 0), played, margin: null, rated };
  const { data, domains } = curveData([player], (year) => year);
  const all = [...domains.y, ...rivals.flatMap(([, , means]) => means)];
  domains.y = [Math.min(...all), Math.max(...all)];
  const top = mean.indexOf(Math.max(...mean));
  const [from, to, best] = [0, mean.length - 1, top].map((i) => `${Math.round(mean[i])} in ${at[i]}`);
  const label = `${name}: skill ${from} to ${to}, highest ${best}${rivals.length ? `; with ${rivals.map(([rival]) => rival).join(", ")}` : ""}`;
  const drawn = drawFigure(box, { ...CURVES, datasets: data }, {
    label, height: 300, domains, colours: new Map([[name, "var(--c0)"]]), ...(rivals.length ? { right: RIVALS } : {}),
  });
  if (rivals.length) drawRivals(drawn, name.split(",")[0], mean.at(-1), rivals);
}
