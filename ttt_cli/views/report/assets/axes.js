const LEFT = 48;
const BOTTOM = 26;
const TOP = 18;

/** Round numbers between two, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + 1e-9; n++) found.push(n * step);
  return found;
}

/** Linear scales for years and points in a drawing of this size; `right` pixels stay free for names. */
function scales(shown, width, height, right) {
  let [first, last, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const player of shown) {
    const { at, mean, sd, margin } = player;
    for (const [, value] of player.rated) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    first = Math.min(first, yearOf(at[0]));
    last = Math.max(last, yearOf(at[at.length - 1]));
    mean.forEach((value, i) => {
      low = Math.min(low, value - sd[i]);
      high = Math.max(high, value + sd[i], margin ? value + margin[i] : -Infinity);
    });
  }
  if (last - first < 1) { first -= 0.5; last += 0.5; }
  const inner = width - LEFT - right;
  return {
    first, last, low, high, width, height, right,
    x: (year) => LEFT + (year - first) / (last - first) * inner,
    y: (value) => TOP + (high - value) / (high - low || 1) * (height - TOP - BOTTOM),
    period: (pixel) => Math.round((first + (pixel - LEFT) / inner * (last - first) - D.years[0]) / D.years[1]),
  };
}

function axes(scale) {
  const parts = [];
  const base = scale.height - BOTTOM;
  for (const value of ticks(scale.low, scale.high, scale.height / 60)) {
    const y = scale.y(value);
    parts.push(shape("line", { class: "grid", x1: LEFT, x2: scale.width, y1: y, y2: y }));
    parts.push(shape("text", { class: "tick", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, plain(value)));
  }
  for (const year of ticks(scale.first, scale.last, scale.width / 70).filter(Number.isInteger)) {
    const x = scale.x(year);
    parts.push(shape("line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 5 }));
    parts.push(shape("text", { class: "tick", x, y: base + 19, "text-anchor": "middle" }, String(year)));
  }
  parts.push(shape("line", { class: "axis", x1: LEFT, x2: scale.width - scale.right, y1: base, y2: base }));
  parts.push(shape("text", { class: "unit", x: 0, y: 11 }, unitTitle));
  return parts;
}
