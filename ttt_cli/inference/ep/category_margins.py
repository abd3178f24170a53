"""Draw margins of games in categories, which are links, beside those of games between two players."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ttt_cli.games.table import LOSS, WIN
from ttt_cli.inference.ep.moving_margins import (
    SliceMargins,
    WholePosterior,
    YearScores,
    YearStrengths,
)
from ttt_cli.inference.links import MergedGames
from ttt_cli.inference.model import ChainSlopes, Play
from ttt_cli.kernels.ep.structures import Chains, Pairings, Rule
from ttt_cli.support.arrays import Array, Ids


class CategoryMargins(SliceMargins):
    """Draw margins of games in categories, which are also the ends of intervals of their links.

    `low`, `high` (games,) are those of the links in the order of the games, and are filled here.
    """

    def __init__(
        self,
        games: Pairings,
        margin: Array,
        play: Play,
        period_year: Ids,
        years: int,
        low: Array,
        high: Array,
    ) -> None:
        super().__init__(games, margin, play, period_year, years, None)
        self._low = low
        self._high = high
        self._outcome = games.code
        self._set_ends()

    def apply(self, chains: Chains, by_year: Array) -> float:
        """Set margins and ends of intervals; returns the largest move of a margin, points."""
        moved = super().apply(chains, by_year)
        self._set_ends()
        return moved

    def _set_ends(self) -> None:
        won = self._outcome == WIN
        lost = self._outcome == LOSS
        self._low[:] = np.where(won, self.margin, np.where(lost, -math.inf, -self.margin))
        self._high[:] = np.where(won, math.inf, np.where(lost, -self.margin, self.margin))


@dataclass(frozen=True)
class CategoriesPosterior:
    """The posterior of games in categories, which are links, within that of all games (`PosteriorOfCategories`).

    | name | shape | |
    |---|---|---|
    | whole | | the posterior of all games |
    | merged | | these games |
    | rule | | how they are played |
    | margins | | their draw margins |
    | find_skills | | computes mean skills in categories, (chained variables,), from the origin of skills, points |
    | find_cavities | | computes the cavities of their differences, (links, 2) |
    """

    whole: WholePosterior
    merged: MergedGames
    rule: Rule
    margins: CategoryMargins
    find_skills: Callable[[], Array]
    find_cavities: Callable[[], Array]

    @property
    def chains(self) -> Chains:
        """Chains of all variables."""
        return self.whole.chains

    def mean_skills(self) -> Array:
        """Mean skills in categories."""
        return self.find_skills()

    def cavities(self) -> Array:
        """Cavities of all links."""
        return self.find_cavities()

    def chain_slopes(self) -> ChainSlopes:
        """Gradient of the log-evidence in the steps of all variables."""
        return self.whole.chain_slopes()

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for all links."""
        task(0, len(self.rule.margin))

    def strengths(self) -> YearStrengths:
        """Strengths of all games."""
        return self.whole.strengths()


# What a whole posterior does with the margins of games of both kinds


def apply_margins(posterior: WholePosterior, by_year: Array) -> float:
    """Set the draw margins of games, or the prior means of newcomers' own; the largest move, points."""
    moved = posterior.margins.apply(posterior.chains, by_year)
    in_categories = posterior.in_categories()
    return (
        max(moved, in_categories.margins.apply(posterior.chains, by_year))
        if in_categories
        else moved
    )


def follow_strength(posterior: WholePosterior, level: Array, by_year: Array) -> float:
    """Update the strengths of games above the levels of years; the largest move of a margin, points."""
    posterior.margins.follow_strength(posterior, level)
    if in_categories := posterior.in_categories():
        in_categories.margins.follow_strength(in_categories, level)
    return apply_margins(posterior, by_year)


def strengths(posterior: WholePosterior) -> YearStrengths:
    """Strengths of the players of each year."""
    of_pairs = posterior.margins.strengths(posterior)
    in_categories = posterior.in_categories()
    if in_categories is None:
        return of_pairs
    of_categories = in_categories.margins.strengths(in_categories)
    return YearStrengths(
        of_pairs.weight + of_categories.weight, of_pairs.total + of_categories.total
    )


def margin_scores(posterior: WholePosterior, by_year: Array) -> YearScores:
    """Scores of each year's log margin."""
    of_pairs = posterior.margins.scores(posterior, by_year)
    in_categories = posterior.in_categories()
    if in_categories is None:
        return of_pairs
    of_categories = in_categories.margins.scores(in_categories, by_year)
    return YearScores(
        of_pairs.score + of_categories.score, of_pairs.information + of_categories.information
    )
