"""What readers hand over: records as written, column by column, with what was odd about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.config.schema import Period

ResultKind = Literal["text", "scores", "goals", "sport", "winners"]  # how results are written


class Note(NamedTuple):
    """Something odd at a place in the file being read: a Problem that does not know its file yet."""

    line: int
    reason: str
    detail: str
    action: str


class Batch(NamedTuple):
    """Consecutive records as columns of equal length, values as written (bytes, text, or tuples of text).

    `dates` are texts or (year, month, day) parts; `results` are texts or (White's, Black's) score. `rejects` are
    further records that could not be split into columns, `notes` oddities of records that are counted elsewhere.
    `further` holds more columns by name (`event`, `round`); `moves` a hash of each game's moves, 0 where there are
    none.
    """

    lines: Sequence[int] | NDArray[np.int64]
    dates: Sequence[Hashable]
    whites: Sequence[Hashable]
    blacks: Sequence[Hashable]
    results: Sequence[Hashable]
    weights: Sequence[Hashable] | None = None
    rejects: Sequence[Note] = ()
    notes: Sequence[Note] = ()
    further: Mapping[str, Sequence[Hashable]] = MappingProxyType({})
    moves: NDArray[np.int64] | None = None


class Table(NamedTuple):
    """A file about to be read: how its results are written, its records, of which periods dates may be numbers,
    whether it may be of chess, and whether its columns are of winners and losers.
    """

    kind: ResultKind
    batches: Iterator[Batch]
    unit: Period | None = None
    chess: bool = True
    winners: bool = False
