"""Tables on the terminal, and as text of fixed width in pipes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from ttt_cli.cli.messages import printable
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_ROWS: Final = 1000
_FOLDED_WIDTH: Final = 12  # a text column may be folded to this before a column is left out
_GAP: Final = 2  # blanks between columns


@dataclass(frozen=True)
class TextColumn:
    """A column of a table as text.

    `may_fold`: whether its texts may be folded into several lines. `width`: of its widest cell or name; `least_width`:
    that to which it may be folded.
    """

    name: str
    cells: list[str]
    is_numeric: bool
    may_fold: bool
    width: int = 0
    least_width: int = 0


def print_table(rows: Rows, stream: TextIO) -> list[str]:
    """Print rows as a table; return remarks on rows and columns that a terminal has no room for."""
    from rich.console import Console

    terminal = stream.isatty()
    records = list(itertools.islice(rows.rows, SHOWN_ROWS + 1 if terminal else None))
    shown_records = records[:SHOWN_ROWS] if terminal else records
    columns = _text_columns(rows, shown_records)
    if not rows.single:
        columns = [column for column in columns if any(column.cells)] or columns
    console = Console(
        file=stream, highlight=False, markup=False, emoji=False, soft_wrap=not terminal
    )
    remarks = []
    if not terminal:
        console.width = sum(column.width for column in columns) + _GAP * (len(columns) + 1)
    else:
        fitting = _fitting(columns, console.width)
        omitted = [column.name for column in columns if column not in fitting]
        if omitted:
            names = ", ".join(omitted)
            remarks.append(f"not shown, because the terminal is too narrow: {names}")
        columns = fitting
    if len(records) > len(shown_records):
        remarks.append(
            f"only the first {SHOWN_ROWS:,} rows are shown; -f csv, -o FILE or a pipe gives all"
        )
    above = rows.title[: rows.title_above]
    for number, line in enumerate(above):
        console.print(printable(line), style="bold" if number == 0 else None)
    console.print(_rich_table(columns, console, show_header=not rows.single))
    names_shown = {column.name for column in columns}
    not_shown = () if rows.single else tuple({*rows.columns} - names_shown)
    for line in rows.title[len(above) :]:
        explains_what_is_not_shown = line.startswith(tuple(f"{name}: " for name in not_shown))
        if not explains_what_is_not_shown:
            console.print(printable(line))
    return remarks


def _text_columns(rows: Rows, records: Sequence[tuple[Any, ...]]) -> list[TextColumn]:
    """The columns of rows that are not hidden; of a single row its names and values as two columns."""
    from rich.cells import cell_len

    columns: list[TextColumn] = []
    for index, name in enumerate(rows.columns):
        if name in rows.hidden:
            continue
        values = [record[index] for record in records]
        present = [value for value in values if value is not None]
        is_numeric = bool(present) and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in present
        )
        may_fold = not is_numeric and name not in rows.unfolded
        columns.append(
            TextColumn(name, format_column(values, rows.decimals.get(name)), is_numeric, may_fold)
        )
    if rows.single:
        names = [column.name for column in columns]
        first_cells = [column.cells[0] for column in columns]
        columns = [
            TextColumn("", cells, is_numeric=False, may_fold=True) for cells in (names, first_cells)
        ]
    measured = []
    for column in columns:
        width = max(cell_len(text) for text in [column.name, *column.cells])
        least_width = min(width, _FOLDED_WIDTH) if column.may_fold else width
        measured.append(replace(column, width=width, least_width=least_width))
    return measured


def _fitting(columns: Sequence[TextColumn], width: int) -> list[TextColumn]:
    """The first columns that fit into the width when texts are folded, at least two.

    A text that must not be folded, such as results by rounds, is left out rather than all columns after it.
    """
    fitting: list[TextColumn] = []
    used_width = -_GAP
    for column in columns:
        if used_width + _GAP + column.least_width <= width or len(fitting) < 2:
            fitting.append(column)
            used_width += _GAP + column.least_width
        elif column.is_numeric or column.may_fold:
            break
    return fitting


def _rich_table(columns: Sequence[TextColumn], console: Console, *, show_header: bool) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    padding = (0, _GAP - 1, 0, 0)  # the box's divider takes one place more
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding, show_header=show_header
    )
    least_width = sum(column.least_width for column in columns) + _GAP * (len(columns) - 1)
    fits = least_width <= console.width
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.is_numeric else "left"
        table.add_column(
            Text(column.name),
            justify=justify,
            no_wrap=not column.may_fold and fits,
            overflow="fold",
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*[Text(cell) for cell in cells])
    return table


def format_column(values: Sequence[Any], decimals: int | None = None) -> list[str]:
    """Values as text; floats with the same number of decimals, by their size when none is given."""
    if decimals is None:
        decimals = _decimals_of([value for value in values if isinstance(value, float)])
    return [_format_cell(value, decimals) for value in values]


def _decimals_of(floats: Sequence[float]) -> int:
    """Decimals of floats by the largest finite one."""
    largest = max((abs(value) for value in floats if abs(value) < float("inf")), default=0.0)
    if largest >= 100:
        return 1
    return 2 if largest >= 10 else 4


def _format_cell(value: Any, decimals: int) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.{decimals}f}"
    return printable(str(value)).replace("\n", " ")
