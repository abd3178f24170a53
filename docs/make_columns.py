"""Write the tables of columns in docs/ranking.md and docs/records.md: `python docs/make_columns.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ttt_cli.views.columns import Column
from ttt_cli.views.event import STANDING_COLUMNS
from ttt_cli.views.events import EVENT_COLUMNS
from ttt_cli.views.rankings.columns import (
    BEST_YEARS_COLUMNS,
    LEADER_COLUMNS,
    PEAK_COLUMNS,
    PERIOD_COLUMNS,
    REIGN_COLUMNS,
)
from ttt_cli.views.records.table import RECORDS

Tables = dict[str, Sequence[Column[Any]]]  # by what is typed
_DOCS: Final = Path(__file__).parent
_HEADING: Final = "\n## Columns of `"
_OF_RANKINGS: Final[Tables] = {
    "`ttt top`": PERIOD_COLUMNS,
    "`ttt top --peak`": PEAK_COLUMNS,
    "`ttt top --years`": BEST_YEARS_COLUMNS,
    "`ttt top --leaders`": REIGN_COLUMNS,
    "`ttt top --leaders --each`": LEADER_COLUMNS,
}
_OF_RECORDS: Final[Tables] = {
    "`ttt events`": EVENT_COLUMNS,
    "`ttt event`": STANDING_COLUMNS,
    **{f"`ttt records --kind {kind}`": record.columns for kind, record in RECORDS.items()},
}
PAGES: Final[dict[Path, Tables]] = {
    _DOCS / "ranking.md": _OF_RANKINGS,
    _DOCS / "records.md": _OF_RECORDS,
}


def page(text: str, tables: Tables) -> str:
    """The page with tables of today's columns."""
    before, _, after = text.partition(_HEADING)
    title, _, after = after.partition("\n")
    following = after.partition("\n## ")
    written = "\n".join([_table(name, columns) for name, columns in tables.items()])
    return f"{before}{_HEADING}{title}\n\n{written}{following[1]}{following[2]}"


def pages() -> dict[Path, str]:
    """All pages with tables of columns, as they should be."""
    return {path: page(path.read_text(encoding="utf-8"), tables) for path, tables in PAGES.items()}


def _table(name: str, columns: Sequence[Column[Any]]) -> str:
    rows = [f"| {name} | unit | content |", "|---|---|---|"]
    for column in columns:
        only = f"; with `--by {column.by}`" if column.by else ""
        rows.append(f"| `{column.name}` | {column.unit} | {column.description}{only} |")
    return "\n".join([*rows, ""])


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
