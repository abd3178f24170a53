const D = JSON.parse(document.getElementById("data").textContent);
const T = D.labels.length;

const LETTERS = { ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", æ: "ae", œ: "oe", ı: "i", ß: "ss" };
const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/[\p{M}'’‘`´]/gu, "")
  .replace(/[øłđðþæœıß]/g, (letter) => LETTERS[letter]).replace(/[^\p{L}\p{N}]+/gu, " ").trim();

const players = D.players.map(([name, games, wins, draws, losses, start, offsets, mean, sd, played, margin], id) => {
  const first = start - D.base;
  const at = mean.map((_, i) => first + (offsets ? offsets[i] : i));
  let last = first;
  const latest = at.map((t, i) => (played[i] > 0 ? (last = t) : last));
  return { id, name, folded: fold(name), games, wins, draws, losses, at, mean, sd, played, latest, margin: margin || null };
});

/** The row of a player's history that holds in period t, -1 outside the first to the last. */
function rowAt(player, t) {
  const { at } = player;
  if (t < at[0] || t > at[at.length - 1]) return -1;
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}

const yearOf = (t) => D.years[0] + t * D.years[1];

/** Whether row i of a player's history lets the player count in period t. */
function counts(player, i, t, filter) {
  return player.sd[i] <= filter.maxSd && (t - player.latest[i]) * D.years[1] <= filter.active + 1e-9;
}

/** Players by descending mean in period t, as far as the filter lets them count. */
function ranking(t, filter) {
  const rows = [];
  for (const player of players) {
    if (player.games < filter.minGames) continue;
    const i = rowAt(player, t);
    if (i >= 0 && counts(player, i, t, filter)) rows.push({ player, i });
  }
  return rows.sort((a, b) => b.player.mean[b.i] - a.player.mean[a.i] || a.player.id - b.player.id);
}

/** The first of every period's ranking, or null. One pass over all histories. */
function leadersByPeriod(filter) {
  const best = new Array(T).fill(null);
  for (const player of players) {
    if (player.games < filter.minGames) continue;
    const { at, mean } = player;
    for (let i = 0; i < at.length; i++) {
      const until = i + 1 === at.length ? at[i] : at[i + 1] - 1;
      for (let t = at[i]; t <= until && counts(player, i, t, filter); t++) {
        if (best[t] === null || mean[i] > best[t].player.mean[best[t].i]) best[t] = { player, i };
      }
    }
  }
  return best;
}

/** Neighbouring periods of one leader put together. */
function reigns(filter) {
  const found = [];
  leadersByPeriod(filter).forEach((leader, t) => {
    if (!leader) return;
    const last = found[found.length - 1];
    if (last && last.player === leader.player && last.to === t - 1) {
      last.to = t;
      if (leader.player.mean[leader.i] > leader.player.mean[last.i]) last.i = leader.i;
    } else found.push({ player: leader.player, from: t, to: t, i: leader.i });
  });
  return found;
}

/** The highest mean of every player among the periods played and settled, the highest first. */
function peaks(filter) {
  const rows = [];
  for (const player of players) {
    if (player.games < filter.minGames) continue;
    let best = -1;
    for (let i = 0; i < player.mean.length; i++) {
      if (player.played[i] > 0 && player.sd[i] <= filter.maxSd && (best < 0 || player.mean[i] > player.mean[best])) best = i;
    }
    if (best >= 0) rows.push({ player, i: best });
  }
  return rows.sort((a, b) => b.player.mean[b.i] - a.player.mean[a.i] || a.player.id - b.player.id);
}
