"""Tables for the eye: rounded, aligned, as wide as the terminal and no wider."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TextIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ttt_cli.cli.terminal.streams import printable
from ttt_cli.views.rows import Rows

SHOWN_ROWS: Final = 1000
_FOLDED_WIDTH: Final = 12  # a text column may be folded to this before a column is left out
_GAP: Final = 2


def print_table(rows: Rows, stream: TextIO) -> list[str]:
    """Print rows as a table, and give back remarks on what it leaves out.

    On a terminal at most SHOWN_ROWS rows; columns that do not fit are left out from the right, the first two
    stay; text is folded. Elsewhere everything, in its full width. Numbers are never cut.
    """
    terminal = stream.isatty()
    records = list(itertools.islice(rows.rows, SHOWN_ROWS + 1 if terminal else None))
    shown = records[:SHOWN_ROWS] if terminal else records
    columns = _columns(rows, shown)
    if rows.single:
        facts = zip(*((column.name, column.cells[0]) for column in columns), strict=True)
        columns = [Column("", list(cells), numeric=False) for cells in facts]
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=not terminal)
    remarks = []
    if terminal:
        kept = columns_that_fit([column.least_width for column in columns], console.width)
        if kept < len(columns):
            remarks.append(f"too narrow for {', '.join(column.name for column in columns[kept:])}")
        columns = columns[:kept]
    else:
        console.width = sum(column.width + _GAP for column in columns) + _GAP
    if len(records) > len(shown):
        remarks.append(f"only the first {SHOWN_ROWS:,} rows are shown; -f csv, -o FILE or a pipe gives all")
    for number, line in enumerate(rows.title):
        console.print(printable(line), style="bold" if number == 0 else None)
    needed = sum(column.least_width + _GAP for column in columns) - _GAP
    console.print(_table(columns, header=not rows.single, whole_numbers=needed <= console.width))
    return remarks


@dataclass(frozen=True)
class Column:
    """A column as it will be shown."""

    name: str
    cells: list[str]
    numeric: bool

    @property
    def width(self) -> int:
        """Places that the widest cell takes on a terminal."""
        return max(map(cell_len, [self.name, *self.cells]))

    @property
    def least_width(self) -> int:
        """Places without which the column is left out."""
        return self.width if self.numeric else min(self.width, _FOLDED_WIDTH)


def _columns(rows: Rows, records: Sequence[tuple[Any, ...]]) -> list[Column]:
    found = []
    for i, name in enumerate(rows.columns):
        if name not in rows.hidden:
            values = [record[i] for record in records]
            found.append(Column(name, format_column(values, rows.decimals.get(name)), _is_numeric(values)))
    return found


def columns_that_fit(widths: Sequence[int], available: int) -> int:
    """How many columns, from the left and at least two, fit with gaps between them."""
    ends = itertools.accumulate(width + _GAP for width in widths)
    return max(sum(1 for end in ends if end - _GAP <= available), min(2, len(widths)))


def format_column(values: Sequence[Any], decimals: int | None = None) -> list[str]:
    """Values as text; floats with the same number of decimals, by their size when none is given."""
    floats = [abs(value) for value in values if isinstance(value, float) and abs(value) < float("inf")]
    if decimals is None:
        largest = max(floats, default=0.0)
        decimals = 1 if largest >= 100 else 2 if largest >= 10 else 4
    return [_cell(value, decimals) for value in values]


def _cell(value: Any, decimals: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{decimals}f}" if isinstance(value, float) else printable(str(value)).replace("\n", " ")


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in present
    )


def _table(columns: Sequence[Column], *, header: bool, whole_numbers: bool) -> Table:
    padding = (0, _GAP - 1, 0, 0)  # the box's divider takes one place more
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding, show_header=header)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        whole = column.numeric and whole_numbers
        table.add_column(Text(column.name), justify=justify, no_wrap=whole, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table
