"""Sites and messages of expectation propagation, of a whole timeline or of a slice of it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids
from ttt_cli.inference.play import Play
from ttt_cli.inference.solver import Pace
from ttt_cli.inference.year_margins import Posterior, YearMargins, in_memory, newcomers_of
from ttt_cli.kernels.ep.structures import Games, Messages, Part, Sites

Result = TypeVar("Result")
Room = Callable[[str, tuple[int, ...], type], NDArray[Any]]  # an array of zeros, by its name

REPEATS: Final = 50  # of equal games in a fast sweep


class State(Posterior):
    """Of skills alone, or with draw margins if there are `own` ones (`kernels/ep/structures.py`).

    Whoever has it fills in its `parts`, one after the other, the variables of each quantity, (begin, end), and arrays.
    """

    _parts: list[Part]
    _ranges: list[tuple[int, int]]
    _games: Games
    _messages: Messages
    sites: Sites
    _means: Array
    _coupling: Array

    def __init__(self, *, own: bool) -> None:
        names = ("ttt_d", "ttt_d_links", "chains") if own else ("ttt", "ttt_links", "chains")
        self._kernels, self._links, self._chain_kernels = (
            import_module(f"ttt_cli.kernels.ep.{name}") for name in names
        )
        self._own, self._alternate = (
            own,
            not own,
        )  # slices turned against each other: with margins not as good

    def _each(self, task: Callable[[Part], Result]) -> list[Result]:
        """Do a task for every part; the results in order."""
        return [task(part) for part in self._parts]

    def _half(self, turn: int, number: int, part: Part, pace: Pace) -> int:
        """The first or second pass of a sweep through slice `number`; returns how many sites had to be skipped."""
        back = (turn + number * self._alternate) % 2 == 1
        repeats = REPEATS if pace is Pace.FAST else 0
        return int(
            self._kernels.sweep(
                part, back, repeats, self.chains, self._games, self.rule, self._messages, self.sites
            )
        )

    def _settle_margins(self) -> None:
        """Forward and backward through the margins of every part, while the sites of games stay."""

        def settle(part: Part) -> None:
            for back in (False, True):
                self._kernels.settle_margins(
                    part, back, self.chains, self.rule.origin, self._messages, self.sites.positivity
                )

        self._each(settle)

    def _guess(self) -> None:
        """Give every game the sites that it would have if its players were as marginals say, which stay as they are."""
        chains = self.chains._replace(following=np.full_like(self.chains.following, -1))
        games = self._games._replace(weight=np.zeros_like(self._games.weight))
        self._each(
            lambda part: self._kernels.sweep(
                part, True, 0, chains, games, self.rule, self._messages, self.sites
            )
        )

    def _gather(self) -> None:
        """Fill marginals with the sites."""
        marginal = self._messages.marginal
        self._each(lambda part: self._kernels.gather(part, self._games, marginal, self.sites))

    def _linearise(self, diagonal: Array, residual: Array) -> None:
        """Fill means, couplings, and what the joint solution takes."""
        games, sites, messages, means = self._games, self.sites, self._messages, self._means
        self._each(
            lambda part: self._links.residual(
                part, games, sites, messages, means, self._coupling, diagonal, residual
            )
        )

    def _add_couplings(self, begin: int, end: int, z: Array, az: Array) -> float:
        link = self.sites.link
        return float(self._links.add_couplings(begin, end, self._games, link, self._coupling, z, az))

    def _move(self, correction: Array) -> None:
        """Have sites tell means that are so much larger."""
        self._means += correction
        self.run_games(lambda *part: self._links.spread(*part, self._games, self.sites, self._means))

    def _evidence(self) -> list[tuple[float, float]]:
        """The shares of log Z that sites of every part have, and the log probabilities of its games without them."""
        rule, marginal = self.rule, self._messages.marginal
        return self._each(lambda part: self._kernels.evidence(part, self._games, rule, marginal, self.sites))

    @property
    def told(self) -> tuple[Array, Array]:
        """Marginals, and the sites of single skills that games have."""
        return self._messages.marginal, self.sites.message

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""
        cavity, marginal = np.empty((len(self._games.first), 5 if self._own else 2)), self._messages.marginal
        self.run_games(lambda *part: self._kernels.cavities(*part, self._games, marginal, self.sites, cavity))
        return cavity

    def margins_of_years(self, play: Play, place: Ids, years: int, room: Room = in_memory) -> YearMargins:
        """The margins of games by year, of which `place` (periods,) is that of each period."""
        begin, end = self._ranges[-1]
        first, year = newcomers_of(self.chains.previous[begin:end], self.chains.node_start, place)
        own = (begin + first, year) if self._own else None
        return YearMargins(self._games, self.rule.margin, play.margin, play.strength, place, years, own, room)

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for the games of every part, from one to before another."""
        self._each(lambda part: task(part.game, part.game_end))

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points; 0 before the first variable."""
        begin, end = self._ranges[0]
        precision, weighted = self._messages.marginal[begin:end].T
        return np.append(np.zeros(begin), weighted / precision)

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of log Z in the means and variances of the steps of all variables."""
        by_mean, by_variance = np.zeros((2, len(self._messages.marginal)))
        for begin, end in self._ranges:
            inside = Messages(*(rows[begin:end] for rows in self._messages))
            self._chain_kernels.chain_gradient(inside, by_mean[begin:end], by_variance[begin:end])
        return by_mean, by_variance
