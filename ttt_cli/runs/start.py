"""What a run believes of the players of other games: where their fit may begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.chains import Line
from ttt_cli.fitted import Fit, Status
from ttt_cli.periods import period_of

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period
    from ttt_cli.runs.run import Run
    from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]

_PLAYERS: Final = "SELECT player, min(period_number), count(*) FROM skills GROUP BY player ORDER BY player"
_SKILLS: Final = "SELECT {columns} FROM skills"  # by player, then period, as stored (see `schema`)
_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}


def start_from(run: Run, timeline: Timeline) -> Fit:
    """A Fit whose chains hold, for every node of a timeline, what a run believes of the player there, points.

    Where the run has no such period, its nearest one of the player is taken; NaN where it does not know the player by
    this name. There are neither sites nor evidence in it: it is good to start from, and for nothing else.
    """
    row = _rows(run, timeline)
    known = row >= 0
    chains: dict[str, Line] = {}
    for name, (mean, sd) in _stored_chains(run).items():
        here = np.full((2, timeline.n_nodes), np.nan)
        here[:, known] = mean[row[known]], sd[row[known]]
        chains[name] = Line(*here)
    meta = run.meta
    return Fit(
        model=meta.model,
        kind="filtered" if meta.kind == "filtered" else "smoothed",
        params=meta.params,
        chains={**chains},
        log_evidence=float("nan"),
        status=Status(converged=False, sweeps=0, remaining_error=float("inf")),
    )


def _rows(run: Run, timeline: Timeline) -> NDArray[np.int64]:
    """The row of the run's skills, by player and period, for each node; -1 where the player is not known.

    A player has a row in every period from the first to the last.
    """
    _, players = run.query(_PLAYERS)
    place = {player: number for number, (player, *_) in enumerate(players)}
    first = np.array([first for _, first, _ in players], np.int64)
    count = np.array([count for *_, count in players], np.int64)
    begin = np.cumsum(count) - count
    found = np.array([place.get(player, -1) for player in timeline.players], np.int64)[timeline.node_player]
    number = _in_periods(timeline.node_period, timeline.period, run.meta.period) - first[found]
    return np.where(found >= 0, begin[found] + np.clip(number, 0, count[found] - 1), -1)


def _in_periods(number: NDArray[np.int32], period: Period, wanted: str) -> NDArray[np.int64]:
    """Numbers of the periods of another kind that the middles of periods lie in."""
    if period == wanted:
        return number.astype(np.int64)
    middle = (_first_day(number, period) + _first_day(number + 1, period)) // 2
    return period_of(middle.astype(np.int32), wanted).astype(np.int64)  # type: ignore[arg-type]


def _first_day(number: NDArray[np.int32], period: Period) -> NDArray[np.int64]:
    """Days since 1970-01-01 at which periods begin: the inverse of `period_of`."""
    if period in _MONTHS:
        months = number.astype(np.int64) * _MONTHS[period] - 12 * 1970
        return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return number.astype(np.int64) * 7 - 3 if period == "week" else number.astype(np.int64)


def _stored_chains(run: Run) -> dict[str, tuple[Array, Array]]:
    """Mean and sd of each chain in all rows of the skills, points; NaN where the system gives no number."""
    names, _ = run.query("SELECT * FROM skills LIMIT 0")
    chains = {
        "skill": ("mean", "sd"),
        **{name: (name, f"{name}_sd") for name in names if f"{name}_sd" in names},
    }
    numbers = ", ".join(
        f"coalesce({name}, 'nan'::DOUBLE) AS {name}" for pair in chains.values() for name in pair
    )
    column = run.arrays(_SKILLS.format(columns=numbers))
    column["mean"] = column["mean"] - run.scale.shift
    return {
        name: (column[mean] / run.scale.slope, column[sd] / run.scale.slope)
        for name, (mean, sd) in chains.items()
    }
