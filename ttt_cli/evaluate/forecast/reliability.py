"""Whether foreseen probabilities come true: games of earlier ignorance in bins of their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.document import Document
from ttt_cli.evaluate.forecast.predict import forecast
from ttt_cli.evaluate.forecast.scores import find_step
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline

Array = NDArray[np.float64]

OUTCOMES: Final = ("loss", "draw", "win")  # White's, by code
BINS: Final = 20


@dataclass(frozen=True)
class Bin:
    """Games that had an outcome with a probability between two bounds: their weighted number, means of both.

    `error` is the standard error of `observed`.
    """

    outcome: str
    games: float
    foreseen: float
    observed: float
    error: float


@dataclass(frozen=True)
class Reliability:
    """The bins of a run's games from the period `first` on, each foreseen from earlier periods."""

    first: str
    every: int
    games: float
    bins: tuple[Bin, ...]


def reliability(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Reliability:
    """Foresee a run's games period by period and bin them.

    `since`: the first period that counts, as it is written or its year; None for the run's first. `every`: fit again
    after so many periods only. Raises LookupFailed when there are no games from `since` on, ConfigError, RunError.
    """
    resolved = resolve(Document(values=run.meta.config))
    data = resolved.config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    first = find_step(timeline, since) if since else 0
    found = forecast(
        timeline, resolved.model, resolved.params, resolved.config.solver,
        first=first, every=every, progress=progress,
    )  # fmt: skip
    scored = slice(int(timeline.game_start[first]), None)
    weight = timeline.weight[scored]
    label = timeline.label(int(timeline.periods[first]))
    return Reliability(label, every, float(weight.sum()), bins(found.model, timeline.outcome[scored], weight))


def bins(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> tuple[Bin, ...]:
    """Loss, draw and win in BINS bins of their probability (n, 3) each; empty ones left out."""
    found = []
    for code, name in enumerate(OUTCOMES):
        chance = probabilities[:, code]
        number = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
        happened = (outcome == code).astype(np.float64)
        games, squares, foreseen, observed = (
            np.bincount(number, values, BINS)
            for values in (weight, weight**2, weight * chance, weight * happened)
        )
        for i in np.flatnonzero(games).tolist():
            mean, share = foreseen[i] / games[i], observed[i] / games[i]
            spread = mean * (1.0 - mean) * squares[i] / games[i] ** 2
            found.append(Bin(name, float(games[i]), float(mean), float(share), float(np.sqrt(spread))))
    return tuple(found)
