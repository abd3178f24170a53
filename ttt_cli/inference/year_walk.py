"""A quantity that walks at random over the years, found where score = precision times itself.

It is N(0, 1) in the first year, with variance drift^2 a year from there. Laplace's method with the Fisher information F
integrates it out: -theta'P theta/2 + log|P|/2 - log|P + F|/2. All of it is one pass along the years and one back, that
of G. J. Bierman (1973, *Int. J. Control* 18, "Fixed interval smoothing with discrete measurements").
"""

import math
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Array, Ids

FARTHEST: Final = 0.5  # of a step
MEMORY: Final = 3  # steps before, of which a faster one is made


class Pass(NamedTuple):
    """theta as earlier years alone have it, its variance, and what part of that each year leaves; all (years,)."""

    mean: list[float]
    variance: list[float]
    left: list[float]


class YearWalk:
    """theta = L u with u standard normal, (years,), from `start` or 0 on; `information` (years,) is F, of theta."""

    def __init__(self, years: Ids, drift: float, start: Array | None) -> None:
        self.drift = drift
        self._sd = np.sqrt(np.append(1.0, drift**2 * np.diff(years))[: len(years)])
        theta = np.zeros(len(years))
        if start is not None and len(start) and len(years):
            known = min(len(start), len(years))
            theta[:known], theta[known:] = start[:known], start[known - 1]
        self._u = np.diff(theta, prepend=0.0) / np.where(self._sd > 0.0, self._sd, 1.0)
        self._steps: list[tuple[Array, Array]] = []

    @property
    def theta(self) -> Array:
        """The walk as it is now, (years,)."""
        return np.asarray(np.cumsum(self._sd * self._u))

    def step(self, score: Array, information: Array) -> float:
        """One step of Fisher scoring from a posterior; the largest move."""
        move = self._scoring(score, information)
        self._u, self._steps = self._u + move, []
        return float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0))

    def accelerated(self, score: Array, information: Array) -> float:
        """The same, with what steps left of each other gone ahead (Anderson 1965); the largest move of the step."""
        move = self._scoring(score, information)

        def felt(steps: Array) -> Array:
            """Of the length that I + L'F L gives them, (..., 2 years)."""
            return np.concatenate([steps, np.cumsum(self._sd * steps, -1) * np.sqrt(information)], -1)

        if self._steps and np.linalg.norm(felt(move)) > np.linalg.norm(felt(self._steps[-1][0])):
            self._steps.clear()
        goal = self._u + move
        earlier, self._steps = self._steps, [*self._steps[1 - MEMORY :], (move, goal)]
        self._u = goal
        if earlier:
            moves, goals = (np.stack([now - one for one in before]) for now, before in zip(
                (move, goal), zip(*earlier, strict=True), strict=True))  # fmt: skip
            share = np.linalg.lstsq(felt(moves).T, felt(move), rcond=1e-6)[0]
            further = -share @ goals
            self._u = goal + further * self._within(further)
        return float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0))

    def log_evidence(self, information: Array) -> float:
        """What the walk adds to that of the posterior."""
        left = self._pass(np.zeros_like(information), information).left
        return -0.5 * (float(self._u @ self._u) - math.fsum(map(math.log, left)))

    def variance(self, information: Array) -> Array:
        """Of theta, (years,)."""
        _, variance, left = self._pass(np.zeros_like(information), information)
        found, later = np.array(variance), 0.0
        for t in range(len(found) - 1, -1, -1):
            later = left[t] * (left[t] * later + float(information[t]))
            found[t] *= 1.0 - variance[t] * later
        return found

    def _scoring(self, score: Array, information: Array) -> Array:
        told = score + information * self.theta
        mean, _, left = self._pass(told, information)
        news = told - information * mean
        u, later = np.empty(len(news)), 0.0
        for t in range(len(news) - 1, -1, -1):
            later = u[t] = left[t] * (float(news[t]) + later)
        move: Array = self._sd * u - self._u
        return move * self._within(move)

    def _within(self, move: Array) -> float:
        """The share of a move that is not too far."""
        return min(1.0, FARTHEST / max(float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0)), FARTHEST))

    def _pass(self, told: Array, information: Array) -> Pass:
        """Along the years, each of which says exp(`told` theta - `information` theta^2/2)."""
        found = Pass([], [], [])
        mean = variance = 0.0
        for sd, b, f in zip(self._sd.tolist(), told.tolist(), information.tolist(), strict=True):
            variance += sd * sd
            left = 1.0 / (1.0 + f * variance)
            for values, value in zip(found, (mean, variance, left), strict=True):
                values.append(value)
            mean, variance = left * (mean + variance * b), left * variance
        return found
