"""Parquet files of games as records: typed columns as the texts that a CSV would hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Table
from ttt_cli.reading.column import Column, Dictionary
from ttt_cli.reading.formats.tabular.columns import make_batch
from ttt_cli.reading.formats.tabular.layout import find_layout

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SAMPLE: Final = 1000  # rows
_WHOLE: Final = "1e15"  # whole numbers below are exact as floats


def read_parquet(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = 0) -> Table:  # noqa: ARG001
    """Read a Parquet file given as blocks; it is copied to a temporary file. Lines are row numbers, from 1.

    Raises ConfigError and DataError when its columns cannot be told (see `find_layout`) or it cannot be read.
    """
    import duckdb

    with TemporaryDirectory(prefix="ttt-") as folder, duckdb.connect() as connection:
        connection.execute("SET temp_directory = ?", [folder])
        connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        place = Path(folder) / "games.parquet"
        _spool(blocks, place, name)
        text = str(place).replace("'", "''")
        try:
            return _read(connection, f"read_parquet('{text}', hive_partitioning = false)", data, name)
        except duckdb.Error as error:
            why = str(error).strip().partition("\n")[0].rstrip(".")
            hint = "write the file again; text in it must be UTF-8"
            raise DataError(f"cannot be read as Parquet: {why}", where=name, hint=hint) from error


def _spool(blocks: Iterator[bytes], place: Path, name: str) -> None:
    """Write blocks to a file. Raises DataError when there is no room for it."""
    with place.open("wb") as file:
        for block in blocks:
            try:
                file.write(block)
            except OSError as error:
                hint = f"it is copied to {place.parent.parent} while it is read; TMPDIR names another folder"
                raise DataError(f"cannot be copied: {error.strerror}", where=name, hint=hint) from error


def _read(connection: DuckDBPyConnection, relation: str, data: DataConfig, name: str) -> Table:
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    names = [str(row[0]) for row in described]
    quoted = ['"' + column.replace('"', '""') + '"' for column in names]
    texts = [text_of_type(column, str(row[1])) for column, row in zip(quoted, described, strict=True)]
    sample = connection.execute(f"SELECT {', '.join(texts)} FROM {relation} LIMIT {_SAMPLE}").fetchall()
    layout = find_layout([names, *sample], data, name, named=True)
    if not sample:
        return layout.table(iter(()))
    columns = text_columns(connection, relation, [texts[index] for index in layout.used])
    lines = np.arange(1, 1 + len(columns[0].codes))
    return layout.table(iter([make_batch(layout, lines, dict(zip(layout.used, columns, strict=True)))]))


def text_columns(connection: DuckDBPyConnection, relation: str, texts: Sequence[str]) -> list[Column[str]]:
    """The SQL expressions `texts`, which are never NULL, of all rows of a relation, which keep their order."""
    run, dictionary = connection.execute, Dictionary[str]()
    distinct = " UNION ".join(f"SELECT {text} AS word FROM {relation}" for text in texts)
    run(f"CREATE OR REPLACE TYPE words AS ENUM (SELECT word FROM ({distinct}) ORDER BY word)")
    found = run("SELECT unnest(enum_range(NULL::words))").fetchall()
    numbers = dictionary.ids(word.replace("\0", "") for (word,) in found)
    listed = ", ".join(f"enum_code(({text})::words)::INTEGER AS c{i}" for i, text in enumerate(texts))
    columns = run(f"SELECT {listed} FROM {relation}").fetchnumpy()
    return [Column(numbers[columns[f"c{i}"]], dictionary.values) for i in range(len(texts))]


def text_of_type(column: str, kind: str) -> str:
    """SQL for a column of that type as text: days without their time, whole numbers without fraction, NULL empty."""
    text = f"{column}::VARCHAR"
    if kind.startswith("TIMESTAMP"):
        text = f"{column}::DATE::VARCHAR"
    elif kind == "BLOB":
        text = f"coalesce(try(decode({column})), {text})"
    elif kind in ("FLOAT", "DOUBLE"):
        whole = f"{column} = trunc({column}) AND abs({column}) < {_WHOLE}"
        text = (
            f"CASE WHEN isnan({column}) THEN '' WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {text} END"
        )
    return f"coalesce({text}, '')"
