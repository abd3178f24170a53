"""Laws of reading PGN: records come back from any layout; the compiled scanner agrees with Python."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_pgn import SEED_GAMES, TRAPS, compared, mutated, said
from tests.reference.pgn import PlainScanner
from tests.support.batches import scanned
from tests.support.cases import each
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.reading import pgn as pgn_compiled
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.pgn import Scanner
from ttt_cli.reading.text import plain_blocks
from ttt_cli.reading.unpacking import DamagedInputError
from ttt_cli.support.errors import DataError

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
MOVES = (
    st.sampled_from(["1. e4", "e5", "2.Nf3", "$1", "(2. f4 {gambit} *)", "O-O", "\n", " [ "])
    | COMMENTS
)


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


@pytest.mark.slow
@given(written())
def test_records_come_back(case: tuple[list[Record], str]) -> None:
    records, text = case
    assert [Record(*row[1:5]) for row in scanned([text.encode()])[0]] == records


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([*PIECES, "ß", "\u0301"]), max_size=60).map("".join),
    st.sampled_from(["scan", "chess"]),
)
def test_every_record_is_used_or_counted(text: str, reader: str) -> None:
    usable = '[Event "x"]\n[White "A"]\n[Black "C"]\n[Date "1858"]\n[Result "1-0"]\n\n1-0\n\n' * 20
    data = DataConfig(reader=reader, format="pgn")  # type: ignore[arg-type]
    games = read_games([io.BytesIO((usable + text).encode())], data)
    report = games.report
    assert report.rows == report.used + sum(report.dropped.values())
    assert report.used == len(games) >= 20
    dropped = [problem.reason for problem in report.problems if problem.action == "dropped"]
    assert {reason: dropped.count(reason) for reason in dropped} == report.dropped


@pytest.mark.slow
@given(st.binary(max_size=80))
def test_any_bytes_are_refused_as_data(content: bytes) -> None:
    """So few bytes hold no game; nothing but a DataError, which names the input, may come of them."""
    for data in (DataConfig(), DataConfig(format="pgn"), DataConfig(format="csv")):
        with pytest.raises(DataError) as caught:
            read_games([io.BytesIO(content)], data)
        assert caught.value.where == "<stream>"


FIRST = '[Event "x"]\n[Date "1858"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n'
LAST = '\n[Event "z"]\n[White "C"]\n[Black "D"]\n'  # read on the slow path, since the file ends behind it
ODD_MOVES = st.sampled_from(
    [
        *(
            "\n",
            "\n\n",
            " ",
            "1.",
            "1. e4",
            "1-0",
            "0-1",
            "1/2",
            "1/2-1/2",
            "*",
            "-",
            "/",
            "{}",
            "{\n}",
            "{;}",
        ),
        *(
            "{[%clk 1]}",
            '{\n[White "Z"]\n}',
            "{",
            ";x\n",
            "\n%x\n",
            "%",
            "[",
            "[x]",
            "(",
            ")",
            "$1",
            "O-O",
        ),
        *("\t", "\f", '[Event "y"]'),
        *(
            "(1. d4 (d5) *)",
            "O-O-O",
            "0-0",
            "exd8=Q#",
            "Raxb1",
            "R1e2",
            "e.p.",
            "$12",
            "Nf3-g5",
            "h4",
        ),
    ]
)
ODD_TAGS = st.sampled_from(
    [
        *(
            '[Event "x"]',
            '[event "y"]',
            '[White "A"]',
            '[Black "B"]',
            '[Date "1858"]',
            '[Result "1-0"]',
        ),
        *(
            "\n",
            "\n",
            "\n",
            "\n\n",
            " ",
            "\t",
            '[ECO "C"]',
            '[ ECO  "" ]',
            '[A"b"]',
            '[White ""A""]',
        ),
        *("; x\n", "%x\n", "\f", "\ufeff", "[Black B]", '[1 "x"]', "e4", "1-0\n", "1. e4\n"),
        *(
            '[White "\\""]',
            '[Result "*"]',
            '[Site "s"]',
            '[site "S"]',
            '[Round "1.2"]',
            '[Variant "x"]',
        ),
        *('[WhiteFideId "12"]', '[BLACKFIDEID "3"]', '[Variant ""]', '[TimeControl "300+3"]'),
        *('[UTCDate "2017.04.01"]', '[utcdate "2018.04.01"]', '[Date "????.??.??"]', '[SetUp "1"]'),
        *('[Setup "0"]', '[FEN "8/8/8 w - -"]', '[FEN "?"]', '[WhiteFideIx "1"]'),
        '[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]',
    ]
)


def both(content: bytes, blocks: Sequence[bytes] | None = None) -> int:
    """Games read on the slow path, after both scanners have said the same."""
    compiled = Scanner()
    assert said(compiled, blocks or [content]) == said(PlainScanner(), [content])
    return compiled.slow


@each(
    "game",
    [
        FIRST + "\n1. e4 e5 1-0\n",
        FIRST + "1. e4 e5 1-0\n",
        FIRST + "\n\n\n1. e4 e5\n\n1-0\n\n",
        FIRST + "\n1. e4 {comment} e5 {\n\ntwo lines\n[%clk 1:00] } 1-0\n",
        FIRST + "\n1. e4 ; { remark\ne5\n%escaped { line\n100% 1-0\n",
        FIRST + "\n1. e4 [ [x] e5 (1. d4 *) 1-0{end}\n",
        FIRST + "\n",
        FIRST.replace("[", "  [ ").replace(' "', '\t "').replace('"]', '" ]\t'),
        FIRST.lower() + '[ÉCO "x"]\n'.replace("É", "E"),
        FIRST.replace('"A"', '"Löwenthal [b] {c} ; d"') + "\n1-0\n",
        FIRST.replace("1-0", "*") + "\n1. e4 0-1\n",
        FIRST.replace("1-0", "0-1") + "\n1. e4 1-0\n",
        FIRST.replace('[Result "1-0"]\n', "") + "\n1. e4 1/2\n",
        FIRST.replace("1-0", "1/2-1/2") + "\n1. e4 1/2-1/2\n",
        FIRST.replace("1-0", "*") + "\n*\n",
        '[Site "s"]\n[Round "1"]\n[WhiteFideId "1"]\n[BlackFideId "2"]\n[Variant "v"]\n'
        + '[TimeControl "300+3"]\n[UTCDate "1858.01.01"]\n'
        + FIRST
        + "\n1. e4 1-0\n",
        '[SetUp "1"]\n[FEN "8/8 w"]\n' + FIRST + "\n1. e4 (1. d4 (1. c4) d5) e5 1-0\n",
        FIRST.replace("1-0", "-") + "\nO-O 0-0 1-0-1 1/2-1 11-0 1-00 1/2/ **\n",
    ],
)
def test_what_the_compiled_code_reads_by_itself(game: str) -> None:
    assert both((game * 3 + LAST).encode()) == 1


@each(
    "game",
    [
        FIRST.replace("Date", "White") + "\n1-0\n",
        FIRST.replace("A", '"A"') + "\n1-0\n",
        FIRST.replace("]\n[", "] [") + "\n1-0\n",
        FIRST + '\n1. e4 {\n[White "Z"]\n} 1-0\n',
        FIRST + "\n1. e4 1-0\n1. d4 0-1\n",
        FIRST + "\n1. e4 1-0 \ufeff",
    ],
)
def test_what_it_leaves_to_the_slow_path(game: str) -> None:
    assert both((game + FIRST + LAST).encode()) == 2


@pytest.mark.slow
@given(st.lists(ODD_MOVES, max_size=25).map("".join), st.lists(ODD_TAGS, max_size=25).map("".join))
def test_equal_on_odd_tags_and_moves(moves: str, tags: str) -> None:
    both((FIRST + "\n" + moves + "\n" + FIRST + tags + "\n" + FIRST + moves + LAST).encode())


@pytest.mark.slow
@given(st.integers(0, 2**32))
@examples(100)
def test_equal_on_mutated_games_in_any_blocks(seed: int) -> None:
    chance = random.Random(seed)
    content = mutated(SEED_GAMES, chance, TRAPS)
    *_, equal = compared(content, chance)
    assert equal, content


@pytest.mark.slow
@pytest.mark.large
def test_more_games_and_names_than_there_is_room_for_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pgn_compiled, "_ROWS_AT_ONCE", 8)
    games = [
        FIRST.replace('"A"', f'"player {number:0400}"') + "\n1-0\n" for number in range(20_000)
    ]
    odd = FIRST.replace('"A"', '"A "B""') + "\n1-0\n"
    assert both("".join([*games, odd * 20, *games[:20], LAST]).encode()) == 21


def test_a_long_comment_at_the_end_of_a_block() -> None:
    content = (FIRST + "\n{" + "x" * 3_000_000 + "} 1-0\n" + LAST).encode()
    blocks = [content[a:b] for a, b in pairwise(range(0, len(content) + 250_000, 250_000))]
    both(content, blocks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("archive", "most"),
    [("historic_small.tar.xz", 2), pytest.param("troublesome.tar.xz", 24, marks=pytest.mark.large)],
)
def test_real_files(data: Path, archive: str, most: int) -> None:
    with tarfile.open(data / "pgn" / archive) as files:
        for member in files:
            if member.name.endswith(".pgn") and (file := files.extractfile(member)):
                plain = list(plain_blocks([file.read()], None, member.name))
                assert both(b"".join(plain), plain) <= most


def test_what_came_before_damage_is_handed_over() -> None:
    def blocks() -> Iterator[bytes]:
        yield ((FIRST + "\n1. e4 1-0\n\n") * 5).encode()
        raise DamagedInputError("cut short")

    batches: list[Batch] = []
    with pytest.raises(DamagedInputError):
        batches.extend(Scanner().scan(blocks()))
    assert [len(batch.lines) for batch in batches] == [4]  # the fifth may go on
