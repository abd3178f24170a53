"""Distinct values of all files together, numbered: dates, names, results, and the further columns that are kept."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice, starmap
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.players.names import careful_names, clean_name, not_a_player
from ttt_cli.reading.batches import FAULT
from ttt_cli.reading.values.dates import GameDate, SlashOrder, parse_date, slash_order
from ttt_cli.reading.values.match_scores import NO_TALLY, Tally

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
        known, before = self._numbers, len(self.values)
        numbers = [known.setdefault(value, len(known)) for value in values]
        new = list(islice(reversed(known), len(known) - before))
        new.reverse()
        self.values += new
        self._take(new)
        return np.array(numbers, np.int32)

    def _take(self, values: Sequence[V]) -> None:
        """Called with new values, each once."""


class DatePool(Pool[tuple[str, SlashOrder | None]]):
    """Dates as written, with the order of day and month in their file, and what they say: `parsed`."""

    def __init__(self) -> None:
        self.parsed: list[GameDate] = []
        super().__init__(("", None))

    def of_file(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of the distinct dates of a file, by which the order of day and month is told."""
        order = slash_order(texts)
        return self.ids((text, order if "/" in text else None) for text in texts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The dates as written."""
        return tuple(text for text, _ in self.values)

    def _take(self, values: Sequence[tuple[str, SlashOrder | None]]) -> None:
        self.parsed += starmap(parse_date, values)


class NamePool(Pool[str]):
    """Names as written; of each, `cleaned` is the name that it holds, `same` the number of one that holds the same
    (of all these the same one), and `fault` why it names nobody (0 where it does).
    """

    def __init__(self) -> None:
        self.cleaned: list[str] = []
        self.same = array("i")
        self.fault = array("b")
        self._names: dict[str, int] = {}  # names that came first in another spelling: its number
        super().__init__("")

    def _take(self, values: Sequence[str]) -> None:
        before = len(self.cleaned)
        self.cleaned += values
        self.same.extend(range(before, before + len(values)))
        self.fault.frombytes(bytes(len(values)))
        if self._names:
            for number, value in enumerate(values, before):
                self.same[number] = self._names.get(value, number)
        for place in careful_names(values):
            number, name = before + place, clean_name(values[place])
            self.fault[number] = FAULT.get(not_a_player(name) or "", 0)
            if name != values[place]:
                written = self._numbers.get(name)
                self.cleaned[number] = name
                self.same[number] = (
                    self._names.setdefault(name, number) if written is None else self.same[written]
                )


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
