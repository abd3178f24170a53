"""What many fits cost: how often smoothed systems are refitted where nobody says so, and with which parameters."""

from dataclasses import replace
from typing import Final

from ttt_cli.evaluate.forecast.evaluation import System
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline

MOST: Final = 25_000_000  # games that all fits of a system may go through: one to two minutes of work
SHARES: Final = (1 / 52, 1 / 26, 1 / 12, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 1.0)  # of a year, after which to refit


def affordable_every(timeline: Timeline, first: int, sets: int = 1) -> int:
    """After how many periods to refit: as few as let all fits go through `MOST` games, but no more than a year's.

    The periods from that at index `first` on are predicted, with so many sets of parameters. The games alone decide,
    not the clock, so that results can be repeated.
    """
    seen = timeline.game_start[first:-1]
    year = STEPS_PER_YEAR[timeline.period]
    steps = sorted({1, *(max(1, round(share * year)) for share in SHARES)})
    affordable = (every for every in steps if sets * int(seen[::every].sum()) <= MOST)
    return next(affordable, steps[-1])


def affordable(timeline: Timeline, system: System, fits: int) -> tuple[System, str | None]:
    """The system with parameters with which so many fits can be afforded, and a remark on it."""
    instead = system.model.TRAITS.for_many_fits(timeline, system.params, fits)
    if not instead:
        return system, None
    changes = ", ".join(f"{key} {value}" for key, value in instead.items())
    params = system.params.model_copy(update=dict(instead))
    note = f"{system.name}: {changes}, since {fits:,} fits are made (all as configured with --every)"
    return replace(system, params=params), note
