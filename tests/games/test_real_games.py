"""Real files: counts established in other ways, and the same records as independent readers find."""

from __future__ import annotations

import csv
import gzip
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.batches import scanned
from tests.support.cases import each
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.names import clean_name
from ttt_cli.games.read import read_games
from ttt_cli.games.table import DRAW, PRECISION_YEAR, Games
from ttt_cli.reading.text import decode, plain_blocks

pytestmark = pytest.mark.slow

Record = tuple[str, ...]
WHOLE = DataConfig(drop=[], filter=FilterConfig(exclude=[]))
TAG = re.compile(rb'\[(\w+) "(.*)"\]\s*$')


@pytest.fixture(scope="module")
def pgn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The unpacked PGN files by name."""
    folder = tmp_path_factory.mktemp("pgn")
    for archive in ("historic_small", "troublesome"):
        with tarfile.open(data / "pgn" / f"{archive}.tar.xz") as tar:
            tar.extractall(folder, filter="data")
    return {path.name: path for path in sorted(folder.rglob("*.pgn"))}


def by_lines(path: Path) -> list[Record]:
    """Records found line by line: a game begins at each Event tag outside comments."""
    games: list[dict[str, str]] = []
    inside = False
    for line in re.split(rb"\r?\n", path.read_bytes()):
        tag = None if inside else TAG.match(line)
        if tag:
            if tag[1] == b"Event":
                games.append({})
            games[-1].setdefault(tag[1].decode(), decode(tag[2]))
            continue
        for brace in re.findall(rb"[{}]", line):
            inside = brace == b"{"
    return [
        tuple(game.get(name, "") for name in ("Date", "White", "Black", "Result")) for game in games
    ]


def by_reader(path: Path, *, chess: bool = False) -> Iterator[Record]:
    blocks = plain_blocks([path.read_bytes()], None, path.name)
    rows, _, _ = scanned(blocks, by_chess=chess)
    for row in rows:
        yield row[1:5]  # type: ignore[misc]


HISTORIC = {
    "Alekhine.pgn": (1661, 1624),
    "Capablanca.pgn": (597, 596),
    "Chigorin.pgn": (688, 688),
    "Fischer.pgn": (827, 825),
    "Kasparov.pgn": (1962, 1957),
    "Morphy.pgn": (211, 192),
    "Nimzowitsch.pgn": (512, 512),
    "Reshevsky.pgn": (1267, 1267),
    "Steinitz.pgn": (590, 587),
    "Tal.pgn": (2431, 2430),
    "hlotze_London1851.pgn": (251, 251),
    "hlotze_Philidor.pgn": (6, 6),
    "hlotze_WorldChamp1886.pgn": (20, 20),
}


@each("name", HISTORIC)
def test_historic_files(pgn: dict[str, Path], name: str) -> None:
    games = read_games([pgn[name]], WHOLE)
    report = games.report
    assert (report.rows, report.used) == HISTORIC[name]
    assert set(report.dropped) <= {"unnamed player", "no result"}
    assert list(by_reader(pgn[name])) == by_lines(pgn[name])


def test_a_blank_line_before_every_result(pgn: dict[str, Path]) -> None:
    games = read_games([pgn["GarryKasparov.pgn"]], WHOLE)
    assert (games.report.rows, games.report.used) == (1854, 1850)
    assert games.report.dropped == {"unnamed player": 4}
    assert list(by_reader(pgn["GarryKasparov.pgn"])) == by_lines(pgn["GarryKasparov.pgn"])


def test_a_file_joined_from_many_conventions(pgn: dict[str, Path]) -> None:
    path = pgn["chessmaster.pgn"]
    games = read_games([path], DataConfig(names="clean", drop=[], filter=FilterConfig(exclude=[])))
    found = list(by_reader(path))
    assert len(found) == path.read_bytes().count(b"\n[Event ") + 1 == 32233
    assert (
        sum(not (white and black) for _, white, black, _ in found) == 4
    )  # [White ""] and [Black ""] in the file
    assert Counter(result for *_, result in found) == {
        "1-0": 13984,
        "0-1": 11771,
        "1/2-1/2": 5101,
        "*": 1377,
    }
    expected = by_lines(path)
    assert [row for row, other in zip(found, expected, strict=True) if row != other] == []
    assert games.report.dropped == {
        "no result": 1376,
        "unnamed player": 66,
        "no player": 5,
        "same player twice": 5,
    }
    assert games.report.used == 30781
    assert '"Learning with fun"' in games.players


def test_python_chess_agrees_where_it_keeps_the_players(pgn: dict[str, Path]) -> None:
    """It loses the players of many records in the joined file, and knows none that the scanner does not."""
    found = Counter(by_reader(pgn["chessmaster.pgn"]))
    theirs = Counter(
        row for row in by_reader(pgn["chessmaster.pgn"], chess=True) if row[1] and row[2]
    )
    assert theirs.total() > 20_000
    assert theirs - found == Counter()


def draws(games: Games) -> int:
    return int((games.outcome == DRAW).sum())


def test_the_first_published_sample(data: Path) -> None:
    path = data / "smallchessbase" / "SmallChessBase.csv"
    games = read_games([path], WHOLE)
    rows = list(csv.reader(path.read_text(encoding="cp1252").splitlines()))
    assert (len(games), games.report.rows, len(games.players)) == (1000, 1000, 94)
    assert draws(games) == 135 == sum(row[4] == "1" for row in rows)
    assert set(games.players) == {clean_name(name) for row in rows for name in row[2:4]}
    assert set(games.date_precision.tolist()) == {PRECISION_YEAR}


def test_historical_games(data: Path) -> None:
    path = data / "historical_pre1942.csv.gz"
    games = read_games([path], DataConfig(names="clean", drop=[], filter=FilterConfig(exclude=[])))
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (games.report.rows, games.report.used, len(games.players)) == (19197, 19197, 2303)
    assert draws(games) == sum(row["result"] == "1/2-1/2" for row in rows)
    written = {row[side] for row in rows for side in ("white", "black")}
    assert set(games.players) == {clean_name(name) for name in written}
    assert written - set(games.players) == {
        "Marshall Frank James (USA)",
        "Rabinovich Ilya L (RUS)",
        "Lehmann, Heinz Dr",
    }
    years = games.date.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970
    assert Counter(years.tolist()) == Counter(int(row["date"][:4]) for row in rows)
    line = games.source_line - 2  # no row takes more than one line
    white = np.array(games.players)[games.white]
    assert [clean_name(rows[number]["white"]) for number in line.tolist()] == white.tolist()
