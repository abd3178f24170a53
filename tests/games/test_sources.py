"""The source of games: columns of every format or the file, weights by source, and what a run keeps."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.storage import ArrayFiles
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.reading_lines import text_counts
from ttt_cli.views.sources import source_rows

HEADER = ["date", "white", "black", "result", "book"]
RECORDS = [
    ["1900-01-01", "Ann", "Bob", "1-0", "Edo"],
    ["1900-02-01", "Ann", "Cid", "1/2-1/2", "newspaper"],
    ["1901-01-01", "Bob", "Cid", "0-1", ""],
    ["1902-01-01", "Ann", "Cid", "1-0", "Newspaper"],
    ["1902-02-01", "Cid", "Bob", "1-0", "Edo"],
]
SOURCES = ["Edo", "newspaper", "", "newspaper", "Edo"]


def as_csv(records=RECORDS) -> bytes:
    return "\n".join(",".join(row) for row in [HEADER, *records]).encode()


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
    games = []
    for date, white, black, result, book in RECORDS:
        tags = {
            "Date": date.replace("-", "."),
            "White": white,
            "Black": black,
            "Result": result,
            "Book": book,
        }
        lines = "\n".join(f'[{tag} "{value}"]' for tag, value in tags.items())
        games.append(f"{lines}\n\n1. e4 e5 {result}\n")
    return "\n".join(games).encode()


@each("made", [as_csv, as_jsonl, as_parquet, as_pgn])
def test_columns_of_every_format(made):
    """Sources that differ in case are one."""
    games = read_games([io.BytesIO(made())], DataConfig(source="Book"))
    assert list(games.source) == SOURCES
    assert text_counts(games.source) == ["Edo 2", "newspaper 2", "none 1"]


@each("name", ["lists/edo.csv", "edo.csv", "EDO.CSV"])
def test_the_source_may_be_the_file(name, tmp_path: Path):
    (tmp_path / "lists").mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(as_csv())
    other = tmp_path / "other.csv"
    other.write_bytes(as_csv([["1899", "Ann", "Bob", "1-0", "x"]]))
    data = DataConfig(source="file", sources={"edo": 2.0})
    games = read_games([str(tmp_path / name), str(other)], data)
    assert [source.casefold() for source in games.source] == ["other", *["edo"] * 5]
    assert games.weight.tolist() == [1.0, *[2.0] * 5]


def test_weights_by_source_multiply_others():
    rows = [[*row, weight] for row, weight in zip(RECORDS, "23111", strict=True)]
    table = "\n".join(",".join(row) for row in [[*HEADER, "weight"], *rows]).encode()
    data = DataConfig(source="book", sources={"NEWSPAPER": 0.5, "unused": 7.0})
    assert read_games([io.BytesIO(table)], data).weight.tolist() == [2.0, 1.5, 1.0, 0.5, 1.0]


def test_weights_of_1_are_plain_games_bit_for_bit():
    plain = api.fit(read_games([io.BytesIO(as_csv())]), "ttt")
    weighted = read_games(
        [io.BytesIO(as_csv())], DataConfig(source="book", sources={"edo": 1.0, "newspaper": 1.0})
    )
    assert weighted.weight.strides == (0,)
    skills = api.fit(weighted, "ttt").skills()
    assert skills.equals(plain.skills())


def test_games_in_files_are_the_same(tmp_path):
    for data in (DataConfig(source="book"), DataConfig(source="file")):
        in_memory = read_games([io.BytesIO(as_csv())], data)
        in_files = read_games([io.BytesIO(as_csv())], data, storage=ArrayFiles(tmp_path, rows=2))
        assert list(in_files.source) == list(in_memory.source)


def test_a_run_keeps_sources_and_an_update_adds_to_them(tmp_path):
    file = tmp_path / "games.csv"
    file.write_bytes(as_csv())
    new_file = tmp_path / "new.csv"
    new_file.write_bytes(as_csv([["1903", "Ann", "Bob", "1-0", "letter"]]))
    resolved = api.configure("ttt", ("data.source=book", "data.sources={newspaper: 0.5}"))
    run = api.fit(str(file), resolved, output=tmp_path / "a.ttt")
    assert list(run.stored_games().source) == SOURCES
    assert list(run.games()["source"]) == SOURCES
    updated = api.update(run, str(new_file))
    assert list(updated.stored_games().source) == [*SOURCES, "letter"]
    assert updated.stored_games().weight.tolist() == [1.0, 0.5, 1.0, 0.5, 1.0, 1.0]


def test_a_run_without_sources_has_empty_ones():
    run = api.fit(read_games([io.BytesIO(as_csv())]), "ttt")
    assert set(run.games()["source"]) == {""}
    for question in (
        lambda: api.why(run, "ann", by="source"),
        lambda: api.doubt(run, source="edo"),
    ):
        with pytest.raises((ConfigError, LookupFailed), match="have no sources"):
            question()


def test_a_source_is_left_out():
    run = api.fit(
        read_games([io.BytesIO(as_csv())], DataConfig(source="book")), "ttt", posterior="joint"
    )
    reasons = api.why(run, "ann", at=1902, by="source").set_index("source")
    assert reasons["games"].to_dict() == {"Edo": 2, "newspaper": 2}
    without = api.doubt(run, source="EDO", each=True).set_index(["player", "period"])
    assert without["mean_without"]["Ann", "1902"] == pytest.approx(
        reasons["mean_without"]["Edo"], abs=0.1
    )
    by_condition = api.doubt(run, "source = 'edo'", each=True)
    assert np.array_equal(by_condition["mean"], without["mean"])
    with pytest.raises(LookupFailed, match="no game of memory meets the condition source = 'ed'"):
        api.doubt(run, source="ed")


def test_records_by_source():
    """Sources of `data.sources` without records are listed, too."""
    weights = {"newspaper": 0.5, "letter": 2.0}
    data = DataConfig(source="book", sources=weights)
    unfinished = ["1900", "Ann", "Bob", "?", "Edo"]
    rows = source_rows(read_records([io.BytesIO(as_csv([*RECORDS, unfinished]))], data), weights)
    assert rows.columns == ("source", "rows", "used", "games", "weight", "players", "first", "last")
    assert rows.rows == [
        ("Edo", 3, 2, 2, 2, 3, 1900, 1902),
        ("newspaper", 2, 2, 2, 1, 2, 1900, 1902),
        ("", 1, 1, 1, 1, 2, 1901, 1901),
        ("letter", 0, 0, 0, 0, 0, None, None),
    ]
    with pytest.raises(ConfigError, match="the records have no sources"):
        source_rows(read_records([io.BytesIO(as_csv())]), {})


@each("keys, message", [
    ({"source": " "}, "a source needs the name of a column"),
    ({"sources": {"edo": 1}}, "it needs data.source"),
    ({"source": "book", "sources": {"edo": 0}}, "greater than 0"),
])  # fmt: skip
def test_config_errors(keys, message):
    with pytest.raises(ValueError, match=message):
        DataConfig(**keys)


def test_a_column_that_is_not_there():
    with pytest.raises(ConfigError, match=r"data\.source: there is no column 'page'"):
        read_games([io.BytesIO(as_csv())], DataConfig(source="page"))
