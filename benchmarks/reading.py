"""How fast PGN is read: the compiled scanner, the one of the standard library and python-chess, side by side."""

from __future__ import annotations

import argparse
import io
import pickle
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, takewhile

import chess.pgn

from ttt_cli.games.read import read_games
from ttt_cli.progress import SILENT
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.formats.pgn.compiled import CompiledScanner
from ttt_cli.reading.formats.pgn.scanner import Scanner
from ttt_cli.reading.streams import Input
from ttt_cli.reading.text import plain_blocks

PIECE = 1 << 18


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a PGN file, packed or not")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    options = parser.parse_args(arguments)
    with SILENT.task("reading", None, "B") as bar:
        content = b"".join(Input(options.file).blocks(bar))
    plain = list(plain_blocks(pieces(content), None, options.file))
    text = content.decode("utf-8", "surrogateescape")
    scanner = CompiledScanner()
    games = sum(len(batch.lines) for batch in scanner.scan(plain))
    show(
        "size",
        f"{len(content) / 1e6:.1f} MB, {games:,} games, {scanner.slow:,} of them read on the slow path",
    )

    def measured(name: str, read: Callable[[], object]) -> float:
        seconds = min(cpu_seconds(read) for _ in range(options.repeat))
        show(
            name, f"{len(content) / seconds / 1e6:6.0f} MB and {games / seconds:10,.0f} games per cpu-second"
        )
        return seconds

    def gathered(scan: Callable[[Iterable[bytes]], Iterator[Batch]]) -> FileRecords:
        records = FileRecords(options.file)
        for batch in scan(plain_blocks(pieces(content), None, options.file)):
            records.add(batch)
        for column in ("dates", "whites", "blacks", "results", *records.further):
            records.ids(column)
        return records

    measured("the floor: lines with tags", lambda: content.count(b"\n["))
    compiled = measured("compiled scanner", lambda: list(CompiledScanner().scan(plain)))
    stdlib = measured("stdlib scanner", lambda: list(Scanner().scan(plain)))
    measured("compiled, line ends, numbering", lambda: gathered(CompiledScanner().scan))
    measured("stdlib, line ends, numbering", lambda: gathered(Scanner().scan))
    measured("read_games, digest to table", lambda: read_games([io.BytesIO(content)]))
    records = gathered(CompiledScanner().scan)
    show("the same games by their moves", f"{games - len(set(records.moves().tolist())):,}")
    show("records", f"{len(pickle.dumps(records, pickle.HIGHEST_PROTOCOL)) / games:6.1f} bytes a game")
    headers = measured("python-chess read_headers", lambda: read_all_headers(text))
    show("compiled to stdlib", f"{stdlib / compiled:6.1f} times")
    show("compiled to python-chess", f"{headers / compiled:6.1f} times")
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss counts bytes there, kibibytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    show("peak memory", f"{peak / 2**20:6,.0f} MiB, the file itself held several times")


def pieces(content: bytes) -> Iterator[bytes]:
    """The content as a file hands it out."""
    starts = takewhile(lambda start: start < len(content), count(0, PIECE))
    return (content[start : start + PIECE] for start in starts)


def read_all_headers(text: str) -> int:
    """How many games python-chess finds."""
    handle = io.StringIO(text)
    return sum(1 for _ in iter(lambda: chess.pgn.read_headers(handle), None))


def cpu_seconds(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def show(name: str, value: str) -> None:
    print(f"{name:<34}{value}", flush=True)


if __name__ == "__main__":
    main()
