"""Columns of numbers made one: each combination of values is built once, however often it occurs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.coded import Coded
from ttt_cli.reading.formats.tabular.columns import Column, Parts

_Codes = NDArray[np.int64]


class CodedJoin:
    """Joins Coded columns whose words keep their numbers from one call to the next (see `make_batch`)."""

    def __init__(self) -> None:
        self._made: dict[tuple[Callable[[Parts], Hashable], int], _Made] = {}

    def __call__(self, make: Callable[[Parts], Hashable], columns: Sequence[Column]) -> Column:
        """The joined column, a Coded one."""
        made = self._made.setdefault((make, len(columns)), _Made())
        return made.joined(make, [column for column in columns if isinstance(column, Coded)])


class _Made:
    """The values made so far, and the numbers of the combinations they are made of."""

    def __init__(self) -> None:
        self._values: list[Hashable] = []
        self._known: list[dict[int, int]] = []  # by level of joining: pairs of numbers

    def joined(self, make: Callable[[Parts], Hashable], columns: Sequence[Coded]) -> Coded:
        codes = [column.codes.astype(np.int64) for column in columns]
        while len(self._known) < len(codes) - 1:
            self._known.append({})
        levels = iter(self._known)
        numbers = reduce(lambda left, right: _numbered(left, right, next(levels)), codes)
        new, rows = np.unique(numbers, return_index=True)
        fresh = rows[np.searchsorted(new, len(self._values)) :]
        self._values += [make(tuple(column[int(row)] for column in columns)) for row in fresh]
        return Coded(self._values, numbers.astype(np.int32))


def _numbered(left: _Codes, right: _Codes, known: dict[int, int]) -> _Codes:
    """Numbers of the pairs of numbers below 2**31, new ones behind those that are known."""
    pairs, inverse = np.unique(left << 32 | right, return_inverse=True)
    numbers = [known.setdefault(pair, len(known)) for pair in pairs.tolist()]
    return np.array(numbers, np.int64)[inverse]
