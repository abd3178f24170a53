"""Fields of rows as numbers of words: those of the players' names in one thread, all others in another.

Compiled code does not hold the interpreter, so that both go on while the next rows are cut. Names have words of their
own, as have the other columns: no thread waits for another, and tables of words are small enough to be near.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.scanning import delimited as kernel
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.coded import Coded
from ttt_cli.reading.formats.tabular.coded_join import CodedJoin
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.cutting import Piece
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.interned import Words
from ttt_cli.reading.streams import DamagedInputError

_WAITING: Final = 4  # pieces that may wait to be numbered
_NAMES: Final = 2  # columns

Codes = NDArray[np.int32]


def fields_of(layout: Layout) -> tuple[int, ...]:
    """The columns that a Piece has, by index in the layout: White, Black, then the others."""
    names = (layout.white, layout.black)
    return (*names, *(index for index in layout.used if index not in names))


def numbered(pieces: Iterable[Piece], layout: Layout) -> Iterator[Batch]:
    """The records of pieces in their order; when their source is damaged, what came before, then the error."""
    join = CodedJoin()
    with _Numbering(layout) as numbering:
        for piece, columns in numbering.all(pieces):
            yield make_batch(layout, piece.lines[piece.first :], columns, join, piece.rejects)


class _Numbering:
    """Numbers pieces in threads, which end with the `with` block."""

    def __init__(self, layout: Layout) -> None:
        self._used = fields_of(layout)
        self._groups = [_Group(slice(0, _NAMES)), _Group(slice(_NAMES, len(self._used)))]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for group in self._groups:
            group.thread.shutdown(cancel_futures=True)

    def all(self, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, dict[int, Coded]]]:
        """The pieces with their columns by index in the layout."""
        waiting: deque[tuple[Piece, list[Future[Codes]]]] = deque()
        try:
            for piece in pieces:
                waiting.append((piece, [group.begin(piece) for group in self._groups]))
                if len(waiting) > _WAITING:
                    yield self._done(*waiting.popleft())
        except DamagedInputError:
            yield from (self._done(*one) for one in waiting)
            raise
        yield from (self._done(*one) for one in waiting)

    def _done(self, piece: Piece, found: Sequence[Future[Codes]]) -> tuple[Piece, dict[int, Coded]]:
        columns = [
            Coded(group.words, column[piece.first :])
            for group, codes in zip(self._groups, found, strict=True)
            for column in codes.result()
        ]
        return piece, dict(zip(self._used, columns, strict=True))


class _Group:
    """Columns that share their words."""

    def __init__(self, columns: slice) -> None:
        self.words = Words()
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="numbering")
        self._columns = columns

    def begin(self, piece: Piece) -> Future[Codes]:
        """Have the thread number all fields; shape (columns, rows)."""
        fields = len(piece.begins[self._columns])
        # made here, because threads have heaps of their own
        codes = np.empty((fields, len(piece.lines)), np.int32)
        return self.thread.submit(self._number, piece, codes)

    def _number(self, piece: Piece, codes: Codes) -> Codes:
        begins, ends = piece.begins[self._columns], piece.ends[self._columns]
        state = np.array([0, 0, len(self.words)], np.int64)
        while kernel.number_fields(piece.data, begins, ends, state, codes, *self.words.arrays) == kernel.FULL:
            self.words.take(int(state[kernel.WORDS]))
            self.words.grow()
        self.words.take(int(state[kernel.WORDS]))
        for row, texts in piece.further:
            fields = [text.encode("utf-8", "surrogateescape") for text in texts[self._columns]]
            codes[:, row] = list(map(self.words.number, fields))
        return codes
