"""`ttt export`: the tables of a run."""

import click

from ttt_cli.cli.messages import say
from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    query_options_by_category,
    refuse,
    where_option,
)

TABLES = (
    "skills",
    "players",
    "games",
    "events",
    "people",
    "evidence",
    "draws",
    "newcomers",
    "career",
)

OF_PLAYERS = ("skills", "players", "people")  # tables with a player in each row


@click.command("export")
@click.argument("table", metavar="TABLE", type=click.Choice(TABLES))
@where_option
@columns_option
@click.option(
    "--provenance",
    is_flag=True,
    help="Add columns: the version that fitted the run, when, and the SHA-256 of its files.",
)
@query_options_by_category
def command(
    query: RunQuery, table: str, where: str | None, columns: list[str], provenance: bool
) -> None:
    """Export a TABLE of the run: skills, players, games, events, people, evidence, draws, newcomers or career.

    skills: player,period,mean,sd,games for every period from a player's first to last. games: with the probabilities
    of White's win, draw and loss and White's expected score by the skills of the period. events: as `ttt events`, by
    date. people: what is known of
    players, by the columns of data.people. evidence: parameters and log_evidence,converged,sweeps of every computed
    point. draws: the draw margin by year. newcomers: their mean
    skill above the prior mean, by year. career: the change of skill by years since the debut. The last three
    have sds, and no rows if the run does not model them.
    """
    from ttt_cli.views.exports import export_rows, with_provenance
    from ttt_cli.views.people import with_fields

    refuse(
        (
            f"--where goes with {', '.join(OF_PLAYERS)}",
            where is not None and table not in OF_PLAYERS,
        ),
        (
            f"--columns goes with {', '.join(OF_PLAYERS[:2])}",
            columns and table not in OF_PLAYERS[:2],
        ),
    )
    with query.open(titled=False) as run:
        rows = with_fields(run, export_rows(run, table, where), columns)
        query.show(with_provenance(run, rows) if provenance else rows)
        if table == "evidence":
            say(*run.points_remarks())
