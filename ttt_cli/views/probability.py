"""Who would win a game, or a match of several, as quick as looking at a run.

A strength is a row of a run's skills: `mean`, `sd` and the model's further columns (`draw_margin`, ...), points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.inference.outcome import in_year, is_gaussian
from ttt_cli.inference.outcome import outcomes as gaussian_outcomes
from ttt_cli.runs.run import Run
from ttt_cli.support.normal import normal_cdf

if TYPE_CHECKING:
    pass

Strength = Mapping[str, Any]
_REACH: Final = 6.5  # of the normal distribution, sds
_STEPS: Final = 40


class Outcome(NamedTuple):
    """Probabilities of one game for one side."""

    win: float
    draw: float
    loss: float

    @property
    def expected(self) -> float:
        """The expected score, 0 to 1."""
        return self.win + self.draw / 2.0

    def turned(self) -> Outcome:
        """The same game seen from the other side."""
        return Outcome(self.loss, self.draw, self.win)


def stronger(a: Strength, b: Strength) -> float | None:
    """The probability that A's skill is the higher one, the two posteriors taken as independent; None without sds."""
    if a["sd"] is None or b["sd"] is None:
        return None
    spread = math.hypot(a["sd"], b["sd"])
    difference = a["mean"] - b["mean"]
    if not spread:
        return 0.5 if not difference else float(difference > 0.0)
    return normal_cdf(difference / spread)


def params_in(run: Run, period: str) -> dict[str, Any]:
    """A run's resolved parameters as they are in a period, by its label."""
    return in_year(run.meta.params, run.draws_in(int(period[:4])))


def outcomes(
    model: str, params: Mapping[str, Any], white: Sequence[Strength], black: Sequence[Strength]
) -> list[Outcome]:
    """Probabilities for White, pair by pair. `params` are the run's resolved ones.

    Systems that are not Gaussian predict by their own module. Raises ConfigError for an unknown one.
    """
    if not white:
        return []
    if is_gaussian(params):
        chances = [
            gaussian_outcomes(params, *sides, normal_cdf)
            for sides in zip(white, black, strict=True)
        ]
        return [Outcome(win, draw, loss) for loss, draw, win in chances]
    import numpy as np

    from ttt_cli.systems.registry import load

    numbers = [
        key for key, value in white[0].items() if value is None or isinstance(value, int | float)
    ]
    columns = (
        {key: np.array([row[key] for row in side], np.float64) for key in numbers}
        for side in (white, black)
    )
    predicted = load(model).predict(dict(params), *columns).tolist()
    return [Outcome(win, draw, loss) for loss, draw, win in predicted]


def colour_blind(model: str, params: Mapping[str, Any], a: Strength, b: Strength) -> Outcome:
    """Probabilities for A when the colours are drawn by lot."""
    as_white, turned = outcomes(model, params, [a, b], [b, a])
    as_black = turned.turned()
    return Outcome(*((w + b) / 2.0 for w, b in zip(as_white, as_black, strict=True)))


class Match(NamedTuple):
    """A match of `games`: probabilities of winning, drawing and losing it, and of every score for the first player.

    `scores[k]` is the probability of k half points.
    """

    games: int
    win: float
    tie: float
    loss: float
    scores: list[float]

    @property
    def expected(self) -> float:
        """Expected score, points."""
        return sum(half * probability for half, probability in enumerate(self.scores)) / 2.0

    def interval(self, share: float) -> tuple[float, float]:
        """Scores, points, with the result between them with at least that probability, both tails alike."""
        tail = (1.0 - share) / 2.0
        below = list(accumulate(self.scores))
        low = next(half for half, sum_ in enumerate(below) if sum_ > tail)
        high = next((half for half, sum_ in enumerate(below) if sum_ >= 1.0 - tail), len(below) - 1)
        return low / 2.0, high / 2.0


def match(model: str, params: Mapping[str, Any], a: Strength, b: Strength, games: int) -> Match:
    """What a match of A against B promises; colours alternate, the odd game has colours by lot.

    The difference of skill is uncertain but the same in all games: the match is worked out for each value of it and
    averaged (equal steps over the normal density, exact far beyond 1e-9); without sds, and where the system predicts
    from ratings alone, it is certain. Margins of draws that are uncertain too (TTT-D) are averaged game by game.
    """
    spread = math.hypot(a["sd"] or 0.0, b["sd"] or 0.0)
    if not is_gaussian(params):
        from ttt_cli.systems.registry import load

        spread *= not load(model).TRAITS.predicts_by_means
    steps = [_REACH * (2 * k / _STEPS - 1) for k in range(_STEPS + 1)] if spread else [0.0]
    density = [math.exp(-0.5 * z * z) for z in steps]
    strengths_a = [{**a, "mean": a["mean"] + 0.5 * spread * z, "sd": 0.0} for z in steps]
    strengths_b = [{**b, "mean": b["mean"] - 0.5 * spread * z, "sd": 0.0} for z in steps]
    a_as_white = outcomes(model, params, strengths_a, strengths_b)
    b_as_white = outcomes(model, params, strengths_b, strengths_a)
    scores = [0.0] * (2 * games + 1)
    for weight, as_white, turned in zip(density, a_as_white, b_as_white, strict=True):
        for half, probability in enumerate(_scores(as_white, turned.turned(), games)):
            scores[half] += weight / sum(density) * probability
    return Match(games, sum(scores[games + 1 :]), scores[games], sum(scores[:games]), scores)


def _scores(as_white: Outcome, as_black: Outcome, games: int) -> list[float]:
    """The probability of every score in half points of a match, by A's outcomes with both colours.

    Those of one game are the coefficients of a polynomial, and those of a match its product over the games.
    """
    white = [as_white.loss, as_white.draw, as_white.win]
    black = [as_black.loss, as_black.draw, as_black.win]
    pair = _product(white, black)
    scores = [1.0]
    for digit in f"{games // 2:b}":  # a power by squaring
        scores = _product(scores, scores)
        if digit == "1":
            scores = _product(scores, pair)
    if games % 2:
        by_lot = [(w + b) / 2.0 for w, b in zip(white, black, strict=True)]
        scores = _product(scores, by_lot)
    return scores


def _product(p: list[float], q: list[float]) -> list[float]:
    """Coefficients of the product of two polynomials, without loading numpy."""
    result = [0.0] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for j, y in enumerate(q, start=i):
            result[j] += x * y
    return result
