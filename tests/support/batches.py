"""What readers return, row by row, for tests that compare it."""

from __future__ import annotations

from collections.abc import Iterable

from ttt_cli.kernels.pgn import COLUMNS
from ttt_cli.reading.batches import FileRecords, Note, Table
from ttt_cli.reading.pgn import COMBINERS, TAG_COLUMNS, Scanner
from ttt_cli.reading.pgn_chess import read_pgn_chess

Rows = list[tuple[object, ...]]


def rows_of(table: Table) -> tuple[Rows, list[Note], list[Note]]:
    """Line, date, White, Black, result, further columns and weight of each record, the rejects, the notes."""
    records = FileRecords("x", table)
    names = ["dates", "whites", "blacks", "results", *records.further]
    columns = []
    for name in names:
        values = records.distinct(name)
        columns.append([values[number] for number in records.codes(name).tolist()])
    return list(zip(records.lines.tolist(), *columns, strict=True)), records.rejects, records.notes


def scanned(
    blocks: Iterable[bytes], scanner: Scanner | None = None, *, by_chess: bool = False
) -> tuple[Rows, list[Note], list[Note]]:
    """As `rows_of`, by a scanner of PGN or by python-chess, with hashes of moves behind."""
    scanner = scanner or Scanner()
    batches = read_pgn_chess(blocks, scanner.strings) if by_chess else scanner.scan(blocks)
    rows: Rows = []
    rejects: list[Note] = []
    notes: list[Note] = []
    for batch in batches:
        assert len(batch.codes) == COLUMNS
        tags = [scanner.strings.texts(codes) for codes in batch.codes]
        columns = [
            list(map(COMBINERS.get(name, str), *(tags[row] for row in of_name)))
            for name, of_name in TAG_COLUMNS.items()
        ]
        moves = [0] * len(batch.lines) if batch.moves is None else batch.moves.tolist()
        rows += zip(map(int, batch.lines), *columns, moves, strict=True)
        rejects, notes = [*rejects, *batch.rejects], [*notes, *batch.notes]
    return rows, rejects, notes
