"""Games as columns: what every reader produces and every model starts from."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.columns import Column, Dictionary, alike, spread
from ttt_cli.reading.reports import ReadReport
from ttt_cli.room import MEMORY, Room

LOSS: Final = 0
DRAW: Final = 1
WIN: Final = 2

PRECISION_YEAR: Final = 0
PRECISION_MONTH: Final = 1
PRECISION_DAY: Final = 2

GAME_KINDS: Final[dict[str, type[np.generic]]] = {
    "date": np.int32,
    "date_precision": np.int8,
    "white": np.int32,
    "black": np.int32,
    "outcome": np.int8,
    "weight": np.float64,
    "offset": np.float64,
    "neutral": np.bool_,
    "source_file": np.int32,
    "source_line": np.int64,
}


def no_texts(count: int) -> Column[str]:
    """A column of empty texts."""
    return Column(np.broadcast_to(np.uint8(0), count), ("",))


_UNKNOWN: Final = no_texts(0)  # of as many games as there are
_NO_CHANCE: Final = 30  # wins in a row: 2 in a million where the first side wins 65 % of the decisive games


def winner_named_first(lost: int, won: int) -> bool:
    """Whether numbers of lost and won records show that the winner is always named first."""
    return lost == 0 and won >= _NO_CHANCE


@dataclass(frozen=True)
class Games:
    """Game records as read-only columns of equal length n, sorted by date, then as read.

    `date` is in days since 1970-01-01 (proleptic Gregorian), the middle of the year or month where `date_precision`
    is less than a day. `white` and `black` index `players`, which is sorted and unique; `outcome` is White's: 0 loss,
    1 draw, 2 win. A game counts `weight` times; `offset` (Elo points) is added to White's strength, negative when
    White gave odds. On `neutral` ground (empty: none is) no side has an advantage. These may have stride 0 where all
    are equal. `source_file` indexes `report.files`, `source_line` is the record's place there (see
    `reading.reports`). `event`, `site` and `round` are texts as written. `spellings` are sorted pairs of a player and
    another spelling. The columns are in `room`.

    Raises ValueError for a wrong length, or an index or code out of range.
    """

    date: NDArray[np.int32]
    date_precision: NDArray[np.int8]
    white: NDArray[np.int32]
    black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    source_file: NDArray[np.int32]
    source_line: NDArray[np.int64]
    players: tuple[str, ...]
    report: ReadReport = field(default_factory=ReadReport)
    event: Column[str] = field(default=_UNKNOWN, repr=False)
    site: Column[str] = field(default=_UNKNOWN, repr=False)
    round: Column[str] = field(default=_UNKNOWN, repr=False)
    spellings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    neutral: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), repr=False)
    room: Room = field(default=MEMORY, repr=False, compare=False)

    def __post_init__(self) -> None:
        n = len(self.date)
        if not len(self.neutral):
            object.__setattr__(self, "neutral", np.broadcast_to(np.False_, n))
        for name, dtype in GAME_KINDS.items():
            column: NDArray[Any] = np.asarray(getattr(self, name), dtype=dtype)
            if not alike(column):
                column = np.ascontiguousarray(column)
            if column.shape != (n,):
                raise ValueError(f"games: column {name} has shape {column.shape}, not ({n},)")
            if column is getattr(self, name) and column.flags.writeable:
                column = column.view()
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        for name in TEXT_COLUMNS:
            if getattr(self, name) is _UNKNOWN:
                object.__setattr__(self, name, no_texts(n))
            if len(getattr(self, name)) != n:
                raise ValueError(f"games: column {name} has {len(getattr(self, name))} texts, not {n}")
        self._check(n)

    def _check(self, n: int) -> None:
        if n == 0:
            return
        for name in ("white", "black"):
            ids = getattr(self, name)
            if ids.min() < 0 or ids.max() >= len(self.players):
                raise ValueError(f"games: {name} points outside the {len(self.players)} players")
        if self.outcome.min() < LOSS or self.outcome.max() > WIN:
            raise ValueError("games: outcomes are 0, 1 or 2")
        if not np.all(self.weight > 0) or not np.all(np.isfinite(self.weight)):
            raise ValueError("games: weights are positive and finite")
        if not np.all(np.isfinite(self.offset)):
            raise ValueError("games: offsets are finite")
        if np.any(self.white == self.black):
            raise ValueError("games: nobody plays against himself")
        if np.any(np.diff(self.date) < 0):
            raise ValueError("games: not sorted by date")

    def __len__(self) -> int:
        return len(self.date)

    def _repr_html_(self) -> str:
        days = [str(np.datetime64(int(day), "D")) for day in self.date[[0, -1]]] if len(self) else []
        facts = {
            "games": f"{len(self):,}",
            "players": f"{len(self.players):,}",
            "dates": " to ".join(days),
            "drawn": f"{100.0 * self.draw_share:.1f} %",
            "files": ", ".join(file.path for file in self.report.files),
        }
        from pandas import Series

        return str(Series(facts, name="games").to_frame().to_html())

    @property
    def winner_first(self) -> bool:
        """Whether the winner is always named first, so that colours are unknown."""
        return winner_named_first(*(int(np.count_nonzero(self.outcome == result)) for result in (LOSS, WIN)))

    @property
    def draw_share(self) -> float:
        """The weighted share of draws, 0 when there are no games."""
        total = float(self.weight.sum())
        return float(self.weight[self.outcome == DRAW].sum()) / total if total else 0.0


GAME_COLUMNS: Final = tuple(f.name for f in fields(Games) if f.name in GAME_KINDS)


def of_players(spellings: Iterable[tuple[str, str]], players: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The spellings of some players, sorted and unique."""
    present = set(players)
    return tuple(sorted({pair for pair in spellings if pair[0] in present}))


def picked(column: Column[str], rows: NDArray[Any]) -> Column[str]:
    """The texts of some rows, by indices or a mask."""
    if alike(column.codes):
        return no_texts(int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows))
    return Column(column.codes[rows], column.values)


def compact(column: Column[str]) -> Column[str]:
    """The column with those of its texts only that occur."""
    present = np.zeros(len(column.values), np.bool_)
    present[column.codes] = True
    number = (np.cumsum(present) - 1).astype(np.int32)
    return Column(spread(number, column.codes), tuple(compress(column.values, present.tolist())))


def joined(first: Column[str], second: Column[str]) -> Column[str]:
    """Two columns of texts, one after the other."""
    dictionary = Dictionary("")
    parts = [compact(column) for column in (first, second)]
    codes = [dictionary.ids(part.values)[part.codes] for part in parts]
    return Column(np.concatenate(codes), tuple(dictionary.values))
