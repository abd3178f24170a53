"""Rankings of a period, peaks, number ones and dominance, and who is eligible for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import load_numpy_meanwhile, run_line

if TYPE_CHECKING:
    from ttt_cli.views.strongest import Contest, Lead


ACTIVE_YEARS: Final = 2.0
MIN_GAMES: Final = 20
MIN_OPPONENTS: Final = 3
SD_SHARE: Final = 0.45  # of a newcomer's sd: the games then explain four fifths of the variance
ENOUGH: Final = 10  # players who keep to the default limits; a run with fewer holds nobody to them

_KEEP_TO: Final = (
    "SELECT count(*) FROM players WHERE games >= ? AND opponents >= ? AND coalesce(peak_sd, 0) <= ?"
)
FEWEST: Final = 3  # eligible players of a period that has a number one, by default

_ACTIVE: Final = """
SELECT *, many AND several AND sure AS eligible FROM (
    SELECT s.*, coalesce(played, 0) >= ? AS many, opponents >= ? AS several, coalesce(sd, 0) <= ? AS sure
    FROM skills_within(?, ?, ?) s JOIN players USING (player)
    LEFT JOIN (SELECT player, sum(games) AS played FROM spans WHERE period_number <= ? GROUP BY player) USING (player))
"""
# The period up to which each player has played enough
_PLAYED: Final = """
(SELECT player AS whose, min(period_number) AS since FROM (
    SELECT player, period_number, sum(games) OVER (PARTITION BY player ORDER BY period_number) AS played FROM spans)
 WHERE played >= ? GROUP BY player)
"""
_SINCE: Final = f"(SELECT since FROM {_PLAYED} WHERE whose = player)"
_FULL: Final = (
    "period_number IN (SELECT period_number FROM ({rows}) GROUP BY period_number HAVING count(*) >= {fewest})"
)
COUNTS: Final = """
count(*) FILTER (NOT many), count(*) FILTER (many AND NOT several), count(*) FILTER (many AND several AND NOT sure)
"""
_IN_ALL: Final = f"""
SELECT {COUNTS} FROM (
    SELECT games >= ? AS many, opponents >= ? AS several,
           player IN (SELECT player FROM spans WHERE coalesce(sd, 0) <= ?) AS sure
    FROM players WHERE "first" IS NOT NULL)
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

    def players(self) -> tuple[str, list[Any]]:
        """The SQL condition on a row with a `player`, and its values: the limits that do not depend on the period."""
        if not (self.min_games or self.min_opponents):
            return "true", []
        chosen = "SELECT player FROM players WHERE games >= ? AND opponents >= ?"
        return f"player IN ({chosen})", [self.min_games, self.min_opponents]

    def rules(self) -> tuple[str, list[Any]]:
        """The SQL condition on a row of skills, activity aside, and its values."""
        condition, values = self.players()
        if self.min_games:
            condition, values = f"{condition} AND period_number >= {_SINCE}", [*values, self.min_games]
        if self.max_sd is not None:
            condition, values = f"{condition} AND coalesce(sd, 0) <= ?", [*values, self.max_sd]
        return condition, values

    def counting(self, run: Run) -> tuple[str, list[Any]]:
        """As `rules`, restricted to periods with at least `fewest` eligible players."""
        condition, values = self.rules()
        if self.fewest <= 1:
            return condition, values
        rows, further = self.always(run)
        return f"{condition} AND {_FULL.format(rows=rows, fewest=self.fewest)}", [*values, *further]

    def between(self, run: Run, first: int, last: int) -> tuple[str, list[Any]]:
        """A SQL query for the rows of skills that are eligible in periods of a range, and its values."""
        condition, values = self.rules()
        between = [first, last, self.idle(run)]
        return f"SELECT * FROM skills_within(?, ?, ?) WHERE {condition}", [*between, *values]

    def always(self, run: Run) -> tuple[str, list[Any]]:
        """As `between`, for all periods of a run."""
        ((first, last),) = run.select("SELECT min(period_number), max(period_number) FROM periods")[1]
        return self.between(run, first, last)

    def active_at(self, run: Run, number: int) -> tuple[str, list[Any]]:
        """As `between`, for all players active in a period; further columns show which limits each meets (`COUNTS`)."""
        most = math.inf if self.max_sd is None else self.max_sd
        return _ACTIVE, [self.min_games, self.min_opponents, most, number, number, self.idle(run), number]

    def left_out(self, run: Run) -> str:
        """How many players are eligible in no period, and why (`reasons`)."""
        most = math.inf if self.max_sd is None else self.max_sd / run.scale.slope
        return reasons(run.select(_IN_ALL, [self.min_games, self.min_opponents, most])[1][0])

    def idle(self, run: Run) -> int | None:
        """Number of periods after the last game in which a player still counts as active."""
        return None if self.active is None else steps(run, self.active)


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
    given: dict[str, Any] = {
        key: None if value == math.inf else value for key, value in asked.items() if value is not None
    }
    if everyone:
        return Eligible(**given)
    usual: dict[str, Any] = {"active": ACTIVE_YEARS}
    largest = largest_sd(run)
    most = math.inf if largest is None else largest / run.scale.slope
    if run.select(_KEEP_TO, [MIN_GAMES, MIN_OPPONENTS, most])[1][0][0] >= ENOUGH:
        usual |= {"min_games": MIN_GAMES, "max_sd": largest, "min_opponents": MIN_OPPONENTS, "fewest": FEWEST}
    return Eligible(**(usual | given))


def reasons(counts: Sequence[int]) -> str:
    """`12 left out: 10 with fewer games, 2 with a larger sd`, by the first reason; empty when nobody is left out."""
    given = [f"{count:,} {why}" for count, why in zip(counts, _REASONS, strict=False) if count]
    return f"{sum(counts):,} left out: {', '.join(given)}" if given else ""


def largest_sd(run: Run) -> float | None:
    """The default for `max_sd`: above it a skill depends more on the prior than on the games. None without sds."""
    newcomer = newcomer_sd(run.meta.params)
    return None if newcomer is None else round(SD_SHARE * newcomer * run.scale.slope, 1)


def newcomer_sd(params: Mapping[str, Any]) -> float | None:
    """The sd of a skill before any game, points; in WHR from the information of its virtual games. None without sds."""
    virtual = params.get("virtual_draws")
    return 400.0 / math.log(10.0) / math.sqrt(virtual / 2.0) if virtual else params.get("prior_sd")


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
LOWER: Final = "mean - 2.0 * coalesce(sd, 0.0)"  # what a skill surpasses with high probability
_RANKING: Final = """
SELECT (list(struct_pack(player, games) ORDER BY {order} DESC, player)
        FILTER (eligible))[:{number}],
       list(player ORDER BY mean DESC, player) FILTER (eligible),
       list(mean ORDER BY mean DESC, player) FILTER (eligible),
       list(sd ORDER BY mean DESC, player) FILTER (eligible), count(*),
       (SELECT count(*) FROM players WHERE "first" <= ?), {counts}
FROM ({active})
"""
_PEAKS: Final = """
SELECT player, peak.period, {columns}, players.games FROM (
    SELECT player, arg_max(struct_pack(period, mean, sd, lower := {lower}), ({order}, -period_number)) AS peak
    FROM nodes WHERE {condition} GROUP BY player) JOIN players USING (player)
ORDER BY {by} DESC, player LIMIT ?
"""


_SPANS: Final = """
SELECT player, begin, period, mean, sd, games FROM (
    SELECT player, period, first(period) OVER years AS begin, first(period_number) OVER years AS begun,
           avg(mean) OVER years AS mean, avg(sd) OVER years AS sd, sum(games) OVER years AS games,
           count(*) OVER years AS length
    FROM skills WHERE {condition}
    WINDOW years AS (PARTITION BY player ORDER BY period_number ROWS {rows:d} PRECEDING))
WHERE length = ? AND coalesce(sd, 0) <= ? AND {since}
QUALIFY row_number() OVER (PARTITION BY player ORDER BY mean DESC, period) = 1 ORDER BY mean DESC, player LIMIT ?
"""


def ranking(
    run: Run, at: str | None, limits: Eligible, number: int | None, seed: int = SEED, by: str = "mean"
) -> Rows:
    """The `number` best in the period `at` (None: the last): `rank,player,period,mean,sd,games,p_best`.

    `games` are those in the period; `number` None: everyone. `by` lower ranks by the mean less two sds in a column
    `lower`; `by` dominance adds `dominance,sd_dominance`. Raises LookupFailed when nobody is eligible.
    """
    order = LOWER if by == "lower" else "mean"
    load_numpy_meanwhile(run)
    with run:
        label, period = run.find_period(at)
        active, values = limits.active_at(run, period)
        some = "" if number is None else f"{number:d}"
        query = _RANKING.format(active=active, counts=COUNTS, order=order, number=some)
        top, players, means, sds, active_ones, begun, *counts = run.select(query, [label, *values])[1][0]
        others = reasons([*counts, begun - active_ones])
        if not top:
            raise LookupFailed(f"nobody is eligible in {label}; {others}", hint=WIDER)
        place = {player: k for k, player in enumerate(players)}
        places = [place[one["player"]] for one in top]
        best, remarks = _chances(run, period, players, means, sds, max(places) + 1, seed)
        columns = [
            ("rank", range(1, len(top) + 1)),
            ("player", [players[k] for k in places]),
            ("period", [label] * len(top)),
            ("mean", [means[k] for k in places]),
            ("sd", [sds[k] for k in places]),
            ("games", [one["games"] for one in top]),
            ("p_best", [best[k] for k in places]),
        ]
        if by == "lower":
            columns.append(("lower", [means[k] - 2.0 * (sds[k] or 0.0) for k in places]))
        if by == "dominance":
            from ttt_cli.views.strongest import DOMINANCE_REMARK, deviations, lead_of

            leads = [lead_of(period, k, players, means, sds) for k in places]
            deviation, how = deviations(run, leads)
            remarks += (DOMINANCE_REMARK.format(how),)
            columns += [("dominance", [lead and lead.value for lead in leads]), ("sd_dominance", deviation)]
    count, words = len(means), limits.words()
    who = f"{count:,} {'player is' if count == 1 else 'players are'} eligible{f': {words}' if words else ''}"
    head = f"The best of {label}{f' by {by}' if by != 'mean' else ''}"
    title = (head, who, *([others] if others else []), *remarks, run_line(run))
    names, values = zip(*columns, strict=True)
    return Rows(names, list(zip(*values, strict=True)), title, DECIMALS, frozenset({"period"}))


def peaks(run: Run, limits: Eligible, number: int | None, by: str = "mean") -> Rows:
    """The `number` highest means that players had in a period with games: `rank,player,period,mean,sd,games`.

    `games` are those in all. `by` lower: by the mean less two sds, in a column `lower` before the mean.
    """
    names = ("mean", "sd") if by == "mean" else ("lower", "mean", "sd")
    order, columns = (LOWER if by == "lower" else "mean"), ", ".join(f"peak.{name}" for name in names)
    with run:
        condition, values = limits.counting(run)
        query = _PEAKS.format(
            columns=columns, lower=LOWER, order=order, condition=condition, by=f"peak.{names[0]}"
        )
        found = run.select(query, [*values, number])[1]
        head = "The highest peaks" + (" by mean - 2 sd" if by == "lower" else "")
        title = titled(run, limits, head)
    return ranked(("player", "period", *names, "games"), found, title)


def ranked(columns: tuple[str, ...], found: Iterable[tuple[Any, ...]], title: tuple[str, ...]) -> Rows:
    """Rows in this order with their `rank`."""
    return Rows(("rank", *columns), [(rank, *row) for rank, row in enumerate(found, 1)], title, DECIMALS)


def best_years(run: Run, limits: Eligible, years: int, number: int | None) -> Rows:
    """The `number` highest means over consecutive years: `rank,player,first,last,mean,sd,games`.

    Years without games count with their interpolated skill. `sd` is the mean of the periods' sds, to which `max_sd`
    applies; `games` are those in the years.
    """
    span, (condition, values) = steps(run, years), limits.players()
    since, first = (f"begun >= {_SINCE}", [limits.min_games]) if limits.min_games else ("true", [])
    most = math.inf if limits.max_sd is None else limits.max_sd
    with run:
        query = _SPANS.format(rows=span - 1, condition=condition, since=since)
        found = run.select(query, [*values, span, most, *first, number])[1]
        title = titled(run, replace(limits, active=None), f"The highest means over {years} consecutive years")
    return ranked(("player", "first", "last", "mean", "sd", "games"), found, title)


def _chances(
    run: Run,
    period: int,
    players: list[str],
    means: list[float],
    sds: list[float | None],
    number: int,
    seed: int,
) -> tuple[list[float | None], tuple[str, ...]]:
    """`p_best` of the first `number` of a field, and a line on how it was found; None in a system without sds."""
    if None in sds or len(means) == 1:
        return [None] * number, () if None in sds else (ALONE,)
    import numpy as np

    from ttt_cli.views.strongest import contest, settled

    field = contest(period, players, np.array(means), np.array(sds, np.float64), number)
    (found,), remark, _ = settled(run, [field], seed)
    return found.p[:number].tolist(), (remark,)


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
FROM ({rows}) GROUP BY period_number ORDER BY period_number
"""
_FIRSTS: Final = """
SELECT period_number, any_value(period), arg_min(player, (-mean, player)), max(mean),
       arg_min(coalesce(sd, 0.0), (-mean, player))
FROM ({rows}) WHERE {where} GROUP BY period_number HAVING count(*) >= {fewest} ORDER BY period_number
"""
_AT_ONCE: Final = 1000  # periods: by days all together would be a hundred times as many rows as games


@dataclass(frozen=True)
class Leader:
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
    fields: list[_Field] = []
    with run:
        periods = [
            number for (number,) in run.select("SELECT period_number FROM periods ORDER BY period_number")[1]
        ]
        for begin in range(0, len(periods), _AT_ONCE):
            part = periods[begin : begin + _AT_ONCE]
            found = _fields(run, *limits.between(run, part[0], part[-1]))
            fields += (field for field in found if field.leader.field >= limits.fewest)
        if not fields:
            few = "nobody is" if limits.fewest <= 1 else f"fewer than {limits.fewest} players are"
            raise LookupFailed(f"{few} eligible in any period", hint=WIDER)
        return _decided(run, fields, seed)


def number_ones(run: Run, limits: Eligible, where: str = "true") -> list[tuple[int, str, str, float, float]]:
    """Number and label of each period, its leader, mean and sd (or 0), in periods that meet a SQL condition.

    The same players as in `leaders`, without probabilities and much faster.
    """
    rows, values = limits.always(run)
    return run.select(_FIRSTS.format(rows=rows, where=where, fewest=limits.fewest), values)[1]


class _Field(NamedTuple):
    """A period's leader, `p_best` not yet computed, with the contest and the lead over the others."""

    leader: Leader
    contest: Contest | None
    lead: Lead | None


def _fields(run: Run, rows: str, values: Sequence[Any]) -> Iterator[_Field]:
    from ttt_cli.views.strongest import NAMED, contest, lead_of

    for number, period, games, players, means, sds in zip(
        *run.arrays(_FIELD.format(rows=rows, named=NAMED), values).values(), strict=True
    ):
        known, field = bool(sds.min() >= 0.0), (int(number), players, means, sds)
        lead = lead_of(int(number), 0, players, means, sds if known else [None] * len(sds))
        leader = Leader(
            int(number), period, players[0], float(means[0]), float(sds[0]) if known else None, games.item(),
            None, len(means), lead and lead.value,
        )  # fmt: skip
        yield _Field(leader, contest(*field, 1) if known and len(means) > 1 else None, lead)


def _decided(run: Run, fields: Sequence[_Field], seed: int) -> tuple[list[Leader], tuple[str, ...]]:
    from ttt_cli.views.strongest import DOMINANCE_REMARK, INDEPENDENT_SD, JOINT_SD, apart, settled, together

    if any(field.leader.sd is None for field in fields):
        return [field.leader for field in fields], ()
    leads = [field.lead.skills if field.lead else [] for field in fields]
    found, remark, covariances = settled(run, [one.contest for one in fields if one.contest], seed, leads)
    sds = (
        [apart(field.lead) for field in fields]
        if covariances is None
        else [together(one) if len(one) else None for one in covariances]
    )
    how, decided = INDEPENDENT_SD if covariances is None else JOINT_SD, iter(found)
    decisions = [next(decided) if field.contest else None for field in fields]
    return [
        replace(
            field.leader,
            p_best=float(one.p[0]) if one else None,
            sd_dominance=sd,
            others=tuple(zip(one.players[1:], one.p[1:].tolist(), strict=True)) if one else (),
        )
        for field, one, sd in zip(fields, decisions, sds, strict=True)
    ], (remark, DOMINANCE_REMARK.format(how), *([] if all(decisions) else [ALONE]))


def leader_rows(run: Run, limits: Eligible, seed: int = SEED) -> Rows:
    """One row per period: `period,player,mean,sd,games,p_best,field,dominance,sd_dominance`."""
    found, remark = leaders(run, limits, seed)
    columns = ("period", "player", "mean", "sd", "games", "p_best", "field", "dominance", "sd_dominance")
    rows = [tuple(getattr(one, column) for column in columns) for one in found]
    title = titled(run, limits, f"The number one of every {run.meta.period}", *remark)
    return Rows(columns, rows, title, DECIMALS)


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
        if before and before.player == leader.player and before.number == leader.number - 1:
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
SELECT player, period_number, top, mean, sd, period, players.games FROM leads JOIN players USING (player)
QUALIFY row_number() OVER (PARTITION BY player ORDER BY lead DESC, period_number) = 1
ORDER BY lead DESC, player LIMIT ?
"""
_OF_PLAYERS: Final = f"""{_BEST}
SELECT skills.player, period_number, top, skills.mean, skills.sd, skills.period, skills.games
FROM skills JOIN best USING (period_number) WHERE skills.player IN (SELECT unnest(?)) AND (games > 0 OR {{idle}})
AND period_number >= coalesce({_SINCE}, 0) ORDER BY skills.player, period_number
"""


class LeadAt(NamedTuple):
    """A player's dominance in a period, and the games there; `sd` is None in a system without sds."""

    player: str
    number: int
    period: str
    lead: float
    sd: float | None
    games: float


def most_dominant(run: Run, limits: Eligible, number: int | None) -> Rows:
    """The `number` largest leads that players had in a period with games: the rows of `peaks`, by dominance.

    Their columns are `rank,player,period,dominance,sd_dominance,mean,sd,games`.
    """
    from ttt_cli.views.strongest import DOMINANCE_REMARK, LEAST, OTHERS, deviations

    eligible, values = limits.always(run)
    with run:
        query = _LEADS.format(rows=eligible, others=OTHERS, fewest=LEAST)
        found = run.select(query, [*values, number])[1]
        leads = [lead for row in found if (lead := _lead(*row[:5]))]
        sds, how = deviations(run, leads)
        title = titled(run, limits, "The most dominant", DOMINANCE_REMARK.format(how))
    rows = (
        (player, period, lead.value, deviation, mean, sd, games)
        for (player, *_, mean, sd, period, games), lead, deviation in zip(found, leads, sds, strict=True)
    )
    return ranked(("player", "period", "dominance", "sd_dominance", "mean", "sd", "games"), rows, title)


def leads_of(
    run: Run, limits: Eligible, players: Sequence[str], idle: str = "true"
) -> tuple[list[LeadAt], str]:
    """The leads of players in the periods of their careers over others who are eligible, and how sds were found."""
    from ttt_cli.views.strongest import LEAST, OTHERS, deviations

    eligible, values = limits.always(run)
    with run:
        query = _OF_PLAYERS.format(rows=eligible, others=OTHERS, fewest=LEAST, idle=idle)
        rows = run.select(query, [*values, list(players), limits.min_games])[1]
        leads = [_lead(*row[:5]) for row in rows]
        sds, how = deviations(run, leads)
    return [
        LeadAt(player, number, period, lead.value, sd, games)
        for (player, number, *_, period, games), lead, sd in zip(rows, leads, sds, strict=True)
        if lead
    ], how


def _lead(player: str, number: int, top: list[dict[str, Any]], mean: float, sd: float | None) -> Lead | None:
    from ttt_cli.views.strongest import lead_of

    field = [{"player": player, "mean": mean, "sd": sd}, *(one for one in top if one["player"] != player)]
    return lead_of(number, 0, *([one[key] for one in field] for key in ("player", "mean", "sd")))
