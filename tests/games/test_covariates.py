"""Columns of covariates: read from every format, missing values, what is refused, and what a run keeps of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.storage import ArrayFiles
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.timeline import build_timeline
from ttt_cli.views.conditions import find_conditions

HEADER = ["date", "white", "black", "result", "at_home", "rest_white", "rest_black", "Surface"]
RECORDS = [
    ["1900-01-01", "Ann", "Bob", "1-0", "1", "3", "5", "clay"],
    ["1901-01-01", "Bob", "Cid", "0-1", "-1", "2", "2", "hard"],
    ["1901-02-01", "Cid", "Ann", "1/2-1/2", "0", "9", "1", "hard"],
    ["1902-01-01", "Ann", "Cid", "1-0", "1", "4", "7", "grass"],
]
COVARIATES = {"home": "at_home", "rest": "rest", "surface": "surface"}
DATA = DataConfig(covariates=COVARIATES)
TERMS = ("home", "rest", "surface.hard", "surface.clay", "surface.grass")
VALUES = [[1, -2, 0, 1, 0], [-1, 0, 1, 0, 0], [0, 8, 1, 0, 0], [1, -3, 0, 0, 1]]


def table(records=RECORDS, header=HEADER):
    return io.BytesIO("\n".join(",".join(row) for row in [header, *records]).encode())


def as_jsonl() -> bytes:
    objects = [dict(zip(HEADER, row, strict=True)) | {"at_home": int(row[4])} for row in RECORDS]
    return "\n".join(json.dumps(record) for record in objects).encode()


def as_parquet() -> bytes:
    columns = {
        name: list(values) for name, values in zip(HEADER, zip(*RECORDS, strict=True), strict=True)
    }
    columns["rest_white"] = [float(value) for value in columns["rest_white"]]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def as_pgn() -> bytes:
    games = []
    for date, white, black, result, home, rest_white, rest_black, surface in RECORDS:
        tags = {
            "Event": "?", "Site": "?", "Date": date.replace("-", "."), "Round": "?", "White": white, "Black": black,
            "Result": result, "At_Home": home, "WhiteRest": rest_white, "BlackRest": rest_black, "Surface": surface,
        }  # fmt: skip
        written = "\n".join(f'[{tag} "{value}"]' for tag, value in tags.items())
        games.append(f"{written}\n\n1. e4 e5 {result}\n")
    return "\n".join(games).encode()


def values(source, data=DATA, terms=TERMS, **options):
    return build_timeline(read_games([source], data, **options)).covariate_columns(terms).tolist()


@each("source", [table, lambda: io.BytesIO(as_jsonl()), lambda: io.BytesIO(as_parquet())])
def test_every_table_has_covariates(source):
    assert values(source()) == VALUES


@each("reader", ["scan", "chess"])
def test_tags_of_pgn_are_covariates(reader):
    tags = {"home": "At_Home", "rest": "Rest", "surface": "Surface"}
    assert values(io.BytesIO(as_pgn()), DataConfig(covariates=tags, reader=reader)) == VALUES


def test_names_of_columns_in_order_may_name_covariates():
    data = DataConfig(columns=HEADER, covariates=COVARIATES, header=True)
    assert values(table(), data) == VALUES
    without = io.BytesIO("\n".join(",".join(row) for row in RECORDS).encode())
    assert values(without, DataConfig(columns=HEADER, covariates=COVARIATES)) == VALUES


SIDES = [
    ("rest_winner", "rest_loser"),
    ("winner_rest", "loser_rest"),
    ("Home Rest", "Away Rest"),
    ("white_rest", "black_rest"),
]


@each("names", SIDES)
def test_columns_of_sides_are_found_by_the_side(names):
    header = [*HEADER[:5], *names, "surface"]
    assert values(table(header=header)) == VALUES


def test_in_files_of_bounded_memory_they_are_the_same(tmp_path: Path):
    (tmp_path / "room").mkdir()
    assert values(table(), storage=ArrayFiles(tmp_path / "room")) == VALUES


def with_gaps():
    rows = [list(row) for row in RECORDS]
    rows[0][4] = "n/a"
    rows[1][6] = ""
    rows[3][7] = "?"
    return rows


def test_missing_values_are_the_reference_and_counted():
    games = read_games([table(with_gaps())], DATA)
    found = build_timeline(games).covariate_columns(TERMS[:-1])
    assert found.tolist() == [[0, -2, 0, 1], [-1, 0, 1, 0], [0, 8, 1, 0], [1, -3, 1, 0]]
    details = [
        problem.detail
        for problem in games.report.problems
        if problem.reason == "covariate not known"
    ]
    assert [detail.partition(",")[0] for detail in details] == [
        "1 record has no home", "1 record has no rest", "1 record has no surface",
    ]  # fmt: skip


def test_or_their_records_are_dropped_and_counted():
    games = read_games([table(with_gaps())], DATA.model_copy(update={"missing": "drop"}))
    assert len(games) == 1
    assert games.report.dropped == {"missing covariate": 3}


def test_categories_may_be_numbers():
    data = DataConfig(covariates={"home": "at_home"}, categories=["home"])
    assert build_timeline(read_games([table()], data)).covariates[0].terms == (
        "home.1",
        "home.-1",
        "home.0",
    )


def test_many_values_that_are_no_numbers_are_refused():
    rows = [
        ["1900-01-01", "Ann", "Bob", "1-0", "1", "1", "1", f"x{number}"] for number in range(101)
    ]
    games = read_games([table(rows)], DATA)
    with pytest.raises(
        DataError, match="surface has 101 values, of which 101 are no numbers, as 'x0'"
    ):
        build_timeline(games)


WRONG = {
    "no column": ({"rain": "rain"}, "there is no column 'rain', nor rain_white and rain_black"),
    "one side": ({"rest": "at"}, "there is no column 'at'"),
}


@each("case", WRONG)
def test_columns_that_are_not_there_are_refused(case):
    covariates, message = WRONG[case]
    with pytest.raises(ConfigError, match=message):
        read_games([table()], DataConfig(covariates=covariates))


def test_files_without_names_of_columns_have_none():
    plain = io.BytesIO(b"1,1900,Ann,Bob,1,0\n2,1901,Bob,Ann,1,0\n")
    with pytest.raises(
        ConfigError, match=r"data.covariates names columns, which the file does not"
    ):
        read_games([plain], DataConfig(covariates={"home": "at_home"}))


@each("covariates, message", [
    ({"a.b": "x"}, "not a name of a covariate"),
    ({"home": " "}, "home needs the name of a column"),
])  # fmt: skip
def test_names_are_checked(covariates, message):
    with pytest.raises(ValueError, match=message):
        DataConfig(covariates=covariates)


def test_categories_are_covariates():
    with pytest.raises(ValueError, match=r"rest is not one of data\.covariates"):
        DataConfig(covariates={"home": "x"}, categories=["rest"])


def configured(**keys):
    return api.configure(None, [f"data.covariates={json.dumps(COVARIATES)}"], model="ttt", **keys)


def test_a_run_keeps_covariates_and_what_they_add(tmp_path: Path):
    config = configured(covariates={"home": 30.0, "surface": {"clay": 5.0}})
    run = api.fit(table(), config, output=tmp_path / "a.ttt")
    reread = api.open_run(run.path)
    assert build_timeline(reread.stored_games()).covariate_columns(TERMS).tolist() == VALUES
    stored = reread.select("SELECT covariate_points FROM games")[1]
    assert stored == [(35.0,), (-30.0,), (0.0,), (30.0,)]
    assert reread.meta.params["covariates.home"] == 30.0


def test_runs_with_all_columns_of_every_covariate_are_read(tmp_path: Path):
    """As runs stored them before `game_values`."""
    config = configured(covariates={"home": 30.0, "surface": {"clay": 5.0}})
    path = tmp_path / "a.ttt"
    api.fit(table(), config, output=path).close()
    with duckdb.connect(str(path)) as database:
        before = database.execute("SELECT count(*) FROM game_covariates").fetchone()
        database.execute("""
            CREATE TABLE earlier AS
            SELECT 0 AS covariate, value AS single, 0 AS white, 0 AS black FROM (FROM game_values LIMIT 4)
            UNION ALL FROM game_covariates
            UNION ALL SELECT 2, value, 0, 0 FROM (FROM game_values LIMIT 4 OFFSET 4);
            DELETE FROM game_covariates;
            INSERT INTO game_covariates FROM earlier;
            DROP TABLE earlier;
            DROP TABLE game_values""")
    assert before == (len(RECORDS),)
    reread = api.open_run(path)
    assert build_timeline(reread.stored_games()).covariate_columns(TERMS).tolist() == VALUES
    assert find_conditions(reread, ["surface=clay"]).advantage == 5.0


def test_a_run_without_covariates_has_empty_tables():
    run = api.fit(table(), model="ttt")
    assert not run.has_rows("covariates")
    assert not run.has_rows("game_covariates")
    assert not run.has_rows("game_values")
    assert run.meta.explained == {}


def test_updating_reads_them_from_the_new_file(tmp_path: Path):
    config = configured(covariates={"home": 30.0})
    path = tmp_path / "a.ttt"
    api.fit(table(RECORDS[:2]), config, output=path)
    updated = api.update(path, table(RECORDS[2:]))
    whole = api.fit(table(), config)
    assert updated.meta.log_evidence == pytest.approx(whole.meta.log_evidence, abs=1e-6)
    assert build_timeline(updated.stored_games()).covariate_columns(TERMS).tolist() == VALUES


def test_expected_scores_of_games_played_include_them():
    from ttt_cli.views.games_of_player import games_of
    from ttt_cli.views.history.played import played_games

    config = configured(covariates={"home": 200.0}, beta=480.0)
    run = api.fit(table(), config)
    plain = api.fit(table(), configured(covariates={"home": 0.0}, beta=480.0))
    chances = played_games(run).chance
    for number, (_, white, _, _, *_) in enumerate(RECORDS):
        games = [
            game
            for game in games_of(run, white)
            if game.is_white and game.date == RECORDS[number][0]
        ]
        assert [game.chance.win for game in games] == pytest.approx([chances[number, 2]], abs=0.05)
    assert not np.allclose(chances, played_games(plain).chance, atol=1e-3)
