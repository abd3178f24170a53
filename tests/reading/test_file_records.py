"""Records of one file: values come back, in few bytes, whatever the batches; rejects are counted."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.pgn import PlainScanner
from ttt_cli.reading import batches as file_records
from ttt_cli.reading.batches import USUAL, Batch, FileRecords, Note, Table, text_table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.pgn import MADE, TAG_COLUMNS, Scanner
from ttt_cli.reading.reports import BAD_ROW, DROPPED, REJECT_CODE, TOO_LONG

NAMES = ("dates", "whites", "blacks", "results", "event")
PGN = "".join(
    f'[Event "e{n % 3}"]\n[Site "s{n % 7}"]\n[Date "18{n % 50 + 10}"]\n[White "w{n % 5}"]\n[Black "w{n % 4 + 3}"]\n'
    f'[Result "1-0"]\n\n1. {"e4" if n % 2 else "d4"} 1-0\n\n'
    for n in range(60)
)
Rows = Sequence[tuple[str, ...]]


def table(*batches: Rows, rejects: Sequence[Sequence[Note]] = ()) -> Table:
    strings = Strings()
    found = []
    for number, rows in enumerate(batches):
        codes = strings.ids([text.encode() for row in rows for text in row]).reshape(len(rows), len(NAMES)).T
        found.append(Batch(range(len(rows)), codes, rejects[number] if rejects else ()))
    return Table("text", strings, iter(found), {**USUAL, "event": (4,)})


def told(records: FileRecords, column: str) -> list[Hashable]:
    values = list(records.distinct(column))
    return [values[number] for number in records.codes(column)]


@given(st.lists(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", ""])] * 5), max_size=6), max_size=5))
def test_values_come_back(batches: list[list[tuple[str, str, str, str, str]]]) -> None:
    records = FileRecords("x", table(*batches))
    rows = [tuple(text.encode() for text in row) for rows in batches for row in rows]
    for place, column in enumerate(NAMES):
        assert told(records, column) == [row[place] for row in rows]
    assert list(records.distinct("dates")) == list(dict.fromkeys(row[0] for row in rows))
    both = [row[1] for row in rows] + [row[2] for row in rows]
    assert list(records.distinct("whites")) == list(dict.fromkeys(both))
    assert records.rows == len(records) == len(rows)
    assert records.further == ("event",)


@pytest.mark.parametrize("most", [0, 1 << 24])
def test_several_columns_become_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_records, "_MOST_PAIRS", most)
    dates = [("1858", "6", "1"), ("1858", "7", ""), ("1859", "6", "1"), ("1858", "6", "1")]
    columns = {"dates": dates, "whites": ["A"] * 4, "blacks": ["B"] * 4, "results": ["1"] * 4}
    made: list[tuple[bytes, ...]] = []
    read = text_table(range(4), columns)._replace(
        made={"dates": lambda *parts: made.append(parts) or b"-".join(parts)}
    )
    records = FileRecords("x", read)
    assert told(records, "dates") == ["-".join(date).encode() for date in dates]
    assert len(made) == 3


def test_all_rejects_are_counted_and_the_first_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_records, "MOST_NOTES", 5)
    reasons = ("bad row", "bad row", "too long")
    rejects = [
        [Note(first + place, reason, "x", "dropped") for place, reason in enumerate(reasons)]
        for first in range(0, 40, 4)
    ]
    records = FileRecords("x", table(*[[("1900", "A", "B", "1-0", "")] * 4] * 10, rejects=rejects))
    lines, reject_codes = zip(*records.rejected, strict=True)
    assert [note.line for note in records.rejects] == [0, 1, 2, 4, 5]
    assert list(lines) == [line for line in range(40) if line % 4 < 3]
    assert list(reject_codes) == [REJECT_CODE[reason] for reason in reasons] * 10
    assert records.rows == 40 + 30


def test_rejects_are_in_the_order_of_their_lines() -> None:
    """A row with a quote that is never closed is given up after lines within it that are too long."""
    rejects = [
        [Note(line, reason, "", DROPPED)] for line, reason in ((3, TOO_LONG), (2, BAD_ROW), (5, BAD_ROW))
    ]
    rejected = FileRecords("x", table((), (), (), rejects=rejects)).rejected
    assert sorted(rejected) == [
        (2, REJECT_CODE[BAD_ROW]),
        (3, REJECT_CODE[TOO_LONG]),
        (5, REJECT_CODE[BAD_ROW]),
    ]


def test_moves_and_lines() -> None:
    empty = FileRecords("x", table())
    assert empty.moves is None
    assert empty.lines.tolist() == empty.codes("dates").tolist() == []
    strings = Strings()
    codes = np.zeros((4, 2), np.int32)
    batches = [Batch([2**31, 2**40], codes), Batch([3, 4], codes, moves=np.array([5, -6]))]
    records = FileRecords("x", Table("text", strings, iter(batches)))
    assert records.lines.tolist() == [2**31, 2**40, 3, 4]
    assert records.moves is not None
    assert records.moves.tolist() == [0, 0, 5, -6]


@pytest.mark.slow
@pytest.mark.parametrize("count", [256, 257, 65536, 65537])
def test_many_distinct_values(count: int) -> None:
    texts = [str(number) for number in range(count)]
    columns = {"dates": texts, "whites": texts, "blacks": texts[::-1], "results": texts}
    records = FileRecords("x", text_table(range(count), columns))
    assert records.codes("dates").tolist() == list(range(count))
    assert records.codes("blacks").tolist() == list(range(count))[::-1]
    assert records.codes("dates").itemsize == (1 if count <= 256 else 2 if count <= 65536 else 4)


def gathered(scanner: Scanner, blocks: list[bytes]) -> FileRecords:
    return FileRecords("x", Table("text", scanner.strings, scanner.scan(blocks), TAG_COLUMNS, MADE))


def test_numbers_do_not_depend_on_who_reads_or_how_it_is_cut() -> None:
    content = PGN.encode()
    cut = [content[start : start + 999] for start in range(0, len(content), 999)]
    plain = gathered(PlainScanner(), [content])
    for other in (gathered(Scanner(), [content]), gathered(Scanner(), cut), gathered(PlainScanner(), cut)):
        for column in (*NAMES[:4], *plain.further):
            assert other.codes(column).tolist() == plain.codes(column).tolist()
            assert list(other.distinct(column)) == list(plain.distinct(column))
        assert np.array_equal(other.moves, plain.moves)


def test_records_cross_to_another_process() -> None:
    records = gathered(Scanner(), [PGN.encode() * 20])
    message = pickle.dumps(records, protocol=pickle.HIGHEST_PROTOCOL)
    assert len(message) < 40 * len(records)
    arrived = pickle.loads(message)
    for column in (*NAMES, *records.further):
        assert told(arrived, column) == told(records, column)
    assert arrived.lines.tolist() == records.lines.tolist()


@given(st.lists(st.lists(st.binary(max_size=20), max_size=8), max_size=6))
def test_strings_are_numbered_as_they_are_met(batches: list[list[bytes]]) -> None:
    strings, known = Strings(), [b""]
    for batch in batches:
        known += dict.fromkeys(one for one in batch if one not in known)
        assert strings.ids(batch).tolist() == [known.index(one) for one in batch]
    assert strings.pick(np.arange(len(strings))) == known


@pytest.mark.slow
def test_more_strings_than_there_is_room_for_at_first() -> None:
    strings = Strings()
    texts = [b"%0300d" % number for number in range(40_000)]
    assert strings.ids(texts).tolist() == list(range(1, 40_001))
    assert strings.ids(texts[::-1]).tolist() == list(range(1, 40_001))[::-1]
    assert pickle.loads(pickle.dumps(strings)).pick(np.array([7, 8])) == texts[6:8]
