"""`ttt versus`: players against each other."""

import click

from ttt_cli.cli.messages import say
from ttt_cli.cli.options import RunQuery, query_options_by_category, refuse, years_options

MORE = "more: --record (their games by period and side), --each (who was ahead when), --games N (a match)"


@click.command("versus")
@click.argument("a")
@click.argument("b")
@click.argument("more", nargs=-1, metavar="[NAME]...")
@click.option(
    "--at", metavar="PERIOD", help="A's period, or peak; also the others' without --at-b."
)
@click.option("--at-b", metavar="PERIOD", help="B's period, or peak.")
@click.option("--games", type=click.IntRange(1, 500), metavar="N", help="Also a match of N games.")
@click.option(
    "--with",
    "conditions",
    metavar="NAME=VALUE",
    multiple=True,
    help="A covariate of the game: A's value minus B's, A:B, or the category of the game; repeatable.",
)
@click.option(
    "--record", is_flag=True, help="Show the record of their games by period and side instead."
)
@click.option(
    "--each",
    is_flag=True,
    help="Show who was ahead in each common period, and how probably, instead.",
)
@click.option(
    "--places",
    is_flag=True,
    help="Show in which place each would finish in one game of all instead.",
)
@years_options("periods of --each")
@query_options_by_category
def command(
    query: RunQuery,
    a: str,
    b: str,
    more: tuple[str, ...],
    at: str | None,
    at_b: str | None,
    games: int | None,
    conditions: tuple[str, ...],
    record: bool,
    each: bool,
    places: bool,
    since: int | None,
    until: int | None,
) -> None:
    """Show who would win a game between A and B, and the record of their games.

    `ttt versus morphy fischer --at 1859 --at-b 1972`. Without periods: each at the peak. All probabilities are A's.
    `stronger` is the probability of the higher skill. Outcomes are averaged over both sides unless a key names a side
    (white, black, or home, away) or neutral. Of three or more players: for every pair the probability that the player
    of the row is stronger, or with --places the probabilities of all places in a race in their last common period. A
    table on a terminal shows A and B beside each other; -f csv has all keys.
    """
    of_a_game = at_b is not None or games is not None or bool(conditions) or record
    refuse(
        ("--at-b, --games, --with and --record are of two players", more and of_a_game),
        ("--each is of two players", more and each),
        ("--places takes no option but --at", places and (of_a_game or each)),
        (
            "--each has all common periods: --from and --to limit them",
            each and (at is not None or of_a_game),
        ),
        ("--from and --to go with --each", not each and (since is not None or until is not None)),
    )
    run = query.open()
    if places:
        from ttt_cli.views.places import place_rows

        of_places = place_rows(run, [a, b, *more], at)
        say(*of_places.notes)
        query.show(of_places.rows)
        return
    if more:
        from ttt_cli.views.superiority import superiority_of_names

        of_pairs = superiority_of_names(run, [a, b, *more], at, numbered=query.titled)
        say(*of_pairs.notes)
        query.show(of_pairs.rows)
        return
    if each:
        from ttt_cli.views.lead_history import lead_rows

        query.show(lead_rows(run, a, b, since, until))
        return
    from ttt_cli.views.versus import side_by_side, versus_record, versus_view

    view = versus_view(run, a, b, at=at, at_b=at_b, games=games, conditions=conditions)
    if record:
        query.show(versus_record(run, view.players, short=query.titled))
        view = view._replace(notes=view.notes_on_names)
    elif query.titled:
        query.show(side_by_side(run, view.report))
        view = view._replace(notes=(*view.notes, MORE))
    else:
        query.show(view.report)
    say(*view.notes)
