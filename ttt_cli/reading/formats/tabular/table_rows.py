"""Rows of a delimited table from its lines of text: fields, and what is no row."""

import csv
from collections.abc import Sequence
from itertools import chain, islice
from typing import Final

from ttt_cli.reading.batches import Note
from ttt_cli.reading.reasons import BAD_ROW, DROPPED

ROW_LINES: Final = 50  # lines that one row may take; more means a quote that is never closed
_END: Final = "\0end\0"  # NULs never reach us, so no row looks like this

Row = list[str]


class RowReader:
    """Cuts lines into rows of `width` fields; a row may take several lines when a quoted field does."""

    def __init__(self, delimiter: str, width: int) -> None:
        self.delimiter = delimiter
        self.width = width
        self._rejects: list[Note] = []

    def take_rejects(self) -> list[Note]:
        """The rows that did not have `width` fields, since last asked."""
        taken, self._rejects = self._rejects, []
        return taken

    def reject(self, note: Note) -> None:
        """Take in the account of what is no row."""
        self._rejects.append(note)

    def read(self, lines: Sequence[str], at: int, number: int, *, final: bool) -> tuple[int, Row | None]:
        """Read the row that begins in `lines[at]`, which is line `number` of the file.

        Returns how many lines it takes and its fields, None when it is blank or rejected. No lines are taken when
        more than those there are may belong to it, unless they are `final`.
        """
        taken, row = self._parse_one(lines, at)
        if row is None and not final and len(lines) - at < ROW_LINES:
            return 0, None
        if row is None or (taken > 1 and len(row) != self.width):
            self._reject(number, lines[at], "a quote is not closed, or closed within a field")
            return 1, None
        return taken, row if self._fits(number, row) else None

    def _parse_one(self, lines: Sequence[str], at: int) -> tuple[int, Row | None]:
        """How many lines the row beginning at line `at` takes, and its fields; None when it does not end."""
        if '"' not in lines[at] and len(lines[at]) <= csv.field_size_limit():
            return 1, lines[at].split(self.delimiter)
        taken = chain((line + "\n" for line in islice(lines, at, at + ROW_LINES)), [_END])
        reader = csv.reader(taken, delimiter=self.delimiter, strict=True)
        try:
            row = next(reader)
        except csv.Error:
            return 1, None
        return reader.line_num, row

    def _fits(self, number: int, row: Row) -> bool:
        """Whether a row has all its fields; empty ones beyond are cut off, and a blank row is no row."""
        if len(row) > self.width and not any(row[self.width :]):
            del row[self.width :]
        if len(row) == self.width:
            return True
        if any(cell.strip() for cell in row):
            self._reject(number, self.delimiter.join(row), f"{len(row)} fields instead of {self.width}")
        return False

    def _reject(self, number: int, text: str, why: str) -> None:
        self._rejects.append(Note(number, BAD_ROW, f"{why}: {text[:80]}", DROPPED))
