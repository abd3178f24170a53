"""Memory of reading, counted in bytes: bounded while a stream is scanned, few bytes a record afterwards."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ttt_cli.games.ingest import Collector
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.column import ByteStrings, Column
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.formats.pgn.compiled import CompiledScanner
from ttt_cli.reading.formats.pgn.scanner import Scanner

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
@pytest.mark.parametrize(("scanner", "lengths"), [(Scanner, (4, 12)), (CompiledScanner, (200, 600))])
def test_a_longer_stream_takes_no_more_memory(
    scanner: type[Scanner], lengths: tuple[int, int], counted: Callable[[], int]
) -> None:
    """The least of three: the first time some things are made that stay, and other threads may take some at any."""
    block = GAME * 100

    def peak(blocks: int) -> int:
        counted()
        games = sum(len(batch.lines) for batch in scanner().scan(block for _ in range(blocks)))
        assert games == 100 * blocks
        return counted()

    short, long = (min(peak(blocks) for _ in range(3)) for blocks in lengths)
    assert long < short + len(block)


def gathered() -> FileRecords:
    """Records as the compiled scanner hands them over, in batches."""
    words = ByteStrings.of([b"", b"1-0", b"1858", b"x", *(b"player %d" % n for n in range(PLAYERS))])
    chance = np.random.default_rng(1)
    numbers = np.arange(4, len(words), dtype=np.int32)
    records = FileRecords("x")
    for start in range(0, RECORDS, 8192):
        white = chance.choice(numbers, 8192)
        black = 4 + (white + chance.integers(1, PLAYERS, 8192, np.int32) - 4) % PLAYERS
        one = {code: Column(np.full(8192, code, np.int32), words) for code in range(4)}
        lines, moves = np.arange(start, start + 8192) * 20, chance.integers(1, 2**62, 8192)
        players = Column(white, words), Column(black, words)
        further = {"event": one[3], "site": one[0], "round": one[0]}
        records.add(Batch(lines, one[2], *players, one[1], further=further, moves=moves))
    return records


def test_bytes_of_a_record(counted: Callable[[], int]) -> None:
    """Two names (2 each), line (4), moves (8) and a byte for each other column; they are given up while validated."""
    records = gathered()
    held = sum(array.nbytes for array in (records.lines(), records.moves()))
    held += sum(
        records.codes(name).nbytes for name in ("dates", "whites", "blacks", "results", *records.further)
    )
    assert held == RECORDS * (2 * 2 + 4 + 8 + 5)
    counted()
    collector = Collector()
    collector.add(records, "pgn", digest="", size=0)
    judging = counted()
    games = collector.games()
    collecting = counted()
    assert len(games) == RECORDS
    assert judging < JUDGING * RECORDS + NAMES
    assert collecting < COLLECTING * RECORDS + NAMES
