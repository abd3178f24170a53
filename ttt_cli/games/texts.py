"""Columns of texts that go with games: dictionary-encoded, in next to no memory where nothing is known."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.column import Codes, Column, Dictionary


def no_texts(count: int) -> Column[str]:
    """A column of empty texts."""
    return Column(np.broadcast_to(np.uint8(0), count), ("",))


def of_players(spellings: Iterable[tuple[str, str]], players: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Those of some players, sorted, each once."""
    present = set(players)
    return tuple(sorted({pair for pair in spellings if pair[0] in present}))


def picked(column: Column[str], rows: NDArray[Any]) -> Column[str]:
    """The texts of some rows, by places or by a mask."""
    if column.codes.strides == (0,):
        return no_texts(int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows))
    return Column(column.codes[rows], column.values)


def joined(first: Column[str], second: Column[str]) -> Column[str]:
    """The texts of one column after those of another."""
    dictionary = Dictionary("")
    parts: list[Codes] = []
    for column in (first, second):
        present = np.zeros(len(column.values), np.bool_)
        present[column.codes] = True
        number = np.zeros(len(column.values), np.int32)
        number[present] = dictionary.ids(column.values[place] for place in np.flatnonzero(present).tolist())
        parts.append(number[column.codes])
    return Column(np.concatenate(parts), tuple(dictionary.values))
