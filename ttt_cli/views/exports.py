"""The tables of `ttt export`."""

from __future__ import annotations

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
