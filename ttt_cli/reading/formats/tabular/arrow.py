"""Lines cut into dictionary-encoded columns by pyarrow, and the rows of a block put together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import csv

from ttt_cli.arrays import Ids, Mask, Places
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.column import ByteStrings, Column, Dictionary
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.lines import LF, LineBlock, Lines, whole_lines
from ttt_cli.reading.streams import DamagedInputError

BLOCK: Final = 1 << 21  # bytes whose lines are cut at once
LINES: Final = 1 << 16  # the same in lines, each of which may be rejected
MARK: Final = 0xEF  # begins the byte order mark, which pyarrow passes over

Rows = tuple[Places, Ids]  # lines, shape (n,), and codes of the used columns, (columns, n)
Fields = TypeVar("Fields")
Form = tuple[pa.DataType, Callable[[pa.Array | None], Fields]]  # pyarrow's type, and what is made of a column


def lines_in(blocks: Iterable[bytes]) -> Iterator[Lines]:
    """As `whole_lines`, BLOCK bytes or LINES or a little more at a time; what came before damage is handed on too."""
    waiting: list[bytes] = []
    size = count = 0
    try:
        for lines in whole_lines(blocks):
            apart = lines.long or lines.final
            if waiting and (apart or size >= BLOCK or count >= LINES):
                yield Lines(b"".join(waiting))
                waiting, size, count = [], 0, 0
            if apart:
                yield lines
            else:
                waiting.append(lines.data)
                size += len(lines.data)
                count += int(np.count_nonzero(np.frombuffer(lines.data, np.uint8) == LF))
    except DamagedInputError:
        yield Lines(b"".join(waiting))
        raise


def one_ahead(feed: Callable[[Lines], Iterable[Batch]], blocks: Iterable[Lines]) -> Iterator[Batch]:
    """What each block is made into, in a thread of its own, while the next is read and the last is taken in.

    Not in the main thread, where pyarrow takes signals for itself and loses some; what `feed` leaves to be made as it
    is asked for is made there.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="rows") as thread:
        under_way: Future[Iterable[Batch]] = thread.submit(tuple)
        try:
            for block in blocks:
                done, under_way = under_way, thread.submit(feed, block)
                yield from done.result()
        except DamagedInputError:
            yield from under_way.result()
            raise
        yield from under_way.result()


def cut(
    block: LineBlock,
    chosen: Mask,
    delimiter: str,
    width: int,
    used: Sequence[int],
    form: Form[Fields],
    *,
    quotes: bool,
) -> list[Fields] | None:
    """The `used` ones of the columns of the chosen lines; None when these are not rows of `width` fields each."""
    names = [str(index) for index in range(width)]
    kept, made = {names[index]: form[0] for index in used}, form[1]
    lines = block.only(chosen)
    if not lines:
        return [made(None) for _ in used]
    try:
        table = csv.read_csv(
            pa.py_buffer(lines),
            csv.ReadOptions(use_threads=False, column_names=names, block_size=len(lines) + 1),
            csv.ParseOptions(delimiter=delimiter, quote_char='"' if quotes else False),
            csv.ConvertOptions(column_types=kept, include_columns=list(kept), check_utf8=False),
        )
    except pa.ArrowInvalid:
        return None
    if len(table) != chosen.sum():
        return None
    return [made(chunk) for (chunk,) in (column.chunks for column in table.columns)]


def _strings(array: Any) -> ByteStrings:
    if array is None:
        return ByteStrings.of(())
    _, bounds, characters = array.buffers()  # to_numpy() and combine_chunks() would load pandas
    starts = np.frombuffer(bounds, np.int32, len(array) + 1).astype(np.int64)
    return ByteStrings(starts, np.frombuffer(characters or b"", np.uint8))


def _column(array: Any) -> Column[bytes]:
    if array is None:
        return Column(np.zeros(0, np.int32), _strings(None))
    codes = np.frombuffer(array.indices.buffers()[1], np.int32, len(array))
    return Column(codes, _strings(array.dictionary))


CODED: Final[Form[Column[bytes]]] = pa.dictionary(pa.int32(), pa.binary()), _column
PLAIN: Final[Form[ByteStrings]] = pa.binary(), _strings


class Assembly:
    """Makes batches of the rows of one block after the other; all strings of the file are interned together."""

    def __init__(self, layout: Layout, *, large: bool) -> None:
        self._layout = layout
        self._values: Sequence[bytes]
        if large:
            from ttt_cli.reading.interned import InternedStrings

            self._values = strings = InternedStrings()
            self._ids: Callable[[ByteStrings], Ids] = strings.ids
        else:
            dictionary = Dictionary(b"")
            self._values, self._ids = dictionary.values, dictionary.ids
        self.form: Form[Any] = PLAIN if large else CODED  # in which columns are numbered soonest

    def codes(self, column: Column[bytes] | ByteStrings) -> Ids:
        """The numbers of a column's strings in the file."""
        if isinstance(column, ByteStrings):
            return self._ids(column)
        assert isinstance(column.values, ByteStrings)
        return self._ids(column.values)[column.codes]

    def fields(self, rows: Sequence[Sequence[str]]) -> Ids:
        """The numbers of the used fields of rows that were read line by line, shape (columns, rows)."""
        fields = [text.encode("utf-8", "surrogateescape") for row in rows for text in row]
        return self._ids(ByteStrings.of(fields)).reshape(len(rows), len(self._layout.used)).T

    def batch(
        self, parts: Sequence[Rows], rejects: Sequence[Note], *, header: bool = False
    ) -> Iterator[Batch]:
        """The rows in the order of their lines, if there are any or rejects; the first one may be a header."""
        lines, codes = _in_order([part for part in parts if len(part[0])] or parts[:1])
        if len(lines) > header or rejects:
            columns = {
                index: Column(column, self._values)
                for index, column in zip(self._layout.used, codes[:, int(header) :], strict=True)
            }
            yield make_batch(self._layout, lines[int(header) :], columns, rejects)


def _in_order(parts: Sequence[Rows]) -> Rows:
    lines, codes = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    if np.all(lines[1:] > lines[:-1]):
        return lines, codes
    order = np.argsort(lines, kind="stable")
    return lines[order], codes[:, order]
