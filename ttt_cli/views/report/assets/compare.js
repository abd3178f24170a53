const MOST = 12;
const when = new Map();  // the year at which each player chosen is taken

const fileOf = (number) => `histories-${Math.floor(number / D.together)}`;

/** A player with his history, as the curves want it. */
async function history_(one) {
  const [first, mean, sd, played, met, rated = [], born = null] = (await load(fileOf(one.id)))[one.id];
  const at = mean.map((_, i) => first - D.years[0] + i);
  return { ...one, at, mean, sd: sd.length ? sd : mean.map(() => 0), played, margin: null, rated, born, met: new Map(met.map(([other, ...record]) => [other, record])) };
}

/** A player with ages in place of years, null if the birth is not known; ages are in completed years in the middle of a year. */
function aged(player) {
  if (player.born === null) return null;
  const older = D.years[0] - player.born;
  return { ...player, at: player.at.map((t) => t + older), rated: player.rated.map(([t, value]) => [t + older, value]) };
}
const BY_AGE = { of: aged, first: 0, step: 1, label: (t) => `age ${t}`, title: "age" };

/** Draw curves over years or ages, as chosen. */
function chooseAxis() {
  axis = byId("by-age")?.checked ? BY_AGE : BY_PERIOD;
  keep("by", axis.title);
  redraw();
}

/** Say of whom no curve can be drawn. */
function noteUnknown() {
  const unknown = chosen.filter(({ player }) => !axis.of(player)).map(({ player }) => player.name);
  byId("unknown-births")?.replaceChildren(unknown.length ? `The births of these are not known: ${unknown.join("; ")}.` : "");
}

const peak = (player) => player.at[player.mean.reduce((best, value, i) => (player.played[i] > 0 && (best < 0 || value > player.mean[best]) ? i : best), -1)];
const skill = (player) => {
  const i = rowAt(player, when.get(player.id));
  return { mean: player.mean[i], sd: player.sd[i] };
};

/** Phi(x), with an error below 1e-7 (Abramowitz and Stegun 26.2.17). */
function normal(x) {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI)
    * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - tail : tail;
}

/** Win, draw and loss of a against b, between the nearest points of the table that the run's model made. */
function outcome(a, b) {
  const table = D.chances;
  const wide = Math.min(Math.hypot(a.sd, b.sd) / table.width, table.win.length - 1.001);
  const far = Math.min(Math.abs(a.mean - b.mean) / table.step, table.win[0].length - 1.001);
  const [i, j] = [Math.floor(wide), Math.floor(far)];
  const [u, v] = [wide - i, far - j];
  const at = (of) => (1 - u) * ((1 - v) * of[i][j] + v * of[i][j + 1]) + u * ((1 - v) * of[i + 1][j] + v * of[i + 1][j + 1]);
  const [win, loss] = a.mean >= b.mean ? [at(table.win), at(table.loss)] : [at(table.loss), at(table.win)];
  return { win, loss, draw: 1 - win - loss };
}

function record(a, b) {
  const found = a.met.get(b.id) ?? b.met.get(a.id)?.slice().reverse();
  return found ? `+${plain(found[0])} =${plain(found[1])} −${plain(found[2])}` : "no games";
}

function cellOf(a, b) {
  if (a === b) return "·";
  const [own, their] = [skill(a), skill(b)];
  const { win, draw } = outcome(own, their);
  const stronger = D.hasSd ? `stronger ${normal((own.mean - their.mean) / Math.hypot(own.sd, their.sd)).toFixed(2)}; ` : "";
  return element("span", {}, element("b", {}, (win + draw / 2).toFixed(2)), " ", element("small", {}, stronger + record(a, b)));
}

function yearChooser(player) {
  const years = player.at.map((t) => element("option", { value: t, ...(t === when.get(player.id) ? { selected: "" } : {}) }, D.labels[t]));
  return element("select", { "aria-label": `year of ${player.name}`, onchange: (event) => { when.set(player.id, Number(event.target.value)); drawVersus(); } }, ...years);
}

function drawVersus() {
  const players = chosen.map((one) => one.player);
  keep("p", players.map((player) => `${player.slug}:${D.labels[when.get(player.id)]}`).join(","));
  const head = ["player", "in", "skill", ...(D.beside ? ["rating"] : []), ...players.map((player) => player.name)];
  const rows = players.map((player) => {
    const { mean, sd } = skill(player);
    const link = element("a", { href: player.place }, player.name);
    return [link, yearChooser(player), D.hasSd ? `${points(mean)}\u00a0±\u00a0${points(sd)}` : points(mean),
      ...(D.beside ? [ratingIn(player, when.get(player.id))] : []), ...players.map((other) => cellOf(player, other))];
  });
  const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))));
  byId("versus-table").replaceChildren(...(players.length ? [element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", {}, text)))), element("tbody", {}, ...body))] : []));
  reachable(byId("versus-table"), headingOf(byId("versus-table")).textContent);
}

async function add(one, year = null) {
  if (chosen.length >= MOST) {
    byId("curves-status").textContent = `At most ${MOST} players at once`;
    return;
  }
  const player = chosen.find((entry) => entry.player.id === one.id)?.player ?? await history_(one);
  const t = year === null ? -1 : Number(year) - D.years[0];
  if (!when.has(player.id) || t >= 0) when.set(player.id, rowAt(player, t) < 0 ? peak(player) : t);
  choose(player);
}

/** The players in the address, in order. */
async function addressed() {
  const everyone = await people();
  const bySlug = new Map(everyone.map((one) => [one.slug, one]));
  for (const part of (state.get("p") ?? "").split(",").filter(Boolean)) {
    const [slug, year] = part.split(":");
    if (bySlug.has(slug)) await add(bySlug.get(slug), year ?? null);
  }
}

/** The page begins with an example. */
async function example() {
  const everyone = await people();
  for (const id of D.first) await add(everyone.find((one) => one.id === id));
}

startCombobox(byId("player"), byId("player-options"), (one) => add(one), pages);
const asked = state.get("p");
if (byId("by-age")) {
  byId("by-age").checked = state.get("by") === BY_AGE.title;
  byId("by-age").addEventListener("change", chooseAxis);
}
chooseAxis();
if (asked) addressed(); else example();
document.addEventListener("redrawn", drawVersus);
document.addEventListener("redrawn", noteUnknown);
byId("curves-table").closest("details").addEventListener("toggle", redraw);
addEventListener("resize", drawCurves);
