"""Tables of games (CSV, TSV and their like): how they are laid out."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Table
from ttt_cli.reading.formats.tabular.layout import find_layout
from ttt_cli.reading.text import HEAD, LARGE, peek

DELIMITERS: Final = (",", "\t", ";", "|")


def read_delimited(blocks: Iterator[bytes], data: DataConfig, name: str, large: int = LARGE) -> Table:
    """Open a table given as blocks with LF line ends; the first block holds the sample that tells its layout.

    Columns of tables of an eighth of `large` bytes or more are kept in compiled dictionaries.
    Raises ConfigError and DataError when its columns cannot be told (see `find_layout`).
    """
    first = next(blocks, b"")
    sample, complete = _sample(first)
    if not sample:  # blanks that only Unicode knows
        raise DataError("is empty", where=name)
    delimiter = data.delimiter or ("\t" if data.format == "tsv" else find_delimiter(sample))
    rows = [row for row in csv.reader(complete, delimiter=delimiter) if any(row)]
    layout = find_layout(rows or [sample[:1]], data, name)
    from ttt_cli.reading.formats.tabular.rows import read_rows

    least = max(1, large // 8)
    head, blocks = peek(chain([first], blocks), least)
    return layout.table(read_rows(blocks, delimiter, layout, large=len(head) >= least))


def _sample(first: bytes) -> tuple[list[str], list[str]]:
    """The first lines of text, and those of them that are surely complete."""
    head = first[:HEAD].decode("utf-8", "surrogateescape")
    lines = [line for line in head.split("\n") if line.strip()]
    whole = lines if len(first) <= HEAD else lines[:-1]
    return lines, whole or lines


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts the first line, and most others into as many fields; of equals, into the most."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        first, *others = (len(row) for row in csv.reader(lines, delimiter=delimiter))
        return first > 1, round((1 + others.count(first)) / (1 + len(others)), 1), first

    return max(DELIMITERS, key=merit)
