"""`ttt export`: the tables of a run."""

from __future__ import annotations

import click

from ttt_cli.cli.asked import asked_run
from ttt_cli.cli.options import format_option, output_option, run_option, scale_option, verbosity_options
from ttt_cli.cli.terminal.console import emit

TABLES = ("skills", "players", "games", "evidence")


@click.command("export")
@click.argument("table", type=click.Choice(TABLES))
@run_option
@scale_option
@format_option
@output_option
@verbosity_options
def command(table: str, run: str | None, scale: tuple[str, ...], fmt: str | None, out: str) -> None:
    """The run's TABLE: skills, players, games or evidence.

    skills has player,period,mean,sd,games for every period from a player's first to last; evidence has the
    parameters and log_evidence,converged,sweeps of every point computed so far.
    """
    from ttt_cli.views.export import table_rows

    with asked_run(run, scale) as opened:
        emit(table_rows(opened, table), fmt, out=out)
