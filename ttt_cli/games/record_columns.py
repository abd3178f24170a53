"""The columns of the records of a file after they were validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.columns import Codes
from ttt_cli.support.arrays import Array, Mask


@dataclass(frozen=True)
class RecordColumns:
    """Columns of the records of a file, (records,) each; of equal entries they may have stride 0.

    Dates, names, results and texts are numbers in the `Dictionaries`.

    | column | unit | |
    |---|---|---|
    | line | | position of the record in the file (see `reading.reports`) |
    | date, white, black, result | | numbers |
    | reject_code | | 0: not rejected |
    | weight | games | |
    | offset | Elo points | added to White's strength |
    | neutral | | whether nobody has White's advantage |
    | p_true | | probability that the record is right |
    | victory_margin | | by how much a single game was won, 0 where it is drawn or nobody knows |
    | computer | | whether a side is a program by its type or title |
    | moves | | hashes of moves, 0 where there are none |
    | texts | | numbers by column, without columns that are empty throughout |
    """

    line: Codes
    date: Codes
    white: Codes
    black: Codes
    result: Codes
    reject_code: NDArray[np.int8]
    weight: Array
    offset: Array
    neutral: Mask
    p_true: Array
    victory_margin: Array
    computer: Mask
    moves: Codes
    texts: Mapping[str, Codes]


def column_or_value(column: NDArray[Any] | None, value: np.generic, count: int) -> NDArray[Any]:
    """The column, or the value for so many records."""
    return np.broadcast_to(value, count) if column is None else column
