"""Columns that are called as ours and mean something else: told once, and no record is lost for them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import duckdb
import pytest

from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from ttt_cli import api
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import Records, games_of
from ttt_cli.support.errors import DataError

LICHESS = ["mate"] * 3 + ["resign"] * 4 + ["Resign"] + ["outoftime", "draw", ""]


def told(records: Records) -> list[tuple[int, str, str, str]]:
    return [(p.line, p.reason, p.detail, p.action) for p in records.problems]


def test_statuses_without_a_weight_are_told_once_with_their_counts() -> None:
    records = records_of([game("A", "B", status=""), *(game("A", "B", status=word) for word in LICHESS)])
    assert games_of(records).weight.tolist() == [1] * 12
    assert told(records) == [
        (2, "unknown status", "each counts as 1: resign 5, mate 3, outoftime 1, draw 1", "kept")
    ]


def test_of_many_words_the_most_frequent_are_told() -> None:
    rows = [game("A", "B", status=f"w{number}") for number in range(12) for _ in range(12 - number)]
    detail = records_of(rows).problems[0].detail
    assert detail.startswith("each counts as 1: w0 12, w1 11, ")
    assert detail.endswith("w9 3, and 3 more")


def test_each_file_is_told_for_itself_and_rows_that_are_dropped_do_not_count() -> None:
    records = records_of(
        [game("A", "B", "*", status="mate"), game("A", "B", status="mate")],
        [game("A", "B", status="casual")],
        [game("A", "?", status="draw")],
    )
    notes = [(p.file, p.line, p.detail) for p in records.problems if p.reason == "unknown status"]
    assert notes == [("file0", 2, "each counts as 1: mate 1")]


def test_a_column_of_numbers_is_no_column_of_odds() -> None:
    rows = [game("A", "B", odds=odds) for odds in ("2.10", "1.5", "", "1", "0", "2.10", "-")]
    records = records_of(rows)
    assert reasons(records) == [None] * 7
    assert games_of(records).offset.tolist() == [0] * 7
    assert told(records) == [(1, "odds column ignored", "none is known: 2.10 2, 1.5 1", "kept")]


def test_an_ignored_column_does_not_make_games_at_odds() -> None:
    rows = [game("A", "B", odds="2.10"), game("A", "B", odds="3.25")]
    records = records_of(rows, data=DataConfig(filter=FilterConfig(exclude=["odds"])))
    assert reasons(records) == [None, None]
    assert [records.odds[row] for row in range(2)] == ["", ""]


@each("known", ["knight", "even", "none", "pawn and move"])
def test_one_known_text_makes_it_a_column_of_odds(known: str) -> None:
    records = records_of([game("A", "B", odds=known), game("A", "B", odds="2.10")])
    assert reasons(records) == [None, "unknown odds"]


def test_a_configured_figure_is_known() -> None:
    rows = [game("A", "B", odds="2.10"), game("A", "B", odds="3")]
    records = records_of(rows, data=DataConfig(odds={"2.10": 50.0}))
    assert reasons(records) == [None, "unknown odds"]
    assert games_of(records).offset.tolist() == [-50]


def test_odds_that_are_not_known_are_no_other_column() -> None:
    records = records_of([game("A", "B", odds="?"), game("A", "B", odds="")])
    assert reasons(records) == ["unknown odds", None]


def test_a_source_without_a_usable_record_is_told_or_refused() -> None:
    table = b"date,white,black,result\n1858,A,?,1-0\n"
    with pytest.raises(DataError, match="none of its 1 records"):
        read_records([io.BytesIO(table)])
    errors: list[DataError] = []
    records = read_records([io.BytesIO(table)], on_unusable=errors.append)
    assert [error.message for error in errors] == ["none of its 1 records can be used: no player 1"]
    assert reasons(records) == ["no player"]
    with pytest.raises(DataError, match="holds no records"):
        read_records([io.BytesIO(table[:24])], on_unusable=errors.append)
    assert len(errors) == 1


@pytest.mark.parametrize("yes", ["TRUE", "true", "T", "t", "1", "yes", "Y", " Yes "])
@pytest.mark.parametrize("no", ["FALSE", "False", "f", "0", "no", "N", "", " "])
def test_neutral_ground_is_told_in_many_ways(yes: str, no: str) -> None:
    records = records_of([game("A", "B", neutral=yes), game("A", "B", neutral=no)], [game("A", "B")])
    assert games_of(records).neutral.tolist() == [True, False, False]


@each("word", ["maybe", "2", "true false", "?"])
def test_what_is_neither_neutral_nor_not_is_rejected_with_its_line(word: str) -> None:
    table = f"date,home_team,away_team,result,Neutral\n1990,A,B,1-0,yes\n1991,A,B,1-0,{word}\n"
    games = read_games([io.BytesIO(table.encode())])
    assert games.neutral.tolist() == [True]
    assert [(p.line, p.reason) for p in games.report.problems] == [(3, "bad neutral")]


def test_json_and_parquet_tell_neutral_ground_too(tmp_path: Path) -> None:
    rows = [
        {"date": "1990", "home": "A", "away": "B", "result": "1-0", "neutral": yes} for yes in (True, False)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    duckdb.sql(f"COPY (FROM read_json('{tmp_path}/a.jsonl')) TO '{tmp_path}/a.parquet'")
    for name in ("a.jsonl", "a.parquet"):
        assert read_games([tmp_path / name]).neutral.tolist() == [True, False]


def test_a_column_that_is_false_throughout_is_none(tmp_path: Path) -> None:
    for name, header, cell in (("a.csv", ",neutral", ",FALSE"), ("b.csv", "", "")):
        rows = [
            f"{1990 + k % 4},t{k % 5},t{(k + 1 + k % 3) % 5},{('1-0', '0-1', '1/2-1/2')[k % 3]}{cell}\n"
            for k in range(40)
        ]
        (tmp_path / name).write_text("".join([f"date,home,away,result{header}\n", *rows]))
    fits = [api.fit(tmp_path / name, beta=400, white_advantage=70) for name in ("a.csv", "b.csv")]
    assert fits[0].skills().equals(fits[1].skills())
    assert fits[0].meta.log_evidence == fits[1].meta.log_evidence
