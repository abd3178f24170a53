"""Parquet files as records: types as texts, columns by name, nothing left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.batches import Rows, rows_of
from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.reading.batches import Table
from ttt_cli.reading.parquet import read_parquet
from ttt_cli.reading.unpacking import DamagedInputError
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.timeline import build_timeline


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; left empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def written(query: str, folder: Path) -> bytes:
    path = folder / "written"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    content = path.read_bytes()
    path.unlink()
    return content


def opened(content: bytes, **config: object) -> Table:
    blocks = (content[at : at + 100] for at in range(0, len(content), 100))
    return read_parquet(blocks, DataConfig(**config), "games.parquet")  # type: ignore[arg-type]


def rows(table: Table) -> Rows:
    return rows_of(table)[0]


def test_records_in_their_order(folder: Path) -> None:
    query = (
        "SELECT DATE '1858-06-15' + i::INTEGER AS date, 'A' || i AS white, 'B' AS black, '1-0' AS result, i AS round "
        "FROM range(3000) t(i)"
    )
    found = rows(opened(written(query, folder)))
    assert [row[0] for row in found] == list(range(1, 3001))
    assert found[0] == (1, "1858-06-15", "A0", "B", "1-0", "0")
    assert [row[2] for row in found] == [f"A{i}" for i in range(3000)]
    assert list(folder.iterdir()) == []
    assert rows(opened(written(f"{query} LIMIT 0", folder))) == []


@each(
    "value, text",
    [
        *[("'x'", "x"), ("''", ""), ("NULL::VARCHAR", ""), ("NULL::DOUBLE", ""), ("'NA'", "NA")],
        *[
            ("1858", "1858"),
            ("18580615::BIGINT", "18580615"),
            ("1858.0::DOUBLE", "1858"),
            ("0.5::FLOAT", "0.5"),
        ],
        *[
            ("'nan'::DOUBLE", ""),
            ("0.5::DECIMAL(4,1)", "0.5"),
            ("1e15::DOUBLE", "1000000000000000.0"),
        ],
        *[("DATE '0999-01-02'", "0999-01-02"), ("TIMESTAMP '1858-06-15 23:59:59'", "1858-06-15")],
        *[
            ("TIMESTAMP_NS '1858-06-15 12:00:00'", "1858-06-15"),
            ("true", "true"),
            ("[1, 2]", "[1, 2]"),
        ],
        *[
            ("encode('Löwenthal')", "Löwenthal"),
            ("TIMESTAMPTZ '1858-06-15 23:00:00-05'", "1858-06-16"),
        ],
        ("'a'::ENUM('a', 'b')", "a"),
    ],
)
def test_types_as_texts(folder: Path, value: str, text: str) -> None:
    query = f"SELECT {value} AS white, 'B' AS black, 1858 AS year, 1 AS result"
    assert rows(opened(written(query, folder)))[0][2] == text


def test_columns_are_mapped_like_headers(folder: Path) -> None:
    players = "1858 AS campaign, 'A' AS home, 'B' AS away"
    query = f'SELECT \'x\' AS "odd""name", {players}, 2 AS "home score", 1 AS away_score'
    content = written(query, folder)
    table = opened(content, columns={"year": "campaign"}, header=False)
    assert table.layout.kind == "goals"
    assert rows(table) == [(1, "1858", "A", "B", ("2", "1"))]
    listed = opened(content, columns=["_", "year", "white", "black", "white_score", "black_score"])
    assert (listed.layout.kind, rows(listed)) == (
        "scores",
        rows(opened(content, columns={"year": "campaign"})),
    )
    named = opened(content, columns={"year": "campaign", "white": 'odd"name'})
    assert rows(named)[0][2] == "x"
    with pytest.raises(ConfigError, match="there is no column 'campain'"):
        opened(content, columns={"year": "campain"})
    with pytest.raises(DataError, match="no column for date among odd"):
        opened(content)


def test_matches_and_their_scores(folder: Path) -> None:
    query = (
        "SELECT 1858 AS year, 6::DOUBLE AS month, 'A' AS white, 'B' AS black, s AS score, g AS games "
        "FROM (VALUES (7.5, 10), (0.5, NULL), (NULL, 4)) t(s, g)"
    )
    table = opened(written(query, folder))
    assert [(row[1], row[4], row[5]) for row in rows(table)] == [
        ("1858-6", ("7.5", "2.5"), "10"),
        ("1858-6", ("0.5", "0.5"), ""),
        ("1858-6", ("", ""), "4"),
    ]


def test_damage(folder: Path) -> None:
    content = written("SELECT 1 AS year, 'A' AS white, 'B' AS black, 1 AS result", folder)
    for broken in (content[:-10], b"PAR1" + content[:50]):
        with pytest.raises(DataError, match="cannot be read as Parquet") as caught:
            opened(broken)
        assert caught.value.where == "games.parquet"

    def cut_short() -> Iterator[bytes]:
        yield content[:20]
        raise DamagedInputError("cut short")

    with pytest.raises(DamagedInputError):
        read_parquet(cut_short(), DataConfig(), "games.parquet")
    assert list(folder.iterdir()) == []


def test_what_is_not_used_or_repeated_takes_no_memory(folder: Path) -> None:
    """A nested column of nothing but NULL, and a long name that is one entry of a dictionary."""
    names = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int8()), [("x" * 90_000)])
    columns = {"white": names, "black": pa.DictionaryArray.from_arrays(names.indices, ["B"])}
    columns |= {"year": pa.array([1858] * len(names)), "result": pa.array([1] * len(names))}
    columns["nested"] = pa.nulls(len(names), pa.list_(pa.list_(pa.int8())))
    path = folder / "long.parquet"
    pq.write_table(pa.table(columns), path)
    content = path.read_bytes()
    path.unlink()
    table = read_parquet(iter([content]), DataConfig(), "x")
    assert sum(len(batch.lines) for batch in table.batches) == 1_000_000
    assert pa.default_memory_pool().max_memory() < 1 << 30  # also after other tests of this process


@pytest.mark.slow
def test_more_rows_than_so_few_bytes_can_hold_are_refused(folder: Path) -> None:
    query = "SELECT 1858 AS year, 'A' AS white, 'B' AS black, 1 AS result FROM range(12_000_000)"
    with pytest.raises(DataError, match="more than 250 times its size"):
        opened(written(query, folder))


@each("columns", [["rest_white", "rest_black"], ["rest"]])
def test_columns_of_covariates_are_read_as_from_csv(columns: list[str], tmp_path: Path) -> None:
    """Also those of both sides, whose names begin with that of the config."""
    frame = pd.DataFrame(
        {"date": [1900, 1901], "white": ["A", "B"], "black": ["B", "A"], "result": ["1-0", "0-1"]}
    )
    for number, column in enumerate(columns):
        frame[column] = [3.0 + number, 5.0]
    frame["idle"] = 0
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = DataConfig(covariates={"rest": "rest"})
    of_parquet, of_csv = (
        build_timeline(read_games([str(tmp_path / name)], data)).covariate_columns(["rest"])
        for name in ("a.parquet", "a.csv")
    )
    assert of_parquet.tolist() == of_csv.tolist()
    assert of_csv.any()
