"""Rankings of a period, peaks, number ones and dominance, and who is eligible for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import load_numpy_meanwhile, run_line

if TYPE_CHECKING:
    from ttt_cli.views.strongest import Lead

ACTIVE_YEARS: Final = 2.0
MIN_GAMES: Final = 20
MIN_OPPONENTS: Final = 3
SD_SHARE: Final = 0.45  # of a newcomer's sd: the games then explain four fifths of the variance
ENOUGH: Final = 10  # players who keep to the default limits; a run with fewer holds nobody to them
FEWEST: Final = 3  # eligible players of a period that has a number one, by default

_KEEP_TO: Final = (
    "SELECT count(*) FROM players WHERE games >= ? AND opponents >= ? AND coalesce(peak_sd, 0) <= ?"
)
# The period since which a player has played enough; NULL for never
_SINCE: Final = """
(SELECT since FROM (
    SELECT player AS whose, min(period_number) AS since
    FROM (SELECT *, sum(games) OVER (PARTITION BY player ORDER BY period_number) AS played FROM spans)
    WHERE played >= {min_games} GROUP BY player)
 WHERE whose = player)
"""
_REASON: Final = """
CASE WHEN {games} < {min_games} THEN 'with fewer games' WHEN opponents < {min_opponents} THEN 'with fewer opponents'
     WHEN {sd} > {max_sd} THEN 'with a larger sd' END AS reason
"""
_ACTIVE: Final = """
SELECT player, mean, sd, games, {reason} FROM (
    SELECT s.*, opponents, coalesce(played, 0) AS played
    FROM skills_within({number}, {number}, {idle}) s JOIN players USING (player)
    LEFT JOIN (SELECT player, sum(games) AS played FROM spans WHERE period_number <= {number} GROUP BY player)
    USING (player))
ORDER BY mean DESC, player
"""
_IN_ALL: Final = """
SELECT reason, count(*) FROM (
    SELECT {reason} FROM players
    JOIN (SELECT player, min(coalesce(sd, 0)) AS least FROM spans GROUP BY player) USING (player)
    WHERE "first" IS NOT NULL)
GROUP BY reason
"""
_REASONS: Final = "with fewer games", "with fewer opponents", "with a larger sd", "without a game so recently"


@dataclass(frozen=True)
class Eligible:
    """Limits on players, and on their skill in a period.

    `active`: years since the last game, 0 for a game in the period (None: any number). `min_games`: games up to the
    period. `min_opponents`: different opponents in the whole run. `max_sd`: the largest sd in the period, on the run's
    scale (None: any). `fewest`: eligible players that a period needs to have a number one or count for peaks.
    """

    active: float | None = None
    min_games: float = 0.0
    max_sd: float | None = None
    min_opponents: int = 0
    fewest: int = 1

    def words(self) -> str:
        """The limits as text: `active within 2 years, at least 10 games`; empty without limits."""
        words = []
        if self.active is not None:
            years = f"active within {self.active:g} year{'' if self.active == 1 else 's'}"
            words.append(years if self.active else "with games in the period")
        if self.min_games:
            words.append(f"at least {self.min_games:g} games")
        if self.min_opponents:
            words.append(f"at least {self.min_opponents} opponents")
        if self.max_sd is not None:
            words.append(f"uncertainty at most +-{self.max_sd:g}")
        return ", ".join(words)

    def since(self, period_number: str) -> str:
        """The SQL condition that a player has played enough games up to a period."""
        return f"{period_number} >= {_SINCE.format(min_games=self.min_games)}" if self.min_games else "true"

    def rules(self) -> str:
        """The SQL condition on a row of skills, activity aside."""
        enough = f"player IN (SELECT player FROM players WHERE opponents >= {self.min_opponents})"
        sure = "true" if self.max_sd is None else f"coalesce(sd, 0) <= {self.max_sd}"
        return f"{enough if self.min_opponents else 'true'} AND {self.since('period_number')} AND {sure}"

    def skills(self, run: Run, first: int | str = "NULL", last: int | str = "NULL") -> str:
        """A SQL query for the rows of skills that are eligible in periods of a range, by default in all."""
        return f"SELECT * FROM skills_within({first}, {last}, {self.idle(run)}) WHERE {self.rules()}"

    def left_out(self, run: Run) -> str:
        """How many players are eligible in no period, and why (`reasons`)."""
        reason = self.reason("games", "least", run.scale.slope)
        return reasons(dict(run.select(_IN_ALL.format(reason=reason))[1]))

    def reason(self, games: str, sd: str, slope: float = 1.0) -> str:
        """The SQL expression of the reason why somebody is left out; NULL for the eligible."""
        most = "'infinity'::DOUBLE" if self.max_sd is None else self.max_sd / slope
        fewest = {"min_games": self.min_games, "min_opponents": self.min_opponents}
        return _REASON.format(games=games, sd=sd, max_sd=most, **fewest)

    def idle(self, run: Run) -> int | str:
        """Number of periods after the last game in which a player still counts as active."""
        return "NULL" if self.active is None else steps(run, self.active)


def eligible(
    run: Run,
    *,
    active: float | None = None,
    min_games: float | None = None,
    max_sd: float | None = None,
    min_opponents: int | None = None,
    everyone: bool = False,
) -> Eligible:
    """The limits given, with defaults for the others unless `everyone`.

    The defaults except `ACTIVE_YEARS` apply only if at least `ENOUGH` players of the run meet them at their peaks.
    """
    asked = {"active": active, "min_games": min_games, "max_sd": max_sd, "min_opponents": min_opponents}
    given: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    given |= {key: None for key, value in given.items() if value == math.inf}
    if everyone:
        return Eligible(**given)
    usual: dict[str, Any] = {"active": ACTIVE_YEARS}
    newcomer = run.meta.params.get("prior_sd")
    virtual = run.meta.params.get("virtual_draws")
    if virtual:  # of WHR: by the information of its virtual games
        newcomer = 400.0 / math.log(10.0) / math.sqrt(virtual / 2.0)
    # Above it a skill depends more on the prior than on the games.
    largest = None if newcomer is None else round(SD_SHARE * newcomer * run.scale.slope, 1)
    most = math.inf if largest is None else largest / run.scale.slope
    if run.select(_KEEP_TO, [MIN_GAMES, MIN_OPPONENTS, most])[1][0][0] >= ENOUGH:
        usual |= {"min_games": MIN_GAMES, "max_sd": largest, "min_opponents": MIN_OPPONENTS, "fewest": FEWEST}
    return Eligible(**(usual | given))


def reasons(counts: Mapping[str, int]) -> str:
    """`12 left out: 10 with fewer games, 2 with a larger sd`, by the first reason; empty when nobody is left out."""
    given = [f"{counts[why]:,} {why}" for why in _REASONS if counts.get(why)]
    total = sum(counts.get(why, 0) for why in _REASONS)
    return f"{total:,} left out: {', '.join(given)}" if given else ""


def steps(run: Run, years: float) -> int:
    """Years as a whole number of the run's periods."""
    return round(years * STEPS_PER_YEAR[run.meta.period])


DECIMALS: Final = {
    **dict.fromkeys(("mean", "sd", "lower", "dominance", "sd_dominance"), 1),
    **dict.fromkeys(("p_best", "least_p_best"), 3),
}
SEED: Final = 1  # of samples
ALONE: Final = "p_best: none where nobody else is eligible"
WIDER: Final = "--everyone lifts all limits; --active, --min-games, --min-opponents and --max-sd set them"
_PEAKS: Final = """
SELECT player, peak.period, {columns}, players.games FROM (
    SELECT player, arg_max(struct_pack(period, mean, sd, lower), ({by}, -period_number)) AS peak
    FROM (SELECT *, mean - 2.0 * coalesce(sd, 0.0) AS lower FROM nodes) WHERE {condition} GROUP BY player)
JOIN players USING (player) ORDER BY peak.{by} DESC, player LIMIT ?
"""
_SPANS: Final = """
SELECT player, begin, period, mean, sd, games FROM (
    SELECT player, period, first(period) OVER years AS begin, first(period_number) OVER years AS period_number,
           avg(mean) OVER years AS mean, avg(sd) OVER years AS sd, sum(games) OVER years AS games,
           count(*) OVER years AS length
    FROM skills WINDOW years AS (PARTITION BY player ORDER BY skills.period_number ROWS {span} - 1 PRECEDING))
WHERE length = {span} AND {rules}
QUALIFY row_number() OVER (PARTITION BY player ORDER BY mean DESC, period) = 1 ORDER BY mean DESC, player LIMIT ?
"""


def ranking(
    run: Run, at: str | None, limits: Eligible, number: int | None, seed: int = SEED, by: str = "mean"
) -> Rows:
    """The `number` best in the period `at` (None: the last): `rank,player,period,mean,sd,games,p_best`.

    `games` are those in the period; `number` None: everyone. `by` lower ranks by the mean less two sds in a column
    `lower`; `by` dominance adds `dominance,sd_dominance`. Raises LookupFailed when nobody is eligible.
    """
    load_numpy_meanwhile(run)
    with run:
        label, period = run.find_period(at)
        reason = limits.reason("played", "coalesce(sd, 0)")
        active = run.select(_ACTIVE.format(reason=reason, number=period, idle=limits.idle(run)))[1]
        ((begun,),) = run.select('SELECT count(*) FROM players WHERE "first" <= ?', [label])[1]
        field = [row[:4] for row in active if row[4] is None]
        counts = Counter(row[4] for row in active)
        counts[_REASONS[-1]] = begun - len(active)
        others = reasons(counts)
        if not field:
            raise LookupFailed(f"nobody is eligible in {label}; {others}", hint=WIDER)
        players, means, sds, games = zip(*field, strict=True)
        lower = [mean - 2.0 * (sd or 0.0) for mean, sd in zip(means, sds, strict=True)]
        measure = lower if by == "lower" else means
        places = sorted(range(len(field)), key=lambda k: (-measure[k], players[k]))[:number]
        best: Sequence[float | None] = [None] * len(field)
        remarks: tuple[str, ...] = () if None in sds else (ALONE,)
        if None not in sds and len(field) > 1:
            import numpy as np

            from ttt_cli.views.strongest import contest, settled

            one = contest(period, players, np.array(means), np.array(sds), max(places) + 1)
            (found,), remark, _ = settled(run, [one], seed)
            best = found.p.tolist()
            remarks = (remark,)
        of_all = {"player": players, "period": [label] * len(field), "mean": means, "sd": sds, "games": games}
        of_all |= {"p_best": best, **({"lower": lower} if by == "lower" else {})}
        columns = {name: [values[k] for k in places] for name, values in of_all.items()}
        if by == "dominance":
            from ttt_cli.views.strongest import DOMINANCE_REMARK, deviations, lead_of

            leads = [lead_of(period, k, players, means, sds) for k in places]
            deviation, how = deviations(run, leads)
            remarks += (DOMINANCE_REMARK.format(how),)
            columns |= {"dominance": [lead and lead.value for lead in leads], "sd_dominance": deviation}
    count = len(field)
    words = limits.words()
    who = f"{count:,} {'player is' if count == 1 else 'players are'} eligible{f': {words}' if words else ''}"
    head = f"The best of {label}{f' by {by}' if by != 'mean' else ''}"
    title = (head, who, *([others] if others else []), *remarks, run_line(run))
    rows = _ranked(tuple(columns), zip(*columns.values(), strict=True), title)
    return replace(rows, hidden=frozenset({"period"}))


def peaks(run: Run, limits: Eligible, number: int | None, by: str = "mean") -> Rows:
    """The `number` highest means that players had in a period with games: `rank,player,period,mean,sd,games`.

    `games` are those in all. `by` lower: by the mean less two sds, in a column `lower` before the mean.
    """
    names = ("mean", "sd") if by == "mean" else ("lower", "mean", "sd")
    columns = ", ".join(f"peak.{name}" for name in names)
    enough = f"GROUP BY period_number HAVING count(*) >= {limits.fewest}"
    with run:
        counting = f"period_number IN (SELECT period_number FROM ({limits.skills(run)}) {enough})"
        query = _PEAKS.format(columns=columns, by=by, condition=f"{limits.rules()} AND {counting}")
        found = run.select(query, [number])[1]
        title = titled(run, limits, "The highest peaks" + (" by mean - 2 sd" if by == "lower" else ""))
    return _ranked(("player", "period", *names, "games"), found, title)


def _ranked(columns: tuple[str, ...], found: Iterable[tuple[Any, ...]], title: tuple[str, ...]) -> Rows:
    return Rows(("rank", *columns), [(rank, *row) for rank, row in enumerate(found, 1)], title, DECIMALS)


def best_years(run: Run, limits: Eligible, years: int, number: int | None) -> Rows:
    """The `number` highest means over consecutive years: `rank,player,first,last,mean,sd,games`.

    Years without games count with their interpolated skill. `sd` is the mean of the periods' sds, to which `max_sd`
    applies; `games` are those in the years.
    """
    with run:
        found = run.select(_SPANS.format(span=steps(run, years), rules=limits.rules()), [number])[1]
        title = titled(run, replace(limits, active=None), f"The highest means over {years} consecutive years")
    return _ranked(("player", "first", "last", "mean", "sd", "games"), found, title)


def titled(run: Run, limits: Eligible, head: str, *remarks: str) -> tuple[str, ...]:
    """The title of a table of all periods: the limits, how many players they leave out, remarks, and the run."""
    few = f"; {run.meta.period}s with at least {limits.fewest} eligible players" if limits.fewest > 1 else ""
    who = limits.words() and f"eligible: {limits.words()}{few}", limits.left_out(run)
    return (head, *filter(None, who), *remarks, run_line(run))


CHALLENGES: Final = 0.2  # the probability of being the strongest from which on somebody else is shown
_FIELD: Final = """
SELECT period_number, any_value(period) AS period, arg_min(games, (-mean, player)) AS games,
       list(player ORDER BY mean DESC, player)[:{named}] AS players, list(mean ORDER BY mean DESC, player) AS means,
       list(coalesce(sd, -1.0) ORDER BY mean DESC, player) AS sds
FROM ({rows}) GROUP BY period_number HAVING count(*) >= {fewest} ORDER BY period_number
"""
_FIRSTS: Final = """
SELECT period_number, any_value(period), arg_min(player, (-mean, player)), max(mean),
       arg_min(coalesce(sd, 0.0), (-mean, player))
FROM ({rows}) WHERE {where} GROUP BY period_number HAVING count(*) >= {fewest} ORDER BY period_number
"""
_AT_ONCE: Final = 1000  # periods: by days all together would be a hundred times as many rows as games


class Leader(NamedTuple):
    """The player with the highest mean among the `field` eligible players of a period.

    `others`: other candidates with their `p_best`. Without sds, `p_best` and all sds are None. `p_best` is also None
    for a single player, dominance if there are too few others.
    """

    number: int
    period: str
    player: str
    mean: float
    sd: float | None
    games: float
    p_best: float | None
    field: int
    dominance: float | None = None
    sd_dominance: float | None = None
    others: tuple[tuple[str, float], ...] = ()


def leaders(run: Run, limits: Eligible, seed: int = SEED) -> tuple[list[Leader], tuple[str, ...]]:
    """The leader of every period that has one, and lines on how `p_best` and `sd_dominance` were computed.

    Raises LookupFailed when there is none.
    """
    from ttt_cli.views.strongest import DOMINANCE_REMARK, NAMED, contest, lead_of, settled, spreads

    found: list[Leader] = []
    leads = []
    contests = []
    with run:
        every = run.select("SELECT period_number FROM periods ORDER BY period_number")[1]
        for begin in range(0, len(every), _AT_ONCE):
            part = every[begin : begin + _AT_ONCE]
            rows = limits.skills(run, part[0][0], part[-1][0])
            query = _FIELD.format(rows=rows, named=NAMED, fewest=limits.fewest)
            for number, period, games, players, means, sds in zip(*run.arrays(query).values(), strict=True):
                known = bool(sds.min() >= 0.0)
                at = int(number)
                lead = lead_of(at, 0, players, means, sds.tolist() if known else [None] * len(sds))
                if known and len(means) > 1:
                    contests.append(contest(at, players, means, sds, 1))
                leads.append(lead)
                first = float(means[0]), float(sds[0]) if known else None, games.item()
                found.append(Leader(at, period, players[0], *first, None, len(means), lead and lead.value))
        if not found:
            few = "nobody is" if limits.fewest <= 1 else f"fewer than {limits.fewest} players are"
            raise LookupFailed(f"{few} eligible in any period", hint=WIDER)
        if any(one.sd is None for one in found):
            return found, ()
        groups = [lead.skills if lead else [] for lead in leads]
        decided, remark, covariances = settled(run, contests, seed, groups)
    sds, how = spreads(leads, covariances)
    chances: Any = {field.number: zip(field.players, field.p.tolist(), strict=True) for field in decided}
    for k, (one, sd) in enumerate(zip(found, sds, strict=True)):
        (_, p_best), *others = chances.get(one.number, [(one.player, None)])
        found[k] = one._replace(p_best=p_best, sd_dominance=sd, others=tuple(others))
    alone = [] if len(contests) == len(found) else [ALONE]
    return found, (remark, DOMINANCE_REMARK.format(how), *alone)


def number_ones(run: Run, limits: Eligible, where: str = "true") -> list[tuple[int, str, str, float, float]]:
    """Number and label of each period, its leader, mean and sd (or 0), in periods that meet a SQL condition.

    The same players as in `leaders`, without probabilities and much faster.
    """
    return run.select(_FIRSTS.format(rows=limits.skills(run), where=where, fewest=limits.fewest))[1]


def leader_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per period: `period,player,mean,sd,games,p_best,field,dominance,sd_dominance`."""
    found, remark = leaders(run, limits, seed)
    title = titled(run, limits, f"The number one of every {run.meta.period}", *remark)
    return Rows(Leader._fields[1:-1], [one[1:-1] for one in found], title, DECIMALS)


def reign_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per reign: `first,last,player,periods,p_best,mean,sd,peak_period,least_p_best,dominance,sd_dominance`.

    The fourth column is named after the run's periods: `years`, for instance. `p_best` is the mean over the reign;
    `mean`, `sd` and dominance are those of its best period.
    """
    rows = []
    found, remark = leaders(run, limits, seed)
    for reign in reigns(found):
        peak = max(reign, key=lambda one: one.mean)
        chances = [one.p_best for one in reign if one.p_best is not None]
        average = sum(chances) / len(chances) if chances else None
        span = reign[0].period, reign[-1].period, peak.player, len(reign), average
        lead = peak.dominance, peak.sd_dominance
        rows.append((*span, peak.mean, peak.sd, peak.period, min(chances, default=None), *lead))
    span_columns = "first", "last", "player", f"{run.meta.period}s", "p_best"
    columns = "mean", "sd", "peak_period", "least_p_best", "dominance", "sd_dominance"
    return Rows((*span_columns, *columns), rows, titled(run, limits, "The number ones", *remark), DECIMALS)


def reigns(found: Sequence[Leader]) -> list[list[Leader]]:
    """Runs of consecutive periods with one leader."""
    merged: list[list[Leader]] = []
    for leader in found:
        before = merged[-1][-1] if merged else None
        if before and (before.player, before.number) == (leader.player, leader.number - 1):
            merged[-1].append(leader)
        else:
            merged.append([leader])
    return merged


_BEST: Final = """
WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY period_number ORDER BY mean DESC, player) AS place
                FROM ({rows})),
     best AS (SELECT period_number, list(struct_pack(player, mean, sd) ORDER BY place) AS top, sum(mean) AS total,
                     count(*) AS many, min(mean) AS least
              FROM ranked WHERE place <= {others} + 1 GROUP BY period_number HAVING many >= {fewest})
"""
_LEADS: Final = f"""{_BEST},
     leads AS (SELECT *, mean - if(place > many, total - least, total - mean) / (many - 1) AS lead
               FROM ranked JOIN best USING (period_number) WHERE games > 0 AND many > {{fewest}})
SELECT player, period_number, period, players.games, mean, sd, top FROM leads JOIN players USING (player)
QUALIFY row_number() OVER (PARTITION BY player ORDER BY lead DESC, period_number) = 1
ORDER BY lead DESC, player LIMIT ?
"""
_OF_PLAYERS: Final = f"""{_BEST}
SELECT player, period_number, period, games, mean, sd, top FROM skills JOIN best USING (period_number)
WHERE player IN (SELECT unnest(?)) AND (games > 0 OR {{idle}}) AND {{since}} ORDER BY player, period_number
"""


class LeadAt(NamedTuple):
    """A player's dominance in a period, with games and skill there; sds are None in a system without them."""

    player: str
    number: int
    period: str
    games: float
    mean: float
    mean_sd: float | None
    lead: float
    sd: float | None


def most_dominant(run: Run, limits: Eligible, number: int | None) -> Rows:
    """The `number` largest leads that players had in a period with games: the rows of `peaks`, by dominance.

    Their columns are `rank,player,period,dominance,sd_dominance,mean,sd,games`.
    """
    from ttt_cli.views.strongest import DOMINANCE_REMARK

    with run:
        found, how = _leads(run, limits, _LEADS, [number])
        title = titled(run, limits, "The most dominant", DOMINANCE_REMARK.format(how))
    rows = ((at.player, at.period, at.lead, at.sd, at.mean, at.mean_sd, at.games) for at in found)
    return _ranked(("player", "period", "dominance", "sd_dominance", "mean", "sd", "games"), rows, title)


def leads_of(
    run: Run, limits: Eligible, players: Sequence[str], idle: str = "true"
) -> tuple[list[LeadAt], str]:
    """The leads of players in the periods of their careers over others who are eligible, and how sds were found."""
    since = limits.since("period_number")
    with run:
        return _leads(run, limits, _OF_PLAYERS, [list(players)], idle=idle, since=since)


def _leads(
    run: Run, limits: Eligible, query: str, values: list[Any], **parts: str
) -> tuple[list[LeadAt], str]:
    from ttt_cli.views.strongest import LEAST, OTHERS, deviations, lead_of

    query = query.format(rows=limits.skills(run), others=OTHERS, fewest=LEAST, **parts)
    rows = run.select(query, values)[1]
    leads: list[Lead | None] = []
    for player, number, _, _, mean, sd, top in rows:
        others = [(one["player"], one["mean"], one["sd"]) for one in top if one["player"] != player]
        leads.append(lead_of(number, 0, *zip((player, mean, sd), *others, strict=True)))
    sds, how = deviations(run, leads)
    found = zip(rows, leads, sds, strict=True)
    return [LeadAt._make((*row[:6], lead.value, sd)) for row, lead, sd in found if lead], how
