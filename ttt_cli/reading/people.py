"""Files of people: a table with a name and what is known of its bearer, as CSV or Parquet."""

import csv
import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import InputFile
from ttt_cli.reading.text import decode, strip_mark
from ttt_cli.support.errors import DataError
from ttt_cli.support.folding import fold
from ttt_cli.support.progress import SILENT

_NAME_HEADERS: Final = frozenset({"name", "player", "main name", "full name"})
_FIELD_HEADERS: Final = {
    **dict.fromkeys(
        ("born", "birth", "birthday", "birth date", "birthdate", "birth year", "b year"), "born"
    ),
    **dict.fromkeys(("date of birth", "dob", "year of birth"), "born"),
    **dict.fromkeys(("died", "death", "death date", "date of death", "year of death"), "died"),
    **dict.fromkeys(("sex", "gender"), "sex"),
    **dict.fromkeys(("federation", "fed", "country", "nationality"), "federation"),
    **dict.fromkeys(("title", "tit"), "title"),
}
_PARQUET: Final = b"PAR1"
_DELIMITERS: Final = (",", ";", "\t")
_LARGEST: Final = 1 << 28  # bytes


@dataclass(frozen=True)
class PeopleFile:
    """A table of people as written, with fields by our names.

    | attribute | shape | meaning |
    |---|---|---|
    | file | | path, digest and size |
    | fields | (fields,) | `born`, `died`, `sex`, `federation`, `title` and others as in the header, as words |
    | lines | (people,) | lines of a CSV, numbers of the rows of a Parquet file |
    | names | (people,) | names as written, never empty |
    | values | (people, fields) | texts without blanks around them, empty where there is none |
    """

    file: InputFile
    fields: tuple[str, ...]
    lines: tuple[int, ...]
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def column(self, field: str) -> list[str]:
        """The texts of a field, (people,)."""
        index = self.fields.index(field)
        return [row[index] for row in self.values]


class _PeopleRow(NamedTuple):
    line: int
    cells: list[str]


def read_people(path: str) -> PeopleFile:
    """Read a table of people, plain or packed. Raises DataError without a column of names."""
    source = Input(path, kind="people")
    content = _content(source)
    rows = (
        _parquet_rows(content, source.name) if content.startswith(_PARQUET) else _csv_rows(content)
    )
    file = InputFile(source.name, source.digest, source.count)
    header = rows[0].cells if rows else []
    name_column = next(
        (index for index, head in enumerate(header) if fold(head) in _NAME_HEADERS), None
    )
    if name_column is None:
        raise DataError(
            "has no column of names",
            where=source.name,
            hint="its first line names the columns: name,born,died,sex,federation,title",
        )
    fields = _field_names(header, source.name)
    columns = [index for index in range(len(header)) if index != name_column]
    people = [
        row for row in rows[1:] if len(row.cells) > name_column and row.cells[name_column].strip()
    ]
    return PeopleFile(
        file=file,
        fields=tuple(fields[index] for index in columns),
        lines=tuple(row.line for row in people),
        names=tuple(row.cells[name_column].strip() for row in people),
        values=tuple(
            tuple(row.cells[index].strip() if index < len(row.cells) else "" for index in columns)
            for row in people
        ),
    )


def _content(source: Input) -> bytes:
    """The unpacked bytes of a file. Raises DataError for a file that is too large."""
    content = bytearray()
    with closing(source.blocks(SILENT)) as blocks:
        for block in blocks:
            content += block
            if len(content) > _LARGEST:
                message = f"takes more than {_LARGEST >> 20} MB"
                raise DataError(message, where=source.name, hint="is it a table of people?")
    return bytes(content)


def _csv_rows(content: bytes) -> list[_PeopleRow]:
    """The rows of a CSV, with commas, semicolons or tabs as its first line has most of; empty ones are left out."""
    text = decode(strip_mark(content))
    first_line = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first_line.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    return [
        _PeopleRow(reader.line_num, cells)
        for cells in reader
        if any(cell.strip() for cell in cells)
    ]


def _parquet_rows(content: bytes, name: str) -> list[_PeopleRow]:
    """The rows of a Parquet file as texts, its header first. Raises DataError if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot be read: {error}", where=name) from error
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    rows = zip(*columns, strict=True)
    return [
        _PeopleRow(0, list(table.column_names)),
        *(_PeopleRow(line, list(cells)) for line, cells in enumerate(rows, 1)),
    ]


def _text(value: Any) -> str:
    """A value of a Parquet file as text: dates without a time, whole numbers without a point."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())[:10]
    return str(value)


def _field_names(header: Sequence[str], where: str) -> list[str]:
    """Our names of the columns. Raises DataError for two of one name."""
    names: list[str] = []
    for head in header:
        words = fold(head)
        name = _FIELD_HEADERS.get(words, words.replace(" ", "_"))
        if name and name in names:
            raise DataError(f"has two columns of {name}", where=where, hint="rename one of them")
        names.append(name or f"column_{len(names) + 1}")
    return names
