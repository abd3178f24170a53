"""Files in, games out: several files, standard input, broken samples, errors that say what to do."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.table import Games
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.progress import Bar

BROKEN = Path(__file__).parents[2] / "sample_pgn" / "broken"
PGN = '[Event "x"]\n[Date "1858.06.17"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
CSV = "date,white,black,result\n1857,C,D,0-1\n1857,C,NN,0-1\n"


def problems(games: Games) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.reason, problem.action) for problem in games.report.problems]


def listed(games: Games) -> list[tuple[str, str, int, int]]:
    """White, Black, outcome and line of every game, in order."""
    name = games.players
    columns = zip(games.white, games.black, games.outcome, games.source_line, strict=True)
    return [(name[white], name[black], int(outcome), int(line)) for white, black, outcome, line in columns]


def test_dirty_pgn() -> None:
    games = read_games([BROKEN / "dirty.pgn"])
    assert listed(games) == [
        ("Paulsen, Louis", "Löwenthal, Johann", 1, 19),
        ("Paulsen, Louis", "Morphy, Paul", 0, 27),
        ("Morphy, Paul", "Anderssen, Adolf", 2, 2),
        ("Morphy, Paul", "Löwenthal, Johann", 0, 13),
        ("Kolisch, Ignaz", "Harrwitz, Daniel", 2, 37),
        ("Kolisch, Ignaz", "Barnes, Thomas", 1, 63),
        ("Kolisch, Ignaz", "Anderssen, Adolf", 2, 69),
    ]
    assert games.date_precision.tolist() == [0, 1, 2, 0, 0, 1, 2]
    assert problems(games) == [
        (19, "result from movetext", "repaired"),
        (27, "bad date", "repaired"),
        (27, "result from movetext", "repaired"),
        (30, "duplicate tag", "kept"),
        (34, "unclosed comment", "repaired"),
        (37, "contradicting result", "kept"),
        (45, "no player", "dropped"),
        (47, "unnamed player", "dropped"),
        (55, "no date", "dropped"),
    ]
    assert (games.report.rows, games.report.used) == (10, 7)


def test_dirty_csv() -> None:
    games = read_games([BROKEN / "dirty.csv"])
    assert listed(games) == [
        ("Morphy, Paul", "Harrwitz, Daniel", 0, 5),
        ("Morphy, Paul", "Anderssen, Adolf", 2, 2),
        ("Morphy, Paul", "Löwenthal, Johann", 1, 3),
        ("Morphy, Paul of New Orleans", "Mongredien, Augustus", 2, 7),
        ("Boden, Samuel", "Bird, Henry", 0, 18),
    ]
    assert games.weight.tolist() == [1.0, 1.0, 2.5, 1.0, 1.0]
    assert problems(games) == [
        (5, "bad date", "repaired"),
        (6, "no date", "dropped"),
        (9, "bad row", "dropped"),
        (10, "forfeit", "dropped"),
        (11, "no result", "dropped"),
        (12, "unknown result", "dropped"),
        (13, "same player twice", "dropped"),
        (14, "bad weight", "dropped"),
        (15, "bad row", "dropped"),
        (16, "no player", "dropped"),
        (17, "unnamed player", "dropped"),
    ]
    assert (games.report.rows, games.report.used) == (15, 5)


@each(
    "name, message, hint",
    [
        ("page.pgn", "is a web page", "download"),
        ("unplayed.pgn", "none of its 2 records can be used: no player 1, no result 1", "line 1: no result"),
        ("unnamed_columns.csv", "columns are not known", "data.columns=["),
    ],
)
def test_broken_samples_that_give_nothing(name: str, message: str, hint: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_games([str(BROKEN / name)])
    assert caught.value.where == str(BROKEN / name)
    assert caught.value.exit_code == 3
    assert hint in str(caught.value.hint)


def test_columns_named_for_a_table_without_header() -> None:
    data = DataConfig(columns=["date", "white", "black", "white_score"])
    assert listed(read_games([BROKEN / "unnamed_columns.csv"], data)) == [
        ("Lasker", "Schlechter", 2, 1),
        ("Schlechter", "Lasker", 1, 2),
    ]


def test_several_files_in_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "b.csv").write_text(CSV)
    games = read_games([str(tmp_path / "a.pgn"), tmp_path / "b.csv"])
    assert listed(games) == [("C", "D", 0, 2), ("A", "B", 2, 1)]
    assert games.source_file.tolist() == [1, 0]
    first, second = games.report.files
    assert (first.path, first.kind, first.rows, first.used) == (str(tmp_path / "a.pgn"), "pgn", 1, 1)
    assert (first.digest, first.size) == (hashlib.sha256(PGN.encode()).hexdigest(), len(PGN))
    assert (second.kind, second.rows, second.dropped) == ("csv", 2, {"unnamed player": 1})


@each(
    "files, message",
    [
        ([], "no file"),
        (["a.pgn", "empty.pgn"], r"empty\.pgn: is empty"),
        (["empty.pgn", "none.pgn"], r"none\.pgn: there is no such file"),  # told before anything is read
    ],
)
def test_files_that_give_nothing_are_errors(files: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "empty.pgn").write_text("")
    with pytest.raises(DataError, match=message):
        read_games([tmp_path / file for file in files])


@each(
    "content, data, message",
    [
        (PGN.encode() + b"\xff", {"encoding": "utf-8"}, r"<stream>:9: not utf-8"),
        (PGN.encode(), {"encoding": "nonsense"}, "unknown encoding"),
        (CSV.encode(), {"format": "pgn"}, r"holds no records \(read as pgn\)"),
        (PGN.encode(), {"format": "csv"}, "columns are not known"),
    ],
)
def test_settings_that_the_content_contradicts(content: bytes, data: dict[str, str], message: str) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        read_games([io.BytesIO(content)], DataConfig.model_validate(data))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(PGN.encode()))))
    games = read_games(["-"])
    assert listed(games) == [("A", "B", 2, 1)]
    assert games.report.files[0].path == "<stdin>"


def test_a_packed_file_cut_short_says_what_came_before(tmp_path: Path) -> None:
    content = b"".join(PGN.replace("A", f"A{i * 7919 % 10007}").encode() for i in range(5000))
    stored = gzip.compress(content)
    (tmp_path / "games.pgn.gz").write_bytes(stored[: len(stored) // 2])
    with pytest.raises(DataError, match=r"end too early; 2,\d\d\d records came before") as caught:
        read_games([tmp_path / "games.pgn.gz"])
    assert caught.value.where == str(tmp_path / "games.pgn.gz")
    (tmp_path / "games.pgn.gz").write_bytes(gzip.compress(PGN.encode() * 3)[:-4])
    with pytest.raises(DataError, match=r"end too early; [23] records came before"):
        read_games([tmp_path / "games.pgn.gz"])


@each("encoding", ["utf-16", "utf-16-le", "cp1251"])
def test_encodings(encoding: str) -> None:
    content = PGN.replace("A", "Чигорин").encode(encoding)
    config = DataConfig(encoding=None if encoding == "utf-16" else encoding)
    assert listed(read_games([io.BytesIO(content)], config)) == [("Чигорин", "B", 2, 1)]


SLASHES = [
    ("03/02/1921", "1921-02-03"),
    ("25/02/1921", "1921-02-25"),
    ("11/03/1921", "1921-03-11"),
]


def dated(path: Path, texts: list[str]) -> Path:
    """A file with a game at each date, in the format of its name."""
    if path.suffix == ".pgn":
        path.write_text("".join(PGN.replace("1858.06.17", text) for text in texts))
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(f'{{"date":"{text}","white":"A","black":"B","result":1}}\n' for text in texts)
        )
    else:
        rows = "".join(f"{text},A,B,1-0\n" for text in texts)
        table = path.with_suffix(".csv")
        table.write_text(f"date,white,black,result\n{rows}")
        if path.suffix == ".parquet":
            duckdb.sql(f"COPY (FROM read_csv('{table}', all_varchar=true)) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize("reader", ["scan", "chess"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.pgn"])
def test_one_date_settles_the_order_of_its_file(tmp_path: Path, name: str, reader: str) -> None:
    file = dated(tmp_path / name, [text for text, _ in SLASHES])
    games = read_games([file], DataConfig.model_validate({"reader": reader}))
    assert [str(day) for day in games.date.astype("datetime64[D]")] == [day for _, day in SLASHES]
    assert games.date_precision.tolist() == [2, 2, 2]
    assert not games.report.problems


def test_one_date_settles_the_order_of_a_file_read_by_compiled_code(tmp_path: Path) -> None:
    many = 250_000  # more than compiled code takes over from
    games = read_games([dated(tmp_path / "a.csv", ["03/02/1921"] * many + ["25/02/1921"])])
    assert [str(games.date[at].astype("datetime64[D]")) for at in (0, -2, -1)] == [
        *["1921-02-03"] * 2,
        "1921-02-25",
    ]


def test_the_order_is_that_of_each_file(tmp_path: Path) -> None:
    files = [
        dated(tmp_path / "british.csv", ["03/02/1921", "25/02/1921"]),
        dated(tmp_path / "american.csv", ["03/02/1921", "02/25/1921"]),
        dated(tmp_path / "silent.csv", ["03/02/1921", "04/02/1921", "05/05/1921", "1921"]),
        dated(tmp_path / "both.csv", ["03/02/1921", "25/02/1921", "02/26/1921"]),
    ]
    games = read_games(files)
    year_only = "only the year is certain, data.dates: dmy or mdy tells the order"
    days = games.date.astype("datetime64[D]").astype(str)
    found = [days[games.source_file == file].tolist() for file in range(4)]
    assert found == [
        ["1921-02-03", "1921-02-25"],
        ["1921-02-25", "1921-03-02"],
        ["1921-05-05", "1921-07-02", "1921-07-02", "1921-07-02"],
        ["1921-02-25", "1921-02-26", "1921-07-02"],
    ]
    assert [
        (Path(one.file).name, one.line, one.reason, one.action, one.detail) for one in games.report.problems
    ] == [
        ("silent.csv", 2, "day or month first", "kept", f"{year_only}: 03/02/1921 1, 04/02/1921 1"),
        ("both.csv", 2, "day or month first", "kept", f"{year_only}: 03/02/1921 1"),
        (
            *("both.csv", 4, "day first and month first", "kept"),
            "the month is first, in 25/02/1921 the day; data.dates: dmy or mdy allows one order only: 02/26/1921 1",
        ),
    ]


@each("weight", ["1e300", "1.1e9", "1e-300"])
def test_weights_beyond_reason_are_bad(tmp_path: Path, weight: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"date,white,black,result,weight\n1850,A,B,1-0,{weight}\n1851,A,B,1-0,1e9\n")
    games = read_games([file])
    assert games.weight.tolist() == [1e9]
    assert problems(games) == [(2, "bad weight", "dropped")]
    file.write_text(f"date,white,black,result,weight\n1850,A,B,1-0,{weight}\n")
    with pytest.raises(DataError, match="bad weight 1") as error:
        read_games([file])
    assert error.value.hint == "the first is in line 2: bad weight (1850: A - B 1-0)"


def test_a_match_weighs_as_all_its_games(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("date,white,black,score,games,weight\n1850,A,B,4e5,6e5,1e4\n1850,A,B,400,600,1e4\n")
    file.write_text(file.read_text().replace("4e5,6e5", "400000,600000"))
    games = read_games([file])
    assert games.weight.tolist() == [2e6, 4e6]
    assert problems(games) == [(2, "bad weight", "dropped")]


def test_progress_counts_bytes_of_all_files(tmp_path: Path) -> None:
    seen: list[float] = []
    totals: list[float | None] = []

    class Counter:
        def advance(self, amount: float = 1, note: str = "") -> None:
            seen.append(amount)

        @contextmanager
        def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
            assert (label, unit) == ("reading games", "B")
            totals.append(total)
            yield self

    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "b.csv").write_text(CSV)
    read_games([tmp_path / "a.pgn", tmp_path / "b.csv"], progress=Counter())
    read_games([tmp_path / "a.pgn", io.BytesIO(PGN.encode())], progress=Counter())
    assert totals == [len(PGN) + len(CSV), None]
    assert sum(seen) == 3 * len(PGN) + len(CSV)
