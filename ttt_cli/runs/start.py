"""What a run believes of the players of other games: where their fit may begin."""

from typing import Final

import numpy as np

from ttt_cli.arrays import Ids, Places
from ttt_cli.config.schema import Period
from ttt_cli.fitted import Fit, Status, later_on
from ttt_cli.histories import Chain, Line
from ttt_cli.periods import period_of
from ttt_cli.runs.run import Run
from ttt_cli.timeline import Timeline

_PLAYERS: Final = "SELECT player, count(*) FROM spans GROUP BY player ORDER BY player"
_SPANS: Final = """
SELECT * EXCLUDE (player, games) REPLACE (coalesce("until", period_number + 1) AS "until") FROM spans
"""  # by player, then period, as stored
_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}


def start_from(run: Run, timeline: Timeline) -> Fit:
    """A Fit whose chains hold, for every node of a timeline, what a run believes of the player there, points.

    Where the run has no such period, its nearest one of the player is taken; NaN where it does not know the player by
    this name. There are neither sites nor evidence in it: it is good to start from, and for nothing else.
    """
    spans = run.arrays(_SPANS)
    known, number, span = _places(run, timeline, spans["period_number"], spans["until"])
    beginnings = {name: column[span] for name, column in spans.items()}
    ahead = number - beginnings["period_number"]
    chains: dict[str, Chain] = {}
    for name in ("skill", *(name for name in spans if f"{name}_sd" in spans)):
        here = np.full((2, timeline.n_nodes), np.nan)
        here[:, known] = later_on(beginnings, name, ahead)
        chains[name] = Line(*here)
    meta = run.meta
    return Fit(
        model=meta.model,
        kind="filtered" if meta.kind == "filtered" else "smoothed",
        params=meta.params,
        chains=chains,
        status=Status(converged=False, sweeps=0, remaining_error=float("inf")),
    )


def _places(run: Run, timeline: Timeline, period: Ids, until: Ids) -> tuple[Places, Places, Places]:
    """The nodes whose players the run knows, the nearest of its periods to each, and the span that has it.

    `period` and `until` are those of the run's spans, by player, then period.
    """
    _, players = run.query(_PLAYERS)
    place = {player: at for at, (player, _) in enumerate(players)}
    count = np.array([count for _, count in players], np.int64)
    end = np.cumsum(count)
    found = np.array([place.get(player, -1) for player in timeline.players], np.int64)[timeline.node_player]
    known = np.flatnonzero(found >= 0)
    player = found[known]
    number = _in_periods(timeline.node_period[known], timeline.period, run.meta.period)
    number = np.clip(number, period[(end - count)[player]], until[end[player] - 1] - 1)
    lowest = int(period.min(initial=0))
    width = int(until.max(initial=0)) - lowest
    keys = np.repeat(np.arange(len(players)), count) * width + (period - lowest)
    return known, number, np.searchsorted(keys, player * width + (number - lowest), side="right") - 1


def _in_periods(number: Ids, period: Period, wanted: str) -> Places:
    """Numbers of the periods of another kind that the middles of periods lie in."""
    if period == wanted:
        return number.astype(np.int64)
    middle = (_first_day(number, period) + _first_day(number + 1, period)) // 2
    return period_of(middle.astype(np.int32), wanted).astype(np.int64)  # type: ignore[arg-type]


def _first_day(number: Ids, period: Period) -> Places:
    """Days since 1970-01-01 at which periods begin: the inverse of `period_of`."""
    if period in _MONTHS:
        months = number.astype(np.int64) * _MONTHS[period] - 12 * 1970
        return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return number.astype(np.int64) * 7 - 3 if period == "week" else number.astype(np.int64)
