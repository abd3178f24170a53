"""Large files with a JSON object on each line: compiled code reads the common ones, the standard library the others.

It says what the standard library says. Fields are numbered in other threads (see `numbering`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.kernels.scanning import delimited as kernel
from ttt_cli.kernels.scanning.json_lines import split_objects
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.tabular.columns import Table
from ttt_cli.reading.formats.tabular.cutting import ROWS_AT_ONCE, Cut, Piece, large_lines
from ttt_cli.reading.formats.tabular.delimited import Lines, long_line
from ttt_cli.reading.formats.tabular.json_objects import as_text, one_per_line
from ttt_cli.reading.formats.tabular.jsonl import KEYS_OBJECTS, KEYS_SAMPLE, layout_of
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.numbering import fields_of, numbered
from ttt_cli.reading.formats.tabular.table_rows import MOST_DETAILS

_NO_KEY: Final = b"\0"  # NULs never reach us
_ESCAPED: Final = frozenset('"\\')


def read_large(head: bytes, blocks: Iterable[bytes], data: DataConfig, name: str) -> Table:
    """As `jsonl.read_jsonl`; `head` is the beginning of `blocks`, which tells the columns."""
    lines = head[:KEYS_SAMPLE].split(b"\n", KEYS_OBJECTS)[:KEYS_OBJECTS]
    sample = [one for _, one in one_per_line(lines, 1).found]
    keys = list(dict.fromkeys(key for one in sample for key in one))
    layout = layout_of(keys, sample, data, name)
    return Table(layout.kind, scan_objects(blocks, keys, layout))


def scan_objects(blocks: Iterable[bytes], keys: Sequence[str], layout: Layout) -> Iterator[Batch]:
    """The records of a file with an object on each line; `keys` are the names of the columns of `layout`."""
    scanner = ObjectScanner(keys, layout)
    return numbered(_fed(scanner, large_lines(blocks)), layout)


def _fed(scanner: ObjectScanner, lines: Iterable[Lines]) -> Iterator[Piece]:
    for data, _, long in lines:
        if long:
            scanner.reject_long()
        yield from scanner.feed(data)


class ObjectScanner:
    """Cuts whole lines into fields; `careful` counts the lines that the compiled code did not read."""

    def __init__(self, keys: Sequence[str], layout: Layout) -> None:
        self.careful = 0
        order = fields_of(layout)
        self._keys = [keys[index] for index in order]
        written = [_as_bytes(keys[index]) for index in layout.used]
        self._columns = np.array([order.index(index) for index in layout.used], np.int64)
        self._letters = np.frombuffer(b"".join(written), np.uint8)
        self._bounds = np.cumsum([0, *map(len, written)], dtype=np.int64)
        self._line = 1  # of the next object
        self._rejects: list[Note] = []
        self._detailed = 0

    def reject_long(self) -> None:
        """The line that comes next was too long."""
        self._rejects.append(long_line(self._line))

    def feed(self, data: bytes) -> Iterator[Piece]:
        """The objects in whole lines."""
        data += b"" if data.endswith(b"\n") or not data else b"\n"
        cut = Cut(data, len(self._keys))
        position = 0
        while position < len(data):
            status, position = self._run(cut, position)
            if status == kernel.FULL:
                yield from self._finished(cut)
                cut = Cut(data, len(self._keys))
            elif status == kernel.CAREFUL:
                stop = data.index(b"\n", position)
                self._read_carefully(cut, data[position:stop])
                position = stop + 1
                if len(self._rejects) >= ROWS_AT_ONCE:
                    yield from self._finished(cut)
                    cut = Cut(data, len(self._keys))
        yield from self._finished(cut)

    def _run(self, cut: Cut, position: int) -> tuple[int, int]:
        """Let the compiled code read on from a line; returns why and before which it stopped."""
        state = np.array([position, self._line, cut.rows], np.int64)
        place = (state, cut.lines, cut.begins, cut.ends)
        status = split_objects(cut.data, self._letters, self._bounds, self._columns, *place)
        self._line, cut.rows = int(state[kernel.LINE]), int(state[kernel.ROWS])
        return status, int(state[kernel.POSITION])

    def _read_carefully(self, cut: Cut, line: bytes) -> None:
        self.careful += 1
        objects = one_per_line([line], self._line)
        self._detailed += len(objects.rejects)
        quoted = self._detailed <= MOST_DETAILS
        self._rejects += objects.rejects if quoted else (note._replace(detail="") for note in objects.rejects)
        for number, found in objects.found:
            cut.add(number, [as_text(found.get(key)) for key in self._keys])
        self._line += 1

    def _finished(self, cut: Cut) -> Iterator[Piece]:
        rejects, self._rejects = self._rejects, []
        if cut.rows or rejects:
            yield cut.piece(0, rejects)


def _as_bytes(key: str) -> bytes:
    """A key as it stands in a file without escapes; some can only be written with them."""
    try:
        return _NO_KEY if set(key) & _ESCAPED else key.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NO_KEY
