"""The best players: in one period, and at their peaks."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.lookup import find_period
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import COUNTS, Eligible, reasons, steps
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import load_numpy_meanwhile, run_line

DECIMALS: Final = {
    **dict.fromkeys(("mean", "sd", "lower", "dominance", "sd_dominance"), 1),
    **dict.fromkeys(("p_best", "least_p_best"), 3),
}
SEED: Final = 1  # of samples
_FIRST_CANDIDATES: Final = 200
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
# Only whose highest mean is not sure enough has to be looked at in all periods with games.
_PEAKS: Final = """
WITH chosen AS (SELECT * FROM players WHERE {condition} AND peak_mean IS NOT NULL),
     later AS (SELECT player, arg_min(struct_pack(period, mean, sd), (-mean, period_number)) AS peak FROM nodes
               WHERE player IN (SELECT player FROM chosen WHERE peak_sd > ?) AND sd <= ? GROUP BY player)
SELECT player, peak_period, peak_mean, peak_sd, games FROM chosen WHERE coalesce(peak_sd, 0) <= ?
UNION ALL SELECT player, peak.period, peak.mean, peak.sd, games FROM later JOIN chosen USING (player)
ORDER BY peak_mean DESC, player LIMIT ?
"""


def ranking(
    run: Run, at: str | None, limits: Eligible, number: int | None, seed: int = SEED, by: str = "mean"
) -> Rows:
    """The `number` best in the period `at` (None: the last): `rank,player,period,mean,sd,games,p_best`.

    `games` are those in the period, `p_best` is the probability of being the strongest of all who are eligible
    (`ttt_cli.views.rankings.strongest`, by samples with a `seed`). `number` None: everyone. `by`: the mean; `lower`,
    the mean less two sds, which has a column then; or `dominance`, which orders as the mean does and has two. Raises
    LookupFailed when nobody is eligible.
    """
    order = LOWER if by == "lower" else "mean"
    load_numpy_meanwhile(run)
    with run:
        label, period = find_period(run, at)
        active, values = limits.active_at(run, period)
        some = "" if number is None else f"{number:d}"
        query = _RANKING.format(active=active, counts=COUNTS, order=order, number=some)
        top, players, means, sds, active_ones, begun, *counts = run.query(query, [label, *values])[1][0]
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
            from ttt_cli.views.rankings.dominance import REMARK, deviations, lead_of

            leads = [lead_of(period, k, players, means, sds) for k in places]
            deviation, how = deviations(run, leads)
            remarks += (REMARK.format(how),)
            columns += [("dominance", [lead and lead.value for lead in leads]), ("sd_dominance", deviation)]
    count, words = len(means), limits.words()
    who = f"{count:,} {'player is' if count == 1 else 'players are'} eligible{f': {words}' if words else ''}"
    head = f"The best of {label}{f' by {by}' if by != 'mean' else ''}"
    title = (head, who, *([others] if others else []), *remarks, run_line(run))
    names, values = zip(*columns, strict=True)
    return Rows(names, list(zip(*values, strict=True)), title, DECIMALS, frozenset({"period"}))


def peaks(run: Run, limits: Eligible, number: int | None) -> Rows:
    """The `number` highest means that players had in a period with games: `rank,player,period,mean,sd,games`.

    `games` are those in all.
    """
    condition, values = limits.players()
    most = math.inf if limits.max_sd is None else limits.max_sd
    with run:
        _, found = run.query(_PEAKS.format(condition=condition), [*values, most, most, most, number])
        title = titled(run, replace(limits, active=None), "The highest peaks")
    return ranked(("player", "period", "mean", "sd", "games"), found, title)


def ranked(columns: tuple[str, ...], found: Iterable[tuple[Any, ...]], title: tuple[str, ...]) -> Rows:
    """Rows in this order with their `rank`."""
    rows = [(rank, *row) for rank, row in enumerate(found, start=1)]
    return Rows(("rank", *columns), rows, title, DECIMALS)


def best_years(run: Run, limits: Eligible, years: int, number: int | None) -> Rows:
    """The `number` highest means over so many consecutive years: `rank,player,first,last,mean,sd,games`.

    A player's history must be that long; years without games inside it count with their interpolated skill. `sd` is
    the mean of the periods' sds and what its limit is for; `games` are those in the years.
    """
    span = steps(run, years)
    limit = max(_FIRST_CANDIDATES, 10 * (number or 0))
    with run:
        while True:
            found, bound = _best_spans(run, limits, span, limit)
            wanted = len(found) if number is None else number
            if bound is None or (
                number is not None and len(found) >= number and found[number - 1][3] >= bound
            ):
                break
            limit *= 8
        head = f"The highest means over {years} consecutive years"
        title = titled(run, replace(limits, active=None), head)
    return ranked(("player", "first", "last", "mean", "sd", "games"), found[:wanted], title)


def _best_spans(
    run: Run, limits: Eligible, span: int, candidates: int
) -> tuple[list[tuple[Any, ...]], float | None]:
    """Everyone's best span among the `candidates` highest peaks, and what others' cannot exceed (None: no others)."""
    condition, values = limits.players()
    _, highest = run.query(
        f"SELECT player, peak_mean FROM players WHERE {condition} AND peak_mean IS NOT NULL"
        f" ORDER BY peak_mean DESC LIMIT {candidates:d}",
        values,
    )
    window = f"(PARTITION BY player ORDER BY period_number ROWS {span - 1:d} PRECEDING)"
    _, found = run.query(
        "SELECT player, begin, period, mean, sd, games FROM (SELECT player, period,"
        f" first(period) OVER {window} AS begin, avg(mean) OVER {window} AS mean, avg(sd) OVER {window} AS sd,"
        f" sum(games) OVER {window} AS games, count(*) OVER {window} AS length"
        " FROM skills WHERE player IN (SELECT unnest(?))) WHERE length = ? AND coalesce(sd, 0) <= ?"
        " QUALIFY row_number() OVER (PARTITION BY player ORDER BY mean DESC, period) = 1 ORDER BY mean DESC, player",
        [[player for player, _ in highest], span, math.inf if limits.max_sd is None else limits.max_sd],
    )
    return found, highest[-1][1] if len(highest) == candidates else None


def _chances(
    run: Run,
    period: int,
    players: list[str],
    means: list[float],
    sds: list[float | None],
    number: int,
    seed: int,
) -> tuple[list[float | None], tuple[str, ...]]:
    """The probabilities of being the strongest of a field, of its first `number`, and a line on how they were found.

    None in a system without sds.
    """
    if None in sds:
        return [None] * number, ()
    import numpy as np

    from ttt_cli.views.rankings.strongest import contest, settled

    field = contest(period, players, np.array(means), np.array(sds, np.float64), number)
    (found,), remark, _ = settled(run, [field], seed)
    return found.p[:number].tolist(), (remark,)


def titled(run: Run, limits: Eligible, head: str, *remarks: str) -> tuple[str, ...]:
    """The title of what speaks of all periods: who is eligible, and how many are so in none; the run at the end."""
    who = limits.words() and f"eligible: {limits.words()}", limits.left_out(run)
    return (head, *filter(None, who), *remarks, run_line(run))
