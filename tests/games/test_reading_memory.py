"""Memory of reading, counted in bytes: bounded while a stream is scanned, few bytes a record afterwards."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ttt_cli.games.assemble import make_games
from ttt_cli.games.collect import Collector
from ttt_cli.reading.batches import USUAL, Batch, FileRecords, Layout, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.pgn import Scanner

RECORDS = 1 << 18
PLAYERS = 1 << 12  # numbers of names take two bytes
NAMES = 500 * PLAYERS  # bytes that names may take
JUDGING, COLLECTING = 20, 60  # bytes that a record may take besides what is held
GAME = (
    b'[Event "x"]\n[Date "1858.??.??"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
    + b"1. e4 {comment} e5 " * 6
    + b"1-0\n\n"
)


@pytest.fixture
def counted() -> Iterator[Callable[[], int]]:
    """How many bytes were in use at most since the last question."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]

    def peak() -> int:
        nonlocal before
        most = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        return most

    yield peak
    tracemalloc.stop()


@pytest.mark.slow
def test_a_longer_stream_takes_no_more_memory(counted: Callable[[], int]) -> None:
    """The least of three: the first time some things are made that stay, and other threads may take some at any."""
    block = GAME * 100

    def peak(blocks: int) -> int:
        counted()
        games = sum(len(batch.lines) for batch in Scanner().scan(block for _ in range(blocks)))
        assert games == 100 * blocks
        return counted()

    short, long = (min(peak(blocks) for _ in range(3)) for blocks in (200, 600))
    assert long < short + len(block)


def gathered() -> FileRecords:
    """Records as the compiled scanner returns them, in batches."""
    strings = Strings()
    usual = strings.numbers_of([b"1-0", b"1858", b"x"])
    numbers = strings.numbers_of([b"player %d" % n for n in range(PLAYERS)])
    chance = np.random.default_rng(1)

    def batches() -> Iterator[Batch]:
        for start in range(0, RECORDS, 8192):
            white = chance.integers(0, PLAYERS, 8192)
            black = (white + chance.integers(1, PLAYERS, 8192)) % PLAYERS
            lines, moves = np.arange(start, start + 8192) * 20, chance.integers(1, 2**62, 8192)
            columns = [usual[1], numbers[white], numbers[black], usual[0], usual[2], 0, 0]
            codes = np.array([np.broadcast_to(column, 8192) for column in columns], np.int32)
            yield Batch(lines, codes, moves=moves)

    columns = {**USUAL, "event": (4,), "site": (5,), "round": (6,)}
    return FileRecords("x", Table(Layout(columns), strings, batches()))


def test_bytes_of_a_record(counted: Callable[[], int]) -> None:
    """Two names (2 each), line (4), moves (8) and a byte for each other column; they are given up while validated."""
    records = gathered()
    held = sum(array.nbytes for array in (records.lines, records.moves) if array is not None)
    held += sum(
        records.codes(name).nbytes
        for name in ("dates", "whites", "blacks", "results", *records.further)
    )
    assert held == RECORDS * (2 * 2 + 4 + 8 + 5)
    counted()
    collector = Collector()
    collector.add(records, "pgn", digest="", size=0)
    judging = counted()
    games = make_games(collector.collected())
    collecting = counted()
    assert len(games) == RECORDS
    assert judging < JUDGING * RECORDS + NAMES
    assert collecting < COLLECTING * RECORDS + NAMES
