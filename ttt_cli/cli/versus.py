"""`ttt versus`: two players against each other."""

import click

from ttt_cli.cli.messages import say
from ttt_cli.cli.options import RunQuery, query_options_by_category


@click.command("versus")
@click.argument("a")
@click.argument("b")
@click.option("--at", metavar="PERIOD", help="A's period, or peak; also B's without --at-b.")
@click.option("--at-b", metavar="PERIOD", help="B's period, or peak.")
@click.option("--games", type=click.IntRange(1, 500), metavar="N", help="Also a match of N games.")
@click.option(
    "--with",
    "conditions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A covariate of the game: A's value minus B's, A:B, or the category of the game; repeatable.",
)
@click.option("--record", is_flag=True, help="Show the record of their games by period and colour instead.")
@query_options_by_category
def command(
    query: RunQuery,
    a: str,
    b: str,
    at: str | None,
    at_b: str | None,
    games: int | None,
    conditions: tuple[str, ...],
    record: bool,
) -> None:
    """Show who would win a game between A and B, and the record of their games.

    `ttt versus morphy fischer --at 1859 --at-b 1972`. Without periods: their last common one, else both peaks.
    All probabilities are A's. `stronger` is the probability of the higher skill. Outcomes are averaged over
    both colours unless a key names white, black or neutral.
    """
    from ttt_cli.views.versus import versus_record, versus_view

    run = query.open()
    view = versus_view(run, a, b, at=at, at_b=at_b, games=games, conditions=conditions)
    say(*view.notes)
    tables = [] if record else [view.report]
    if record or query.titled:
        tables.append(versus_record(run, view.players))
    query.show(*tables)
