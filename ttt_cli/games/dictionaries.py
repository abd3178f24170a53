"""Distinct values of all files together, numbered: dates, names, results, and the further columns that are kept."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.names import UNUSUAL, clean_name, not_a_player, preselect
from ttt_cli.reading.columns import Dictionary
from ttt_cli.reading.dates import PLAIN, DateForm, GameDate, parse_date
from ttt_cli.reading.reports import REJECT_CODE
from ttt_cli.reading.results import NO_TALLY, Tally
from ttt_cli.support.arrays import Array, Ids

FURTHER: Final = (
    *("event", "site", "round", "variant", "time_control", "status", "odds", "white_id", "black_id"),
)


class DateDictionary(Dictionary[tuple[str, DateForm | None]]):
    """Dates as written, with the date form of their file, and as `parsed`."""

    def __init__(self) -> None:
        self.parsed: list[GameDate] = []
        super().__init__(("", None))

    @property
    def texts(self) -> tuple[str, ...]:
        """The dates as written."""
        return tuple(text for text, _ in self.values)

    @property
    def days(self) -> NDArray[np.int32]:
        """Days since 1970-01-01, the middle of the possible range."""
        return np.array([date.day for date in self.parsed], np.int32)

    @property
    def precisions(self) -> NDArray[np.int8]:
        """How exact each is, as in `Games`."""
        return np.array([date.precision for date in self.parsed], np.int8)

    def _take(self, values: Sequence[tuple[str, DateForm | None]]) -> None:
        self.parsed += [parse_date(text, form or PLAIN) for text, form in values]


class NameDictionary(Dictionary[str]):
    """Names as written. `cleaned` is the player's name, `reject_code` why a text is not a player (0 if it is one)."""

    def __init__(self) -> None:
        self.cleaned: list[str] = []
        self.reject_code = array("b")
        super().__init__("")

    def _take(self, values: Sequence[str]) -> None:
        before = len(self.cleaned)
        self.cleaned += values
        self.reject_code.frombytes(bytes(len(values)))
        for place in preselect(UNUSUAL, values):
            name = self.cleaned[before + place] = clean_name(values[place])
            self.reject_code[before + place] = REJECT_CODE.get(not_a_player(name) or "", 0)


class NoLinks(Dictionary[str]):
    """Texts with web addresses left empty, since every game may have its own."""

    def ids(self, values: Iterable[str]) -> Ids:
        """The numbers of values, new ones after the old."""
        return super().ids("" if "://" in value else value for value in values)


class Dictionaries:
    """The dictionaries of one reading; number 0 is the empty text everywhere.

    Results are stored with their tallies, because a text may differ in meaning between files. `columns` are the
    further columns; the ids of both players share one.
    """

    def __init__(self, columns: Iterable[str] = FURTHER) -> None:
        self.dates = DateDictionary()
        self.names = NameDictionary()
        self.results = Dictionary[tuple[str, Tally]](("", NO_TALLY))
        self.columns = {name: Dictionary("") for name in columns}
        if "black_id" in self.columns:
            self.columns["black_id"] = self.columns["white_id"]

    @property
    def tallies(self) -> Array:
        """The games that White lost, drew and won by each result, shape (results, 3)."""
        return np.array([tally for _, tally in self.results.values], np.float64)
