"""How good forecasts are: log score, Brier score and accuracy: predict, score, then learn (Dawid 1984)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.evaluate.forecast.predict import predict_run
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run

EQUAL: Final = 1e-9  # probabilities closer than this are equal but for rounding


@dataclass(frozen=True)
class GameScores:
    """How good the probabilities of single games were, arrays of shape (games,).

    `loss`: minus the log probability of what happened, nats; `brier`: the squared distance between the probabilities
    and what happened; `hit`: whether the most probable outcome happened (one of k equally probable ones counts 1 / k).
    """

    loss: Array
    brier: Array
    hit: Array


@dataclass(frozen=True)
class Scores:
    """How good probabilities of `games` outcomes were, weighted: the sum of log probabilities, nats, and means."""

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
    """The scores of a run's games from the period `first` on, learned `every` so many, beside the naive model's."""

    first: str
    every: int
    model: Scores
    naive: Scores
    converged: bool


def prequential(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Prequential:
    """The prequential scores of a run's games under its config; arguments and errors as in `predict_run`."""
    found = predict_run(run, since, every, progress=progress)
    return Prequential(
        first=found.first,
        every=every,
        model=score(found.model, found.outcome, found.weight),
        naive=score(found.naive, found.outcome, found.weight),
        converged=found.converged,
    )


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
