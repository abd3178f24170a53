"""Who meets whom in a year of an artificial history."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.evaluate.simulate.plan import Plan

_REFUSALS: Final = 20
_LEARNED: Final = 0.5  # of `prior_sd`: how uncertain a rating is before a year
_LOGISTIC: Final = 1.702  # times as steep, a logistic curve is nearly a normal one


def pairs(
    plan: Plan, cluster: Places, activity: Array, skill: Array, n: int, rng: np.random.Generator
) -> tuple[Places, Places]:
    """Places of both opponents of n games among the active players, who are sorted by cluster; never the same.

    Both are drawn in proportion to activity, Black within White's cluster or from all, and for the skill, if it counts.
    """
    everyone = len(cluster)
    bound = np.concatenate(([0.0], np.cumsum(activity)))
    first = _place(bound, rng.random(n) * bound[-1], 0, everyone)
    left = np.searchsorted(cluster, cluster, "left")[first]
    right = np.searchsorted(cluster, cluster, "right")[first]
    abroad = (rng.random(n) < plan.mixing) | (right - left < 2)
    left[abroad], right[abroad] = 0, everyone
    second = _others(bound, activity, first, left, right, rng)
    if plan.opponents_sd is None:
        return first, second
    nearest, asking = second.copy(), np.arange(n)
    for _ in range(_REFUSALS):
        apart = (skill[second[asking]] - skill[first[asking]]) / plan.opponents_sd
        asking = asking[rng.random(len(asking)) >= np.exp(-0.5 * apart**2)]
        one = first[asking]
        other = _others(bound, activity, one, left[asking], right[asking], rng)
        nearer = np.abs(skill[other] - skill[one]) < np.abs(skill[nearest[asking]] - skill[one])
        nearest[asking[nearer]], second[asking] = other[nearer], other
    second[asking] = nearest[asking]
    return first, second


def learn(plan: Plan, rating: Array, white: Ids, black: Ids, outcome: NDArray[np.int8]) -> None:
    """Move ratings by half a step of Newton's method, with a normal prior around them, towards what games say."""
    steep = _LOGISTIC / (math.sqrt(2.0) * plan.beta)
    expected = 1.0 / (1.0 + np.exp(-steep * (rating[white] - rating[black] + plan.white_advantage)))
    residual, information = steep * (outcome / 2.0 - expected), steep**2 * expected * (1.0 - expected)

    n = len(rating)

    def total(values: Array, of_black: Array) -> Array:
        return np.asarray(np.bincount(white, values, n) + np.bincount(black, of_black, n), np.float64)

    own = 1.0 / (_LEARNED * plan.prior_sd) ** 2 if plan.prior_sd else math.inf
    rating += total(residual, -residual) / (own + 2.0 * total(information, information))


def _others(
    bound: Array, activity: Array, one: Places, left: Places, right: Places, rng: np.random.Generator
) -> Places:
    """Opponents within [left, right), drawn in proportion to activity."""
    point = bound[left] + rng.random(len(one)) * (bound[right] - bound[left] - activity[one])
    point += np.where(point >= bound[one], activity[one], 0.0)
    other = _place(bound, point, left, right)
    same = other == one  # by rounding only
    other[same] += np.where(other[same] + 1 < right[same], 1, -1)
    return other


def _place(bound: Array, point: Array, left: Places | int, right: Places | int) -> Places:
    """The interval of each point between the bounds, kept within [left, right)."""
    return np.asarray(np.clip(np.searchsorted(bound, point, "right") - 1, left, right - 1), np.int64)
