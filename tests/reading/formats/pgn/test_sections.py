"""Games of tags only: which tags are of the same game, by blank lines and repeated tags; nothing is guessed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_truth import pgn_of, truths, wrong_rows
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.formats.pgn import tags as pgn_tags
from ttt_cli.reading.formats.pgn.compiled import CompiledScanner
from ttt_cli.reading.formats.pgn.python_chess import read_pgn_chess
from ttt_cli.reading.formats.pgn.scanner import Scanner

Reader = Callable[[Iterable[bytes]], Iterator[Batch]]

READERS = pytest.mark.parametrize(
    "read",
    [lambda blocks: Scanner().scan(blocks), lambda blocks: CompiledScanner().scan(blocks), read_pgn_chess],
    ids=["plain", "compiled", "chess"],
)
VALUES = {"E": ("Event", "x"), "D": ("Date", "1858"), "S": ("Site", "y"), "C": ("ECO", "C00")}


def written(text: str) -> bytes:
    """Tags by their initials, `A-B` for White and Black, results as they are, `|` for a blank line, `.` for moves."""
    lines = []
    for word in text.split():
        if word in VALUES:
            lines.append('[{} "{}"]'.format(*VALUES[word]))
        elif word[0] in "WB":
            lines.append(f'[{"White" if word[0] == "W" else "Black"} "{word[1:]}"]')
        elif word[0] in "01*":
            lines.append(f'[Result "{word}"]')
        else:
            lines.append("" if word == "|" else "\n1. e4 e5\n")
    return ("\n".join(lines) + "\n").encode()


def said(read: Reader, text: str) -> tuple[list[str], int]:
    """The games as `White-Black:result`, and how many are rejected."""
    batches = list(read([written(text)]))
    rows = [
        b"%b-%b:%b" % row for batch in batches for row in zip(batch.whites, batch.blacks, batch.results, strict=True)
    ]  # fmt: skip
    rejects = [note for batch in batches for note in batch.rejects]
    assert all((note.reason, note.action) == ("ambiguous tags", "dropped") for note in rejects)
    return [row.decode() for row in rows], len(rejects)


THREE = ["A-B:1-0", "C-D:0-1", "E-F:1-0"]


@READERS
@pytest.mark.parametrize(
    ("text", "games", "rejects"),
    [
        ("1-0 WA BB | 0-1 WC BD | 1-0 WE BF", THREE, 0),
        ("WA BB 1-0 | WC BD 0-1 | WE BF 1-0", THREE, 0),
        ("WA BB 1-0 E | 0-1 E WC BD | E WE 1-0 BF", THREE, 0),
        ("WA BB | 0-1 WC BD | 1-0 WE BF", ["A-B:", *THREE[1:]], 0),
        ("WA BB 1-0 | D WC BD | 1-0 WE BF", [THREE[0], "C-D:", THREE[2]], 0),
        ("E WA | BB 1-0 | E WC | BD 0-1 | E WE | BF 1-0", THREE, 0),
        ("E | WA | BB | 1-0 | E | WC | BD | 0-1 |", THREE[:2], 0),
        ("E D | WA BB 1-0 | C | E D | WC BD 0-1", THREE[:2], 0),
        ("WA BB | 1-0 | WC BD", [], 2),
        ("WA BB | 1-0 | WC BD . WE BF 1-0", [THREE[2]], 2),
        ("WA BB | 1-0 | WC BD 0-1", THREE[:2], 0),
        ("WA BB | 1-0 .", THREE[:1], 0),
        ("WA BB 1-0 WC BD 0-1", THREE[:2], 0),
        ("WA BB 1-0 WC BD", [], 2),
        ("1-0 WA BB E 0-1 WC BD E", THREE[:2], 0),
        ("1-0 E WA BB 0-1 E WC BD 1-0 E WE BF", THREE, 0),
        ("E WA BB 1-0 | E BD 0-1 | E WE BF 1-0", [THREE[0], "-D:0-1", THREE[2]], 0),
        ("E WA BB WC 1-0", [], 2),
        ("WA BB | WC BD 0-1 | WE BF 1-0 | C | 1-0 WG BH", ["A-B:", *THREE[1:], "G-H:1-0"], 0),
        ("WA BB 1-0 | WC BD | D 1-0 | WE BF", THREE[:1], 2),
        ("E WA BB 1-0 | E WC", [THREE[0], "C-:"], 0),
    ],
)
def test_games_without_moves(read: Reader, text: str, games: list[str], rejects: int) -> None:
    assert said(read, text) == (games, rejects)


def test_where_games_begin() -> None:
    batches = list(Scanner().scan([written("WA BB | 1-0 C | C WC | BD 0-1 | WE | BF |")]))
    assert [line for batch in batches for line in batch.lines] == [1, 7, 13]
    batches = list(Scanner().scan([written("E WA BB | 1-0 | WC BD . WE BF")]))
    assert [note.line for batch in batches for note in batch.rejects] == [2, 7]


@READERS
@given(seed=st.integers(0, 2**32))
def test_no_game_gets_the_result_of_another(read: Reader, seed: int) -> None:
    chance = random.Random(seed)
    games = truths(chance)
    content = pgn_of(games, chance, plain=read is read_pgn_chess).encode()
    rows, rejects = wrong_rows(list(read([content])), games)
    assert rows == []
    assert rejects <= len(games)


def test_tags_that_take_too_long_to_tell_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_tags, "STRETCH_LIMIT", 500)
    text = "WA BB 1-0 " * 50 + "| WC BD 0-1 | WE BF 1-0"
    for read in (lambda blocks: Scanner().scan(blocks), lambda blocks: CompiledScanner().scan(blocks)):
        games, rejects = said(read, text)
        assert games == THREE[2:]  # the one before may go on in the tags that were rejected
        assert rejects >= 51
