"""Distinct values of all files together, numbered: dates, names, results, and the further columns that are kept."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids
from ttt_cli.games.players.names import clean_name, not_a_player, unusual_names
from ttt_cli.reading.column import Dictionary
from ttt_cli.reading.reasons import REJECT_CODE
from ttt_cli.reading.values.dates import PLAIN, DateForm, GameDate, parse_date
from ttt_cli.reading.values.results import NO_TALLY, Tally

FURTHER: Final = (
    *("event", "site", "round", "variant", "time_control", "status", "odds", "white_id", "black_id"),
)


class DateDictionary(Dictionary[tuple[str, DateForm | None]]):
    """Dates as written, with the form of such dates in their file, and what they say: `parsed`."""

    def __init__(self) -> None:
        self.parsed: list[GameDate] = []
        super().__init__(("", None))

    @property
    def texts(self) -> tuple[str, ...]:
        """The dates as written."""
        return tuple(text for text, _ in self.values)

    @property
    def days(self) -> NDArray[np.int32]:
        """Days since 1970-01-01, the middle of what is known of each."""
        return np.array([date.day for date in self.parsed], np.int32)

    @property
    def precisions(self) -> NDArray[np.int8]:
        """How exact each is, as in `Games`."""
        return np.array([date.precision for date in self.parsed], np.int8)

    def _take(self, values: Sequence[tuple[str, DateForm | None]]) -> None:
        self.parsed += [parse_date(text, form or PLAIN) for text, form in values]


class NameDictionary(Dictionary[str]):
    """Names as written; of each, `cleaned` is the name that it holds, `same` the number of one that holds the same
    (of all these the same one), and `reject_code` why it names nobody (0 where it does).
    """

    def __init__(self) -> None:
        self.cleaned: list[str] = []
        self.same = array("i")
        self.reject_code = array("b")
        self._names: dict[str, int] = {}  # names that came first in another spelling: its number
        super().__init__("")

    def _take(self, values: Sequence[str]) -> None:
        before = len(self.cleaned)
        self.cleaned += values
        self.same.extend(range(before, before + len(values)))
        self.reject_code.frombytes(bytes(len(values)))
        if self._names:
            for number, value in enumerate(values, before):
                self.same[number] = self._names.get(value, number)
        for place in unusual_names(values):
            number, name = before + place, clean_name(values[place])
            self.reject_code[number] = REJECT_CODE.get(not_a_player(name) or "", 0)
            if name != values[place]:
                written = self._numbers.get(name)
                self.cleaned[number] = name
                self.same[number] = (
                    self._names.setdefault(name, number) if written is None else self.same[written]
                )


class NoLinks(Dictionary[str]):
    """Texts but for addresses in a network, of which every game may have one of its own: those are empty."""

    def ids(self, values: Iterable[str]) -> Ids:
        """The numbers of values, new ones after the old."""
        return super().ids("" if "://" in value else value for value in values)


class Dictionaries:
    """The dictionaries of one reading; number 0 is the empty text everywhere.

    Results go with their tallies, because the same text may mean different things in different files; `columns` are the
    further ones, where both players' ids have one.
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

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a further column so far."""
        return tuple(self.columns[name].values)
