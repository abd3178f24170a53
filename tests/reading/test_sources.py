"""What names stand for: files as they are, folders and patterns for the files in them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.reading.sources import Source, find_sources
from ttt_cli.support.errors import DataError

FILES = (
    "b.pgn",
    "a.PGN",
    "sub/c.csv.gz",
    "sub/deep/d.tar.xz",
    "sub/e.parquet",
    "README.txt",
    "sub/base.cbh",
    ".hidden.pgn",
    ".git/f.pgn",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / "games" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "games"


def names(sources: list[Source], folder: Path) -> list[str]:
    return [Path(str(source.what)).relative_to(folder).as_posix() for source in sources]


def test_a_folder_stands_for_its_games_files_and_archives(folder: Path) -> None:
    sources, skipped = find_sources([folder])
    assert names(sources, folder) == ["a.PGN", "b.pgn", "sub/c.csv.gz", "sub/deep/d.tar.xz", "sub/e.parquet"]
    assert all(source.found for source in sources)
    assert {(Path(problem.file).relative_to(folder).as_posix(), problem.action) for problem in skipped} == {
        ("README.txt", "skipped"),
        ("sub/base.cbh", "skipped"),
        (".hidden.pgn", "skipped"),
        (".git/f.pgn", "skipped"),
    }


@each(
    "pattern, expected",
    [
        ("*.[Pp][Gg][Nn]", ["a.PGN", "b.pgn"]),
        ("**/*.csv*", ["sub/c.csv.gz"]),
        ("*.txt", ["README.txt"]),
        ("s*/*", ["sub/base.cbh", "sub/c.csv.gz", "sub/e.parquet"]),
        ("s*", ["sub/c.csv.gz", "sub/deep/d.tar.xz", "sub/e.parquet"]),
    ],
)
def test_patterns(folder: Path, pattern: str, expected: list[str]) -> None:
    sources, _ = find_sources([str(folder / pattern)])
    assert names(sources, folder) == expected


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "games[1].pgn").touch()
    assert find_sources([tmp_path / "games[1].pgn"]) == ([Source(tmp_path / "games[1].pgn", 0)], [])


def test_other_names_stay_in_their_order(folder: Path) -> None:
    stream = io.BytesIO()
    sources, _ = find_sources(["-", folder / "sub" / "deep", stream, "missing.pgn"])
    assert [(source.what, source.origin, source.found) for source in sources] == [
        ("-", 0, False),
        (str(folder / "sub" / "deep" / "d.tar.xz"), 1, True),
        (stream, 2, False),
        ("missing.pgn", 3, False),
    ]


def test_nothing_found(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="contains no file of games") as caught:
        find_sources([folder / "empty"])
    assert caught.value.where == str(folder / "empty")
    assert ".pgn" in str(caught.value.hint)
    with pytest.raises(DataError, match=r"\*\.nothing: no file matches") as caught:
        find_sources([str(folder / "*.nothing")])
    assert caught.value.hint
