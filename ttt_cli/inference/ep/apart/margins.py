"""What moves with the years, draw margins and newcomers' mean, of games and players that lie in slices.

Sums by year cross between slices and whoever asks them.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids
from ttt_cli.inference.ep.apart.pieces import Piece
from ttt_cli.inference.ep.levels import YearLevels
from ttt_cli.inference.newcomers import Debuts
from ttt_cli.inference.year_margins import Posterior
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep.structures import Chains, Games, Messages, Rule, Sites


class SlicePosterior:
    """What margins of a slice follow; `ranges` are its variables, a quantity after the other."""

    def __init__(
        self,
        kernels: ModuleType,
        games: Games,
        rule: Rule,
        chains: Chains,
        messages: Messages,
        sites: Sites,
        ranges: list[tuple[int, int]],
    ) -> None:
        self._kernels, self._games, self.rule, self.chains = kernels, games, rule, chains
        self._messages, self._sites, self._ranges = messages, sites, ranges

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points; 0 of node 0."""
        begin, end = self._ranges[0]
        precision, weighted = self._messages.marginal[begin:end].T
        return np.append(np.zeros(begin), weighted / precision)

    @property
    def told(self) -> tuple[Array, Array]:
        """Marginals, and the sites of single skills that games have."""
        return self._messages.marginal, self._sites.message

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""
        games, marginal, sites = self._games, self._messages.marginal, self._sites
        found = np.empty((len(games.first), 5 if len(sites.positivity) else 2))
        self._kernels.cavities(0, len(games.first), games, marginal, sites, found)
        return found

    def run_games(self, task: Callable[[int, int], None]) -> None:
        """Do a task for all games."""
        task(0, len(self._games.first))

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of the log-evidence in the means and variances of the steps of all variables."""
        by_mean, by_variance = np.zeros((2, len(self._messages.marginal)))
        for begin, end in self._ranges:
            inside = Messages(*(rows[begin:end] for rows in self._messages))
            chain_kernels.chain_gradient(inside, by_mean[begin:end], by_variance[begin:end])
        return by_mean, by_variance


def debuts_of(
    piece: Piece, first: Ids, year: Ids, chains: Chains, messages: Messages, room: Callable[..., NDArray[Any]]
) -> tuple[Debuts | None, YearLevels | None]:
    """The newcomers of a slice if their mean moves: its nodes that are `first`, and the places of their years."""
    if not piece.newcomers:
        return None, None
    sd, *elsewhere = piece.newcomers
    debuts = Debuts(first + np.int32(1), year, piece.years, sd, chains, messages)
    place = np.repeat(piece.year, np.diff(piece.node_start))
    nodes = slice(1, 1 + len(place))
    return debuts, YearLevels(nodes, place, piece.years, chains, debuts, elsewhere, room)


class SlicedMargins:
    """`YearMargins` of all slices; `ask` has each of them do what its own does."""

    def __init__(self, ask: Callable[..., list[Any]]) -> None:
        self._ask = ask

    def counts(self) -> Array:
        """See `YearMargins`, as of the others."""
        return self._sum("counts")

    def strengths(self, _: Posterior) -> Array:  # noqa: D102
        return self._sum("strengths")

    def scores(self, _: Posterior, by_year: Array, informed: bool) -> Array:  # noqa: D102
        return self._sum("scores", by_year, informed)

    def _sum(self, *what: Any) -> Array:
        found: Array = np.sum(self._ask(*what), axis=0)
        return found

    def widen(self, _: Posterior, level: Array, by_year: Array) -> None:  # noqa: D102
        self._ask("widen", level, by_year)

    def apply(self, _: Chains | None, by_year: Array) -> None:  # noqa: D102
        self._ask("apply", by_year)

    def remember(self) -> None:  # noqa: D102
        self._ask("remember")

    def move(self) -> float:  # noqa: D102
        return float(max(self._ask("move")))


class SlicedDebuts:
    """`Debuts` of all slices, likewise."""

    def __init__(self, ask: Callable[..., list[Any]]) -> None:
        self._ask = ask

    def reported(self) -> Array:
        """See `Debuts`, as of the other."""
        found: Array = np.sum(self._ask("reported"), axis=0)
        return found

    def receive(self, mean: Array, variance: Array) -> float:  # noqa: D102
        return math.fsum(self._ask("receive", mean, variance))
