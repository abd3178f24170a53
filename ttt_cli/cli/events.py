"""`ttt events`: the tournaments and matches of a run."""

import click

from ttt_cli.cli.options import RunQuery, number_option, query_options, years_options


@click.command("events")
@click.argument("pattern", nargs=-1, metavar="[WORDS]...")
@years_options("events")
@click.option(
    "--by",
    type=click.Choice(("games", "strength", "date")),
    default="games",
    show_default=True,
    help="Order: most games, highest mean skill of the participants, or date.",
)
@click.option(
    "--min-players",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only events of at least N players; default 6 with --by strength, else any.",
)
@number_option("events")
@query_options
def command(
    query: RunQuery,
    pattern: tuple[str, ...],
    since: int | None,
    until: int | None,
    by: str,
    min_players: int | None,
    number: int | None,
) -> None:  # fmt: skip
    """List the events of a run: when and where, games, players, how strong, and who won.

    WORDS are parts of the name; accents and case are ignored: `ttt events petersburg --to 1914`.
    """
    from ttt_cli.views.events import EventSelection, event_rows

    selection = EventSelection(" ".join(pattern), since, until, by, min_players, number)
    with query.open() as run:
        query.show(event_rows(run, selection))
