"""Files in, records and games out: in every form, with every row accounted for, and errors that say what to do."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.support.cases import each
from tests.support.collected import reasons
from tests.support.recorder import Recorder
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.support.errors import ConfigError, DataError

BROKEN = Path(__file__).parents[2] / "sample_pgn" / "broken"
PGN = (
    '[Event "x"]\n[Date "1858.06.17"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
)
CSV = "date,white,black,result\n1857,C,D,0-1\n1857,C,NN,0-1\n"


def problems(games: Games) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.reason, problem.action) for problem in games.report.problems]


def listed(games: Games) -> list[tuple[str, str, int, int]]:
    """White, Black, outcome and line of every game, in order."""
    name = games.players
    columns = zip(games.white, games.black, games.outcome, games.source_line, strict=True)
    return [
        (name[white], name[black], int(outcome), int(line))
        for white, black, outcome, line in columns
    ]


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
        (
            "unplayed.pgn",
            "none of its 2 records can be used: no player 1, no result 1",
            "line 1: no result",
        ),
        ("unnamed_columns.csv", "columns are not known", "data.columns=["),
    ],
)
def test_broken_samples_that_give_nothing(name: str, message: str, hint: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_games([str(BROKEN / name)])
    assert caught.value.where == str(BROKEN / name)
    assert caught.value.exit_code == 3
    assert hint in str(caught.value.hint)


def test_several_files_in_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "b.csv").write_text(CSV)
    games = read_games([str(tmp_path / "a.pgn"), tmp_path / "b.csv"])
    assert listed(games) == [("C", "D", 0, 2), ("A", "B", 2, 1)]
    assert games.source_file.tolist() == [1, 0]
    first, second = games.report.files
    assert (first.path, first.kind, first.rows, first.used) == (
        str(tmp_path / "a.pgn"),
        "pgn",
        1,
        1,
    )
    assert (first.digest, first.size) == (hashlib.sha256(PGN.encode()).hexdigest(), len(PGN))
    assert (second.kind, second.rows, second.dropped) == ("csv", 2, {"unnamed player": 1})


@each(
    "content, data, message",
    [
        (PGN.encode() + b"\xff", {"encoding": "utf-8"}, r"<stream>:9: not utf-8"),
        (PGN.encode(), {"encoding": "nonsense"}, "unknown encoding"),
        (CSV.encode(), {"format": "pgn"}, r"holds no records \(read as pgn\)"),
        (PGN.encode(), {"format": "csv"}, "columns are not known"),
        (CSV.encode(), {"format": "parquet"}, "as Parquet"),
        (CSV.encode(), {"format": "jsonl"}, "not JSON"),
        (b"", {}, "is empty"),
    ],
)
def test_settings_that_the_content_contradicts(
    content: bytes, data: dict[str, str], message: str
) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        read_games([io.BytesIO(content)], DataConfig.model_validate(data))


def test_sources_without_a_file_are_errors() -> None:
    with pytest.raises(DataError, match="no file"):
        read_games([])


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


def test_the_order_is_that_of_each_file(tmp_path: Path) -> None:
    dates = {
        "british.pgn": ["03/02/1921", "25/02/1921"],
        "american.csv": ["03/02/1921", "02/25/1921"],
        "silent.csv": ["03/02/1921", "04/02/1921", "05/05/1921", "1921"],
        "both.csv": ["03/02/1921", "25/02/1921", "02/26/1921"],
    }
    for name, texts in dates.items():
        rows = "date,white,black,result\n" + "".join(f"{text},A,B,1-0\n" for text in texts)
        tags = "".join(PGN.replace("1858.06.17", text) for text in texts)
        (tmp_path / name).write_text(tags if name.endswith("pgn") else rows)
    games = read_games([tmp_path / name for name in dates])
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
        (Path(one.file).name, one.line, one.reason, one.action, one.detail)
        for one in games.report.problems
    ] == [
        ("silent.csv", 2, "day or month first", "kept", f"{year_only}: 03/02/1921 1, 04/02/1921 1"),
        ("both.csv", 2, "day or month first", "kept", f"{year_only}: 03/02/1921 1"),
        (
            *("both.csv", 4, "day first and month first", "kept"),
            "the month is first, in 25/02/1921 the day; data.dates: dmy or mdy allows one order only: 02/26/1921 1",
        ),
    ]


@each("weight", ["1e300", "1.1e9", "1e-300", "0", "-1", "nan", "inf", ""])
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
    file.write_text(
        "date,white,black,score,games,weight\n1850,A,B,4e5,6e5,1e4\n1850,A,B,400,600,1e4\n"
    )
    file.write_text(file.read_text().replace("4e5,6e5", "400000,600000"))
    games = read_games([file])
    assert games.weight.tolist() == [2e6, 4e6]
    assert problems(games) == [(2, "bad weight", "dropped")]


def test_progress_counts_bytes_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "b.csv").write_text(CSV)
    known = len(PGN) + len(CSV)
    streamed = tmp_path / "a.pgn", io.BytesIO(PGN.encode())
    for sources, total, read in (
        ((tmp_path / "a.pgn", tmp_path / "b.csv"), known, known),
        (streamed, None, 2 * len(PGN)),
    ):
        recorder = Recorder()
        read_games(sources, progress=recorder)
        label, *amounts = recorder.told
        assert (label, sum(amounts)) == (("reading games", total), read)


TAGGED = b"""[Event "Paris"]
[Site "France"]
[Round "2"]
[Date "1858.06.17"]
[White "Morphy, P."]
[Black "NN"]
[Result "1-0"]

1. e4 e5 1-0

[Event "Blitz"]
[Date "1858"]
[White "Paul Morphy"]
[Black "Morphy, P"]
[Result "0-1"]
[SetUp "1"]

0-1
"""


def test_records_of_pgn_have_their_tags_and_moves() -> None:
    records = read_records([io.BytesIO(TAGGED)])
    assert [records.event[row] for row in (0, 1)] == ["Paris", "Blitz"]
    assert [records.site[row] for row in (0, 1)] == ["France", ""]
    assert [records.round[row] for row in (0, 1)] == ["2", ""]
    assert [records.variant[row] for row in (0, 1)] == ["", "set-up"]
    assert (records.moves != 0).tolist() == [True, False]
    assert reasons(records) == ["unnamed player", None]
    assert records.place(0).endswith(":1")


def test_filters_may_leave_no_game_which_only_games_refuse() -> None:
    nothing = DataConfig.model_validate({"filter": {"exclude": ["blitz"]}})
    with pytest.raises(
        DataError, match=r"none of the 2 records is left: blitz 1, unnamed player 1"
    ) as caught:
        read_games([io.BytesIO(TAGGED)], nothing)
    assert caught.value.exit_code == 3
    assert reasons(read_records([io.BytesIO(TAGGED)], nothing)) == ["unnamed player", "blitz"]


GAME = '[Event "x"]\n[Date "1858"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
UNPLAYED = GAME.replace("1-0", "*")
REPAIRED = GAME.replace("1858", "1858.02.31")


@each(
    "content, message, line, more",
    [
        (GAME + UNPLAYED, "no result: 1858: A - B", 9, ""),
        (GAME + REPAIRED, "bad date: 1858.02.31", 9, ""),
        (GAME + GAME.replace("1. e4 1-0", "1. e4 0-1"), "contradicting result", 9, ""),
        (UNPLAYED + REPAIRED * 2 + GAME, "no result: ", 1, "3 problems in all"),
    ],
)
def test_strict_takes_no_problem(
    tmp_path: Path, content: str, message: str, line: int, more: str
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(content)
    assert len(read_games([path])) > 0
    with pytest.raises(DataError, match=message) as caught:
        read_games([path], DataConfig(strict=True))
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.exit_code == 3
    assert more in caught.value.message
    assert ("in all" in caught.value.message) == bool(more)


def test_strict_takes_no_game_of_a_player_against_himself() -> None:
    rows = "date,white,black,result\n1858,A,B,1-0\n1859,A,A,1-0\n"
    with pytest.raises(DataError, match="same player twice"):
        read_records([io.BytesIO(rows.encode())], DataConfig(strict=True))


def test_strict_lets_other_files_lie_about(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(GAME)
    (tmp_path / "README.txt").write_text("x")
    assert len(read_games([tmp_path], DataConfig(strict=True))) == 1
    (tmp_path / "page.pgn").write_text("<html>")
    with pytest.raises(DataError, match="holds no games: is a web page"):
        read_games([tmp_path], DataConfig(strict=True))


@each("limit, passes", [(None, True), (3, True), (2, False), (0, False)])
def test_records_that_may_be_unusable(tmp_path: Path, limit: int | None, passes: bool) -> None:
    (tmp_path / "a.pgn").write_text(GAME + UNPLAYED * 2 + REPAIRED)
    (tmp_path / "b.pgn").write_text(GAME + UNPLAYED)
    (tmp_path / "c.pgn").write_text("<html>")
    data = DataConfig(max_errors=limit)
    paths = [tmp_path / "a.pgn", tmp_path / "b.pgn"]
    if passes:
        assert len(read_games(paths, data)) == 3
        return
    with pytest.raises(
        DataError, match=rf"no result: .*{3 if limit else 2} records so far cannot be used"
    ) as caught:
        read_games([*paths, tmp_path / "c.pgn"], data)  # reading stops before the third
    assert caught.value.where == f"{paths[0]}:9"
    assert caught.value.hint == f"data.max_errors lets {limit} pass"


TABLE = (
    "date,white,black,result,event,round,weight,status,odds,games,neutral\n"
    '1858.06.15,"Morphy, Paul","Anderssen, Adolf",1-0,Paris,1,1,,,,true\n'
    '1858-06,"Löwenthal, J",Morphy P,1/2-1/2,"London ""match""",,2.5,soft,none,3,false\n'
    "1859,NN,A,1-0,,,1,mate,,,\n"
    "1860,B,,0-1,,,1,,knight,,\n"
    "1860,B,A,0-1,,,0,casual,2.10,2.5,\n"
    "1860,B,A,won?,,,1,Resign,?,0,\n"
)


def same(one: Games, other: Games) -> bool:
    columns = all(
        (getattr(one, name) == getattr(other, name)).all()
        for name in GAME_COLUMNS
        if name != "source_line"
    )
    details = [
        [(p.reason, p.detail, p.action) for p in games.report.problems] for games in (one, other)
    ]
    accounts = one.report.dropped == other.report.dropped and details[0] == details[1]
    return columns and one.players == other.players and accounts


def forms(folder: Path) -> dict[str, bytes]:
    """The table in every form that is read."""
    (folder / "games.csv").write_text(TABLE, encoding="utf-8")
    written = f"FROM read_csv('{folder}/games.csv', all_varchar = true)"
    with duckdb.connect() as connection:
        for name, options in {
            "tsv": "DELIMITER '\t'",
            "jsonl": "FORMAT json",
            "parquet": "FORMAT parquet",
        }.items():
            connection.execute(f"COPY ({written}) TO '{folder}/games.{name}' ({options})")
    found = {path.suffix[1:]: path.read_bytes() for path in folder.iterdir()}
    found["array"] = json.dumps(
        [json.loads(line) for line in found["jsonl"].splitlines()], indent=2
    ).encode()
    return found


def test_one_table_in_many_forms(tmp_path: Path) -> None:
    contents = forms(tmp_path)
    expected = read_games([io.BytesIO(contents.pop("csv"))])
    assert (expected.report.rows, expected.report.used) == (6, 2)
    assert expected.neutral.tolist() == [True, False]
    kinds = {"tsv": "csv", "array": "jsonl"}
    for form, content in contents.items():
        for packed in (content, gzip.compress(content)):
            games = read_games([io.BytesIO(packed)])
            assert games.report.files[0].kind == kinds.get(form, form)
            assert same(games, expected), form
        given = DataConfig.model_validate({"format": kinds.get(form, form)})
        assert same(read_games([io.BytesIO(content)], given), expected), form
        lines = {"tsv": [2, 3], "jsonl": [1, 2], "parquet": [1, 2], "array": [2, 15]}
        assert games.source_line.tolist() == lines[form]


@pytest.mark.slow
def test_a_small_table_waits_for_nothing_heavy_and_no_table_for_pandas() -> None:
    program = (
        "import io, sys; from ttt_cli.games.read import read_games; "
        "read_games([io.BytesIO(b'date,white,black,result\\n1858,A,B,1-0\\n')]); "
        'read_games([io.BytesIO(b\'{"date": 1858, "white": "A", "black": "B", "result": 1}\')]); '
        "print(*{'duckdb', 'pandas'} & set(sys.modules)); "
        "read_games([io.BytesIO(b'date,white,black,result\\n' + 400_000 * b'1858,A,B,1-0\\n')]); "
        "print(*{'duckdb', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["", ""]
