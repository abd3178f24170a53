"""How fast games are read: PGN by the compiled scanner and by python-chess, and tables of every form.

Each line is measured in a process of its own, loading of modules included: seconds on the clock and of the processor,
megabytes and games per second of the processor, peak memory.
"""

import csv
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from measuring import Clock, alone, machine, options_of, peak_memory

COLUMNS = ("date", "white", "black", "result", "event", "site", "round")
FORMS = {
    "csv.gz": "FORMAT csv",
    "tsv": "DELIMITER '\t'",
    "parquet": "FORMAT parquet",
    "jsonl": "FORMAT json",
}
PLAYERS = 30_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, file_={"nargs": "?"}, rows=5_000_000)
    print(machine("numba", "duckdb", "pyarrow", "chess"))
    with tempfile.TemporaryDirectory() as name:
        if options.file and ".pgn" in Path(options.file).name:
            readers: dict[str, Callable[[Path], int]] = {
                "the floor: lines with tags": count_tags, "compiled scanner": scan,
                "read_games, digest to timeline": games_and_timeline, "python-chess read_headers": read_headers,
            }  # fmt: skip
            for label, read in readers.items():
                show(label, read, Path(options.file))
            return
        table = Path(options.file) if options.file else Path(name) / "games.csv"
        if not options.file:
            write(table, options.rows)
        copies(table, Path(name))
        show("records of a CSV", batches, table)
        for path in (table, *(Path(name) / f"copy.{form}" for form in FORMS)):
            show(
                f"read_games and timeline, {path.name.partition('.')[2]}", games_and_timeline, path
            )


def show(label: str, read: Callable[[Path], int], path: Path) -> None:
    """Measure in a process of its own, and print."""
    games, wall, cpu, peak = alone(measured, read, path)
    speed = (
        f"{path.stat().st_size / cpu / 1e6:6.0f} MB and {games / cpu:11,.0f} games per cpu-second"
    )
    print(f"{label:<38}{wall:6.2f} s, {cpu:6.2f} cpu-s, {speed}, {peak:6,.0f} MiB", flush=True)


def measured(read: Callable[[Path], int], path: Path) -> tuple[int, float, float, float]:
    clock = Clock()
    with clock.running():
        games = read(path)
    return games, clock.wall, clock.cpu, peak_memory()


def write(path: Path, rows: int) -> None:
    """Artificial games, many of them between the same players, in the order of their dates."""
    chance = random.Random(1851)
    names = [f"Player{number}, {chance.choice('ABCDEFGH')}" for number in range(PLAYERS)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in range(rows):
            white, black = (names[int(PLAYERS * chance.random() ** 3)] for _ in range(2))
            date = (
                f"{1850 + 150 * row // rows}.{chance.randint(1, 12):02}.{chance.randint(1, 28):02}"
            )
            event = f"Tournament {row // 200}", f"Town {row // 200 % 900}", row % 200 // 10 + 1
            writer.writerow((date, white, black, chance.choice(("1-0", "0-1", "1/2-1/2")), *event))


def copies(table: Path, folder: Path) -> None:
    """The table in the other forms, written by DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        for form, how in FORMS.items():
            source = f"FROM read_csv('{table}', all_varchar = true)"
            connection.execute(f"COPY ({source}) TO '{folder}/copy.{form}' ({how})")


def blocks(path: Path) -> Iterator[bytes]:
    """The content, unpacked, as the readers get it."""
    from ttt_cli.reading.input import Input
    from ttt_cli.reading.text import plain_blocks
    from ttt_cli.support.progress import SILENT

    with SILENT.task("reading", None, "B") as bar:
        yield from plain_blocks(Input(str(path)).blocks(bar), None, path.name)


def count_tags(path: Path) -> int:
    return sum(block.count(b"\n[White ") for block in blocks(path))


def scan(path: Path) -> int:
    from ttt_cli.reading.pgn import Scanner

    return sum(len(batch.lines) for batch in Scanner().scan(blocks(path)))


def batches(path: Path) -> int:
    """The records as the reader returns them, before they are validated."""
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.reading.delimited import read_delimited

    return sum(
        len(batch.lines) for batch in read_delimited(blocks(path), DataConfig(), path.name).batches
    )


def games_and_timeline(path: Path) -> int:
    from ttt_cli.games.read import read_games
    from ttt_cli.timeline import build_timeline

    games = read_games([path])
    build_timeline(games)
    return games.report.rows


def read_headers(path: Path) -> int:
    import io

    import chess.pgn

    handle = io.StringIO(b"".join(blocks(path)).decode("utf-8", "surrogateescape"))
    return sum(1 for _ in iter(lambda: chess.pgn.read_headers(handle), None))


if __name__ == "__main__":
    main()
