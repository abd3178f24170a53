"""Laws of reading PGN: known records come back from any layout, and blocks may be cut anywhere."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.batches import scanned
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.reading.input import plain_blocks, text_of
from ttt_cli.support.errors import DataError

pytestmark = pytest.mark.slow

PIECES = [
    *('[Event "x"]', '[White "A', '"]', '[Black "B"]', '[Result "1-0"]', '[Date "1858"]', "[", "]", '"', "\\"),
    *("{", "}", ";", "%", "\n", "\n\n", "\r", "\r\n", "\n%", "\n\n[", " ", "\t", "\0", "\ufeff", "\u2028", "é"),
    *("1.", "1. e4 e5", "1-0", "0-1", "1/2-1/2", "*", "(", ")", "$1", "[%clk 0:01]"),
]  # fmt: skip


class Record(NamedTuple):
    date: str
    white: str
    black: str
    result: str


VALUES = st.text(alphabet=st.sampled_from('Aäß, ."\\[]{};%()-1*\u2028'), max_size=8)
RESULTS = st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"])
RECORDS = st.lists(st.builds(Record, VALUES, VALUES, VALUES, RESULTS), min_size=1, max_size=5)
COMMENTS = st.sampled_from(
    [
        "{}",
        "{ \n\n }",
        '{\n[White "Z"]\n}',
        "{;}",
        "{%\n%}",
        "{[%clk 1:00]}",
        "{1-0}",
        "; 1-0 {\n",
        "\n% } { 0-1\n",
    ]
)
MOVES = st.sampled_from(["1. e4", "e5", "2.Nf3", "$1", "(2. f4 {gambit} *)", "O-O", "\n", " [ "]) | COMMENTS


@st.composite
def written(draw: st.DrawFn) -> tuple[list[Record], str]:
    """Records, and a PGN text that holds them in one of many layouts."""
    records = draw(RECORDS)
    games = []
    for record in records:
        pairs = list(zip(("Date", "White", "Black", "Result"), record, strict=True))
        between = draw(st.sampled_from(["\n", "\n", " ", "\n ", "\n; {\n", "\n%[\n"]))
        pattern = draw(st.sampled_from(['[{} "{}"]', '[{} "{}"]', '[ {}  "{}" ]', '[{}"{}"]']))
        escaped = [(name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, value in pairs]
        tags = between.join(
            pattern.format(*pair) for pair in [("Event", "?"), *draw(st.permutations(escaped))]
        )
        moves = " ".join(draw(st.lists(MOVES, max_size=6)))
        gap = draw(st.sampled_from(["\n\n", "\n", "\n\n\n"]))
        end = draw(st.sampled_from([" ", "\n", "\n\n"])) + record.result
        games.append(tags + (gap + moves + end if draw(st.booleans()) or gap == "\n" else ""))
    return records, "\n\n".join(games) + "\n"


def scan(blocks: Iterable[bytes]) -> list[tuple[object, ...]]:
    """Everything the scanner returns, whatever its batches."""
    rows, rejects, notes = scanned(blocks)
    return rows + notes + rejects


def cut(content: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(content) + 1) for place in places), len(content)]
    return [content[a:b] for a, b in pairwise(ends) if a < b]


@given(written())
def test_records_come_back(case: tuple[list[Record], str]) -> None:
    records, text = case
    assert [Record(*map(text_of, row[1:5])) for row in scanned([text.encode()])[0]] == records


@given(written(), st.sampled_from(["\r\n", "\r"]))
def test_all_ends_of_lines_are_equal(case: tuple[list[Record], str], end: str) -> None:
    _, text = case
    assert scan(plain_blocks([text.replace("\n", end).encode()], None, "games")) == scan([text.encode()])


@given(written(), st.lists(st.integers(0, 10_000), max_size=8))
def test_blocks_may_be_cut_anywhere(case: tuple[list[Record], str], places: list[int]) -> None:
    content = case[1].encode()
    assert scan(cut(content, places)) == scan([content])


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.lists(st.integers(0, 400), max_size=6))
@example('[Event "x"]\n[Event "x', [12])
def test_blocks_of_rubbish_may_be_cut_anywhere(text: str, places: list[int]) -> None:
    content = text.encode()
    assert scan(cut(content, places)) == scan([content])


def test_one_byte_at_a_time() -> None:
    first = b'x\n[Event "x"]\n[White ""A""]\n\n1. e4 {[White "Z"]\n} 1-0\n\n'
    content = first + b'[Event "y"]\n\n1. d4 { ; 0-1\n\n[Event "z"]\n{}'
    assert scan([content[i : i + 1] for i in range(len(content))]) == scan([content])


RUBBISH = st.lists(
    st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=3), max_size=60
).map("".join)


@given(RUBBISH, st.sampled_from(["scan", "chess"]))
def test_every_record_is_used_or_counted(text: str, reader: str) -> None:
    usable = '[Event "x"]\n[White "A"]\n[Black "C"]\n[Date "1858"]\n[Result "1-0"]\n\n1-0\n\n' * 20
    data = DataConfig(reader=reader, format="pgn")  # type: ignore[arg-type]
    games = read_games([io.BytesIO((usable + text).encode())], data)
    report = games.report
    assert report.rows == report.used + sum(report.dropped.values())
    assert report.used == len(games) >= 20
    dropped = [problem.reason for problem in report.problems if problem.action == "dropped"]
    assert {reason: dropped.count(reason) for reason in dropped} == report.dropped


@given(st.binary(max_size=80))
def test_any_bytes_are_refused_as_data(content: bytes) -> None:
    """So few bytes hold no game; nothing but a DataError, which names the input, may come of them."""
    for data in (DataConfig(), DataConfig(format="pgn"), DataConfig(format="csv")):
        with pytest.raises(DataError) as caught:
            read_games([io.BytesIO(content)], data)
        assert caught.value.where == "<stream>"
