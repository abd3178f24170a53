"""Games as links of any number of variables in the joint Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.gaussian.precision import Entries, RowPairs, SumRows
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.link_games import SharedMoments
from ttt_cli.inference.joint import surprises
from ttt_cli.inference.links import LoadingEntries
from ttt_cli.inference.model import Evidence
from ttt_cli.kernels.ep import links as kernels
from ttt_cli.kernels.ep.structures import LinkRows
from ttt_cli.support.arrays import Array


def sums_of_links(rows: LinkRows) -> SumRows:
    """What the links are sums of."""
    return SumRows(rows.row, rows.variable, rows.coefficient)


NO_SITES: Final = np.empty((0, 2))


def link_sites(inference: Inference) -> Array:
    """The sites of sums that factorised propagation has found, (links, 2)."""
    links = inference.slice_state.links
    return links.sites.site if links else NO_SITES


class _BeliefsOfSums(NamedTuple):
    """Means and variances of all variables, and covariances of the pairs of variables of each link."""

    mean: Array
    variance: Array
    covariance: Array


@dataclass
class JointLinks:
    """Links in the joint Gaussian (`pairs.JointGames`): sums c'x with sites of precision q, h = q times mean, weight w.

    | name | shape | |
    |---|---|---|
    | rows | | the links |
    | pairs | | their pairs of variables |
    | site | (links, 2) | q and h of their sums |
    | cavity | (links, 2) | means and variances of the sums without one such game |
    | _beliefs | | the Gaussian from which the cavities follow |
    """

    rows: LinkRows
    pairs: RowPairs
    site: Array
    cavity: Array
    _beliefs: _BeliefsOfSums | None = None

    @property
    def pair_count(self) -> int:
        """Number of pairs of variables that the sites join."""
        return len(self.pairs.row)

    def entries(self) -> list[Entries]:
        """Entries of w q c c', summed over links: of the diagonal, and each pair of variables once."""
        return sums_of_links(self.rows).entries(self.rows.weight * self.site[:, 0], self.pairs)

    def pulls(self, variables: int) -> Array:
        """Sums of w h c."""
        rows = self.rows
        pull = np.repeat(rows.weight * self.site[:, 1], np.diff(rows.row)) * rows.coefficient
        return np.bincount(rows.variable, pull, variables).astype(np.float64)

    def fill_cavities(self, mean: Array, variance: Array, covariance: Array) -> None:
        """Compute the cavities."""
        self._beliefs = _BeliefsOfSums(mean, variance, covariance)
        kernels.joint_cavities(self.rows, mean, variance, covariance, self.site, self.cavity)

    def update(self, share: float) -> int:
        """Move all sites by `share` towards their targets; returns the number of sites not moved."""
        return int(kernels.joint_update(self.rows, self.cavity, share, self.site))

    def moments_of_shared(self, loadings: LoadingEntries) -> SharedMoments:
        """Moments of shared parts of offsets under the cavities of their links.

        With the joint mean m and variance V of y, and those of its cavity, a variable x with C = Cov(x, y) has the mean
        E[x] + C / V (cavity mean - m) under the cavity, and the covariance C (cavity variance) / V.
        """
        assert self._beliefs is not None
        rows = self.rows
        mean, variance, covariance = self._beliefs
        # C of all entries, by the pairs of variables of each link
        with_sum = rows.coefficient * variance[rows.variable]
        first, second = sums_of_links(rows).pairs_of_entries()
        np.add.at(with_sum, first, rows.coefficient[second] * covariance)
        np.add.at(with_sum, second, rows.coefficient[first] * covariance)
        link = np.repeat(np.arange(len(rows.weight)), np.diff(rows.row))
        size = len(rows.weight)
        sum_mean = np.bincount(link, rows.coefficient * mean[rows.variable], size)
        sum_variance = np.bincount(link, rows.coefficient * with_sum, size)
        entry = loadings.entry
        of_link = loadings.link
        regression = with_sum[entry] / sum_variance[of_link]
        cavity_mean, cavity_variance = self.cavity[of_link].T
        return SharedMoments(
            mean=mean[rows.variable[entry]] + regression * (cavity_mean - sum_mean[of_link]),
            covariance=regression * cavity_variance,
        )

    def take_less(self, mean: Array, left: float) -> bool:
        """Leave this part of the precision that sites of surprises take away; whether any takes some."""
        rows = self.rows
        link = np.repeat(np.arange(len(rows.weight)), np.diff(rows.row))
        sums = np.bincount(link, rows.coefficient * mean[rows.variable], len(rows.weight))
        return surprises.take_less(self.site, sums.astype(np.float64), left)

    def limit_taken(self, most: float) -> None:
        """Limit what sites of surprises take away to `most` / (1 + `most`) of the precision of their cavities."""
        surprises.limit_taken(self.site, self.cavity, most)

    def evidence(self) -> Evidence:
        """Contribution to log Z, and the log probability of all links that are no exact observations."""
        return Evidence(*kernels.joint_evidence(self.rows, self.cavity, self.site))


def joint_links(rows: LinkRows, site: Array) -> JointLinks:
    """Links with these sites, whose cavities are not computed yet."""
    return JointLinks(rows, sums_of_links(rows).pairs(), site, np.empty((len(rows.weight), 2)))
