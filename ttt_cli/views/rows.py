"""A table to be shown or written: what every view makes and the console takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
