"""Files, folders and patterns; what a file is by its content; sources read in other processes as in this one."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.recorder import Recorder
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import sources as reading
from ttt_cli.reading.input import Input
from ttt_cli.reading.recognition import format_by_start, recognise, refuse_foreign
from ttt_cli.reading.sources import APART, FileRead, Source, find_sources, jobs_for, read_sources
from ttt_cli.support.errors import ConfigError, DataError

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
    assert names(sources, folder) == [
        "a.PGN",
        "b.pgn",
        "sub/c.csv.gz",
        "sub/deep/d.tar.xz",
        "sub/e.parquet",
    ]
    assert all(source.unnamed for source in sources)
    assert {
        (Path(problem.file).relative_to(folder).as_posix(), problem.action) for problem in skipped
    } == {
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
    assert [(source.what, source.origin, source.unnamed) for source in sources] == [
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
    with pytest.raises(DataError, match=r"\*\.nothing: no file matches"):
        find_sources([str(folder / "*.nothing")])


@each(
    "head, name, kind",
    [
        (b'[Event "x"]\n', "games.txt", "pgn"),
        (b'[Event "a, b"]\n', "games.csv", "pgn"),
        (b'% comment\n; another\n\n [ event "x"]\n', "-", "pgn"),
        (b'A collection, by me\n\n[Event "x"]\n', "games.txt", "pgn"),
        (b"1. e4 e5 1-0\n", "<stdin>", "pgn"),
        (b"{a comment} 1.e4 e5 1-0\n", "<stdin>", "pgn"),
        (b"some words", "games.PGN.gz", "pgn"),
        (b"date,white,black,result\n", "games", "csv"),
        (b"date\twhite\tblack\tresult\n", "<stdin>", "csv"),
        (b"1858;Morphy;Anderssen;1\n", "games.txt", "csv"),
        (b"date,white\n1858,\"x\n[Event ''\"\n", "games.csv.xz", "csv"),
        (b'{"white": "A", "black": "B"}\n', "<stdin>", "jsonl"),
        (b'\n { "a\\"{b" :1,', "games.csv", "jsonl"),
        (b'[\n  {"white":"A"},\n', "games.txt", "jsonl"),
        (b"1,2", "games.ndjson.gz", "jsonl"),
        (b'{"a remark", and another} 1. e4 e5 1-0\n', "<stdin>", "pgn"),
    ],
)
def test_kinds(head: bytes, name: str, kind: str) -> None:
    refuse_foreign(head, name, encoding=None)
    found = recognise(head, name)
    assert (found.kind or found.name) == kind


def test_parquet_is_no_foreign_binary() -> None:
    refuse_foreign(b"PAR1" + bytes(100), "games.parquet", encoding=None)
    found = format_by_start(b"PAR1" + bytes(100), binary=True)
    assert found is not None
    assert found.name == "parquet"
    assert format_by_start(b"date,white\n", binary=True) is None


def test_neither() -> None:
    with pytest.raises(DataError, match="neither PGN tags nor columns"):
        recognise(b"just words\n", "notes.txt")


@each(
    "head, what",
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n", "is empty"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\n <HTML lang=en>", "a web page"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"%PDF-1.7", "a PDF"),
        (b"x" * 257 + b"ustar\x0000", "a tar archive"),
        (bytes(8) + b"DUCK" + bytes(80), "a database"),
        (bytes(range(256)), "a binary file"),
        ('[Event "x"]\n'.encode("utf-16-le"), "a binary file"),
    ],
)
def test_foreign_content_is_named(head: bytes, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        refuse_foreign(head, "games.pgn", encoding=None)
    assert caught.value.where == "games.pgn"


@each(
    "head, encoding",
    [
        (
            '[Event "x"]\n'.encode("utf-16-le"),
            "utf-16-le",
        ),  # control characters are of the encoding
        (b'[Event "x"]\n\0\0' + b"1. e4 e5 1-0 " * 20, None),  # a few stray bytes
    ],
)
def test_no_binary_file(head: bytes, encoding: str | None) -> None:
    refuse_foreign(head, "games.pgn", encoding=encoding)


def test_a_long_blank_beginning_is_looked_at_once() -> None:
    assert recognise(b"\n" * 50_000 + b"a,b\n", "games").name == "csv"


PGN = '[Event "e{0}"]\n[Date "18{0}"]\n[White "A{0}"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e{1} 1-0\n\n'
CONTENTS = {
    "a.pgn": "".join(PGN.format(n % 90 + 10, n % 8) for n in range(2000)),
    "b.csv": "date,white,black,result\n1857,C,D,0-1\n1857,C,NN,0-1\n",
    "c.pgn": PGN.format(10, 5) + PGN.format(11, 5).replace("1-0", "*"),
    "d.pgn": PGN.format(12, 5),
    "page.pgn": "<html>",
    "empty.pgn": "",
}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, content in CONTENTS.items():
        (tmp_path / name).write_text(content)
    return [tmp_path / name for name in CONTENTS]


def found(
    files: Sequence[Path], jobs: int, data: DataConfig | None = None
) -> tuple[list[object], Recorder, Exception | None]:
    """Everything known of the records of each file, the progress, and the error at the end."""
    bar = Recorder()
    sources = [Source(str(file), number) for number, file in enumerate(files)]
    parts: list[object] = []
    try:
        for source, part in read_sources(sources, data or DataConfig(), bar, jobs=jobs):
            assert isinstance(part, FileRead)
            records = part.records
            columns = ["dates", "whites", "blacks", "results", *records.further]
            values = [
                (list(records.distinct(name)), records.codes(name).tolist()) for name in columns
            ]
            moves = None if records.moves is None else records.moves.tolist()
            parts.append((source, part[1:], columns, values, records.lines.tolist(), moves))
    except (DataError, ConfigError) as error:
        return parts, bar, error
    return parts, bar, None


@pytest.mark.slow
def test_the_same_in_other_processes(files: list[Path]) -> None:
    here, bar, error = found(files[:4], 1)
    apart, other_bar, other_error = found(files[:4], 3)
    assert apart == here
    assert error is other_error is None
    assert sum(other_bar.told) == sum(bar.told) == sum(file.stat().st_size for file in files[:4])
    assert {*other_bar.notes} == {*bar.notes} == {file.name for file in files[:4]}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_in_order(files: list[Path], jobs: int) -> None:
    parts, _, error = found([files[1], *files[4:]], jobs)
    assert len(parts) == 1
    assert isinstance(error, DataError)
    assert (error.where, error.exit_code) == (str(files[4]), 3)
    assert "is a web page" in str(error)
    assert isinstance(found(files[:2], jobs, DataConfig(encoding="nonsense"))[2], ConfigError)


def test_when_processes_are_worth_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "available_cores", lambda: 4)

    def jobs(*sizes: float, suffix: str = "pgn") -> int:
        inputs = []
        for number, size in enumerate(sizes):
            path = tmp_path / f"{number}.{suffix}"
            path.touch()
            os.truncate(path, math.ceil(size))
            inputs.append(Input(path))
        return jobs_for(inputs)

    assert jobs(APART) == jobs(APART, APART - 1) == 1
    assert jobs(APART, APART) == jobs(10 * APART, APART) == 2
    assert jobs(*[APART] * 9, 0) == 4
    assert jobs(APART / 20, APART / 20 + 1, suffix="pgn.xz") == 2
    monkeypatch.setattr(reading, "available_cores", lambda: 1)
    assert jobs(APART, APART) == 1
