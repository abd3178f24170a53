"""`ttt export`: the tables of a run."""

import click

from ttt_cli.cli.options import Asked, asking_options

TABLES = ("skills", "players", "games", "evidence")


@click.command("export")
@click.argument("table", metavar="TABLE", type=click.Choice(TABLES))
@asking_options
def command(asked: Asked, table: str) -> None:
    """The run's TABLE: skills, players, games or evidence.

    skills has player,period,mean,sd,games for every period from a player's first to last; evidence has the
    parameters and log_evidence,converged,sweeps of every point computed so far.
    """
    from ttt_cli.views.run import table_rows

    with asked.open(titled=False) as run:
        asked.show(table_rows(run, table))
