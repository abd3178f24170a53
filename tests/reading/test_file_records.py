"""Records of one file: values come back, in few bytes, whatever the batches; rejects are counted, places found."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.api import fit, read_games, update
from ttt_cli.reading import batches as file_records
from ttt_cli.reading.batches import (
    USUAL,
    Batch,
    FileRecords,
    Layout,
    Note,
    Table,
    TextRecords,
    text_table,
)
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.reports import REJECT_CODE, RecordPositions, position_text
from ttt_cli.reading.text import decode

NAMES = ("dates", "whites", "blacks", "results", "event")
Rows = Sequence[tuple[str, ...]]


def table(*batches: Rows, rejects: Sequence[Sequence[Note]] = ()) -> Table:
    strings = Strings()
    found = []
    for number, rows in enumerate(batches):
        codes = (
            strings.numbers_of([text.encode() for row in rows for text in row])
            .reshape(len(rows), len(NAMES))
            .T
        )
        found.append(Batch(range(len(rows)), codes, rejects[number] if rejects else ()))
    return Table(Layout({**USUAL, "event": (4,)}), strings, iter(found))


def told(records: FileRecords, column: str) -> list[Hashable]:
    values = list(records.distinct(column))
    return [values[number] for number in records.codes(column)]


@given(
    st.lists(
        st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", ""])] * 5), max_size=6), max_size=5
    )
)
def test_values_come_back(batches: list[list[tuple[str, str, str, str, str]]]) -> None:
    records = FileRecords("x", table(*batches))
    rows = [row for rows in batches for row in rows]
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
    combined: list[tuple[str, ...]] = []
    combiners = {"dates": lambda *parts: combined.append(parts) or "-".join(parts)}
    read = text_table(range(4), columns, combiners=combiners)
    records = FileRecords("x", read)
    assert told(records, "dates") == ["-".join(date) for date in dates]
    assert len(combined) == 3


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


def test_moves_and_lines() -> None:
    empty = FileRecords("x", table())
    assert empty.moves is None
    assert empty.lines.tolist() == empty.codes("dates").tolist() == []
    strings = Strings()
    codes = np.zeros((4, 2), np.int32)
    batches = [Batch([2**31, 2**40], codes), Batch([3, 4], codes, moves=np.array([5, -6]))]
    records = FileRecords("x", Table(Layout(), strings, iter(batches)))
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


@given(st.lists(st.lists(st.binary(max_size=20), max_size=8), max_size=6))
def test_strings_are_numbered_as_they_are_met(batches: list[list[bytes]]) -> None:
    strings, known = Strings(), [b""]
    for batch in batches:
        known += dict.fromkeys(one for one in batch if one not in known)
        assert strings.numbers_of(batch).tolist() == [known.index(one) for one in batch]
    assert strings.texts(np.arange(len(strings))) == list(map(decode, known))


GAMES = [
    {"date": "1900-01-01", "white": white, "black": black, "result": result}
    for white, black, result in (
        ("A", "B", "0-1"),
        ("A", "B", "1-0"),
        ("A", "C", "?"),
        ("C", "B", "1/2-1/2"),
    )
]


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 12), max_size=3))
def test_records_have_places_of_their_own_which_grow(steps: list[int], cuts: list[int]) -> None:
    """However the records come in parts."""
    lines, places = np.cumsum([1, *steps]), RecordPositions()
    found = np.concatenate(
        [places.several(part) for part in np.split(lines, sorted(cuts))]
    ).tolist()
    assert found == sorted(set(found))
    repeated = steps.index(0) + 1 if 0 in steps else len(lines)
    records = [
        f" record {number}" if number > repeated else "" for number in range(1, len(lines) + 1)
    ]
    assert [position_text("x", place) for place in found] == [
        f"x:{line}{record}" for line, record in zip(lines.tolist(), records, strict=True)
    ]


def test_an_array_on_one_line_gives_what_lines_give(tmp_path: Path) -> None:
    """A loss and the win behind it are two games, not a match of one record; an update knows them apart."""
    array, lined = tmp_path / "x.json", tmp_path / "x.jsonl"
    array.write_text(json.dumps(GAMES))
    lined.write_text("".join(json.dumps(game) + "\n" for game in GAMES))
    fits = [
        fit(read_games(path), "elo", output=path.with_suffix(".ttt")) for path in (array, lined)
    ]
    means = [run.select("SELECT player, mean FROM skills ORDER BY player")[1] for run in fits]
    assert means[0] == means[1]
    array.write_text(json.dumps([*GAMES, {**GAMES[0], "white": "D"}]))
    files = update(fits[1], array).stored_games().report.files
    assert (files[1].used, files[1].noticed, files[1].dropped) == (
        4,
        {"duplicate": 3},
        {"no result": 1},
    )


def test_records_added_one_by_one() -> None:
    texts = TextRecords()
    texts.reject(1, "no game")
    records = FileRecords("x", texts.table())
    assert (len(records), records.rows, records.rejects) == (
        0,
        1,
        [Note(1, "bad row", "no game", "dropped")],
    )
    texts.add(2, date="1858", white="A", black="B", result="1-0")
    texts.add(3, date="1859", white="B", black="A", result="0-1", event="Paris")
    records = FileRecords("x", texts.table())
    events = [records.distinct("event")[code] for code in records.codes("event").tolist()]
    assert (records.lines.tolist(), events, records.rows) == ([2, 3], ["", "Paris"], 3)
    assert len(FileRecords("x", TextRecords().table())) == 0


def test_a_batch_that_begins_with_a_long_string_finds_room() -> None:
    strings = Strings()
    long = "x" * (1 << 19)
    assert strings.numbers_of([long.encode(), b"y"]).tolist() == [1, 2]
    assert strings.texts(np.arange(3)) == ["", long, "y"]
