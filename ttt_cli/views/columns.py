"""Columns of tables: each with a name, a unit, a description, and how its values are computed.

`ttt schema` prints names, types and descriptions (`ttt_cli.views.schemas`), and pages of the documentation list them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, TypeVar

from ttt_cli.runs.run import Run
from ttt_cli.views.rows import Rows

Row = TypeVar("Row")
Values = Callable[[Run, Sequence[Row]], Sequence[Any]]
ValueType = Literal["string", "integer", "number", "boolean", "any"]


@dataclass(frozen=True)
class Described:
    """What a column holds.

    `unit`: empty for texts and plain numbers. `value_type`: that of JSON; empty stands for a number where there is a
    unit, else for a text; `any`: one or another of these. `nullable`: whether a text or a boolean may be missing; a
    number may always be. `optional`: whether some tables are without the column. `pattern`: a regular expression of the
    names of several columns, of which `name` is one.
    """

    name: str
    unit: str
    description: str
    _: KW_ONLY
    value_type: ValueType | Literal[""] = ""
    nullable: bool = False
    optional: bool = False
    pattern: str = ""


def column_names(columns: Sequence[Described]) -> tuple[str, ...]:
    """The names of columns."""
    return tuple(column.name for column in columns)


@dataclass(frozen=True)
class Column(Described, Generic[Row]):
    """A column of a table of rows of one type.

    `values`: computes the value of every row, from the run and all rows; `each` makes it from a function of one row.
    `decimals`: of floats on a terminal (None: by their size). `by`: the column is only in tables that are ordered by
    this (empty: in all). `hidden`: not on a terminal. `unfolded`: a text that stays on one line there.
    """

    values: Values[Row]
    decimals: int | None = None
    by: str = ""
    hidden: bool = False
    unfolded: bool = False


def each(value: Callable[[Row], Any]) -> Values[Row]:
    """The values of a column whose cells depend on their own row only."""

    def values(run: Run, rows: Sequence[Row]) -> list[Any]:  # noqa: ARG001
        return [value(row) for row in rows]

    return values


def build_rows(
    run: Run,
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    title: tuple[str, ...],
    by: str = "",
) -> Rows:
    """A table of the columns that belong to an order."""
    in_order = [column for column in columns if column.by in ("", by)]
    cells = [column.values(run, rows) for column in in_order]
    return Rows(
        tuple(column.name for column in in_order),
        list(zip(*cells, strict=True)),
        title,
        decimals={
            column.name: column.decimals for column in in_order if column.decimals is not None
        },
        hidden=frozenset(column.name for column in in_order if column.hidden),
        unfolded=frozenset(column.name for column in in_order if column.unfolded),
    )
