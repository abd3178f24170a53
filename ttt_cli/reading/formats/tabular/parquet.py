"""Parquet files of games as records: typed columns as the texts that a CSV would hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Table
from ttt_cli.reading.formats.tabular.columnar import TextColumns, first_line, literal, quoted, spool, workshop
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

    with workshop() as (connection, folder):
        spool(blocks, folder / "games.parquet", name)
        try:
            return _read(connection, _relation(str(folder / "games.parquet")), data, name)
        except duckdb.Error as error:
            hint = "write the file anew; text in it must be UTF-8"
            raise DataError(
                f"cannot be read as Parquet: {first_line(error)}", where=name, hint=hint
            ) from error


def _relation(path: str) -> str:
    return f"read_parquet({literal(path)}, hive_partitioning = false)"


def _read(connection: DuckDBPyConnection, relation: str, data: DataConfig, name: str) -> Table:
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    names = [str(row[0]) for row in described]
    texts = [text_of_type(quoted(column), str(row[1])) for column, row in zip(names, described, strict=True)]
    sample = connection.execute(f"SELECT {', '.join(texts)} FROM {relation} LIMIT {_SAMPLE}").fetchall()
    layout = find_layout([names, *sample], data, name, named=True)
    if not sample:
        return Table(layout.kind, iter(()))
    columns = TextColumns(connection)
    codes = columns.codes(relation, [texts[index] for index in layout.used])
    used = {index: columns.column(column) for index, column in zip(layout.used, codes, strict=True)}
    lines = np.arange(1, 1 + len(codes[0]))
    return Table(layout.kind, iter([make_batch(layout, lines, used)]))


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
