"""Tables row by row: lines, quotes, delimiters, and what is no row of the table."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Note
from ttt_cli.reading.formats.tabular import delimited, lines
from ttt_cli.reading.formats.tabular.delimited import ROW_LINES, find_delimiter, read_delimited
from ttt_cli.reading.text import HEAD, text_of

HEADER = "date,white,black,result\n"
Rows = list[tuple[object, ...]]


def read(content: str | bytes, cuts: list[int] | None = None, **config: object) -> tuple[Rows, list[Note]]:
    data = content.encode() if isinstance(content, str) else content
    ends = [0, *sorted(cuts or []), len(data)]
    blocks = [data[a:b] for a, b in pairwise(ends) if a < b]
    table = read_delimited(iter(blocks), DataConfig(**config), "games.csv")  # type: ignore[arg-type]
    rows: Rows = []
    rejects: list[Note] = []
    for batch in table.batches:
        columns = (batch.dates, batch.whites, batch.blacks, batch.results)
        rows += zip(map(int, batch.lines), *(map(plain, column) for column in columns), strict=True)
        rejects += batch.rejects
    return rows, rejects


def plain(value: object) -> object:
    return tuple(map(text_of, value)) if isinstance(value, tuple) else text_of(value)


def test_rows_and_their_lines() -> None:
    rows, rejects = read(HEADER + '1858,"Morphy, Paul",B,1-0\n\n1859,C,"D ""E""",0-1')
    assert rows == [(2, "1858", "Morphy, Paul", "B", "1-0"), (4, "1859", "C", 'D "E"', "0-1")]
    assert rejects == []


def test_a_quoted_field_may_hold_lines() -> None:
    rows, rejects = read(HEADER + '1858,"A\nB\n\nC",D,1-0\n1859,E,F,0-1\n')
    assert rows == [(2, "1858", "A\nB\n\nC", "D", "1-0"), (6, "1859", "E", "F", "0-1")]
    assert rejects == []


@pytest.mark.parametrize("broken", ['1858,"A,B,1-0', '1858,"A"x,B,1-0', '1858,A,"B', '"'])
def test_a_quote_amiss_costs_one_row(broken: str) -> None:
    rows, rejects = read(HEADER + broken + '\n1859,E,"F",0-1\n1860,G,H,1-0\n')
    assert rows == [(3, "1859", "E", "F", "0-1"), (4, "1860", "G", "H", "1-0")]
    assert [(note.line, note.reason, note.action) for note in rejects] == [(2, "bad row", "dropped")]
    assert broken in rejects[0].detail


def test_a_quote_amiss_far_from_the_end() -> None:
    rows, rejects = read(HEADER + '1858,"A,B,1-0\n' + "1859,E,F,0-1\n" * (3 * ROW_LINES))
    assert [row[0] for row in rows] == list(range(3, 3 + 3 * ROW_LINES))
    assert [note.line for note in rejects] == [2]


def test_too_few_and_too_many_fields() -> None:
    rows, rejects = read(HEADER + "1858,A,B\n1859,A,B,1-0,,\n1860,A,B,1-0,x\n,,,\n  \n1861,A,B,0-1\n")
    assert [row[0] for row in rows] == [3, 5, 7]  # a row of empty fields is a record without anything
    assert [(note.line, note.detail) for note in rejects] == [
        (2, "3 fields instead of 4: 1858,A,B"),
        (4, "5 fields instead of 4: 1860,A,B,1-0,x"),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiters(delimiter: str) -> None:
    content = (HEADER + "1858,A B,C,1-0\n1859,D,E,0.5\n").replace(",", delimiter)
    assert [row[1:] for row in read(content)[0]] == [("1858", "A B", "C", "1-0"), ("1859", "D", "E", "0.5")]
    assert read(content, delimiter=delimiter) == read(content)


def test_the_delimiter_is_the_one_that_cuts_evenly() -> None:
    assert find_delimiter(["1,1850,Nathan; SD.,Anderssen; Adolf,0,2", "2,1850,Cochrane,M; N; O,0,2"]) == ","
    assert find_delimiter(['a;"1,5,6,7";c', "a;b;c"]) == ";"


def test_parts_of_dates_and_pairs_of_scores() -> None:
    rows, _ = read("year,month,white,black,white_score,black_score,weight\n1858,6,A,B,1,0,2\n")
    assert rows == [(2, ("1858", "6"), "A", "B", ("1", "0"))]


def test_weights() -> None:
    table = read_delimited(iter([b"date,white,black,result,weight\n1858,A,B,1-0,2.5\n"]), DataConfig(), "x")
    assert [list(map(text_of, batch.weights or ())) for batch in table.batches] == [["2.5"]]


def test_bytes_that_are_not_utf8_are_kept_for_decoding() -> None:
    rows, _ = read((HEADER + "1858,Löwenthal,B,1-0\n").encode("cp1252"))
    assert rows[0][2] == "Löwenthal"


def test_a_header_alone_is_no_record() -> None:
    assert read(HEADER) == ([], [])


def test_a_table_longer_than_the_sample() -> None:
    count = 3 * HEAD // 13
    rows, rejects = read(HEADER + "1858,A,B,1-0\n" * count, cuts=[2 * HEAD])
    assert [row[0] for row in rows] == list(range(2, count + 2))
    assert rejects == []


def test_nothing_but_blanks() -> None:
    with pytest.raises(DataError, match="is empty"):
        read_delimited(iter(["\u2028 \n".encode()]), DataConfig(), "games.csv")


def test_a_line_too_long_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 1000)
    monkeypatch.setattr(lines, "BLOCK", 500)
    good, long = "1858,A,B,1-0\n", "x" * 5000 + "\n"
    rows, rejects = read(HEADER + good + long + good + long.strip())
    assert [row[0] for row in rows] == [2, 4]
    assert [(note.line, note.reason, note.action) for note in rejects] == [
        (3, "too long", "dropped"),
        (5, "too long", "dropped"),
    ]


NAMES = st.text(alphabet='AB,;"\n\t |é', max_size=6)


@given(st.lists(st.tuples(NAMES, NAMES), max_size=8), st.sampled_from(DELIMITERS := delimited.DELIMITERS))
def test_what_csv_writes_comes_back(names: list[tuple[str, str]], delimiter: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("date", "white", "black", "result"), *(("1858", a, b, "1-0") for a, b in names)])
    rows, rejects = read(file.getvalue(), delimiter=delimiter)
    assert [row[2:4] for row in rows] == names
    assert rejects == []


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(['"', ",", "\n", "A", "1858,A,B,1-0\n", '"C\nD"', '""', " "]), max_size=30),
    st.lists(st.integers(0, 60), max_size=5),
)
def test_blocks_may_be_cut_anywhere_behind_the_first(pieces: list[str], cuts: list[int]) -> None:
    content = HEADER + "".join(pieces)
    places = [len(HEADER) + cut for cut in cuts if len(HEADER) + cut < len(content)]
    assert read(content, places) == read(content)
