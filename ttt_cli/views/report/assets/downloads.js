const shown = (sd) => (D.hasSd ? sd : null);
const TABLES = {
  skills: () => [["player", "period", "mean", "sd", "games", ...(players.some((p) => p.margin) ? ["draw_margin"] : [])],
    players.flatMap((p) => p.at.map((t, i) => [p.name, D.labels[t], p.mean[i], shown(p.sd[i]), p.played[i], ...(p.margin ? [p.margin[i]] : [])]))],
  players: () => [["player", "first", "last", "games", "wins", "draws", "losses"],
    players.map((p) => [p.name, D.labels[p.at[0]], D.labels[p.at.at(-1)], p.games, p.wins, p.draws, p.losses])],
  ranking: () => [["period", "rank", "player", "mean", "sd", "games"],
    ranking(Number(byId("when").value), filter).map(({ player, i, t, mean, sd }, place) =>
      [D.labels[t], place + 1, player.name, mean, shown(sd), gamesIn(player, i, t)])],
  leaders: () => [["first", "last", "player", "peak_mean", "peak_sd", "peak_period"],
    reigns(filter).map(({ player, from, to, best }) => [D.labels[from], D.labels[to], player.name, best.mean, shown(best.sd), D.labels[best.t]])],
  peaks: () => [["rank", "player", "period", "mean", "sd", "games"],
    peaks(filter).map(({ player, i }, place) => [place + 1, player.name, D.labels[player.at[i]], player.mean[i], shown(player.sd[i]), player.games])],
  evidence: () => [[...D.surface.keys, "log_evidence"], D.surface.points],
};

function download(name) {
  const url = URL.createObjectURL(new Blob([csv(...TABLES[name]())], { type: "text/csv;charset=utf-8" }));
  element("a", { href: url, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function startDownloads() {
  const offered = Object.keys(TABLES).filter((name) => name !== "evidence" || D.surface);
  byId("buttons").append(...offered.map((name) =>
    element("button", { type: "button", "data-table": name, onclick: () => download(name) }, `${name}.csv`)));
}
