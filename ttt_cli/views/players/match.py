"""A match of several games between two players whose strengths are uncertain."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from ttt_cli.views.players.probability import Outcome, Strength, outcomes

MOST_GAMES: Final = 500
_REACH: Final = 6.5  # of the normal distribution, sds
_STEPS: Final = 40


@dataclass(frozen=True)
class Match:
    """A match of `games`: probabilities of winning, drawing and losing it, and of every score for the first player.

    `scores[k]` is the probability of k half points.
    """

    games: int
    win: float
    tie: float
    loss: float
    scores: tuple[float, ...]

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
    averaged (equal steps over the normal density, exact far beyond 1e-9); without sds it is certain. Margins of draws
    that are uncertain too (TTT-D) are averaged game by game.
    """
    difference, spread = a["mean"] - b["mean"], math.hypot(a["sd"] or 0.0, b["sd"] or 0.0)
    steps = [_REACH * (2 * k / _STEPS - 1) for k in range(_STEPS + 1)] if spread else [0.0]
    density = [math.exp(-0.5 * z * z) for z in steps]
    firsts = [{**a, "mean": b["mean"] + difference + spread * z, "sd": 0.0} for z in steps]
    seconds = [{**b, "sd": 0.0}] * len(steps)
    white = outcomes(model, params, firsts, seconds)
    black = [outcome.turned() for outcome in outcomes(model, params, seconds, firsts)]
    scores = [0.0] * (2 * games + 1)
    for weight, as_white, as_black in zip(density, white, black, strict=True):
        for half, probability in enumerate(_score_distribution(as_white, as_black, games)):
            scores[half] += weight / sum(density) * probability
    win, loss = sum(scores[games + 1 :]), sum(scores[:games])
    return Match(games, win, scores[games], loss, tuple(scores))


def _score_distribution(as_white: Outcome, as_black: Outcome, games: int) -> list[float]:
    """Probabilities of 0, 1, ... half points over independent games."""
    white, black = ([outcome.loss, outcome.draw, outcome.win] for outcome in (as_white, as_black))
    even = _power(_product(white, black), games // 2)
    return _product(even, [(w + b) / 2.0 for w, b in zip(white, black, strict=True)]) if games % 2 else even


def _power(factor: list[float], exponent: int) -> list[float]:
    result = [1.0]
    while exponent:
        if exponent % 2:
            result = _product(result, factor)
        exponent //= 2
        factor = _product(factor, factor) if exponent else factor
    return result


def _product(p: list[float], q: list[float]) -> list[float]:
    """Coefficients of the product of two polynomials."""
    result = [0.0] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for j, y in enumerate(q, start=i):
            result[j] += x * y
    return result
