const RANKED = 25;
const PEAKS = 50;
const filter = { minGames: 0, minOpponents: 0, maxSd: Infinity, active: Infinity };

const span = (from, to) => (from === to ? D.labels[from] : `${D.labels[from]}–${D.labels[to]}`);
const gamesIn = (player, i, t) => (player.at[i] === t ? player.played[i] : 0);

function drawRanking() {
  const t = Number(byId("when").value);
  byId("at").textContent = D.labels[t] ?? "";
  byId("when").setAttribute("aria-valuetext", D.labels[t] ?? "");
  const rows = ranking(t, filter);
  show("ranking-table", ["#", "player", "#skill", "#± sd", `#games in ${D.labels[t] ?? ""}`, "#games in all"],
    rows.slice(0, RANKED).map(({ player, i, mean, sd }, place) =>
      [place + 1, player, points(mean), spread(sd), plain(gamesIn(player, i, t)), plain(player.games)]),
    rows.length - RANKED);
}

function drawLeaders() {
  show("leaders-table", ["when", "player", `#${D.period}s`, "#highest skill", "#± sd", "in"],
    reigns(filter).map(({ player, from, to, best }) =>
      [span(from, to), player, to - from + 1, points(best.mean), spread(best.sd), D.labels[best.t]]));
}

function drawPeaks() {
  const rows = peaks(filter);
  show("peaks-table", ["#", "player", "#skill", "#± sd", "in", "#games", "#won", "#drawn", "#lost"],
    rows.slice(0, PEAKS).map(({ player, i }, place) => [place + 1, player, points(player.mean[i]), spread(player.sd[i]),
      D.labels[player.at[i]], plain(player.games), plain(player.wins), plain(player.draws), plain(player.losses)]),
    rows.length - PEAKS);
}

function readFilter() {
  const number = (id, otherwise) => (byId(id).value.trim() === "" ? otherwise : Number(byId(id).value));
  filter.minGames = number("min-games", 0);
  filter.minOpponents = number("min-opponents", 0);
  filter.maxSd = number("max-sd", Infinity);
  filter.active = number("active", Infinity);
  drawRanking();
  drawLeaders();
  drawPeaks();
}

function startRanking() {
  const when = byId("when");
  when.max = Math.max(T - 1, 0);
  byId("min-games").value = Math.max(D.minGames, D.limits.min_games);
  byId("min-opponents").value = D.limits.min_opponents;
  byId("max-sd").value = D.limits.max_sd ?? "";
  byId("active").value = D.limits.active ?? "";
  when.value = T - 1;
  when.addEventListener("input", drawRanking);
  const move = (step) => () => {
    when.value = Number(when.value) + step;
    drawRanking();
  };
  byId("earlier").addEventListener("click", move(-1));
  byId("later").addEventListener("click", move(1));
  for (const id of ["min-games", "min-opponents", "max-sd", "active"]) byId(id).addEventListener("input", readFilter);
  readFilter();
  const last = leadersByPeriod(filter).findLastIndex(Boolean);
  if (last >= 0) when.value = last;
  drawRanking();
}
