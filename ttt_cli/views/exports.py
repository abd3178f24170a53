"""The tables of `ttt export`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ttt_cli.runs.run import Run
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.events import EventSelection, event_rows
from ttt_cli.views.played_games import played_game_rows
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import table_rows

ORIGIN_COLUMNS: Final = (
    Described("ttt_version", "", "version that fitted the run", optional=True),
    Described("fitted", "", "when the run was fitted, UTC", optional=True),
    Described("inputs", "", "SHA-256 of every file read, with blanks between", optional=True),
)


def export_rows(run: Run, table: str, where: str | None = None) -> Rows:
    """A table of a run: `events`, `games` with the probabilities of results, or one of `table_rows`."""
    if table == "events":
        return event_rows(run, EventSelection(by="date"))
    if table == "games":
        return played_game_rows(run)
    return table_rows(run, table, where)


def with_provenance(run: Run, rows: Rows) -> Rows:
    """The rows with columns that say where they come from, equal in every row.

    They are `ORIGIN_COLUMNS`; files are sorted by path.
    """
    digests = [digest for (digest,) in run.rows("SELECT digest FROM inputs ORDER BY path")]
    origin = (run.meta.version, run.meta.created, " ".join(digests))
    return replace(
        rows,
        columns=(*rows.columns, *column_names(ORIGIN_COLUMNS)),
        rows=((*row, *origin) for row in rows.rows),
        parquet=None,
    )
