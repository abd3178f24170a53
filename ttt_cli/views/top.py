"""The best players: in one period, and at their peaks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.views.field import Filters, find_period, steps
from ttt_cli.views.rows import Rows
from ttt_cli.views.scale import run_line

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

DECIMALS: Final = {"mean": 1, "sd": 1, "p_best": 3, "least_p_best": 3}
INDEPENDENT: Final = "p_best: probability of being the strongest of them, their skills taken as independent"
_FIRST_CANDIDATES: Final = 200


def ranking(run: Run, at: str | None, filters: Filters, number: int | None) -> Rows:
    """The `number` highest means in the period `at` (None: the last): `rank,player,period,mean,sd,games,p_best`.

    `games` are those in the period, `p_best` is the probability of being the strongest of all who count
    (`ttt_cli.views.contention`). `number` None: everyone. Raises LookupFailed when nobody counts.
    """
    with run:
        label, period = find_period(run, at)
        counting, values = filters.between(run, period, period)
        limit = "" if number is None else f" LIMIT {number:d}"
        order = f"ORDER BY mean DESC, player{limit}"
        _, top = run.query(f"SELECT player, mean, sd, games FROM ({counting}) {order}", values)
        _, field = run.query(f"SELECT list(mean), list(sd) FROM ({counting})", values)
    if not top:
        raise LookupFailed(f"nobody counts in {label}", hint=_wider(filters))
    best = _best_probabilities(field[0], [row[1:3] for row in top])
    rows = [
        (rank, player, label, mean, sd, games, p)
        for rank, ((player, mean, sd, games), p) in enumerate(zip(top, best, strict=True), start=1)
    ]
    remark = () if best[0] is None else (INDEPENDENT,)
    title = (f"The best of {label}", _who(len(field[0][0]), filters), *remark, run_line(run))
    columns = ("rank", "player", "period", "mean", "sd", "games", "p_best")
    return Rows(columns, rows, title, DECIMALS, frozenset({"period"}))


def peaks(run: Run, filters: Filters, number: int | None) -> Rows:
    """The `number` highest means that players had in a period with games: `rank,player,period,mean,sd,games`.

    Of `filters`, the least number of games and the largest sd count. `games` are those in all.
    """
    limit = "" if number is None else f" LIMIT {number:d}"
    if filters.max_sd is None:
        peak, values = (
            "SELECT player, peak_period, peak_mean, peak_sd, games FROM players",
            [filters.min_games],
        )
        order = f"ORDER BY peak_mean DESC, player{limit}"
        _, found = run.query(f"{peak} WHERE peak_mean IS NOT NULL AND games >= ? {order}", values)
    else:
        condition, values = filters.rules()
        peak = "SELECT player, arg_max(struct_pack(period, sd), mean) AS at, max(mean) AS top FROM nodes"
        _, found = run.query(
            "SELECT p.player, p.at.period, p.top, p.at.sd, players.games"
            f" FROM ({peak} WHERE {condition} GROUP BY player) p JOIN players USING (player)"
            f" ORDER BY p.top DESC, p.player{limit}",
            values,
        )
    rows = [(rank, *row) for rank, row in enumerate(found, start=1)]
    title = ("The highest peaks", *_said(filters), run_line(run))
    return Rows(("rank", "player", "period", "mean", "sd", "games"), rows, title, DECIMALS)


def best_years(run: Run, filters: Filters, years: int, number: int | None) -> Rows:
    """The `number` highest means over so many consecutive years: `rank,player,first,last,mean,sd,games`.

    A player's history must be that long; years without games inside it count with their interpolated skill. `sd` is
    the mean of the periods' sds. Filters as for `peaks`; `games` are those in the years.
    """
    span = steps(run, years)
    limit = max(_FIRST_CANDIDATES, 10 * (number or 0))
    with run:
        while True:
            found, bound = _best_spans(run, filters, span, limit)
            wanted = len(found) if number is None else number
            if bound is None or (
                number is not None and len(found) >= number and found[number - 1][3] >= bound
            ):
                break
            limit *= 8
    rows = [(rank, *row) for rank, row in enumerate(found[:wanted], start=1)]
    title = (f"The highest means over {years} consecutive years", *_said(filters), run_line(run))
    return Rows(("rank", "player", "first", "last", "mean", "sd", "games"), rows, title, DECIMALS)


def _best_spans(
    run: Run, filters: Filters, span: int, limit: int
) -> tuple[list[tuple[Any, ...]], float | None]:
    """Everyone's best span among the `limit` highest peaks, and what the others' cannot exceed (None: no others)."""
    _, candidates = run.query(
        "SELECT player, peak_mean FROM players WHERE games >= ? AND peak_mean IS NOT NULL"
        f" ORDER BY peak_mean DESC LIMIT {limit:d}",
        [filters.min_games],
    )
    window = f"(PARTITION BY player ORDER BY period_number ROWS {span - 1:d} PRECEDING)"
    _, found = run.query(
        "SELECT player, begin, period, mean, sd, games FROM (SELECT player, period,"
        f" first(period) OVER {window} AS begin, avg(mean) OVER {window} AS mean, avg(sd) OVER {window} AS sd,"
        f" sum(games) OVER {window} AS games, count(*) OVER {window} AS length"
        " FROM skills WHERE player IN (SELECT unnest(?))) WHERE length = ? AND coalesce(sd, 0) <= ?"
        " QUALIFY row_number() OVER (PARTITION BY player ORDER BY mean DESC, period) = 1 ORDER BY mean DESC, player",
        [[player for player, _ in candidates], span, math.inf if filters.max_sd is None else filters.max_sd],
    )
    return found, candidates[-1][1] if len(candidates) == limit else None


def _best_probabilities(field: tuple[Any, ...], top: list[tuple[Any, ...]]) -> list[float | None]:
    """Of the `top` (mean, sd), in a field of lists of means and sds; None in a system without sds."""
    if None in field[1]:
        return [None] * len(top)
    import numpy as np

    from ttt_cli.views.contention import best_probabilities

    means, sds = field
    places = {pair: place for place, pair in enumerate(zip(means, sds, strict=True))}  # equals are as likely
    chosen = np.array([places[pair] for pair in top])
    return [float(p) for p in best_probabilities(np.array(means), np.array(sds), chosen)]


def _who(count: int, filters: Filters) -> str:
    words = filters.words()
    return f"{count:,} {'player counts' if count == 1 else 'players count'}{f': {words}' if words else ''}"


def _said(filters: Filters) -> tuple[str, ...]:
    words = Filters(None, filters.min_games, filters.max_sd).words()
    return (words,) if words else ()


def _wider(filters: Filters) -> str:
    return "more count with --everyone" if filters.active is not None else "relax --min-games or --max-sd"
