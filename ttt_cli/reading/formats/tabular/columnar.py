"""Columns through DuckDB: any relation it can read, as numbers of distinct texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ttt_cli.arrays import Ids
from ttt_cli.errors import DataError
from ttt_cli.reading.column import Column, Dictionary

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def workshop() -> Iterator[tuple[DuckDBPyConnection, Path]]:
    """A database in memory and a folder for what does not fit there; both are gone afterwards, whatever happens."""
    import duckdb

    with TemporaryDirectory(prefix="ttt-") as folder, duckdb.connect() as connection:
        connection.execute("SET temp_directory = ?", [folder])
        connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        yield connection, Path(folder)


def spool(blocks: Iterator[bytes], place: Path, name: str) -> None:
    """Write blocks to a file. Raises DataError when there is no room for it."""
    with place.open("wb") as file:
        for block in blocks:
            try:
                file.write(block)
            except OSError as error:
                hint = f"it is copied to {place.parent.parent} while it is read; TMPDIR names another folder"
                raise DataError(f"cannot be copied: {error.strerror}", where=name, hint=hint) from error


class TextColumns:
    """Texts met in one relation after the other, numbered in one list."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection
        self._dictionary = Dictionary[str]()

    def codes(self, relation: str, texts: Sequence[str]) -> list[Ids]:
        """Each row's number for each of the SQL expressions `texts`, which are never NULL; rows keep their order."""
        run = self.connection.execute
        distinct = " UNION ".join(f"SELECT {text} AS word FROM {relation}" for text in texts)
        run(f"CREATE OR REPLACE TYPE words AS ENUM (SELECT word FROM ({distinct}) ORDER BY word)")
        found = run("SELECT unnest(enum_range(NULL::words))").fetchall()
        numbers = self._dictionary.ids(word.replace("\0", "") for (word,) in found)
        listed = ", ".join(f"enum_code(({text})::words)::INTEGER AS c{i}" for i, text in enumerate(texts))
        columns = run(f"SELECT {listed} FROM {relation}").fetchnumpy()
        return [numbers[columns[f"c{i}"]] for i in range(len(texts))]

    def column(self, codes: Ids) -> Column[str]:
        """A column of these numbers."""
        return Column(codes, self._dictionary.values)


def quoted(name: str) -> str:
    """A name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: Exception) -> str:
    """What the database says, in one line."""
    return str(error).strip().partition("\n")[0].rstrip(".")
