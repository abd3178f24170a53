"""Games as links of any number of variables in the joint Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.gaussian.precision import Entries
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.links import VariablePairs
from ttt_cli.inference.model import Evidence
from ttt_cli.kernels.ep import links as kernels
from ttt_cli.kernels.ep.structures import LinkRows
from ttt_cli.support.arrays import Array, Places


class LinkPairs(NamedTuple):
    """Pairs of variables of links: by link, then by the first of them, then by the second.

    | name | shape | |
    |---|---|---|
    | variables | | the pairs |
    | link | (pairs,) | the link of each |
    | product | (pairs,) | of both coefficients |
    """

    variables: VariablePairs
    link: Places
    product: Array


def pairs_of_links(rows: LinkRows) -> LinkPairs:
    """All pairs of variables of each link: of a link with entries 4, 5 and 6 the entries (4, 5), (4, 6) and (5, 6)."""
    entries = len(rows.variable)
    length = np.diff(rows.row)
    end = np.repeat(rows.row[1:], length)  # of the link of each entry
    partners = end - np.arange(entries) - 1
    first = np.repeat(np.arange(entries), partners)
    before = np.cumsum(partners) - partners
    second = np.arange(len(first)) - np.repeat(before, partners) + first + 1
    link = np.repeat(np.arange(len(length)), length)[first]
    product = rows.coefficient[first] * rows.coefficient[second]
    return LinkPairs(VariablePairs(rows.variable[first], rows.variable[second]), link, product)


NO_SITES: Final = np.empty((0, 2))


def link_sites(inference: Inference) -> Array:
    """The sites of sums that factorised propagation has found, (links, 2)."""
    links = inference.slice_state.links
    return links.sites.site if links else NO_SITES


@dataclass(frozen=True)
class JointLinks:
    """Links in the joint Gaussian (`pairs.JointGames`): sums c'x with sites of precision q, h = q times mean, weight w.

    | name | shape | |
    |---|---|---|
    | rows | | the links |
    | pairs | | their pairs of variables |
    | site | (links, 2) | q and h of their sums |
    | cavity | (links, 2) | means and variances of the sums without one such game |
    """

    rows: LinkRows
    pairs: LinkPairs
    site: Array
    cavity: Array

    @property
    def pair_count(self) -> int:
        """Number of pairs of variables that the sites join."""
        return len(self.pairs.link)

    def entries(self) -> list[Entries]:
        """Entries of w q c c', summed over links: of the diagonal, and each pair of variables once."""
        rows = self.rows
        precision = rows.weight * self.site[:, 0]
        on_diagonal = np.repeat(precision, np.diff(rows.row)) * rows.coefficient**2
        of_pairs = precision[self.pairs.link] * self.pairs.product
        return [
            Entries(rows.variable, rows.variable, on_diagonal),
            Entries(*self.pairs.variables, of_pairs),
        ]

    def pulls(self, variables: int) -> Array:
        """Sums of w h c."""
        rows = self.rows
        pull = np.repeat(rows.weight * self.site[:, 1], np.diff(rows.row)) * rows.coefficient
        return np.bincount(rows.variable, pull, variables).astype(np.float64)

    def fill_cavities(self, mean: Array, variance: Array, covariance: Array) -> None:
        """Compute the cavities."""
        kernels.joint_cavities(self.rows, mean, variance, covariance, self.site, self.cavity)

    def update(self, share: float) -> int:
        """Move all sites by `share` towards their targets; returns the number of sites not moved."""
        return int(kernels.joint_update(self.rows, self.cavity, share, self.site))

    def evidence(self) -> Evidence:
        """Contribution to log Z, and the log probability of all links that are no exact observations."""
        return Evidence(*kernels.joint_evidence(self.rows, self.cavity, self.site))


def joint_links(rows: LinkRows, site: Array) -> JointLinks:
    """Links with these sites, whose cavities are not computed yet."""
    return JointLinks(rows, pairs_of_links(rows), site, np.empty((len(rows.weight), 2)))
