"""The number one of every period, and their reigns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.top import DECIMALS, INDEPENDENT, WIDER, among
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line

_FIELD: Final = """
SELECT period_number, any_value(period) AS period, arg_min(player, (-mean, player)) AS player,
       arg_min(games, (-mean, player)) AS games, list(mean) AS means, list(coalesce(sd, -1.0)) AS sds
FROM ({rows}) GROUP BY period_number ORDER BY period_number
"""
_FIRSTS: Final = """
SELECT period_number, any_value(period), arg_min(player, (-mean, player)), max(mean)
FROM ({rows}) WHERE {where} GROUP BY period_number ORDER BY period_number
"""
_PERIODS: Final = "SELECT period_number FROM periods ORDER BY period_number"
_AT_ONCE: Final = 1000  # periods: by days all together would be a hundred times as many rows as games


@dataclass(frozen=True)
class Leader:
    """The highest mean of one period; `p_best` is the probability of really being the strongest of `field` players.

    A system without uncertainty has neither `sd` nor `p_best`.
    """

    number: int
    period: str
    player: str
    mean: float
    sd: float | None
    games: float
    p_best: float | None
    field: int


def leaders(run: Run, limits: Eligible) -> list[Leader]:
    """The leader of every period in which anybody is eligible. Raises LookupFailed when there is none."""
    found: list[Leader] = []
    with run:
        periods = [number for (number,) in run.query(_PERIODS)[1]]
        for begin in range(0, len(periods), _AT_ONCE):
            part = periods[begin : begin + _AT_ONCE]
            found += _leaders(run, *limits.between(run, part[0], part[-1]))
    if not found:
        raise LookupFailed("nobody is eligible in any period", hint=WIDER)
    return found


def number_ones(run: Run, limits: Eligible, where: str = "true") -> list[tuple[int, str, str, float]]:
    """Number and label of each period, its leader and the mean; of the periods that meet a SQL condition.

    What `leaders` says of them, at a fraction of its time for many periods.
    """
    rows, values = limits.always(run)
    return run.query(_FIRSTS.format(rows=rows, where=where), values)[1]


def _leaders(run: Run, rows: str, values: Sequence[Any]) -> Iterator[Leader]:
    """The leaders among the rows of skills of a SQL query."""
    import numpy as np

    from ttt_cli.views.rankings.contention import best_probabilities

    for number, period, player, games, means, sds in zip(
        *run.arrays(_FIELD.format(rows=rows), values).values(), strict=True
    ):
        best = int(np.argmax(means))
        known = bool(sds.min() >= 0.0)
        p_best = float(best_probabilities(means, sds, np.array([best]))[0]) if known else None
        sd = float(sds[best]) if known else None
        yield Leader(int(number), period, player, float(means[best]), sd, games.item(), p_best, len(means))


def leader_rows(run: Run, limits: Eligible) -> Rows:
    """One row per period: `period,player,mean,sd,games,p_best,field`."""
    rows = [
        (one.period, one.player, one.mean, one.sd, one.games, one.p_best, one.field)
        for one in leaders(run, limits)
    ]
    columns = ("period", "player", "mean", "sd", "games", "p_best", "field")
    return Rows(columns, rows, _title(f"The number one of every {run.meta.period}", run, limits), DECIMALS)


def reign_rows(run: Run, limits: Eligible) -> Rows:
    """One row per reign: `first,last,player,periods,p_best,mean,sd,peak_period,least_p_best`.

    The fourth column is named after the run's periods (`years`, ...). `mean` and `sd` are those of the reign's best
    period; `p_best` is the mean over its periods.
    """
    rows = []
    for reign in reigns(leaders(run, limits)):
        peak = max(reign, key=lambda one: one.mean)
        chances = [one.p_best for one in reign if one.p_best is not None]
        average = sum(chances) / len(chances) if chances else None
        span = reign[0].period, reign[-1].period, peak.player, len(reign), average
        rows.append((*span, peak.mean, peak.sd, peak.period, min(chances, default=None)))
    columns = (
        "first",
        "last",
        "player",
        f"{run.meta.period}s",
        "p_best",
        "mean",
        "sd",
        "peak_period",
        "least_p_best",
    )
    return Rows(columns, rows, _title("The number ones", run, limits), DECIMALS)


def reigns(found: Sequence[Leader]) -> list[list[Leader]]:
    """Runs of consecutive periods with one leader; a period in which nobody is eligible ends a reign."""
    merged: list[list[Leader]] = []
    for leader in found:
        before = merged[-1][-1] if merged else None
        if before and before.player == leader.player and before.number == leader.number - 1:
            merged[-1].append(leader)
        else:
            merged.append([leader])
    return merged


def _title(head: str, run: Run, limits: Eligible) -> tuple[str, ...]:
    return (head, *among(run, limits), INDEPENDENT, run_line(run))
