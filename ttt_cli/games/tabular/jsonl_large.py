"""Large files with a JSON object on each line: through DuckDB in pieces, odd lines through the standard library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.records import Batch, Note
from ttt_cli.games.streams import DamagedInputError
from ttt_cli.games.tabular.coded_join import CodedJoin
from ttt_cli.games.tabular.columnar import TextColumns, literal, quoted, spool, workshop
from ttt_cli.games.tabular.columns import Table, make_batch
from ttt_cli.games.tabular.delimited import whole_lines
from ttt_cli.games.tabular.json_objects import as_text, one_per_line
from ttt_cli.games.tabular.jsonl import as_batch, layout_of
from ttt_cli.games.tabular.layout import Layout

PIECE: Final = 1 << 26  # bytes in the temporary file


def read_large(head: bytes, blocks: Iterable[bytes], data: DataConfig, name: str) -> Table:
    """As `jsonl.read_jsonl`; `head` is the beginning of `blocks`, which tells the columns."""
    sample = [one for _, one in one_per_line(head.split(b"\n"), 1).found]
    keys = list(dict.fromkeys(key for one in sample for key in one))
    layout = layout_of(keys, sample, data, name)
    return Table(layout.kind, _batches(blocks, keys, layout, name))


def _batches(blocks: Iterable[bytes], keys: list[str], layout: Layout, name: str) -> Iterator[Batch]:
    with workshop() as (connection, folder):
        reader = PieceReader(TextColumns(connection), folder / "piece.jsonl", keys, layout, name)
        number = 1
        for piece in _pieces(blocks):
            yield reader.read(piece, number)
            number += piece.count(b"\n")


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes cut behind the ends of lines, PIECE or a little more at a time."""
    waiting: list[bytes] = []
    size = 0
    try:
        for data, _ in whole_lines(blocks):
            waiting.append(data)
            size += len(data)
            if size >= PIECE:
                yield b"".join(waiting)
                waiting, size = [], 0
    except DamagedInputError:  # what came before the damage is read too
        yield b"".join(waiting)
        raise
    yield b"".join(waiting)


class PieceReader:
    """Reads pieces of a file; `careful` counts the lines that the database did not read."""

    def __init__(self, columns: TextColumns, place: Path, keys: list[str], layout: Layout, name: str) -> None:
        self.careful = 0
        self._columns, self._place, self._name = columns, place, name
        self._keys, self._layout = keys, layout
        self._used = [keys[index] for index in layout.used]
        self._join = CodedJoin()

    def read(self, piece: bytes, number: int) -> Batch:
        """The records in whole lines, the first of which is line `number`."""
        lines = _filled_lines(piece, number)
        read = self._read(piece)
        if read is None or len(read[0]) != len(lines):
            self.careful += len(lines)
            return as_batch(one_per_line(piece.split(b"\n"), number), self._keys, self._layout)
        nothing, codes = read
        odd = np.flatnonzero(nothing)
        kept = np.ones(len(lines), np.bool_)
        rejects: list[Note] = []
        written = piece.split(b"\n") if len(odd) else []
        for row, line in zip(odd.tolist(), lines[odd].tolist(), strict=True):
            self.careful += 1
            objects = one_per_line([written[line - number]], line)
            rejects += objects.rejects
            kept[row] = bool(objects.found)
            for _, found in objects.found:
                for column, key in zip(codes, self._used, strict=True):
                    column[row] = self._columns.number[as_text(found.get(key))]
        used = zip(self._layout.used, codes, strict=True)
        coded = {index: self._columns.coded(column[kept]) for index, column in used}
        return make_batch(self._layout, lines[kept], coded, self._join, rejects)

    def _read(self, piece: bytes) -> tuple[NDArray[np.bool_], list[NDArray[np.int32]]] | None:
        """Which rows have none of the columns, and each row's codes; None when the database cannot read the piece."""
        import duckdb

        spool(iter([piece]), self._place, self._name)
        kinds = ", ".join(f"{literal(key)}: 'VARCHAR'" for key in self._used)
        source = f"{literal(str(self._place))}, format = 'newline_delimited', columns = {{{kinds}}}"
        empty = " AND ".join(f"{quoted(key)} IS NULL" for key in self._used)
        run = self._columns.connection.execute
        try:
            run(f"CREATE OR REPLACE TEMP TABLE piece AS FROM read_json({source}, ignore_errors = true)")
            nothing = run(f"SELECT {empty} AS nothing FROM piece").fetchnumpy()["nothing"]
            codes = self._columns.codes("piece", [f"coalesce({quoted(key)}, '')" for key in self._used])
        except duckdb.Error:
            return None
        return np.asarray(nothing, np.bool_), codes


def _filled_lines(piece: bytes, number: int) -> NDArray[np.int64]:
    """The numbers of the lines that are not empty, the first line being `number`."""
    if not piece.startswith(b"\n") and b"\n\n" not in piece:
        return np.arange(number, number + piece.count(b"\n") + (not piece.endswith(b"\n")))
    return number + np.flatnonzero([bool(line.strip()) for line in piece.split(b"\n")])
