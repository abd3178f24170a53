"""What the sides and results of games are called: colours and 1-0 in chess, words elsewhere, where 1-0 is a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import RESULTS
from ttt_cli.views.rows import Rows

COLOURS: Final = ("white", "black")  # the sides of chess
NEUTRAL: Final = "neutral"  # what both sides are called where neither has an advantage
_OF_SIDE: Final = ("lost", "drawn", "won")  # by outcome
_DRAWN: Final = 1
_AT_SIDES: Final = {"home": "at home", "away": "away", NEUTRAL: NEUTRAL}


@dataclass(frozen=True)
class GameWords:
    """Names of the side named first and of the other."""

    first: str
    second: str

    @cached_property
    def is_chess(self) -> bool:
        """Whether the sides are White and Black."""
        return (self.first, self.second) == COLOURS

    @property
    def labels(self) -> list[str]:
        """The first side, the second and neutral ground, as in `history.played.Sides.colour`."""
        return [self.first, self.second, NEUTRAL]

    @cached_property
    def initials(self) -> list[str]:
        """The labels where there is little room: initials of colours, else whole names."""
        return [label[0].upper() for label in self.labels] if self.is_chess else self.labels

    @property
    def column(self) -> str:
        """The column that has the side of a player."""
        return "colour" if self.is_chess else "side"

    @property
    def averaged(self) -> str:
        """What predictions are averaged over where no side is named: `both colours`, `home and away`."""
        return "both colours" if self.is_chess else f"{self.first} and {self.second}"

    def as_side(self, name: str) -> str:
        """How a player plays on a side: `as white`, `at home`, `neutral`."""
        return _AT_SIDES.get(name, f"as {name}")

    def result_of_side(self, outcome: int, margin: float = 0.0) -> str:
        """A result from a player's side: `1-0` in chess, else `won`, or `won by 6` where the margin is known.

        `outcome`: 0 lost, 1 drawn, 2 won. `margin`: 0 where it is unknown.
        """
        return RESULTS[outcome] if self.is_chess else f"{_OF_SIDE[outcome]}{_by(margin)}"

    def result_of_game(self, outcome: int, margin: float = 0.0) -> str:
        """A result by the side named first: `1-0` in chess, else `home won`, `home won by 6`, `drawn`, `away won`."""
        if self.is_chess:
            return RESULTS[outcome]
        if outcome == _DRAWN:
            return _OF_SIDE[outcome]
        return f"{self.first if outcome > _DRAWN else self.second} won{_by(margin)}"

    def renamed(self, rows: Rows) -> Rows:
        """A table in which columns that name White, Black or colours name the sides of these games."""
        if self.is_chess:
            return rows

        def of_sides(names: Sequence[str]) -> list[str]:
            return [self.column_of(name) for name in names]

        return replace(
            rows,
            columns=tuple(of_sides(rows.columns)),
            decimals=dict(zip(of_sides([*rows.decimals]), rows.decimals.values(), strict=True)),
            hidden=frozenset(of_sides([*rows.hidden])),
            unfolded=frozenset(of_sides([*rows.unfolded])),
        )

    def column_of(self, name: str) -> str:
        """The name here of a column that in chess names White, Black or colours: `win_home`."""
        before, line, side = name.rpartition("_")
        of_side = dict(zip((*COLOURS, "colour"), (self.first, self.second, "side"), strict=True))
        return f"{before}{line}{of_side.get(side, side)}"


CHESS_WORDS: Final = GameWords(*COLOURS)


def game_words(run: Run) -> GameWords:
    """What a run calls sides and results."""
    first, second = run.meta.config.get("data", {}).get("sides", COLOURS)
    return GameWords(str(first), str(second))


def _by(margin: float) -> str:
    return f" by {margin:g}" if margin else ""
