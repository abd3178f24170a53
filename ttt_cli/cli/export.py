"""`ttt export`: the tables of a run."""

import click

from ttt_cli.cli.line.options import Asked, asking_options

TABLES = ("skills", "players", "games", "evidence", "draws", "newcomers", "career")


@click.command("export")
@click.argument("table", metavar="TABLE", type=click.Choice(TABLES))
@asking_options
def command(asked: Asked, table: str) -> None:
    """The run's TABLE: skills, players, games, evidence, draws, newcomers or career.

    skills has player,period,mean,sd,games for every period from a player's first to last; evidence has the
    parameters and log_evidence,converged,sweeps of every point computed so far. draws has the draw margin by year,
    newcomers how much better than the prior mean these are, career what skills gain in the years after the debut;
    each with its sd, and without rows where the run has one margin, one mean, or no careers.
    """
    from ttt_cli.views.run import table_rows

    with asked.open(titled=False) as run:
        asked.show(table_rows(run, table))
