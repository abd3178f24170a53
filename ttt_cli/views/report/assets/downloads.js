const sdOf = (player, i) => (D.hasSd ? player.sd[i] : null);
const TABLES = {
  skills: () => [["player", "period", "mean", "sd", "games", ...(players.some((p) => p.margin) ? ["draw_margin"] : [])],
    players.flatMap((p) => p.at.map((t, i) => [p.name, D.labels[t], p.mean[i], sdOf(p, i), p.played[i], ...(p.margin ? [p.margin[i]] : [])]))],
  players: () => [["player", "first", "last", "games", "wins", "draws", "losses"],
    players.map((p) => [p.name, D.labels[p.at[0]], D.labels[p.at.at(-1)], p.games, p.wins, p.draws, p.losses])],
  ranking: () => [["period", "rank", "player", "mean", "sd", "games"],
    ranking(Number(byId("when").value), filter).map(({ player, i }, place) => {
      const t = Number(byId("when").value);
      return [D.labels[t], place + 1, player.name, player.mean[i], sdOf(player, i), gamesIn(player, i, t)];
    })],
  leaders: () => [["first", "last", "player", "peak_mean", "peak_sd", "peak_period"],
    reigns(filter).map(({ player, from, to, i }) => [D.labels[from], D.labels[to], player.name, player.mean[i], sdOf(player, i), D.labels[player.at[i]]])],
  peaks: () => [["rank", "player", "period", "mean", "sd", "games"],
    peaks(filter).map(({ player, i }, place) => [place + 1, player.name, D.labels[player.at[i]], player.mean[i], sdOf(player, i), player.games])],
  evidence: () => [[...D.surface.keys, "log_evidence"],
    D.surface.values.flatMap((row, j) => row.map((value, i) => [D.surface.x[i], D.surface.y[j], value]))],
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
