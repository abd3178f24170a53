"""Whether two checkouts give the same numbers: every shipped config fitted on the sample by both.

    python benchmarks/same_numbers.py OTHER_CHECKOUT [--tolerance 1e-9]

Tables are compared in the columns that both have. Ends with 1 where anything differs. Both run in the present
environment, each with its own code and configs.
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from measuring import ROOT, options_of

SAMPLE = ROOT / "sample_pgn" / "classics.pgn"
TABLES = ("skills", "players", "games", "evidence")


class Difference(NamedTuple):
    """The largest difference of two tables, and where it is."""

    size: float
    where: str


def main() -> None:
    arguments = options_of(__doc__, other_=Path, games=str(SAMPLE), tolerance=1e-9)
    worst = 0.0
    for config in sorted((ROOT / "configs").glob("*.yaml")):
        with TemporaryDirectory() as folder:
            games = Path(arguments.games).resolve()
            checkouts = enumerate((arguments.other.resolve(), ROOT))
            files = [
                tables(checkout, config.name, games, Path(folder) / str(number))
                for number, checkout in checkouts
            ]
            for table, other, own in zip(TABLES, *files, strict=True):
                difference = compare(other, own)
                worst = max(worst, difference.size)
                print(
                    f"{config.stem:15} {table:9} {difference.size:9.2e}  {difference.where}",
                    flush=True,
                )
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


def compare(other: Path, own: Path) -> Difference:
    """The largest difference between the cells of two CSV files, in the columns that both have."""
    largest = Difference(0.0, "")
    for line, (before, after) in enumerate(zip_longest(rows(other), rows(own)), start=2):
        if before is None or after is None:
            return Difference(float("inf"), f"row {line}: {before} {after}")
        for name in before.keys() & after.keys():
            size = distance(before[name], after[name])
            if size > largest.size:
                largest = Difference(size, f"row {line}, {name}: {before[name]} {after[name]}")
    return largest


def rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as text:
        yield from csv.DictReader(text)


def distance(before: str, after: str) -> float:
    """0 of equal cells, else the difference of numbers, relative for those above 1."""
    if before == after:
        return 0.0
    try:
        number = float(before)
        return abs(number - float(after)) / max(1.0, abs(number))
    except ValueError:
        return float("inf")


if __name__ == "__main__":
    main()
