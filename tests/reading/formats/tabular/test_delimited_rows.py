"""pyarrow says of tables what the reader of text says, and seldom leaves it a row."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.tables import by_the_standard_library, read_row_by_row
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.tabular import arrow
from ttt_cli.reading.formats.tabular.delimited import ROW_LINES, TableReader, read_delimited, read_rows
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.lines import Lines
from ttt_cli.reading.streams import DamagedInputError
from ttt_cli.reading.text import plain_blocks, text_of

SAMPLES = Path(__file__).parents[4] / "sample_pgn"
PLAIN = Layout(4, True, (0,), 1, 2, (3,), "text")
HEADER = "date,white,black,result\n"
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
            "\x85",
        ),
        *(
            '1859,"C, D",E,0-1\n',
            '1860,"C ""D""",E,0-1\n',
            '1861,"F",,""\n',
            '"1862" ,G,H,1\n',
            "1863,A,B,1,,\n",
        ),
    ]
)


def said(batches: Iterator[Batch]) -> tuple[list[tuple[object, ...]], list[Note]]:
    """Rows, as texts and tuples of texts, and rejects."""
    rows: list[tuple[object, ...]] = []
    rejects: list[Note] = []
    for batch in batches:
        columns = [batch.dates, batch.whites, batch.blacks, batch.results, *batch.further.values()]
        columns += [] if batch.weights is None else [batch.weights]
        texts = [[plain(value) for value in column] for column in columns]
        rows += zip(map(int, batch.lines), *texts, strict=True)
        rejects += batch.rejects
    return rows, rejects


def plain(value: object) -> object:
    return tuple(map(text_of, value)) if isinstance(value, tuple) else text_of(value)


def both(content: str | bytes, cuts: Sequence[int] = (), layout: Layout = PLAIN, delimiter: str = ",") -> int:
    """Rows left to the reader of text, after both readers have said the same."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    ends = [0, *sorted(cuts), len(data)]
    blocks = [data[a:b] for a, b in pairwise(ends) if a < b]
    expected = said(read_row_by_row([data], delimiter, layout))
    for large in (True, False):
        assert said(read_rows(iter(blocks), delimiter, layout, large=large)) == expected
    reader = TableReader(delimiter, layout)
    list(reader.feed(Lines(data, final=True)))
    return reader.slow


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    ],
)
def test_what_it_leaves_to_the_reader_of_text(row: str) -> None:
    assert both(HEADER + row + "\n1859,C,D,0-1\n") == 1


@pytest.mark.parametrize("row", ['1858,"A,B,1-0', '1858,A,"B', '"'])
def test_a_quote_that_is_not_closed(row: str) -> None:
    both(HEADER + row + "\n1859,C,D,0-1\n1860,E,F,1-0")
    assert both(HEADER + row + "\n" + "1859,C,D,0-1\n" * (2 * ROW_LINES)) == 1


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
    layout = Layout(7, False, (0, 1, 2), 3, 4, (), "scores", None, 5, {"games": 6, "event": 0})
    for one in (
        layout,
        replace(layout, result=(2,), kind="text"),
        replace(layout, result=(1, 2), score=None, weight=6),
    ):
        quoted = [['"' + cell.replace('"', '""') + '"' if cell else "" for cell in row] for row in rows]
        both("\n".join(delimiter.join(row) for row in quoted), layout=one, delimiter=delimiter)


@pytest.mark.slow
def test_more_rows_and_names_than_there_is_room_for_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "BLOCK", 1 << 12)
    rows = [f"1858,player {number:0400},B,1-0\n" for number in range(20_000)]
    odd = '1858,A "B",C,1-0\n' * 20
    assert both(HEADER + odd + "".join(rows) + odd) == 40


def test_a_field_longer_than_csv_allows() -> None:
    assert both(HEADER + f"1858,{'x' * 70_000},B,1-0\n1858,{'x' * 200_000},B,1-0\n1859,A,B,0-1\n") == 2


def test_what_came_before_damage_is_read() -> None:
    def blocks() -> Iterator[bytes]:
        yield (HEADER + "1858,A,B,1-0\n1859,").encode()
        raise DamagedInputError("cut short")

    batches = read_rows(blocks(), ",", PLAIN)
    assert [row[0] for row in said(iter([next(batches)]))[0]] == [2]
    with pytest.raises(DamagedInputError):
        next(batches)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.csv")), ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    columns = ["date", "white", "black", "result"] if "unnamed" in path.name else None
    content, config = path.read_bytes(), DataConfig(columns=columns)
    for large in (1, len(content) * 8 + 8):
        opened = (plain_blocks([content], None, path.name), config, path.name, large)
        found = said(read_delimited(*opened).batches)
        with by_the_standard_library():
            assert found == said(
                read_delimited(plain_blocks([content], None, path.name), *opened[1:]).batches
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["historical_pre1942.csv.gz", "other/football_international_results.csv.gz"])
def test_real_tables(data: Path, name: str) -> None:
    content = gzip.decompress((data / name).read_bytes())
    fast = said(read_delimited(plain_blocks([content], None, name), DataConfig(), name).batches)
    with by_the_standard_library():
        assert fast == said(read_delimited(plain_blocks([content], None, name), DataConfig(), name).batches)
    assert len(fast[0]) + len(fast[1]) == content.count(b"\n") - 1
