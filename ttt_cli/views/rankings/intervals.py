"""Intervals of ranks, and how many players of a ranking are certainly ahead of the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.normal import normal_cdf
from ttt_cli.views.rankings.strongest import log_cdf

LEVEL: Final = 0.95
SAMPLES: Final = 4000  # of the rank of one player
LEAST_SAMPLES: Final = 400  # where many players are listed
ALL_SAMPLES: Final = 4_000_000
MOST_TOGETHER: Final = 20  # players whose skills are taken together; all others as independent
_TOLERANCE: Final = 0.1  # of solutions: variances of differences are exact to a hundredth
_REACH: Final = 4.0  # sds of a listed player's skill
_STEPS: Final = 256
_CHUNK: Final = 1 << 20  # probabilities computed at a time
_TINY: Final = 1e-12


class RankIntervals(NamedTuple):
    """Intervals of the ranks of players, of `LEVEL`: arrays of shape (players,).

    `n_certain`: how many are stronger than the next one with at least that probability.
    """

    low: Places
    high: Places
    n_certain: int


class _IndependentPlayers(NamedTuple):
    """How many of many players are above a skill, their skills taken as independent; arrays of shape (steps,).

    `skill`: at equal steps, points. `expected`: number of players above it, the sum of their probabilities p.
    `squares`: the sum of p^2.
    """

    skill: Array
    expected: Array
    squares: Array

    def draw_above(
        self, skill: Array, rng: np.random.Generator, *, without: Array | float = 0.0
    ) -> Places:
        """Samples of the number of players above skills, shape (samples,).

        The number is a sum of independent 0s and 1s; drawn is a binomial number with its mean and variance. `without`:
        the probability, at each skill, of a player who is not counted.
        """
        expected = np.maximum(np.interp(skill, self.skill, self.expected) - without, 0.0)
        squares = np.maximum(np.interp(skill, self.skill, self.squares) - np.square(without), _TINY)
        trials = np.ceil(expected**2 / squares).astype(np.int64)
        chance = np.divide(expected, trials, out=np.zeros(len(skill)), where=trials > 0)
        return np.asarray(rng.binomial(trials, np.minimum(chance, 1.0)))


def rank_intervals(
    run: Run, skills: Sequence[tuple[str, int]], means: Array, sds: Array, n_listed: int, seed: int
) -> RankIntervals:
    """Intervals of the ranks by skill of the first `n_listed` of all eligible players of a period.

    `skills`: player and number of the period, of all, by descending mean; `means`, `sds`, shape (players,): their
    skills. From samples: the first `MOST_TOGETHER` are drawn from the joint posterior, all others as independent.
    """
    n_together = min(MOST_TOGETHER, len(means))
    together = slice(n_together)
    covariance = np.diag(sds[together] ** 2)
    if run.has_joint and n_together:
        covariance = run.joint.covariance(skills[together], _TOLERANCE) * run.scale.slope**2
    samples = max(min(SAMPLES, ALL_SAMPLES // n_listed), LEAST_SAMPLES)
    rng = np.random.default_rng(seed)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    drawn = means[together] + rng.standard_normal((samples, n_together)) @ root.T
    listed_means = means[:n_listed]
    listed_sds = sds[:n_listed]
    lowest = float((listed_means - _REACH * listed_sds).min())
    highest = float((listed_means + _REACH * listed_sds).max())
    independent = _independent_players(means[n_together:], sds[n_together:], lowest, highest)
    low = np.empty(n_listed, np.int64)
    high = np.empty(n_listed, np.int64)
    tail = (1.0 - LEVEL) / 2.0
    first = int(np.ceil(tail * samples)) - 1
    last = int(np.ceil((1.0 - tail) * samples)) - 1
    for index in range(n_listed):
        if index < n_together:
            skill = drawn[:, index]
            above = independent.draw_above(skill, rng)
        else:
            z = rng.standard_normal(samples)
            skill = means[index] + sds[index] * z
            above = independent.draw_above(skill, rng, without=np.exp(log_cdf(-z)))
        ranks = 1 + above + (drawn > skill[:, np.newaxis]).sum(axis=1)
        ranks.sort()
        low[index] = ranks[first]
        high[index] = ranks[last]
    return RankIntervals(
        low, high, _count_certain(listed_means, listed_sds, covariance[:n_listed, :n_listed])
    )


def _independent_players(
    means: Array, sds: Array, lowest: float, highest: float
) -> _IndependentPlayers:
    """How many of some players are above the skills between two."""
    skill = np.linspace(lowest, highest, _STEPS)
    expected = np.zeros(_STEPS)
    squares = np.zeros(_STEPS)
    rows = _CHUNK // _STEPS
    for start in range(0, len(means), rows):
        part = slice(start, start + rows)
        above = np.exp(log_cdf((means[part, np.newaxis] - skill) / sds[part, np.newaxis]))
        expected += above.sum(axis=0)
        squares += np.square(above).sum(axis=0)
    return _IndependentPlayers(skill, expected, squares)


def _count_certain(means: Array, sds: Array, covariance: Array) -> int:
    """How many players are stronger than the next one with a probability of `LEVEL` or more.

    `covariance`: of the first skills; all others are independent.
    """
    variances = sds**2
    variances[: len(covariance)] = np.diag(covariance)
    shared = np.zeros(len(means) - 1)
    neighbours = np.diag(covariance, 1) if len(covariance) else np.empty(0)
    shared[: len(neighbours)] = neighbours
    difference_sd = np.sqrt(np.maximum(variances[:-1] + variances[1:] - 2.0 * shared, _TINY))
    leads = (means[:-1] - means[1:]) / difference_sd
    return sum(normal_cdf(lead) >= LEVEL for lead in leads.tolist())
