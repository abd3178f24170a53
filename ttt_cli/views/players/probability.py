"""Who would win, as quick as looking at a run.

A strength is a row of a run's skills: `mean`, `sd` and the model's further columns (`draw_margin`, ...), points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ttt_cli.inference.gaussian import in_year, is_gaussian
from ttt_cli.inference.gaussian import outcomes as gaussian_outcomes

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

Strength = Mapping[str, Any]


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


def normal_cdf(x: float) -> float:
    """Phi(x), accurate in both tails."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


def stronger(a: Strength, b: Strength) -> float | None:
    """The probability that A's skill is the higher one, the two posteriors taken as independent; None without sds."""
    if a["sd"] is None or b["sd"] is None:
        return None
    spread = math.hypot(a["sd"], b["sd"])
    difference = a["mean"] - b["mean"]
    return (
        normal_cdf(difference / spread)
        if spread
        else (math.copysign(0.5, difference) if difference else 0.0) + 0.5
    )


def params_in(run: Run, period: str) -> dict[str, Any]:
    """A run's resolved parameters as they are in a period, by its label."""
    return in_year(run.meta.params, run.draws_in(int(period[:4])))


def outcomes(
    model: str, params: Mapping[str, Any], white: Sequence[Strength], black: Sequence[Strength]
) -> list[Outcome]:
    """Probabilities for White, pair by pair. `params` are the run's resolved ones.

    Systems that are not Gaussian are asked themselves, which loads them. Raises ConfigError for an unknown one.
    """
    if not white:
        return []
    if is_gaussian(params):
        found = (gaussian_outcomes(params, *sides, normal_cdf) for sides in zip(white, black, strict=True))
        return [Outcome(win, draw, loss) for loss, draw, win in found]
    return _by_the_model(model, params, white, black)


def colour_blind(model: str, params: Mapping[str, Any], a: Strength, b: Strength) -> Outcome:
    """Probabilities for A when the colours are drawn by lot."""
    as_white, turned = outcomes(model, params, [a, b], [b, a])
    as_black = turned.turned()
    return Outcome(*((w + b) / 2.0 for w, b in zip(as_white, as_black, strict=True)))


def _by_the_model(
    model: str, params: Mapping[str, Any], white: Sequence[Strength], black: Sequence[Strength]
) -> list[Outcome]:
    import numpy as np

    from ttt_cli.systems.registry import load

    def columns(side: Sequence[Strength]) -> dict[str, Any]:
        numbers = [key for key, value in side[0].items() if value is None or isinstance(value, int | float)]
        return {
            key: np.array([math.nan if row[key] is None else row[key] for row in side]) for key in numbers
        }

    predicted = load(model).predict(dict(params), columns(white), columns(black))
    return [Outcome(win, draw, loss) for loss, draw, win in predicted.tolist()]
