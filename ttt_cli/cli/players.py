"""`ttt players`: who is in the run."""

import click

from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    number_option,
    query_options,
    where_option,
    years_options,
)


@click.command("players")
@click.argument("pattern", nargs=-1)
@years_options("players with games")
@click.option(
    "--min-games",
    type=click.FloatRange(min=0),
    default=0,
    help="Only players with at least this many games.",
)
@number_option("players", default=0)
@where_option
@columns_option
@query_options
def command(
    query: RunQuery,
    pattern: tuple[str, ...],
    since: int | None,
    until: int | None,
    min_games: float,
    number: int | None,
    where: str | None,
    columns: list[str],
) -> None:
    """List the players of a run with years, games and peak, by number of games.

    PATTERN is one or more parts of the name; accents and case are ignored: `ttt players alekh`.
    """
    from ttt_cli.views.people import with_fields
    from ttt_cli.views.players import players_rows

    with query.open() as run:
        rows = players_rows(
            run,
            " ".join(pattern),
            min_games=min_games,
            since=since,
            until=until,
            number=number,
            where=where,
        )
        query.show(with_fields(run, rows, columns))
