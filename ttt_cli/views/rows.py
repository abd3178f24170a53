"""Tables to be shown or written: what every view makes and the console takes.

As text for other programs, and as Parquet: numbers keep every digit; nothing is cut or wrapped.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TextIO

from ttt_cli.files import database_writing

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")  # as OWASP lists them
_BLANK: Final = str.maketrans("\t\n\r\v\f", "     ")


@dataclass(frozen=True)
class Rows:
    """Named columns and rows of plain values (str, int, float, bool, None); the more important column first.

    The rest concerns tables for the eye only: `title` lines stand above, `decimals` round columns of floats
    (others by their size), `hidden` columns are left out because the title says it. `single`: one row that is
    a report; shown as a list of its values, and in JSON as an object of its own.
    `parquet` writes the same rows to a Parquet file by a shorter way, where there is one.
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]
    title: tuple[str, ...] = ()
    decimals: Mapping[str, int] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    single: bool = False
    parquet: Callable[[Path], None] | None = None


def write_text(rows: Rows, fmt: str, stream: TextIO, *, safe: bool = False) -> None:
    """Write rows as `csv`, `tsv`, `json` (an array of objects, or one object) or `jsonl` (an object a line).

    Missing values are empty in CSV and TSV and null in JSON, as are infinities and NaN in JSON. Tabs and line
    breaks inside TSV values become blanks. JSON is ASCII when the stream's encoding is not one of Unicode. With `safe`
    an apostrophe stands before texts in CSV and TSV that spreadsheets would take for formulas.
    """
    if safe and fmt in ("csv", "tsv"):
        rows = replace(rows, rows=(tuple(map(_no_formula, row)) for row in rows.rows))
    match fmt:
        case "csv":
            import csv

            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(rows.columns)
            writer.writerows(map(_texts, rows.rows))
        case "tsv":
            stream.write("\t".join(rows.columns) + "\n")
            stream.writelines("\t".join(map(_tsv, row)) + "\n" for row in rows.rows)
        case "json" if not rows.single:
            stream.writelines(_json_array(_objects(rows, speaks_unicode(stream))))
        case "json" | "jsonl":
            stream.writelines(f"{line}\n" for line in _objects(rows, speaks_unicode(stream)))
        case _:
            raise ValueError(f"no text format {fmt!r}")


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def write_parquet(rows: Rows, path: Path) -> None:
    """Write rows as a Parquet file: text, whole numbers, floats and booleans by the columns' values."""
    if rows.parquet is not None:
        rows.parquet(path)
        return
    import duckdb
    import numpy as np

    values = list(zip(*rows.rows, strict=True)) or [()] * len(rows.columns)
    arrays: dict[str, Any] = {}
    for number, column in enumerate(values):
        arrays[f"c{number}"] = np.empty(len(column), dtype=object)
        arrays[f"c{number}"][:] = column
    select = ", ".join(
        f'CAST(c{number} AS {_sql_type(column)}) AS "{name.replace(chr(34), chr(34) * 2)}"'
        for number, (name, column) in enumerate(zip(rows.columns, values, strict=True))
    )
    target = str(path).replace("'", "''")
    with database_writing(path), duckdb.connect(":memory:") as connection:
        connection.register("incoming", arrays)
        connection.execute(f"COPY (SELECT {select} FROM incoming) TO '{target}' (FORMAT parquet)")


def speaks_unicode(stream: TextIO) -> bool:
    """Whether every character can be written to the stream."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-").startswith("utf")


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _texts(row: tuple[Any, ...]) -> Sequence[Any]:
    return [_text(value) for value in row] if bool in map(type, row) else row


def _tsv(value: Any) -> str:
    if type(value) is str and value.isprintable():
        return value
    return "" if value is None else str(_text(value)).translate(_BLANK)


def _objects(rows: Rows, unicode: bool) -> Iterator[str]:
    import json

    for row in rows.rows:
        values = dict(zip(rows.columns, map(_finite, row), strict=True))
        yield json.dumps(values, ensure_ascii=not unicode, allow_nan=False)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _json_array(objects: Iterable[str]) -> Iterator[str]:
    before = "[\n  "
    for line in objects:
        yield before + line
        before = ",\n  "
    yield "\n]\n" if before.startswith(",") else "[]\n"


def _sql_type(column: Sequence[Any]) -> str:
    kinds = {type(value) for value in column if value is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT"
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"
