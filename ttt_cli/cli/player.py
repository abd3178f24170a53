"""`ttt player`: one player's history."""

from __future__ import annotations

import sys

import click

from ttt_cli.cli.console import emit, say, width
from ttt_cli.cli.options import format_option, output_option, run_option, verbosity_options


@click.command("player")
@click.argument("name", nargs=-1, required=True)
@run_option
@format_option
@output_option
@verbosity_options
def command(name: tuple[str, ...], run: str | None, fmt: str | None, out: str) -> None:
    """One player's skill, period by period, with its uncertainty.

    NAME is the name as in the data, the surname, or words and initials of the name, accents and case aside:
    `ttt player morphy`, `ttt player "Morphy, P"`. Periods without games have games 0.
    """
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.formats import speaks_unicode
    from ttt_cli.views.player import player_view

    opened = open_run(run)
    room = max(width() - 12, 10)
    view = player_view(opened, " ".join(name), width=room, ascii_only=not speaks_unicode(sys.stdout))
    if view.note:
        say(view.note)
    if not opened.meta.converged:
        say(f"{opened.name}: this fit had not converged, its skills may be off by more than it was asked for")
    emit(view.rows, fmt, out=out)
