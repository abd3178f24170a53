"""Games of tags only: which tags are of the same game, by blank lines and repeated tags; nothing is guessed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_truth import pgn_of, truths, wrong_rows
from tests.reference.pgn import PlainScanner
from tests.support.batches import Rows, scanned
from ttt_cli.reading import pgn_text as pgn_tags
from ttt_cli.reading.batches import Note
from ttt_cli.reading.input import text_of

Reader = Callable[[Iterable[bytes]], tuple[Rows, list[Note], list[Note]]]


def by_python(blocks: Iterable[bytes]) -> tuple[Rows, list[Note], list[Note]]:
    return scanned(blocks, PlainScanner())


def by_chess(blocks: Iterable[bytes]) -> tuple[Rows, list[Note], list[Note]]:
    return scanned(blocks, by_chess=True)


READERS = pytest.mark.parametrize(
    "read",
    [scanned, by_python, by_chess],
    ids=["compiled", "plain", "chess"],
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
    rows, rejects, _ = read([written(text)])
    assert all((note.reason, note.action) == ("ambiguous tags", "dropped") for note in rejects)
    return ["{}-{}:{}".format(*map(text_of, row[2:5])) for row in rows], len(rejects)


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
    rows, *_ = scanned([written("WA BB | 1-0 C | C WC | BD 0-1 | WE | BF |")])
    assert [row[0] for row in rows] == [1, 7, 13]
    _, rejects, _ = scanned([written("E WA BB | 1-0 | WC BD . WE BF")])
    assert [note.line for note in rejects] == [2, 7]


@READERS
@given(seed=st.integers(0, 2**32))
def test_no_game_gets_the_result_of_another(read: Reader, seed: int) -> None:
    chance = random.Random(seed)
    games = truths(chance)
    content = pgn_of(games, chance, plain=read is by_chess).encode()
    rows, rejects, _ = read([content])
    assert wrong_rows([row[1:5] for row in rows], games) == []
    assert len(rejects) <= len(games)


def test_tags_that_take_too_long_to_tell_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_tags, "STRETCH_LIMIT", 500)
    text = "WA BB 1-0 " * 50 + "| WC BD 0-1 | WE BF 1-0"
    for read in (scanned, by_python):
        games, rejects = said(read, text)
        assert games == THREE[2:]  # the one before may go on in the tags that were rejected
        assert rejects >= 51
