"""Tables row by row: lines, quotes, delimiters, and what is no row of the table."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.tables import PlainTableReader
from tests.support.batches import rows_of
from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import delimited, text
from ttt_cli.reading.batches import Layout, Note, Table
from ttt_cli.reading.delimited import MAX_ROW_LINES, TableReader, find_delimiter, read_delimited
from ttt_cli.reading.results import match_result, match_scores
from ttt_cli.reading.text import HEAD, plain_blocks
from ttt_cli.reading.unpacking import DamagedInputError
from ttt_cli.support.errors import DataError

HEADER = "date,white,black,result\n"
Rows = list[tuple[object, ...]]


def read(
    content: str | bytes, cuts: list[int] | None = None, **config: object
) -> tuple[Rows, list[Note]]:
    data = content.encode() if isinstance(content, str) else content
    ends = [0, *sorted(cuts or []), len(data)]
    blocks = [data[a:b] for a, b in pairwise(ends) if a < b]
    table = read_delimited(iter(blocks), DataConfig(**config), "games.csv")  # type: ignore[arg-type]
    rows, rejects, _ = rows_of(table)
    return rows, rejects


def test_rows_and_their_lines() -> None:
    rows, rejects = read(HEADER + '1858,"Morphy, Paul",B,1-0\n\n1859,C,"D ""E""",0-1')
    assert rows == [(2, "1858", "Morphy, Paul", "B", "1-0"), (4, "1859", "C", 'D "E"', "0-1")]
    assert rejects == []
    quoted, rejects = read(HEADER + '1858,"A\nB\n\nC",D,1-0\n1859,E,F,0-1\n')
    assert quoted == [(2, "1858", "A\nB\n\nC", "D", "1-0"), (6, "1859", "E", "F", "0-1")]
    assert rejects == []
    parts, _ = read("year,month,white,black,white_score,black_score,weight\n1858,6,A,B,1,0,2.5\n")
    assert parts == [(2, "1858-6", "A", "B", ("1", "0"), "2.5")]
    assert read((HEADER + "1858,Löwenthal,B,1-0\n").encode("cp1252"))[0][0][2] == "Löwenthal"


def test_long_short_and_blank_tables() -> None:
    count = 3 * HEAD // 13
    rows, rejects = read(HEADER + "1858,A,B,1-0\n" * count, cuts=[2 * HEAD])
    assert [row[0] for row in rows] == list(range(2, count + 2))
    assert rejects == []
    assert read(HEADER) == ([], [])
    with pytest.raises(DataError, match="is empty"):
        read("\u2028 \n")


@each("broken", ['1858,"A,B,1-0', '1858,"A"x,B,1-0', '1858,A,"B', '"'])
def test_a_quote_amiss_costs_one_row(broken: str) -> None:
    rows, rejects = read(HEADER + broken + '\n1859,E,"F",0-1\n1860,G,H,1-0\n')
    assert rows == [(3, "1859", "E", "F", "0-1"), (4, "1860", "G", "H", "1-0")]
    assert [(note.line, note.reason, note.action) for note in rejects] == [
        (2, "bad row", "dropped")
    ]
    assert broken in rejects[0].detail


def test_too_few_and_too_many_fields() -> None:
    assert [note.line for note in read((HEADER + "1900,A,B,1-0\n\xe9\n").encode("latin-1"))[1]] == [
        3
    ]
    rows, rejects = read(
        HEADER + "1858,A,B\n1859,A,B,1-0,,\n1860,A,B,1-0,x\n,,,\n  \n1861,A,B,0-1\n"
    )
    assert [row[0] for row in rows] == [
        3,
        5,
        7,
    ]  # a row of empty fields is a record without anything
    assert [(note.line, note.detail) for note in rejects] == [
        (2, "3 fields instead of 4: 1858,A,B"),
        (4, "5 fields instead of 4: 1860,A,B,1-0,x"),
    ]


@each("delimiter", [",", "\t", ";", "|"])
def test_delimiters(delimiter: str) -> None:
    content = (HEADER + "1858,A B,C,1-0\n1859,D,E,0.5\n").replace(",", delimiter)
    assert [row[1:] for row in read(content)[0]] == [
        ("1858", "A B", "C", "1-0"),
        ("1859", "D", "E", "0.5"),
    ]
    assert read(content, delimiter=delimiter) == read(content)


def test_the_delimiter_is_the_one_that_cuts_evenly() -> None:
    assert (
        find_delimiter(["1,1850,Nathan; SD.,Anderssen; Adolf,0,2", "2,1850,Cochrane,M; N; O,0,2"])
        == ","
    )
    assert find_delimiter(['a;"1,5,6,7";c', "a;b;c"]) == ";"


def test_a_line_too_long_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MAX_LINE", 1000)
    monkeypatch.setattr(text, "BLOCK", 500)
    good, long = "1858,A,B,1-0\n", "x" * 5000 + "\n"
    rows, rejects = read(HEADER + good + long + good + long.strip())
    assert [row[0] for row in rows] == [2, 4]
    assert [(note.line, note.reason, note.action) for note in rejects] == [
        (3, "too long", "dropped"),
        (5, "too long", "dropped"),
    ]
    monkeypatch.undo()
    assert delimited.long_line(3).detail == f"a line of more than {delimited.MAX_LINE // 1024:,} KB"


NAMES = st.text(alphabet='AB,;"\n\t |é', max_size=6)


@pytest.mark.slow
@given(
    st.lists(st.tuples(NAMES, NAMES), max_size=8),
    st.sampled_from(DELIMITERS := delimited.DELIMITERS),
)
def test_what_csv_writes_comes_back(names: list[tuple[str, str]], delimiter: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows(
        [("date", "white", "black", "result"), *(("1858", a, b, "1-0") for a, b in names)]
    )
    rows, rejects = read(file.getvalue(), delimiter=delimiter)
    assert [row[2:4] for row in rows] == names
    assert rejects == []


PLAIN = Layout(width=4, header=True)
PIECES = st.sampled_from(
    [
        *(
            '"',
            ",",
            "\n",
            "A",
            "1858,A,B,1-0\n",
            '"C\nD"',
            '""',
            " ",
            "é",
            "\udce9",
            "\n\n",
            ";",
            "\x0b",
        ),
        *(
            "\x85",
            '1859,"C, D",E,0-1\n',
            '1860,"C ""D""",E,0-1\n',
            '1861,"F",,""\n',
            '"1862" ,G,H,1\n',
        ),
        "1863,A,B,1,,\n",
    ]
)


def both(
    content: str | bytes, cuts: Sequence[int] = (), layout: Layout = PLAIN, delimiter: str = ","
) -> int:
    """Rows left to the reader of text, after both readers have said the same."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    ends = [0, *sorted(cuts), len(data)]
    blocks = [data[a:b] for a, b in pairwise(ends) if a < b]
    fast, plain = TableReader(delimiter, layout), PlainTableReader(delimiter, layout)
    expected = rows_of(Table(layout, plain.strings, plain.read([data])))
    assert rows_of(Table(layout, fast.strings, fast.read(blocks))) == expected
    reader = TableReader(delimiter, layout)
    list(reader.read([data]))
    return reader.slow


@each(
    "rows",
    [
        "1858,A,B,1-0\n1859,C,D,0-1",
        '1858,"Morphy, Paul",B,1-0\n\n1859,"","D",0-1\n',
        "1858,A,'D',1-0\n",
        '1858,"A ""B""","""",""""""\n1858,A,"a,""b"",c",1-0\n',
        ",,,\n\n\n1858, A ,B\t,1-0\n",
        "1858,Löwenthal,B,½-½\n1858,L\udcf6wenthal,B,1-0\n",
        "1858,A\x0bB\x85,C\u2028,1-0\n",
    ],
)
def test_what_pyarrow_reads(rows: str) -> None:
    assert both(HEADER + rows) == 0


@each(
    "row",
    [
        '1858,A "B" C,D,1-0',
        '1858,A""B,C,1-0',
        "\ufeff1858,A,B,1-0",
        '1858,"A\nB",C,1-0',
        "1858,A,B",
        "1858,A,B,1-0,x",
        "1858,A,B,1-0,,",
        " ",
        '1858,"A"B,C,1',
        f"1858,{'x' * 70_000},B,1-0",
        f"1858,{'x' * 200_000},B,1-0",  # longer than the csv module allows
    ],
)
def test_what_it_leaves_to_the_reader_of_text(row: str) -> None:
    assert both(HEADER + row + "\n1859,C,D,0-1\n") == 1


@each("row", ['1858,"A,B,1-0', '1858,A,"B', '"'])
def test_a_quote_that_is_not_closed(row: str) -> None:
    both(HEADER + row + "\n1859,C,D,0-1\n1860,E,F,1-0")
    assert both(HEADER + row + "\n" + "1859,C,D,0-1\n" * (2 * MAX_ROW_LINES)) == 1


@pytest.mark.slow
@given(st.lists(PIECES, max_size=30).map("".join), st.lists(st.integers(0, 200), max_size=6))
def test_equal_on_odd_tables_in_any_blocks(text: str, cuts: list[int]) -> None:
    size = len((HEADER + text).encode("utf-8", "surrogateescape"))
    both(HEADER + text, [cut % size for cut in cuts])


@pytest.mark.slow
@given(
    st.lists(st.lists(st.text('AB,"\n é', max_size=3), min_size=7, max_size=7), max_size=6),
    st.sampled_from("\t;|\x01¦"),
)
def test_equal_in_every_column(rows: list[list[str]], delimiter: str) -> None:
    columns = {"dates": (0, 1, 2), "whites": (3,), "blacks": (4,), "games": (6,), "event": (0,)}
    for one in (
        Layout(columns | {"results": (5, 6)}, "scores", {"results": match_scores}, width=7),
        Layout(columns | {"results": (2, 5, 6)}, "text", {"results": match_result}, width=7),
        Layout(columns | {"results": (1, 2), "weights": (6,)}, "scores", width=7),
    ):
        quoted = [
            ['"' + cell.replace('"', '""') + '"' if cell else "" for cell in row] for row in rows
        ]
        both("\n".join(delimiter.join(row) for row in quoted), layout=one, delimiter=delimiter)


@pytest.mark.slow
def test_more_rows_and_names_than_there_is_room_for_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delimited, "BYTES_AT_ONCE", 1 << 12)
    rows = [f"1858,player {number:0400},B,1-0\n" for number in range(20_000)]
    odd = '1858,A "B",C,1-0\n' * 20
    assert both(HEADER + odd + "".join(rows) + odd) == 40


def test_what_came_before_damage_is_read() -> None:
    def blocks() -> Iterator[bytes]:
        yield (HEADER + "1858,A,B,1-0\n1859,").encode()
        raise DamagedInputError("cut short")

    batches = TableReader(",", PLAIN).read(blocks())
    assert [list(batch.lines) for batch in (next(batches),)] == [[2]]
    with pytest.raises(DamagedInputError):
        next(batches)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["historical_pre1942.csv.gz", "other/football_international_results.csv.gz"]
)
def test_real_tables(data: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = gzip.decompress((data / name).read_bytes())
    fast = rows_of(read_delimited(plain_blocks([content], None, name), DataConfig(), name))
    monkeypatch.setattr(delimited, "TableReader", PlainTableReader)
    assert fast == rows_of(read_delimited(plain_blocks([content], None, name), DataConfig(), name))
    assert len(fast[0]) + len(fast[1]) == content.count(b"\n") - 1


def test_a_date_that_is_missing_is_the_utc_date() -> None:
    dates = ["2020.01.02", "", " ", "????.??.??"]
    content = "date,utcdate,white,black,result\n" + "".join(
        f"{date},2021.05.06,A,B,1-0\n" for date in dates
    )
    assert [row[1] for row in read(content)[0]] == ["2020.01.02", *["2021.05.06"] * 3]


def test_blocks_are_bounded_however_short_lines_are() -> None:
    for line in (b"x\n", b"x" * 999 + b"\n"):
        content = line * (3 * delimited.BYTES_AT_ONCE // len(line))
        found = list(delimited.whole_lines([content], delimited.BYTES_AT_ONCE))
        assert b"".join(found) == content
        assert max(data.count(b"\n") for data in found) <= delimited.LINES_AT_ONCE + text.BLOCK // 2
        assert max(map(len, found)) <= delimited.BYTES_AT_ONCE + text.BLOCK


def test_pyarrow_takes_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does in the main thread only, and one that comes as it ends is lost then."""
    cut_in: list[Thread] = []
    read_csv = pyarrow.csv.read_csv

    def seen(*args: Any) -> Any:
        cut_in.append(current_thread())
        return read_csv(*args)

    monkeypatch.setattr(pyarrow.csv, "read_csv", seen)
    assert [row[2] for row in read(HEADER + "1858,A,B,1-0\n")[0]] == ["A"]
    assert cut_in
    assert main_thread() not in cut_in


CONTENT = (
    b"a\n"
    + b"b" * 20
    + b"\n\n"
    + b"c" * 21
    + b"\nd\n"
    + b"e" * 40
    + b"\n"
    + b"f" * 20
    + b"\n"
    + b"g" * 21
)


@pytest.mark.parametrize("size", [1, 7, 20, 25, 45, 1000])
def test_where_blocks_are_cut_makes_no_line_too_long(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "MAX_LINE", 20)
    monkeypatch.setattr(text, "BLOCK", 10)
    blocks = (CONTENT[start : start + size] for start in range(0, len(CONTENT), size))
    found = b"".join(delimited.whole_lines(blocks, delimited.BYTES_AT_ONCE))
    assert found == b"a\n" + b"b" * 20 + b"\n\n\0\nd\n\0\n" + b"f" * 20 + b"\n\0\n"
