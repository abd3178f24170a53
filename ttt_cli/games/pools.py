"""Distinct values of all files together, numbered: dates, names, results, and the further columns that are kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.dates import GameDate, parse_date
from ttt_cli.games.names.clean import clean_name, not_a_player
from ttt_cli.games.records import FAULT
from ttt_cli.games.tallies import NO_TALLY, Tally

V = TypeVar("V", bound=Hashable)

FURTHER: Final = ("event", "site", "round", "variant", "status", "odds", "white_id", "black_id")


class Pool(Generic[V]):
    """Numbers distinct values in the order in which they first come; `values` are those so far."""

    def __init__(self, *values: V) -> None:
        self.values: list[V] = []
        self._numbers: dict[V, int] = {}
        self.ids(values)

    def ids(self, values: Iterable[V]) -> NDArray[np.int32]:
        """The numbers of values, new ones after the old."""
        known = self._numbers
        return np.array([known[value] if value in known else self._add(value) for value in values], np.int32)

    def _add(self, value: V) -> int:
        number = self._numbers[value] = len(self.values)
        self.values.append(value)
        self._take(value)
        return number

    def _take(self, value: V) -> None:
        """Called once for each new value."""


class DatePool(Pool[str]):
    """Dates as written, and what they say: `parsed`."""

    def __init__(self) -> None:
        self.parsed: list[GameDate] = []
        super().__init__("")

    def _take(self, value: str) -> None:
        self.parsed.append(parse_date(value))


class NamePool(Pool[str]):
    """Names as written; of each, `cleaned` is the name that it holds, `same` the number of that name among the cleaned
    ones, and `fault` why it names nobody (0 where it does).
    """

    def __init__(self) -> None:
        self.cleaned: list[str] = []
        self.same: list[int] = []
        self.fault: list[int] = []
        self._names: dict[str, int] = {}
        super().__init__("")

    def _take(self, value: str) -> None:
        name = clean_name(value)
        self.cleaned.append(name)
        self.same.append(self._names.setdefault(name, len(self._names)))
        self.fault.append(FAULT.get(not_a_player(name) or "", 0))


class Pools:
    """The pools of one reading. Results go with their tallies, because the same text may mean different things in
    different files; `columns` are the further ones, in which both players' ids are one pool. Number 0 is the empty text
    everywhere.
    """

    def __init__(self, columns: Iterable[str] = FURTHER) -> None:
        self.dates = DatePool()
        self.names = NamePool()
        self.results = Pool[tuple[str, Tally]](("", NO_TALLY))
        self.columns = {name: Pool("") for name in columns}
        if "black_id" in self.columns:
            self.columns["black_id"] = self.columns["white_id"]
