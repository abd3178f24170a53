"""Laplace's approximation around the most probable ratings: the evidence, its slopes, and each game given all others.

With F the log density of ratings and games, r its maximum and H the information there, log Z = F(r) + n/2 log(2 pi) -
1/2 log det H. A parameter t moves it by dF/dt - 1/2 tr(H^-1 dH/dt), where H moves with t and with r: dr/dt = H^-1 dg/dt
for the gradient g. Natural units (400 / ln 10 Elo points) throughout.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.inference.bradley_terry.comparisons import Comparisons
from ttt_cli.inference.outcome import ELO_SCALE, margin_probabilities
from ttt_cli.sparse.factor import Factor
from ttt_cli.timeline import Timeline

# Of the quadrature over a difference: evenly spaced, so that probabilities are right to 1e-7 up to a sd of 600 points
# and to one in a thousand up to 1,500 (a Gauss-Hermite rule of as many is wrong by a quarter of a draw's there).
POINTS: Final = 32
REACH: Final = 5.5  # sds


def laplace_integral(value: float, information: Factor) -> float:
    """The logarithm of the integral of a density, from its logarithm at the maximum and the information there."""
    n = len(information.variances)
    return value + 0.5 * n * math.log(2.0 * math.pi) - 0.5 * information.log_determinant


@dataclass(frozen=True)
class Derivatives:
    """Of the log-likelihood of comparisons at a rating, and of the first two of these in the margin, arrays (rows,)."""

    first: Array
    second: Array
    third: Array
    margin: Array
    margin_first: Array
    margin_second: Array

    @classmethod
    def at(cls, difference: Array, won: Array, lost: Array, margin: float) -> "Derivatives":
        """Those of won log L(difference - margin) + lost log L(-difference - margin), L the logistic function."""
        from scipy.special import expit

        up, down = expit(difference - margin), expit(difference + margin)
        won_second, lost_second = -won * up * (1.0 - up), -lost * down * (1.0 - down)
        won_third, lost_third = won_second * (1.0 - 2.0 * up), lost_second * (1.0 - 2.0 * down)
        return cls(
            first=won * (1.0 - up) - lost * down,
            second=won_second + lost_second,
            third=won_third + lost_third,
            margin=-won * (1.0 - up) - lost * down,
            margin_first=lost_second - won_second,
            margin_second=lost_third - won_third,
        )


def difference_variances(
    information: Factor, first: NDArray[np.integer], second: NDArray[np.integer]
) -> Array:
    """Variances of differences of ratings that games or histories join."""
    both: Array = information.variances[first] + information.variances[second]
    both -= 2.0 * information.covariances(first, second)
    return both


def differences(comparisons: Comparisons, rating: Array) -> Array:
    """The rating difference of `first` in every row."""
    return np.asarray(rating[comparisons.first] - rating[comparisons.second] + comparisons.shift)


def leave_one_out(
    timeline: Timeline, rating: Array, information: Factor, margin: float, white_advantage: float
) -> float:
    """The sum of log probabilities of all games, each taken out of the Gaussian of its difference; given in points."""
    white, black = timeline.game_white, timeline.game_black
    shift = timeline.ahead(white_advantage)
    difference = rating[white] - rating[black] + shift / ELO_SCALE
    won, lost = (timeline.outcome > 0).astype(np.float64), (timeline.outcome < 2).astype(np.float64)
    taken = np.minimum(timeline.weight, 1.0)
    at = Derivatives.at(difference, won, lost, margin / ELO_SCALE)
    variance = difference_variances(information, white, black)
    left = variance / (1.0 + taken * at.second * variance)
    mean = difference - left * taken * at.first
    probabilities = _averaged(ELO_SCALE * mean, ELO_SCALE * np.sqrt(left), margin)
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities[np.arange(len(difference)), timeline.outcome])
    return float(timeline.weight @ logs)


def _averaged(difference: Array, sd: Array, margin: float) -> Array:
    """Probabilities (n, 3) of loss, draw and win for N(difference, sd^2), points, by quadrature."""
    places = np.linspace(-REACH, REACH, POINTS)
    shares = np.exp(-0.5 * places**2)
    total = np.zeros((len(difference), 3))
    for place, share in zip(places.tolist(), (shares / shares.sum()).tolist(), strict=True):
        total += share * margin_probabilities(difference + place * sd, margin)
    return total
