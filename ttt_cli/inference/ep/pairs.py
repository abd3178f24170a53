"""Games between two players in a slice, with their sites: what the steps of a sweep do with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from ttt_cli.inference.ep.start import save_sites
from ttt_cli.inference.model import Evidence, Offsets, Play
from ttt_cli.inference.victory import Intervals
from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.ep import ttt, ttt_d
from ttt_cli.kernels.ep.games import gather_games
from ttt_cli.kernels.ep.structures import Chains, GamesSlopes, Messages, Pairings, Part, Rule, Sites
from ttt_cli.storage import ArrayStorage
from ttt_cli.support.arrays import Array


class SliceGames(Protocol):
    """Games of one kind in a slice, with their sites, as the steps of a sweep use them.

    A step is done for a part of the slice at a time, for several parts at the same time. What it adds to arrays of
    variables is that of the games of the part. A kind of games beside pairs (general links) has these methods, too.
    """

    @property
    def have_sites(self) -> bool:
        """Whether any site is more than nothing."""

    def set_offsets(self, offsets: Offsets) -> None:
        """Set White's advantage, points per unit of covariates, the share of lapses, and steps between wins."""

    def sweep(
        self, part: Part, back: bool, repeats: int, chains: Chains, messages: Messages
    ) -> int:
        """Pass through a part, or `back`: messages along chains and all sites once; the number of skipped sites.

        Equal games are repeated up to so many times until they agree with themselves.
        """

    def fill_sites_from_marginals(self, part: Part, chains: Chains, messages: Messages) -> None:
        """Make the site of each game as if the marginals, a first guess, were the beliefs without it; they stay."""

    def add_sites(self, part: Part, marginal: Rows) -> None:
        """Add all sites to the marginals of their variables."""

    def add_residual(self, part: Part, means: Vector, diagonal: Vector, residual: Vector) -> None:
        """Add scores at these means to the residual, precisions to the diagonal; fill what `add_couplings` takes."""

    def add_couplings(self, part: Part, z: Vector, az: Vector) -> float:
        """Add (L - diag(L)) z to `az`, L the precision of games; the product of z and what was added."""

    def move_sites(self, part: Part, means: Vector) -> None:
        """Set all sites so that smoothing gives these means; precisions stay."""

    def evidence(self, part: Part, marginal: Rows) -> Evidence:
        """Contribution of the sites to log Z, and the log probabilities of the games, each without its site."""

    def save(self, folder: Path, number: int) -> None:
        """Save the sites of the slice of this number. Raises SetupError."""


class PairKernels(Protocol):
    """Kernels of games between two players: the modules `kernels/ep/ttt.py` and `ttt_d.py`."""

    def sweep(
        self, part: Part, back: bool, repeats: int, chains: Chains, games: Pairings, rule: Rule,
        messages: Messages, sites: Sites, /,
    ) -> int:  # fmt: skip
        """Pass through a part."""

    def add_residual(
        self, part: Part, games: Pairings, sites: Sites, means: Vector, coupling: Vector, diagonal: Vector,
        residual: Vector, /,
    ) -> None:  # fmt: skip
        """Add scores and precisions."""

    def add_couplings(
        self,
        begin: int,
        end: int,
        games: Pairings,
        link: Rows,
        coupling: Vector,
        z: Vector,
        az: Vector,
        /,
    ) -> float:
        """Add products off the diagonal."""

    def move_sites(
        self, begin: int, end: int, games: Pairings, sites: Sites, means: Vector, /
    ) -> None:
        """Set sites for these means."""

    def evidence(
        self, part: Part, games: Pairings, rule: Rule, marginal: Rows, sites: Sites, /
    ) -> tuple[float, float]:
        """Evidence of a part."""

    def cavities(
        self, begin: int, end: int, games: Pairings, marginal: Rows, sites: Sites, cavity: Rows, /
    ) -> None:
        """Fill the cavities of the games `begin` to `end`."""

    def gradient(
        self,
        games: Pairings,
        balance: Vector,
        rule: Rule,
        cavity: Rows,
        by_margin: Vector,
        by_offset: Vector,
        /,
    ) -> GamesSlopes:
        """Gradient in what is common to all games.

        Fills `by_margin` and `by_offset` (games,) with that of each game in its draw margin, and in what is added to
        its first player's skill.
        """


@dataclass
class PairGames:
    """Games between two players (`SliceGames`), equal ones of a period as one with a weight.

    | name | shape | unit | |
    |---|---|---|---|
    | pairings | | | the games |
    | play | | | how they are played, offsets aside |
    | handicap | (games, 2 + terms) | | as in `MergedGames` |
    | balance, interval | (games,) | | as in `MergedGames`; none without covariates or margins of victory |
    | doubt | (games,) | | as in `MergedGames` |
    | rule | | points | how they are played, as kernels take it |
    | sites | | | their sites, and those that keep margins positive |
    | coupling | (games,) | 1/points^2 | precision of each difference, times the weight; none with own margins |
    | steps | (steps,) | points | between margins of victory |
    """

    pairings: Pairings
    play: Play
    handicap: Array
    balance: Array
    interval: Intervals
    doubt: Array
    rule: Rule
    sites: Sites
    coupling: Array
    steps: tuple[float, ...] = ()

    @property
    def kernels(self) -> PairKernels:
        """Kernels of these games."""
        return ttt_d if self.play.own_margins else ttt

    @property
    def _sweep_kernel(self) -> Callable[..., int]:
        """The kernel that passes through a part."""
        if self.rule.has_lapses:
            return ttt.sweep_with_lapse
        return self.kernels.sweep

    @property
    def _evidence_kernel(self) -> Callable[..., tuple[float, float]]:
        """The kernel that computes the evidence of a part."""
        if self.rule.has_lapses:
            return ttt.evidence_with_lapse
        return self.kernels.evidence

    @property
    def have_sites(self) -> bool:
        """Whether any site is more than nothing."""
        return bool(self.sites.message.any())

    def set_offsets(self, offsets: Offsets) -> None:
        """Set White's advantage, points per unit of covariates, the share of lapses, and steps between wins."""
        self.steps = offsets.steps
        # with margins of victory `rule` fills the draw margins anew
        self.rule = replace(self.play, offsets=offsets).rule(
            self.rule.margin, self.handicap, self.interval, self.doubt
        )

    def sweep(
        self, part: Part, back: bool, repeats: int, chains: Chains, messages: Messages
    ) -> int:
        """Pass through a part."""
        return self._sweep_kernel(
            part, back, repeats, chains, self.pairings, self.rule, messages, self.sites
        )

    def fill_sites_from_marginals(self, part: Part, chains: Chains, messages: Messages) -> None:
        """Make the sites of games from the marginals, by a pass back that changes nothing else.

        No variable has a following one, so no messages go along the chains; games have the weight 0, so nothing of
        their new sites is added to the marginals.
        """
        unlinked = chains._replace(following=np.full_like(chains.following, -1))
        weightless = self.pairings._replace(weight=np.zeros_like(self.pairings.weight))
        self._sweep_kernel(part, True, 0, unlinked, weightless, self.rule, messages, self.sites)

    def add_sites(self, part: Part, marginal: Rows) -> None:
        """Add all sites of games."""
        gather_games(part, self.pairings, self.sites, marginal)

    def add_residual(self, part: Part, means: Vector, diagonal: Vector, residual: Vector) -> None:
        """Add scores and precisions."""
        self.kernels.add_residual(
            part, self.pairings, self.sites, means, self.coupling, diagonal, residual
        )

    def add_couplings(self, part: Part, z: Vector, az: Vector) -> float:
        """Add (L - diag(L)) z."""
        return self.kernels.add_couplings(
            part.game, part.game_end, self.pairings, self.sites.link, self.coupling, z, az
        )

    def move_sites(self, part: Part, means: Vector) -> None:
        """Set sites for these means."""
        self.kernels.move_sites(part.game, part.game_end, self.pairings, self.sites, means)

    def evidence(self, part: Part, marginal: Rows) -> Evidence:
        """Evidence of a part."""
        return Evidence(
            *self._evidence_kernel(part, self.pairings, self.rule, marginal, self.sites)
        )

    def fill_cavities(self, part: Part, marginal: Rows, cavity: Rows) -> None:
        """Fill the cavities of a part, as `kernels.gradient` takes them."""
        self.kernels.cavities(part.game, part.game_end, self.pairings, marginal, self.sites, cavity)

    def save(self, folder: Path, number: int) -> None:
        """Save the sites."""
        save_sites(folder, number, self.sites)


def pair_games(
    pairings: Pairings,
    handicap: Array,
    balance: Array,
    interval: Intervals,
    doubt: Array,
    play: Play,
    nodes: int,
    storage: ArrayStorage,
) -> PairGames:
    """Games of a slice with so many nodes, without sites."""
    games = len(pairings.first)
    own_margins = play.own_margins
    margin = storage.zeros("margin", (games,), np.float64)
    margin[:] = play.margin
    sites = Sites(  # which has a table of the columns
        message=storage.zeros("message", (games, 8 if own_margins else 4), np.float64),
        link=storage.zeros("link", (games, 5 if own_margins else 2), np.float64),
        positivity=storage.zeros("positivity", (nodes if own_margins else 0, 2), np.float64),
    )
    coupling = storage.zeros("coupling", (0 if own_margins else games,), np.float64)
    # intervals need steps between wins, which come with the offsets
    rule = play.rule(margin, handicap, doubt=doubt)
    return PairGames(pairings, play, handicap, balance, interval, doubt, rule, sites, coupling)
