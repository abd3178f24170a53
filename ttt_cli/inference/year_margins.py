"""The draw margins of games by year and strength: what a timeline, or a slice of it, does (`moving_margins.py`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.games.table import DRAW
from ttt_cli.inference.ep.merged import outcomes
from ttt_cli.inference.gaussian import STRENGTH_REACH, STRENGTH_UNIT
from ttt_cli.inference.solver import largest
from ttt_cli.kernels.ep.structures import Chains, Games, Rule
from ttt_cli.periods import calendar_year
from ttt_cli.timeline import Timeline


class Posterior(ABC):
    """What margins follow: the posterior of a fit on its way, of a timeline or a slice of it."""

    rule: Rule
    chains: Chains
    of_years: YearMargins

    @property
    def told(self) -> tuple[Array, Array] | None:
        """Marginals, and the sites of single skills that games have; None where they have none."""
        return None

    @abstractmethod
    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points."""

    @abstractmethod
    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""

    @abstractmethod
    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for the games from one to before another, all of them."""

    @abstractmethod
    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of the log-evidence in the means and variances of the steps of all variables."""

    def margins(self, name: str, *arguments: Any) -> list[Any]:
        """What `YearMargins` of every slice do: here there is one."""
        return [getattr(self.of_years, name)(self, *arguments)]


def calendar(timeline: Timeline) -> tuple[Ids, Ids]:
    """The calendar years there are, and the place of each period's among them."""
    year = calendar_year(timeline.periods, timeline.period)
    years, place = np.unique(year.astype(np.int32), return_inverse=True)
    return years, place.astype(np.int32)


def in_memory(name: str, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:  # noqa: ARG001
    """Room in this process."""
    return np.zeros(shape, dtype)


def newcomers_of(previous: Ids, node_start: Places, place: Ids) -> tuple[Ids, Ids]:
    """The first nodes of players, of nodes whose neighbours are `previous`, and the places of their years."""
    first = np.flatnonzero(previous < 0).astype(np.int32)
    return first, np.repeat(place, np.diff(node_start))[first]


class YearMargins:
    """The margins of `games`, `margin` (games,), points, which is filled here.

    `place` (periods,) is that of each period's year among `years`. Where players have margins of their own, counted
    from `base`, `own` are the variables of newcomers' and the places of their years: these follow the years instead.
    `room` makes arrays of zeros, by name.
    """

    def __init__(
        self,
        games: Games,
        margin: Array,
        base: float,
        strength: float,
        place: Ids,
        years: int,
        own: tuple[Ids, Ids] | None,
        room: Callable[[str, tuple[int, ...], type], Array] = in_memory,
    ) -> None:
        self.margin, self.own = margin, own
        self._games, self._base, self._strength = games, base, strength
        self._place, self._years, self._room = place, years, room

    @cached_property
    def _wider(self) -> Array:
        found = self._room("wider", self.margin.shape, np.float64)
        found[:] = 1.0
        return found

    @cached_property
    def _before(self) -> Array:
        return self._room("margin before", self.margin.shape, np.float64)

    @cached_property
    def _games_of_years(self) -> Places:
        """How many distinct games each year has; they come in this order."""
        games = np.bincount(self._place, np.diff(self._games.start), self._years)
        return games.astype(np.int64)

    @cached_property
    def _start(self) -> Places:
        """Where the games of each year begin, and the end of the last."""
        return np.cumsum(np.append(0, self._games_of_years))

    def _summed(self, values: Array) -> Array:
        """Sums over the games of each year."""
        found, played = np.zeros(self._years), self._games_of_years > 0
        found[played] = np.add.reduceat(values, self._start[:-1][played])
        return found

    def counts(self, _: Posterior) -> Array:
        """Of each year the weight of its games, and of those that were drawn, (2, years)."""
        weight = self._games.weight
        drawn = np.where(outcomes(self._games) == DRAW, weight, 0.0)
        return np.stack([self._summed(weight), self._summed(drawn)])

    def strengths(self, posterior: Posterior) -> Array:
        """The sum over the games of each year of the mean of both skills, points, (years,)."""
        from ttt_cli.kernels.ep import strength as kernels

        total = np.empty(self._years)
        kernels.strengths(self._start, self._games, posterior.mean_skills(), total)
        return total

    def above(self, posterior: Posterior, level: Array) -> Array:
        """How far each game's players are above its year, in units of strength, (games,)."""
        from ttt_cli.kernels.ep import strength as kernels

        found, skills = np.empty(len(self.margin)), posterior.mean_skills()
        kernels.above(self._start, self._games, skills, level, STRENGTH_UNIT, STRENGTH_REACH, found)
        return found

    def widen(self, posterior: Posterior, level: Array, by_year: Array) -> None:
        """Follow the strength of the players of each game, given that of the years, points, (years,)."""
        above = self.above(posterior, level)
        np.exp(np.multiply(above, self._strength, out=above), out=self._wider)
        self.apply(posterior, by_year)

    def remember(self, _: Posterior) -> None:
        """The next `move` is from here."""
        self._before[:] = self.margin

    def move(self, _: Posterior) -> float:
        """The largest since then, points."""
        self._before -= self.margin
        return largest(self._before)

    def apply(self, posterior: Posterior, by_year: Array) -> None:
        """Set the margins of games, and the means of newcomers' margins in the chains of what follows them."""
        self.margin[:] = self._base if self.own else np.repeat(by_year, self._games_of_years)
        if self._strength:
            self.margin *= self._wider
        if self.own:
            first, year = self.own
            posterior.chains.mean[first] = (by_year - self._base)[year]

    def scores(self, posterior: Posterior, by_year: Array, informed: bool) -> Array:
        """The score of each year's log margin, or that of the sites, and if asked its Fisher information."""
        if self.own:
            return self._of_newcomers(posterior, by_year, *self.own)[: 1 + informed]
        return self._of_games(posterior, informed)

    @cached_property
    def _found(self) -> Array:
        return self._room("scores", (2, len(self.margin)), np.float64)  # in each update the same memory

    def _of_games(self, posterior: Posterior, informed: bool) -> Array:
        from ttt_cli.kernels.ep.ttt_margins import margin_information, site_scores

        found, games, rule, told = self._found, self._games, posterior.rule, posterior.told
        if told and not informed:
            posterior.run_games(lambda *part: site_scores(*part, games, rule, *told, found[0]))
        else:
            cavities = posterior.cavities()
            posterior.run_games(lambda *part: margin_information(*part, games, rule, cavities, *found))
        return np.stack([self._summed(of) for of in found[: 1 + informed]])

    def _of_newcomers(self, posterior: Posterior, by_year: Array, first: Ids, year: Ids) -> Array:
        by_mean, by_variance = (slopes[first] for slopes in posterior.chain_slopes())
        margin = by_year[year]
        information = margin**2 * np.maximum(by_mean**2 - 2.0 * by_variance, 0.0)
        each = margin * by_mean, information
        return np.stack([np.bincount(year, of, self._years) for of in each])
