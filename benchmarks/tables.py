"""How fast tables are read: CSV by pyarrow, by the standard library and by DuckDB, then whole files of each kind.

Each line is measured in a process of its own, loading of modules included: seconds on the clock and of the processor,
megabytes and rows per second of the processor, peak memory.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

COLUMNS = ("date", "white", "black", "result", "event", "site", "round")
PLAYERS = 30_000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="a CSV with a header; without it, artificial games")
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the artificial table")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = Path(options.file) if options.file else folder / "games.csv"
        if not options.file:
            write(table, options.rows)
        alone("other forms written", copies, table, folder)
        show("CSV", f"{table.stat().st_size / 1e6:,.0f} MB")
        for label, read in ALTERNATIVES.items():
            alone(label, read, table)
        for form in ("csv", "csv.gz", "tsv", "parquet", "jsonl"):
            path = table if form == "csv" else folder / f"copy.{form}"
            alone(f"read_games and timeline, {form}", games_and_timeline, path)


def write(path: Path, rows: int) -> None:
    """Artificial games, many of them between the same players, in the order of their dates."""
    chance = random.Random(1851)
    names = [f"Player{number}, {chance.choice('ABCDEFGH')}" for number in range(PLAYERS)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in range(rows):
            white, black = (names[int(PLAYERS * chance.random() ** 3)] for _ in range(2))
            year = 1850 + 150 * row // rows
            date = f"{year}.{chance.randint(1, 12):02}.{chance.randint(1, 28):02}"
            result = chance.choice(("1-0", "0-1", "1/2-1/2"))
            event = f"Tournament {row // 200}"
            writer.writerow(
                (date, white, black, result, event, f"Town {row // 200 % 900}", row % 200 // 10 + 1)
            )


def copies(table: Path, folder: Path) -> int:
    """The table in the other forms, written by DuckDB."""
    import duckdb

    source = f"FROM read_csv('{table}', all_varchar = true)"
    forms = {
        "csv.gz": "FORMAT csv",
        "tsv": "DELIMITER '\t'",
        "parquet": "FORMAT parquet",
        "jsonl": "FORMAT json",
    }
    with duckdb.connect() as connection:
        for form, how in forms.items():
            connection.execute(f"COPY ({source}) TO '{folder}/copy.{form}' ({how})")
        return rows_of(connection.execute(f"SELECT count(*) {source}").fetchall())


def rows_of(answer: list[tuple[int]]) -> int:
    return answer[0][0]


def games_and_timeline(path: Path) -> int:
    from ttt_cli.games.read import read_games
    from ttt_cli.timeline import build_timeline

    games = read_games([path])
    build_timeline(games)
    return games.report.rows


def batches(path: Path, large: int) -> int:
    """The records as the reader hands them over, before they are validated."""
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.reading.formats.tabular.delimited import read_delimited
    from ttt_cli.reading.text import plain_blocks

    table = read_delimited(plain_blocks(pieces(path), None, path.name), DataConfig(), path.name, large)
    return sum(len(batch.lines) for batch in table.batches)


def pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(1 << 18), b"")


def by_pyarrow(path: Path) -> int:
    return batches(path, 1)


def by_standard_library(path: Path) -> int:
    return batches(path, sys.maxsize)


def by_duckdb(path: Path) -> int:
    """Numbers of distinct texts through DuckDB's CSV reader; it tells no lines of records."""
    import duckdb

    from ttt_cli.reading.formats.tabular.parquet import text_columns

    with duckdb.connect() as connection:
        options = "all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"'"
        connection.execute(f"CREATE TEMP TABLE rows AS FROM read_csv('{path}', {options})")
        names = [row[0] for row in connection.execute("DESCRIBE rows").fetchall() if row[0] in COLUMNS]
        columns = text_columns(connection, "rows", [f"coalesce({name}, '')" for name in names])
    return len(columns[0].codes)


ALTERNATIVES: dict[str, Callable[[Path], int]] = {
    "records of a CSV, pyarrow": by_pyarrow,
    "records of a CSV, standard library": by_standard_library,
    "columns of a CSV, DuckDB": by_duckdb,
}


def alone(label: str, read: Callable[..., int], *paths: Path) -> None:
    """Measure in a process of its own and show it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows, wall, cpu, peak = pool.submit(measured, read, paths).result()
    size = paths[0].stat().st_size
    speed = f"{size / cpu / 1e6:6.0f} MB and {rows / cpu:11,.0f} rows per cpu-second"
    show(label, f"{wall:6.2f} s, {cpu:6.2f} cpu-s, {speed}, {peak / 2**20:6,.0f} MiB")


def measured(read: Callable[..., int], paths: Iterable[Path]) -> tuple[int, float, float, int]:
    wall, cpu = time.perf_counter(), time.process_time()
    rows = read(*paths)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss counts bytes there, kibibytes elsewhere
    return rows, wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def show(name: str, value: str) -> None:
    print(f"{name:<38}{value}", flush=True)


if __name__ == "__main__":
    main()
