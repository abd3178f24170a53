"""Games between two players in the joint Gaussian: their sites, and what joint propagation does with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ttt_cli.gaussian.precision import Entries, link_entries, link_pulls, sums_of_games
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.joint import surprises
from ttt_cli.inference.links import VariablePairs
from ttt_cli.inference.model import Evidence
from ttt_cli.kernels import joint as kernels
from ttt_cli.support.arrays import Array

Index = NDArray[np.integer]


class JointGames(Protocol):
    """Games of one kind, with their sites in the joint Gaussian of a fit.

    A kind of games beside pairs (general links) has these methods, too.
    """

    @property
    def pair_count(self) -> int:
        """Number of pairs of variables that the sites join."""

    def entries(self) -> list[Entries]:
        """Entries of the precision matrix; those off the diagonal in the order of the pairs of the shape."""

    def pulls(self, variables: int) -> Array:
        """Precisions times means of the sites, (variables,)."""

    def fill_cavities(self, mean: Array, variance: Array, covariance: Array) -> None:
        """Compute the cavities from the joint Gaussian; `covariance` is that of these pairs of variables."""

    def update(self, share: float) -> int:
        """Move all sites by `share` towards their targets; returns the number of sites not moved."""

    def take_less(self, mean: Array, left: float) -> bool:
        """Leave this part of the precision that sites of surprises take away; their pull at the means stays.

        `mean`: of the variables. Returns whether any site takes precision away.
        """

    def limit_taken(self, most: float) -> None:
        """Limit what sites of surprises take away to `most` / (1 + `most`) of the precision of their cavities.

        Their pull at the means of the cavities stays.
        """

    def evidence(self) -> Evidence:
        """Contribution of the sites to log Z beside the integral, and the log probability of all games."""


class JointKernels(NamedTuple):
    """Kernels of joint sites of games (`kernels/joint.py`)."""

    cavities: Callable[..., None]
    update: Callable[..., int]
    evidence: Callable[..., tuple[float, float]]


OF_SKILLS: Final = JointKernels(
    kernels.skill_cavities, kernels.skill_update, kernels.skill_evidence
)
OF_MARGINS: Final = JointKernels(
    kernels.margin_cavities, kernels.margin_update, kernels.margin_evidence
)


class SiteSums(NamedTuple):
    """The sums of variables in the sites of games.

    `ends` are the variables of each game; `u` the coefficients of each sum, the same for all games (`link_entries`).
    """

    ends: Sequence[Index]
    u: Array

    @property
    def pairs(self) -> list[VariablePairs]:
        """Pairs of the variables of each game, in the order of `link_entries`."""
        return [VariablePairs(first, second) for first, second in combinations(self.ends, 2)]


def site_sums(inference: Inference) -> SiteSums:
    """The sums in the sites of the games of a fit."""
    games = inference.merged.games
    own_margins = "draw_margin" in inference.priors
    first_margin = inference.slice_state.parts.quantities[0].end if own_margins else 0
    return SiteSums(*sums_of_games(games.first, games.second, first_margin))


@dataclass(frozen=True)
class JointPairs:
    """Games between two players (`JointGames`).

    | name | shape | |
    |---|---|---|
    | inference | | games, and how they are played |
    | sums | | what is in each site |
    | link | (games, 2 or 5) | sites of games, as in `kernels/ep/structures.py` |
    | cavity | (games, 2 or 5) | their cavities, as the kernels take them |
    """

    inference: Inference
    sums: SiteSums
    link: Array
    cavity: Array

    @property
    def _kernels(self) -> JointKernels:
        return OF_SKILLS if len(self.sums.u) == 1 else OF_MARGINS

    @property
    def pair_count(self) -> int:
        """Number of pairs of variables that the sites join."""
        return len(self.sums.pairs) * len(self.link)

    def entries(self) -> list[Entries]:
        """Entries of the precision matrix."""
        return link_entries(self.sums.ends, self.sums.u, self._precisions())

    def pulls(self, variables: int) -> Array:
        """Precisions times means."""
        return link_pulls(self.sums.ends, self.sums.u, self._precise_means(), variables)

    def _precisions(self) -> Array:
        """q, or q11, q12 and q22, of all equal games together, (1 or 3, games)."""
        return self._of_equal_games()[: -len(self.sums.u)]

    def _precise_means(self) -> Array:
        """b, or b1 and b2, of all equal games together, (1 or 2, games)."""
        return self._of_equal_games()[-len(self.sums.u) :]

    def _of_equal_games(self) -> Array:
        """Sites of all equal games together, (2 or 5, games): precisions, then a b of each sum."""
        weighted: Array = self.link.T * self.inference.merged.games.weight
        return weighted

    def fill_cavities(self, mean: Array, variance: Array, covariance: Array) -> None:
        """Compute the cavities."""
        nodes = len(self.inference.chains.previous)
        self._kernels.cavities(
            self.inference.merged.games, mean[:nodes], variance[:nodes],
            covariance.reshape(len(self.sums.pairs), len(self.link)), self.link, self.cavity,
        )  # fmt: skip

    def update(self, share: float) -> int:
        """Move all sites by `share`."""
        games = self.inference.merged.games
        return self._kernels.update(games, self.inference.rule, self.cavity, share, self.link)

    def take_less(self, mean: Array, left: float) -> bool:
        """Leave this part of the precision that sites of surprises take away; whether any takes some."""
        if len(self.sums.u) > 1:
            return False
        games = self.inference.merged.games
        return surprises.take_less(self.link, mean[games.first] - mean[games.second], left)

    def limit_taken(self, most: float) -> None:
        """Limit what sites of surprises take away to `most` / (1 + `most`) of the precision of their cavities."""
        if len(self.sums.u) == 1:
            surprises.limit_taken(self.link, self.cavity, most)

    def evidence(self) -> Evidence:
        """Contribution to log Z, and the log probability of all games."""
        games = self.inference.merged.games
        return Evidence(*self._kernels.evidence(games, self.inference.rule, self.cavity, self.link))


def joint_pairs(inference: Inference, sums: SiteSums, link: Array) -> JointPairs:
    """The games of a fit with these sites, whose cavities are not computed yet."""
    cavity = np.empty((len(inference.merged), 2 if len(sums.u) == 1 else 5))
    return JointPairs(inference, sums, link, cavity)
