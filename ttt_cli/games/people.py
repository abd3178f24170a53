"""What is known of players besides their games: fields of people, by player."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Final, Self

from ttt_cli.periods import DAYS_PER_YEAR

if TYPE_CHECKING:
    from ttt_cli.support.arrays import Array

BORN: Final = "born"
DIED: Final = "died"
_YEAR: Final = 4  # characters of a date that is a year
_MONTH: Final = 7  # of a date that is a month


@dataclass(frozen=True)
class PeopleTable:
    """Fields of people by player, as texts; empty where nothing is known.

    `born` and `died` are dates as far as they are known: `1837`, `1837-06` or `1837-06-22`. `values` have a text for
    each of `fields`. Players of whom nothing is known are not in it.
    """

    fields: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def column(self, name: str, players: Sequence[str]) -> list[str]:
        """The texts of a field for players; all empty if there is no such field."""
        if name not in self.fields:
            return [""] * len(players)
        index = self.fields.index(name)
        return [self.values[player][index] if player in self.values else "" for player in players]

    def births(self, players: Sequence[str]) -> Array:
        """Births of players in years, (players,), NaN where they are unknown."""
        import numpy as np

        return np.array([date_in_years(text) for text in self.column(BORN, players)], np.float64)

    def only(self, players: Iterable[str]) -> Self:
        """The table of some players."""
        kept = frozenset(players)
        return replace(
            self, values={name: row for name, row in self.values.items() if name in kept}
        )


NO_PEOPLE: Final = PeopleTable()


def date_in_years(text: str) -> float:
    """A date as far as it is known, in years: its middle where day or month are unknown; NaN for no date."""
    if not text:
        return math.nan
    year = int(text[:_YEAR])
    if len(text) == _YEAR:
        return year + 0.5
    if len(text) == _MONTH:
        return year + (int(text[_YEAR + 1 :]) - 0.5) / 12.0
    return year + (date.fromisoformat(text) - date(year, 1, 1)).days / DAYS_PER_YEAR
