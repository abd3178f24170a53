"""How good forecasts are: log score, Brier score and accuracy, of a run and of single games.

Predict, score, then learn (Dawid 1984): `ttt_cli.evaluate.forecast.predict` makes the probabilities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.document import Document
from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.evaluate.forecast.predict import forecast
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import Timeline, build_timeline

Array = NDArray[np.float64]

EQUAL: Final = 1e-9  # probabilities closer than this are equal but for rounding


@dataclass(frozen=True)
class GameScores:
    """How good the probabilities of single games were, arrays of shape (games,).

    `loss`: minus the log probability of what happened, nats; `brier`: the squared distance between the probabilities
    and what happened, from 0 to 2; `hit`: whether the most probable outcome happened (one of k equally probable ones
    counts 1 / k).
    """

    loss: Array
    brier: Array
    hit: Array


@dataclass(frozen=True)
class Scores:
    """How good probabilities of `games` (weighted) outcomes were.

    `log_score`: sum of log probabilities of what happened, nats. Means over games: `brier` and `accuracy`, as in
    GameScores.
    """

    games: float
    log_score: float
    brier: float
    accuracy: float

    @property
    def per_game(self) -> float:
        """The mean log probability of what happened, nats."""
        return self.log_score / self.games


@dataclass(frozen=True)
class Prequential:
    """The scores of a run's games from the period `first` on, and those of the naive model for the same games.

    `every`: after how many periods the games seen were added to.
    """

    first: str
    every: int
    model: Scores
    naive: Scores
    converged: bool


def prequential(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Prequential:
    """The prequential scores of a run's games under its config.

    `since`: the first period to be scored, as it is written or its year; None for the run's first. `every`: fit again
    after so many periods only. Raises LookupFailed when there are no games from `since` on, ConfigError, RunError.
    """
    resolved = resolve(Document(values=run.meta.config))
    data = resolved.config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    first = find_step(timeline, since) if since else 0
    found = forecast(
        timeline,
        resolved.model,
        resolved.params,
        resolved.config.solver,
        first=first,
        every=every,
        progress=progress,
    )
    scored = slice(int(timeline.game_start[first]), None)
    outcome, weight = timeline.outcome[scored], timeline.weight[scored]
    return Prequential(
        first=timeline.label(int(timeline.periods[first])),
        every=every,
        model=score(found.model, outcome, weight),
        naive=score(found.naive, outcome, weight),
        converged=found.converged,
    )


def find_step(timeline: Timeline, since: str) -> int:
    """The index of the first period with games that is not before `since`.

    Raises ConfigError when `since` does not begin with a year, LookupFailed when it is after the last period.
    """
    if not re.match(r"\d{4}(-|$)", since):
        raise ConfigError(f"{since!r} is no period", hint="give a year, for instance 1900")
    labels = [timeline.label(number) for number in timeline.periods.tolist()]
    steps = [step for step, label in enumerate(labels) if label >= since]
    if not steps:
        last = f"the last ones are of {labels[-1]}" if labels else None
        raise LookupFailed(f"there are no games from {since} on", hint=last)
    return steps[0]


def score_games(probabilities: Array, outcome: NDArray[np.int8]) -> GameScores:
    """Score probabilities (n, 3) of loss, draw and win by what happened, game by game."""
    happened = np.eye(3)[outcome]
    most = probabilities > probabilities.max(axis=1, keepdims=True) - EQUAL
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities[np.arange(len(outcome)), outcome])
    return GameScores(
        loss=-logs,
        brier=np.square(probabilities - happened).sum(axis=1),
        hit=(most & (happened > 0.0)).any(axis=1) / most.sum(axis=1),
    )


def score(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> Scores:
    """Score probabilities (n, 3) of loss, draw and win by what happened; n > 0, weights > 0."""
    found = score_games(probabilities, outcome)
    games = float(weight.sum())
    return Scores(
        games=games,
        log_score=-float(weight @ found.loss),
        brier=float(weight @ found.brier) / games,
        accuracy=float(weight @ found.hit) / games,
    )
