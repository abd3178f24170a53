"""Tables as plain rows, and how they are written as text or Parquet, with every digit of numbers."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TextIO

PERIOD: Final = "period"  # a column of labels
YEAR: Final = "year"  # a column that JSON and Parquet have beside it
_YEAR_LENGTH: Final = 4
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")  # as OWASP lists them
_BLANK: Final = str.maketrans("\t\n\r\v\f", "     ")


@dataclass(frozen=True)
class Rows:
    """Named columns and rows of plain values (str, int, float, bool, None); the more important column first.

    The rest concerns tables on terminals only: `title` lines, the first `title_above` of them above the table and the
    others, which explain it, below; `decimals` of columns of floats (others by their size), `hidden` columns that the
    title repeats, `unfolded` columns of texts that stay on one line. `single`: one row that is a report, shown as a
    list of its values, and in JSON as an object. `parquet` writes the same rows to a Parquet file faster, if given.
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]
    title: tuple[str, ...] = ()
    decimals: Mapping[str, int] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    unfolded: frozenset[str] = frozenset()
    single: bool = False
    parquet: Callable[[Path], None] | None = None
    title_above: int = 1

    def records(self) -> Iterator[dict[str, Any]]:
        """Each row as a dictionary by column."""
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))


def write_text(rows: Rows, fmt: str, stream: TextIO, *, safe: bool = False) -> None:
    """Write rows as `csv`, `tsv`, `json` (an array of objects, or one object) or `jsonl` (an object a line).

    Missing values are empty in CSV and TSV and null in JSON, as are infinities and NaN in JSON. Tabs and line breaks
    inside TSV values become blanks. JSON is ASCII when the stream's encoding is not one of Unicode. With `safe` an
    apostrophe precedes texts in CSV and TSV that spreadsheets would take for formulas.
    """
    if safe and fmt in ("csv", "tsv"):
        marked = (
            [
                f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
                for value in row
            ]
            for row in rows.rows
        )
        rows = replace(rows, rows=(tuple(row) for row in marked))
    match fmt:
        case "csv":
            import csv

            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(rows.columns)
            writer.writerows(_texts(row) for row in rows.rows)
        case "tsv":
            stream.write("\t".join(rows.columns) + "\n")
            stream.writelines("\t".join([_tsv(value) for value in row]) + "\n" for row in rows.rows)
        case "json" if not rows.single:
            before = "[\n  "
            for line in _objects(rows, speaks_unicode(stream)):
                stream.write(before + line)
                before = ",\n  "
            stream.write("\n]\n" if before.startswith(",") else "[]\n")
        case "json" | "jsonl":
            stream.writelines(f"{line}\n" for line in _objects(rows, speaks_unicode(stream)))
        case _:
            raise ValueError(f"no text format {fmt!r}")


def write_parquet(rows: Rows, path: Path) -> None:
    """Write rows as a Parquet file: text, whole numbers, floats and booleans by the columns' values."""
    if rows.parquet is not None:
        rows.parquet(path)
        return
    import pyarrow as pa
    from pyarrow.parquet import write_table

    def array(values: Sequence[Any]) -> Any:
        kinds = {type(value) for value in values if value is not None}
        if kinds == {bool}:
            return pa.array(values, pa.bool_())
        if kinds and kinds <= {int, float}:
            return pa.array(values, pa.int64() if kinds == {int} else pa.float64())
        return pa.array([None if value is None else str(value) for value in values], pa.string())

    columns = list(zip(*rows.rows, strict=True)) or [()] * len(rows.columns)
    write_table(
        pa.Table.from_arrays([array(column) for column in columns], list(rows.columns)), path
    )


def with_years(rows: Rows) -> Rows:
    """The rows with the year of each period as a number beside it; the same rows without periods.

    `rows.parquet` has them already.
    """
    if PERIOD not in rows.columns or YEAR in rows.columns or rows.single:
        return rows
    at = rows.columns.index(PERIOD)
    columns = (*rows.columns[: at + 1], YEAR, *rows.columns[at + 1 :])
    with_year = ((*row[: at + 1], year_in(row[at]), *row[at + 1 :]) for row in rows.rows)
    return replace(rows, columns=columns, rows=with_year)


def year_in(period: str | None) -> int | None:
    """The year of a period by its label: `1858`, `1858-06`, `1858-06-21`."""
    return None if period is None else int(period[:_YEAR_LENGTH])


def speaks_unicode(stream: TextIO) -> bool:
    """Whether every character can be written to the stream."""
    return (
        (getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-").startswith("utf")
    )


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
        values = {column: finite(value) for column, value in zip(rows.columns, row, strict=True)}
        yield json.dumps(values, ensure_ascii=not unicode, allow_nan=False)


_NOTE: Final = 240  # characters of a note, which may name hundreds of players


def shown_notes(notes: Iterable[str]) -> Iterator[str]:
    """The notes of a model, long ones cut short: all of them are in the run."""
    for note in notes:
        yield note if len(note) <= _NOTE else f"{note[:_NOTE].rpartition(' ')[0]} ..."


def finite(value: Any) -> Any:
    """The value; None for NaN and infinities."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def integral(value: float) -> float | int:
    """A number, as an integer where it is one."""
    return int(value) if value.is_integer() else value


def short(value: object) -> str:
    """A value of a parameter as text: floats with six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: 1 game, 2,000 games."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}"
