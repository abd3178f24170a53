"""PGN beyond all bounds: what is too long is rejected and counted, what follows is read, and memory stays."""

from __future__ import annotations

import pytest

from tests.reading.test_pgn_scanner import SECOND, tags
from tests.support.batches import scanned
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import pgn
from ttt_cli.reading.pgn import read_pgn


@pytest.mark.parametrize(
    "long",
    [
        "\n1. e4 " + "e5 " * 3000,
        "\n1. e4 " + "e5\n" * 3000,
    ],
)
@pytest.mark.parametrize("size", [100, 700])
def test_a_game_too_long_is_rejected_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch, long: str, size: int
) -> None:
    monkeypatch.setattr(pgn, "GAME_LIMIT", 5000)
    content = (SECOND + "\n0-1\n\n" + tags() + long + "\n\n" + SECOND + "\n0-1\n\n").encode()
    rows, rejects, _ = scanned([content[start : start + size] for start in range(0, len(content), size)])
    assert [(row[0], row[2]) for row in rows] == [(1, b"C"), (16 + long.count("\n"), b"C")]
    assert [(note.line, note.reason, note.action) for note in rejects] == [(9, "too long", "dropped")]


def test_what_follows_a_tag_without_end_may_be_of_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "GAME_LIMIT", 5000)
    long = '[White "Z"]\n[Site "' + "x" * 9000 + '"]\n[White "A"]\n[Black "B"]\n\n' + tags() + SECOND
    content = (long + "\n1-0\n\n" + SECOND).encode()
    rows, rejects, _ = scanned([content[start : start + 700] for start in range(0, len(content), 700)])
    assert [row[2] for row in rows] == [b"C"]
    assert [note[:2] for note in rejects] == [
        (1, "too long"),
        (3, "ambiguous tags"),
        (8, "ambiguous tags"),
        (13, "ambiguous tags"),
    ]


def test_what_is_kept_of_a_game_too_long_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "GAME_LIMIT", 5000)
    scanner = pgn.Scanner()
    for _ in range(1000):
        scanner._feed(b"e4 " * 1000)
        assert sum(map(len, scanner._waiting)) <= 5000


def test_a_tag_too_long_rejects_its_game() -> None:
    content = tags("A" * 70_000) + "\n1-0\n\n" + SECOND + "\n0-1\n\n"
    rows, rejects, _ = scanned([content.encode()])
    assert [note[:2] for note in rejects] == [(1, "too long")]
    assert [row[2] for row in rows] == [b"C"]


@pytest.mark.slow
def test_what_cannot_be_told_apart_is_returned_in_parts() -> None:
    batches = read_pgn(iter([b'[White "A"]\n\n' * 150_000]), DataConfig(), "x").batches
    rejects = [len(batch.rejects) for batch in batches]
    assert sum(rejects) == 150_000
    assert max(rejects) < 60_000
