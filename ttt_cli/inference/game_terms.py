"""Differences of games as sums of variables, as sparse rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttt_cli.support.arrays import Array, Places


class GameTerms(NamedTuple):
    """Terms of the differences of some games, (terms,) each: position of the game, variable, square of coefficient."""

    game: Places
    variable: Places
    square: Array


class TermsOfGames(NamedTuple):
    """The differences of all games as sums of variables, (terms,) each."""

    game: Places
    variable: Places
    coefficient: Array
    n_games: int

    @property
    def squared(self) -> TermsOfGames:
        """The same with the squares of coefficients."""
        return self._replace(coefficient=self.coefficient**2)

    def totals(self, x: Array) -> Array:
        """The sums, (games,)."""
        products = self.coefficient * x[self.variable]
        return np.asarray(np.bincount(self.game, products, self.n_games), np.float64)

    def gathered(self, of_game: Array, variables: int) -> Array:
        """Values of games on all variables, (variables,)."""
        products = self.coefficient * of_game[self.game]
        return np.asarray(np.bincount(self.variable, products, variables), np.float64)

    def of_games(self, games: Places, n_games: int) -> GameTerms:
        """The terms of some games."""
        position = np.full(n_games, -1)
        position[games] = np.arange(len(games))
        terms = np.flatnonzero(position[self.game] >= 0)
        return GameTerms(
            position[self.game[terms]], self.variable[terms], self.coefficient[terms] ** 2
        )
