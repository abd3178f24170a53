"""`ttt players`: who is in the run."""

from typing import Final

import click

from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    query_options,
    where_option,
    years_options,
)

_SHOWN: Final = 20  # players of a table on a terminal


@click.command("players")
@click.argument("pattern", nargs=-1)
@years_options("players with games")
@click.option(
    "--min-games",
    type=click.FloatRange(min=0),
    default=0,
    help="Only players with at least this many games.",
)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=0),
    help="Number of players; default 20 in a table, else all; 0 for all.",
)
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

    if number is None and query.titled:
        number = _SHOWN
    with query.open() as run:
        rows = players_rows(
            run,
            " ".join(pattern),
            min_games=min_games,
            since=since,
            until=until,
            number=number or None,
            where=where,
        )
        query.show(with_fields(run, rows, columns))
