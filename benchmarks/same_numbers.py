"""Whether two checkouts give the same numbers: every shipped config fitted on the sample by both, every table compared.

    python benchmarks/same_numbers.py OTHER_CHECKOUT [--tolerance 1e-9]

Ends with 1 where anything differs. Both run in the present environment, each with its own code and configs.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import ROOT, options_of

SAMPLE = ROOT / "sample_pgn" / "classics.pgn"
TABLES = ("skills", "players", "games", "evidence")


def main() -> None:
    arguments = options_of(__doc__, other_=Path, games=str(SAMPLE), tolerance=1e-9)
    worst = 0.0
    for config in sorted((ROOT / "configs").glob("*.yaml")):
        with TemporaryDirectory() as folder:
            games = Path(arguments.games).resolve()
            checkouts = enumerate((arguments.other.resolve(), ROOT))
            files = [
                tables(one, config.name, games, Path(folder) / str(number))
                for number, one in checkouts
            ]
            for table, other, own in zip(TABLES, *files, strict=True):
                difference, where = compare(other, own)
                worst = max(worst, difference)
                print(f"{config.stem:15} {table:9} {difference:9.2e}  {where}", flush=True)
    sys.exit(not worst <= arguments.tolerance)


def tables(checkout: Path, config: str, games: Path, folder: Path) -> list[Path]:
    """The tables of a fit as CSV files."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(checkout), "COLUMNS": "200"}

    def ttt(*arguments: str) -> None:
        command = [sys.executable, "-m", "ttt_cli", *arguments]
        subprocess.run(command, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)

    whole = "data.filter.exclude=[]"  # the games of versions with another default
    ttt(
        "fit",
        str(games),
        "-q",
        "-c",
        str(checkout / "configs" / config),
        "-s",
        whole,
        "-o",
        "run.ttt",
    )
    for table in TABLES:
        ttt("export", table, "-r", "run.ttt", "-f", "csv", "-o", f"{table}.csv")
    return [folder / f"{table}.csv" for table in TABLES]


def compare(other: Path, own: Path) -> tuple[float, str]:
    """The largest difference between the cells of two CSV files, relative for numbers above 1, and where it is."""
    largest, where = 0.0, ""
    for line, (before, after) in enumerate(zip_longest(rows(other), rows(own)), start=1):
        if before is None or after is None or len(before) != len(after):
            return float("inf"), f"row {line}: {before} {after}"
        for a, b in zip(before, after, strict=True):
            if a != b and (found := distance(a, b)) > largest:
                largest, where = found, f"row {line}: {a} {b}"
    return largest, where


def rows(file: Path) -> Iterator[list[str]]:
    with file.open(newline="", encoding="utf-8") as text:
        yield from csv.reader(text)


def distance(a: str, b: str) -> float:
    try:
        x, y = float(a), float(b)
    except ValueError:
        return float("inf")
    return abs(x - y) / max(1.0, abs(x))


if __name__ == "__main__":
    main()
