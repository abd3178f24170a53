"""The tables of `ttt export`."""

from __future__ import annotations

from dataclasses import replace

from ttt_cli.runs.run import Run
from ttt_cli.views.events import EventSelection, event_rows
from ttt_cli.views.played_games import played_game_rows
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import table_rows


def export_rows(run: Run, table: str, where: str | None = None) -> Rows:
    """A table of a run: `events`, `games` with the probabilities of results, or one of `table_rows`."""
    if table == "events":
        return event_rows(run, EventSelection(by="date"))
    if table == "games":
        return played_game_rows(run)
    return table_rows(run, table, where)


def with_provenance(run: Run, rows: Rows) -> Rows:
    """The rows with columns that say where they come from, equal in every row.

    `ttt_version` that fitted the run, `fitted` (UTC), and `inputs`: the SHA-256 of every file read, sorted by
    path, with blanks between.
    """
    digests = [digest for (digest,) in run.rows("SELECT digest FROM inputs ORDER BY path")]
    origin = (run.meta.version, run.meta.created, " ".join(digests))
    return replace(
        rows,
        columns=(*rows.columns, "ttt_version", "fitted", "inputs"),
        rows=((*row, *origin) for row in rows.rows),
        parquet=None,
    )
