"""A quantity that walks at random over the years, found where score = precision times itself.

It is N(0, 1) in the first year, with variance drift^2 a year from there. Laplace's method with the Fisher information F
integrates it out: -theta'P theta/2 + log|P|/2 - log|P + F|/2.
"""

from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids

FARTHEST: Final = 0.5  # of a step
MEMORY: Final = 3  # steps before, of which a faster one is made


class YearWalk:
    """theta = L u with u standard normal, (years,): robust for drifts however small.

    It begins where `start` ends: at 0 without one. `information` (years,) is F, that of theta.
    """

    def __init__(self, years: Ids, drift: float, start: Array | None) -> None:
        self.drift = drift
        self._sd = np.sqrt(np.append(1.0, drift**2 * np.diff(years))[: len(years)])
        self._later = np.maximum.outer(np.arange(len(years)), np.arange(len(years)))
        theta = np.zeros(len(years))
        if start is not None and len(start) and len(years):
            known = min(len(start), len(years))
            theta[:known], theta[known:] = start[:known], start[known - 1]
        self._u = np.diff(theta, prepend=0.0) / np.where(self._sd > 0.0, self._sd, 1.0)
        self._steps: list[tuple[Array, Array]] = []

    @property
    def theta(self) -> Array:
        """The walk as it is now, (years,)."""
        found: Array = np.cumsum(self._sd * self._u)
        return found

    def step(self, score: Array, information: Array) -> float:
        """One step of Fisher scoring from a posterior; the largest move."""
        move = self._scoring(score, information)
        self._u, self._steps = self._u + move, []
        return float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0))

    def accelerated(self, score: Array, information: Array) -> float:
        """The same where posteriors follow theta: what the last steps left of each other is gone ahead (Anderson 1965).

        Returns the largest move of the step alone.
        """
        move = self._scoring(score, information)
        metric = np.linalg.cholesky(self._posterior(information)).T
        if self._steps and np.linalg.norm(metric @ move) > np.linalg.norm(metric @ self._steps[-1][0]):
            self._steps.clear()
        goal = self._u + move
        earlier, self._steps = self._steps, [*self._steps[1 - MEMORY :], (move, goal)]
        self._u = goal
        if earlier:
            moves, goals = (np.stack([now - one for one in before], 1) for now, before in zip(
                (move, goal), zip(*earlier, strict=True), strict=True))  # fmt: skip
            share = np.linalg.lstsq(metric @ moves, metric @ move, rcond=1e-6)[0]
            further = -goals @ share
            self._u = goal + further * self._within(further)
        return float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0))

    def log_evidence(self, information: Array) -> float:
        """What the walk adds to that of the posterior."""
        return -0.5 * float(self._u @ self._u + np.linalg.slogdet(self._posterior(information))[1])

    def variance(self, information: Array) -> Array:
        """Of theta, (years,)."""
        root = np.tril(np.broadcast_to(self._sd, self._later.shape))
        found: Array = np.einsum("ij,ji->i", root, np.linalg.solve(self._posterior(information), root.T))
        return found

    def _scoring(self, score: Array, information: Array) -> Array:
        later = np.cumsum(score[::-1])[::-1]
        move: Array = np.linalg.solve(self._posterior(information), self._sd * later - self._u)
        return move * self._within(move)

    def _within(self, move: Array) -> float:
        """The share of a move that is not too far."""
        return min(1.0, FARTHEST / max(float(np.abs(np.cumsum(self._sd * move)).max(initial=0.0)), FARTHEST))

    def _posterior(self, information: Array) -> Array:
        """I + L'F L, the precision of u."""
        later = np.cumsum(information[::-1])[::-1]
        found: Array = np.eye(len(self._sd)) + np.outer(self._sd, self._sd) * later[self._later]
        return found
