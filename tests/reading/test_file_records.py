"""Batches gathered: every record keeps its values, distinct ones are numbered as they first come."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.reading import file_records
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.column import Column
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.formats.pgn.compiled import CompiledScanner
from ttt_cli.reading.formats.pgn.scanner import Scanner
from ttt_cli.reading.reasons import BAD_ROW, DROPPED, REJECT_CODE, TOO_LONG

Values = Sequence[Hashable]
COLUMNS = ("dates", "whites", "blacks", "results", "event")
PGN = "".join(
    f'[Event "e{n % 3}"]\n[Site "s{n % 7}"]\n[Date "18{n % 50 + 10}"]\n[White "w{n % 5}"]\n[Black "w{n % 4 + 3}"]\n'
    f'[Result "1-0"]\n\n1. {"e4" if n % 2 else "d4"} 1-0\n\n'
    for n in range(60)
)


def batch(*rows: tuple[str, str, str, str, str], words: list[str] | None = None) -> Batch:
    columns: list[Values] = list(zip(*rows, strict=True)) if rows else [()] * 5
    if words is not None:
        words += dict.fromkeys(value for row in rows for value in row if value not in words)
        columns = [
            Column(np.array([words.index(str(value)) for value in column], np.int32), words)
            for column in columns
        ]
    return Batch(range(len(rows)), *columns[:4], further={"event": columns[4]})  # type: ignore[arg-type]


def told(records: FileRecords, column: str) -> list[Hashable]:
    values = list(records.distinct(column))
    return [values[number] for number in records.ids(column)]


ROWS = st.lists(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", ""])] * 5), max_size=6), max_size=5)


@given(ROWS, st.sampled_from(["plain", "coded", "apart", "mixed"]))
def test_values_come_back(batches: list[list[tuple[str, str, str, str, str]]], form: str) -> None:
    records = FileRecords("x")
    words: list[str] = []
    for number, rows in enumerate(batches):
        coded = form in ("coded", "apart") or (form == "mixed" and number % 2)
        records.add(batch(*rows, words=([] if form == "apart" else words) if coded else None))
        if form == "mixed":
            records.ids("dates")  # asked for before all is there
    rows = [row for rows in batches for row in rows]
    for place, column in enumerate(COLUMNS):
        assert told(records, column) == [row[place] for row in rows]
    assert list(records.distinct("dates")) == list(dict.fromkeys(row[0] for row in rows))
    assert list(records.distinct("whites")) == list(
        dict.fromkeys([row[1] for row in rows] + [row[2] for row in rows])
    )
    assert records.rows == len(records) == len(rows)


def test_columns_that_are_not_in_all_batches_are_empty_there() -> None:
    records = FileRecords("x")
    plain = Batch([1], ["1858"], ["A"], ["B"], ["1-0"])
    for one in (plain, plain._replace(further={"event": ["x"]}, weights=["2"]), plain):
        records.add(one)
    assert told(records, "event") == [b"", "x", b""]
    assert told(records, "weights") == [b"", "2", b""]
    assert told(records, "round") == [b"", b"", b""]
    assert records.further == ("event",)


def test_no_weights() -> None:
    records = FileRecords("x")
    records.add(Batch([1], ["1858"], ["A"], ["B"], ["1-0"]))
    assert len(records.weights) == 0


def test_all_rejects_are_counted_and_the_first_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_records, "MOST_NOTES", 5)
    records = FileRecords("x")
    for first in range(0, 40, 4):
        reasons = ("bad row", "bad row", "too long")
        rejects = [Note(first + place, reason, "x", "dropped") for place, reason in enumerate(reasons)]
        games = [("1900", "A", "B", "1-0", "")] * 4
        records.add(batch(*games)._replace(rejects=rejects))
    lines, reject_codes = records.rejected
    assert [note.line for note in records.rejects] == [0, 1, 2, 4, 5]
    assert lines.tolist() == [line for line in range(40) if line % 4 < 3]
    assert reject_codes.tolist() == [REJECT_CODE[reason] for reason in reasons] * 10
    assert records.rows == 40 + 30


def test_rejects_are_in_the_order_of_their_lines() -> None:
    """A row whose quote is never closed is given up after lines within it that are too long."""
    records = FileRecords("x")
    for line, reason in ((3, TOO_LONG), (2, BAD_ROW), (5, BAD_ROW)):
        records.add(batch()._replace(rejects=[Note(line, reason, "", DROPPED)]))
    lines, reject_codes = records.rejected
    assert lines.tolist() == [2, 3, 5]
    assert reject_codes.tolist() == [REJECT_CODE[reason] for reason in (BAD_ROW, TOO_LONG, BAD_ROW)]


def test_moves_lines_and_rejects() -> None:
    records = FileRecords("x")
    assert records.moves().tolist() == records.lines().tolist() == records.ids("dates").tolist() == []
    plain = Batch([2**31, 2**40], ["1858"] * 2, ["A"] * 2, ["B"] * 2, ["1-0"] * 2)
    records.add(plain)
    records.add(
        plain._replace(lines=[3, 4], moves=np.array([5, -6]), rejects=[Note(1, "bad row", "", "dropped")])
    )
    assert records.lines().tolist() == [2**31, 2**40, 3, 4]
    assert records.moves().tolist() == [0, 0, 5, -6]
    assert (records.rows, len(records)) == (5, 4)


@pytest.mark.parametrize("count", [256, 257, 65536, 65537])
def test_many_distinct_values(count: int) -> None:
    records = FileRecords("x")
    texts = [str(number) for number in range(count)]
    records.add(Batch(range(count), texts, texts[::-1], texts, texts))
    assert records.ids("dates").tolist() == list(range(count))
    assert records.ids("blacks").tolist() == list(range(count))[::-1]
    assert records.ids("dates").dtype == np.int32


def gathered(scanner: Scanner, blocks: list[bytes]) -> FileRecords:
    records = FileRecords("x")
    for one in scanner.scan(blocks):
        records.add(one)
    return records


def test_numbers_do_not_depend_on_who_reads_or_how_it_is_cut() -> None:
    content = PGN.encode()
    cut = [content[start : start + 999] for start in range(0, len(content), 999)]
    plain = gathered(Scanner(), [content])
    for other in (
        gathered(CompiledScanner(), [content]),
        gathered(CompiledScanner(), cut),
        gathered(Scanner(), cut),
    ):
        for column in (*COLUMNS[:4], *plain.further):
            assert other.ids(column).tolist() == plain.ids(column).tolist()
            assert list(other.distinct(column)) == list(plain.distinct(column))
        assert other.moves().tolist() == plain.moves().tolist()


def test_records_cross_to_another_process() -> None:
    records = gathered(CompiledScanner(), [PGN.encode() * 20])
    message = pickle.dumps(records, protocol=pickle.HIGHEST_PROTOCOL)
    assert len(message) < 40 * len(records)
    arrived = pickle.loads(message)
    for column in (*COLUMNS, *records.further):
        assert told(arrived, column) == told(records, column)
    assert arrived.lines().tolist() == records.lines().tolist()
