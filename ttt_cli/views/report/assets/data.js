const ratings = new Map(Object.entries(D.beside?.ratings ?? {}));
const players = D.players.map(([name, games, wins, draws, losses, opponents, rates, start, offsets, mean, sd, played, margin], id) => {
  const first = start - D.base;
  const at = mean.map((_, i) => first + (offsets ? offsets[i] : i));
  let last = first;
  const latest = at.map((t, i) => (played[i] > 0 ? (last = t) : last));
  const years = [D.labels[first], D.labels[at.at(-1)]].join("–");
  return { id, name, years, folded: fold(name), games, wins, draws, losses, opponents, rates: [rates].flat(), at, mean, sd, played, latest, margin: margin || null, rated: ratings.get(name) ?? [] };
});

const [MOST, PRIOR_SD, PRIOR_MEAN, DECLINE, GROWTH_PERIODS, EARLY_PERIODS] = D.later;

/** A player's skill in period t, for which row i is the last: on the way to the next row, or after the last game. */
function skillAt(player, i, t) {
  const [mean, sd] = [player.mean[i], player.sd[i]];
  const ahead = t - player.at[i];
  if (ahead === 0) return { player, i, t, mean, sd };
  if (i + 1 < player.at.length) return { player, i, t, ...between(player, i, ahead / (player.at[i + 1] - player.at[i])) };
  return { player, i, t, ...(D.hasSd ? onward(mean, sd, ahead, ...player.rates) : { mean, sd }) };
}

/** After a share of the way to the next row: straight on, but a filter does not yet know of games there. */
function between({ mean, sd }, i, share) {
  if (!D.smoothed) return { mean: mean[i], sd: sd[i] };
  return { mean: mean[i] + share * (mean[i + 1] - mean[i]), sd: sd[i] + share * (sd[i + 1] - sd[i]) };
}

/** The first period in which a player has played enough games, Infinity if in none or if the opponents are too few. */
function eligibleSince(player, filter) {
  let games = 0;
  const i = player.opponents < filter.minOpponents ? -1 : player.played.findIndex((some) => (games += some) >= filter.minGames);
  return i < 0 ? Infinity : player.at[i];
}
const active = (player, i, t, filter) => t - player.latest[i] <= Math.round(filter.active / D.years[1]);

/** Players by descending mean in period t, as far as they are eligible. */
function ranking(t, filter) {
  const rows = [];
  for (const player of players) {
    if (t < eligibleSince(player, filter)) continue;
    const end = player.at.length - 1;
    const i = t > player.at[end] ? end : rowAt(player, t);
    if (i < 0 || !active(player, i, t, filter)) continue;
    const skill = skillAt(player, i, t);
    if (skill.sd <= filter.maxSd) rows.push(skill);
  }
  return rows.sort((a, b) => b.mean - a.mean || a.player.id - b.player.id);
}

/** The first of every period's ranking, or null where too few are eligible. One pass over all histories. */
function leadersByPeriod(filter) {
  const best = new Array(T).fill(null);
  const field = new Array(T).fill(0);
  for (const player of players) {
    const since = eligibleSince(player, filter);
    const { at } = player;
    for (let i = 0; i < at.length; i++) {
      const until = i + 1 === at.length ? T - 1 : at[i + 1] - 1;
      for (let t = Math.max(at[i], since); t <= until && active(player, i, t, filter); t++) {
        const skill = skillAt(player, i, t);
        if (skill.sd > filter.maxSd) continue;
        field[t]++;
        if (best[t] === null || skill.mean > best[t].mean) best[t] = skill;
      }
    }
  }
  return best.map((leader, t) => (field[t] >= D.limits.fewest ? leader : null));
}

/** Neighbouring periods of one leader put together; `best` is the skill in the one of the highest mean. */
function reigns(filter) {
  const found = [];
  leadersByPeriod(filter).forEach((leader, t) => {
    if (!leader) return;
    const last = found[found.length - 1];
    if (last && last.player === leader.player && last.to === t - 1) {
      last.to = t;
      if (leader.mean > last.best.mean) last.best = leader;
    } else found.push({ player: leader.player, from: t, to: t, best: leader });
  });
  return found;
}

/** The highest mean of every player among the periods with games and a leader, the highest first. */
function peaks(filter) {
  const rows = [];
  const leaders = leadersByPeriod(filter);
  for (const player of players) {
    const since = eligibleSince(player, filter);
    let best = -1;
    for (let i = 0; i < player.mean.length; i++) {
      if (player.played[i] > 0 && player.at[i] >= since && leaders[player.at[i]] && player.sd[i] <= filter.maxSd && (best < 0 || player.mean[i] > player.mean[best])) best = i;
    }
    if (best >= 0) rows.push({ player, i: best });
  }
  return rows.sort((a, b) => b.player.mean[b.i] - a.player.mean[a.i] || a.player.id - b.player.id);
}
