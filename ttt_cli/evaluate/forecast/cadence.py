"""How often smoothed systems are fitted again where nobody says so: as often as can be afforded."""

from __future__ import annotations

from typing import Final

from ttt_cli.steps import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

MOST: Final = 100_000_000  # games that all fits of a system may go through: one to five minutes of work
SHARES: Final = (
    1 / 52,
    1 / 26,
    1 / 12,
    1 / 6,
    1 / 4,
    1 / 3,
    1 / 2,
    1.0,
)  # of a year, after which to fit again


def affordable_every(timeline: Timeline, first: int, sets: int = 1) -> int:
    """After how many periods to fit again: as few as let all fits go through `MOST` games, but no more than a year's.

    The periods from that at index `first` on are foreseen, with so many sets of parameters. The games alone decide,
    not the clock, so that results can be repeated.
    """
    seen = timeline.game_start[first:-1]
    year = STEPS_PER_YEAR[timeline.period]
    steps = sorted({1, *(max(1, round(share * year)) for share in SHARES)})
    affordable = (every for every in steps if sets * int(seen[::every].sum()) <= MOST)
    return next(affordable, steps[-1])
