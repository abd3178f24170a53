"""Margins of victory: from scores and columns of every format, and what a run keeps."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import DataConfig
from ttt_cli.config.validation import validate
from ttt_cli.games.read import read_games
from ttt_cli.reading.reports import UNKNOWN_MARGIN
from ttt_cli.storage import ArrayFiles
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.systems.resolve import with_overrides

GOALS = b"""date,home_team,away_team,home_score,away_score
1900-01-01,Ann,Bob,3,1
1901-01-01,Bob,Cid,0,1
1901-02-01,Cid,Ann,2,2
1902-01-01,Ann,Cid,0,4
"""
HEADER = ["date", "white", "black", "result", "Difference"]
RECORDS = [
    ["1900-01-01", "Ann", "Bob", "1-0", "2"],
    ["1901-01-01", "Bob", "Cid", "0-1", "-1"],
    ["1901-02-01", "Cid", "Ann", "1/2-1/2", "7"],
    ["1902-01-01", "Ann", "Cid", "0-1", "5-1"],
    ["1903-01-01", "Ann", "Cid", "1-0", "retired"],
]
MARGINS = [2.0, 1.0, 0.0, 4.0]
SCORES = DataConfig(margin="score")
BY_COLUMN = DataConfig(margin="difference")


def as_csv() -> bytes:
    return "\n".join(",".join(row) for row in [HEADER, *RECORDS]).encode()


def as_jsonl() -> bytes:
    return "\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in RECORDS).encode()


def as_parquet() -> bytes:
    columns = {
        name: list(values) for name, values in zip(HEADER, zip(*RECORDS, strict=True), strict=True)
    }
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def as_pgn() -> bytes:
    return b"\n".join(
        f'[Date "{date.replace("-", ".")}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
        f'[difference "{margin}"]\n\n1. e4 e5 {result}\n'.encode()
        for date, white, black, result, margin in RECORDS
    )


def test_scores_in_columns_of_both_sides():
    assert list(read_games([io.BytesIO(GOALS)], SCORES).victory_margin) == MARGINS
    assert not read_games([io.BytesIO(GOALS)]).victory_margin.any()


def test_scores_in_one_text():
    rows = b"date,home,away,result\n1900,Ann,Bob,3-1\n1901,Bob,Cid,0:1\n1902,Bob,Cid,2-2\n1903,Bob,Cid,12-3\n"
    assert list(read_games([io.BytesIO(rows)], SCORES).victory_margin) == [2.0, 1.0, 0.0, 9.0]


def test_results_of_chess_and_scores_of_matches_are_no_margins():
    chess = b"date,white,black,result\n1900,Ann,Bob,1-0\n1901,Bob,Cid,0-1\n"
    assert not read_games([io.BytesIO(chess)], SCORES).victory_margin.any()
    match = b"date,white,black,score,games,margin\n1900,Ann,Bob,7,10,4\n1901,Ann,Bob,1,1,3\n"
    assert not read_games([io.BytesIO(match)], SCORES).victory_margin.any()
    by_column = read_games([io.BytesIO(match)], DataConfig(margin="margin"))
    assert list(by_column.victory_margin) == [0.0, 0.0, 3.0]


@each("made", [as_csv, as_jsonl, as_parquet, as_pgn])
def test_columns_of_every_format(made):
    games = read_games([io.BytesIO(made())], BY_COLUMN)
    assert list(games.victory_margin) == [*MARGINS, 0.0]
    (problem,) = [problem for problem in games.report.problems if problem.reason == UNKNOWN_MARGIN]
    assert problem.detail == "wins without a margin, which count as any win: 1"


def test_games_in_files_are_the_same(tmp_path):
    in_files = read_games([io.BytesIO(as_csv())], BY_COLUMN, storage=ArrayFiles(tmp_path, rows=2))
    assert list(in_files.victory_margin) == [*MARGINS, 0.0]


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"data\.margin: there is no column 'goals'"):
        read_games([io.BytesIO(as_csv())], DataConfig(margin="goals"))
    with pytest.raises(ConfigError, match="a margin needs the name of a column, or score"):
        validate(DataConfig, {"margin": " "}, Document())


@each("steps, message", [
    ({1: 100}, "1 is no margin of victory"),
    ({"2.5": 100}, "2.5 is no margin of victory"),
    ({2: 0.0}, "the step to a win by 2 is above 0"),
    ({2: "auto"}, "estimate"),
])  # fmt: skip
def test_steps_that_are_refused(steps, message):
    with pytest.raises(ConfigError, match=message):
        validate(ttt.Params, {"margin_steps": steps}, Document())


def test_steps_are_sorted_and_replaced_by_key():
    resolved = api.configure("ttt", ("model.margin_steps={10: 150, 2: estimate}",))
    assert list(resolved.params.margin_steps.items()) == [("2", "estimate"), ("10", 150.0)]
    changed = with_overrides(resolved, {"margin_steps.2": 80.0})
    assert list(changed.params.margin_steps.items()) == [("2", 80.0), ("10", 150.0)]


def test_other_systems_refuse_steps():
    with pytest.raises(
        ConfigError, match=r"ttt-d has no margins of victory \(model\.margin_steps\)"
    ):
        api.configure("ttt-d", ("model.margin_steps=estimate",))


def test_a_run_keeps_margins(tmp_path: Path):
    (tmp_path / "games.csv").write_bytes(GOALS)
    settings = (
        "data.margin=score",
        "model.margin_steps={2: 150, 4: 100}",
        "model.white_advantage=50",
    )
    resolved = api.configure("ttt", settings)
    run = api.fit(tmp_path / "games.csv", resolved, output=tmp_path / "a.ttt")
    assert list(run.stored_games().victory_margin) == MARGINS
    assert list(run.games()["margin"]) == MARGINS
    more = io.BytesIO(b"date,home_team,away_team,home_score,away_score\n1903,Ann,Bob,5,0\n")
    updated = api.update(run, more)
    games = updated.stored_games()
    assert list(games.victory_margin) == [*MARGINS, 5.0]
    in_memory = api.fit(games, resolved)
    assert in_memory.skills()["mean"].to_numpy() == pytest.approx(
        updated.skills()["mean"].to_numpy(), abs=0.02
    )
    narrow = api.fit(tmp_path / "games.csv", api.configure("ttt", settings[::2]))
    assert not np.allclose(narrow.skills()["mean"], run.skills()["mean"], atol=1.0)
