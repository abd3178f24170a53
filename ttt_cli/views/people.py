"""What a run knows of its players, as a table."""

from ttt_cli.runs.people import people_in
from ttt_cli.runs.run import Run
from ttt_cli.views.rows import Rows


def people_rows(run: Run) -> Rows:
    """The players of whom anything is known, with all fields: `player,born,died,...`."""
    people = people_in(run.rows)
    rows = [(player, *(text or None for text in texts)) for player, texts in people.values.items()]
    return Rows(("player", *people.fields), rows)
