"""`ttt event`: one tournament or match."""

import click

from ttt_cli.cli.options import RunQuery, query_options


@click.command("event")
@click.argument("name", nargs=-1, required=True, metavar="EVENT...")
@click.option("--at", type=int, metavar="YEAR", help="The year of the event.")
@click.option("--games", is_flag=True, help="Show the games by round with dates instead.")
@query_options
def command(query: RunQuery, name: tuple[str, ...], at: int | None, games: bool) -> None:
    """Show one event: points, results, expected points and performance of everybody.

    EVENT is one or more words of the name; accents and case are ignored: `ttt event hastings 1895`. A performance is
    the skill that a newcomer would be given for these games alone.
    """
    from ttt_cli.views.event import event_game_rows, standing_rows

    run = query.open()
    text = " ".join(name)
    query.show(event_game_rows(run, text, at) if games else standing_rows(run, text, at))
