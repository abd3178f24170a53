"""The mean skill of newcomers by year, m(t): s(t0) ~ N(mu0 + m(t0), sigma0^2), m a random walk over the years.

m = L u with u standard normal, L the walk: N(0, 1) in the first year, then steps of variance drift^2 a year. Given the
skills of all newcomers it is Gaussian, so that it is eliminated: exactly from the joint means and the joint posterior;
in factorised propagation each player hears of m what all others say of it (docs/models/careers.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.fitted import NewcomerCurve
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.periods import calendar_year
from ttt_cli.timeline import Timeline

AT_ONCE: Final = 1 << 15  # pairs


@dataclass(frozen=True)
class Eliminated:
    """A joint Gaussian given m, with m taken in.

    | name | shape | unit | |
    |---|---|---|---|
    | shift | (groups,) | points | of the means |
    | root | (groups, years) | points | R, where R R' is what m adds to the covariances |
    | with_own | (newcomers,) | points^2 | covariance of a newcomer's skill with m of his year |
    | log_evidence | | | what it adds |
    """

    shift: Array
    root: Array
    with_own: Array
    log_evidence: float


class Newcomers:
    """m(t) of the players of a timeline, whose skill at the debut has the sd `sd` around it.

    | name | shape | unit | |
    |---|---|---|---|
    | first | (newcomers,) | | their first nodes |
    | prior_variance | (newcomers,) | points^2 | of the skill there, before anything is known of m |
    | mean, covariance | (years,), (years, years) | points | what is believed of m in years with newcomers |
    | spread | | | no quadratic form of the skills' precision given m is more than so many times that without |
    """

    def __init__(self, timeline: Timeline, sd: float, drift: float) -> None:
        self.first: Places = np.flatnonzero(timeline.previous < 0)
        period = timeline.node_period[self.first].tolist()
        known = {number: calendar_year(number, timeline.period) for number in set(period)}
        years, self._of = np.unique(
            np.array([known[number] for number in period], np.int32), return_inverse=True
        )
        self._years: Ids = years
        self._sd, self._drift = sd, drift
        steps = np.sqrt(np.append(1.0, drift**2 * np.diff(years))[: len(years)])
        self._root = np.tril(np.broadcast_to(steps, (len(years), len(years))))
        prior = self._root @ self._root.T
        self.prior_variance = sd**2 + np.diag(prior)[self._of]
        self._information = self._root.T * self._sum(np.full(len(self.first), sd**-2)) @ self._root
        self._given_skills = self._root @ np.linalg.solve(
            np.eye(len(years)) + self._information, self._root.T
        )
        self.spread = 1.0 + float((prior @ self._sum(np.ones(len(self.first)))).max(initial=0.0)) / sd**2
        self.mean, self.covariance, self.log_evidence = np.zeros(len(years)), prior, 0.0
        self._squares = np.ones(len(years))

    def listen(self, chains: Chains, messages: Messages) -> None:
        """Believe what smoothed messages say, and tell every first node of `chains` what the other players do.

        `log_evidence` is what that adds to the evidence of the chains then.
        """
        forward, marginal = messages.forward[self.first], messages.marginal[self.first]
        precision, weighted = (marginal - forward).T
        shrink = 1.0 / (1.0 + self._sd**2 * precision)
        told, told_mean = precision * shrink, weighted * shrink
        score = self._sum(told_mean)
        precision_of_u = np.eye(len(self._years)) + self._root.T * self._sum(told) @ self._root
        self.log_evidence, _ = self._believe(precision_of_u, self._root.T @ score)
        own = np.diag(self.covariance)[self._of]
        left = 1.0 - own * told
        mean, variance = (self.mean[self._of] - own * told_mean) / left, own / left
        chains.mean[self.first], chains.variance[self.first] = mean, self._sd**2 + variance
        apart = np.log(left) + left * (told_mean**2 * variance + 2.0 * told_mean * mean - told * mean**2)
        self.log_evidence -= 0.5 * float(apart.sum())

    def _believe(self, precision: Array, score: Array) -> tuple[float, Array]:
        """From the precision of u and that times its mean: the log of the integral over u, and the mean of u."""
        inverse = np.linalg.inv(precision)
        u = inverse @ score
        self.mean, self.covariance = self._root @ u, self._root @ inverse @ self._root.T
        self._squares = u**2 + np.diag(inverse)
        return 0.5 * float(score @ u - np.linalg.slogdet(precision)[1]), u

    def add_shared(self, chains: Chains, z: Array, az: Array) -> float:
        """Add to `az` what the precision of skills has times z beyond that of the chains; returns z times that."""
        own = z[self.first]
        away = self._given_skills @ self._sum(own) / self._sd**4
        added = (self._sd**-2 - 1.0 / chains.variance[self.first]) * own - away[self._of]
        az[self.first] += added
        return float(own @ added)

    def given(self, chains: Chains) -> Chains:
        """The chains as they are when m is 0."""
        mean, variance = chains.mean.copy(), chains.variance.copy()
        mean[self.first], variance[self.first] = 0.0, self._sd**2
        return chains._replace(mean=mean, variance=variance)

    def eliminate(self, solve: Callable[[Array], Array], mean: Array, group: Places) -> Eliminated:
        """Take m into the joint Gaussian of groups of variables, of which `mean` and solutions are given m = 0."""
        load = np.zeros((len(mean), len(self._years)))
        load[group[self.first]] = self._root[self._of] / self._sd**2
        moved = solve(load)
        precision = np.eye(len(self._years)) + self._information - load.T @ moved
        log_evidence, u = self._believe(precision, load.T @ mean)
        with_own: Array = np.einsum(
            "ij,ij->i", moved[group[self.first]] @ np.linalg.inv(precision), self._root[self._of]
        )
        root = np.linalg.solve(np.linalg.cholesky(precision), moved.T).T.astype(np.float64)
        return Eliminated(moved @ u, root, with_own, log_evidence)

    def squares(self, mean: Array, variance: Array, with_own: Array) -> Array:
        """The expected squares of newcomers' skills less m of their years, from their beliefs."""
        own = np.diag(self.covariance)[self._of]
        found: Array = (mean - self.above) ** 2 + variance + own - 2.0 * with_own
        return found

    @property
    def above(self) -> Array:
        """The mean of m in the year of every newcomer, (newcomers,)."""
        found: Array = self.mean[self._of]
        return found

    def slope(self) -> float:
        """Of the log-evidence in the drift."""
        return float((self._squares[1:] - 1.0).sum()) / self._drift

    def curve(self) -> NewcomerCurve:
        """What is believed of m."""
        return NewcomerCurve(self._years, self.mean, np.sqrt(np.diag(self.covariance)))

    def _sum(self, values: Array) -> Array:
        """Those of newcomers by year."""
        return np.bincount(self._of, values, len(self._years)).astype(np.float64)


def products(root: Array, first: Places, second: Places) -> Array:
    """Entries of R R' at pairs of rows, (pairs,), some at once."""
    parts = [slice(begin, begin + AT_ONCE) for begin in range(0, len(first), AT_ONCE)]
    found = [np.einsum("ij,ij->i", root[first[part]], root[second[part]]) for part in parts]
    return np.concatenate([np.empty(0), *found])
