"""Write the tables of columns in docs/ranking.md from the registry of columns: `python docs/make_columns.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ttt_cli.views.columns import Column
from ttt_cli.views.rankings.columns import (
    BEST_YEARS_COLUMNS,
    LEADER_COLUMNS,
    PEAK_COLUMNS,
    PERIOD_COLUMNS,
    REIGN_COLUMNS,
)

PAGE: Final = Path(__file__).with_name("ranking.md")
HEADING: Final = "\n## Columns of `ttt top`\n"
TABLES: Final[dict[str, Sequence[Column[Any]]]] = {
    "`ttt top`": PERIOD_COLUMNS,
    "`ttt top --peak`": PEAK_COLUMNS,
    "`ttt top --years`": BEST_YEARS_COLUMNS,
    "`ttt top --leaders`": REIGN_COLUMNS,
    "`ttt top --leaders --each`": LEADER_COLUMNS,
}


def page(text: str) -> str:
    """The page with tables of today's columns."""
    before, _, after = text.partition(HEADING)
    following = after.partition("\n## ")
    tables = "\n".join([_table(name, columns) for name, columns in TABLES.items()])
    return f"{before}{HEADING}\n{tables}{following[1]}{following[2]}"


def _table(name: str, columns: Sequence[Column[Any]]) -> str:
    rows = [f"| {name} | unit | content |", "|---|---|---|"]
    for column in columns:
        only = f"; with `--by {column.by}`" if column.by else ""
        rows.append(f"| `{column.name}` | {column.unit} | {column.description}{only} |")
    return "\n".join([*rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
