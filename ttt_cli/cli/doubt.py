"""`ttt doubt`: what a run would say without some of its games."""

from __future__ import annotations

from typing import Any

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.options import (
    RunQuery,
    eligible_options_without_players,
    number_option,
    query_options,
    refuse,
)


@click.command("doubt")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Leave out the games of which this is true: \"event = 'London' and year = 1851\".",
)
@click.option("--games", "file", metavar="FILE", help="Leave out the games that this file lists.")
@click.option("--source", metavar="NAME", help="Leave out the games of a source (data.source).")
@click.option(
    "--corrections", metavar="FILE", help="Apply the corrections in this file instead, and refit."
)
@click.option(
    "--leader",
    metavar="PERIOD",
    help="Find the fewest games without which another player is number one then.",
)
@click.option("--refit", is_flag=True, help="Refit the other games: exact, and for all systems.")
@click.option(
    "--kind",
    type=click.Choice(["skills", "leaders"], case_sensitive=False),
    default="skills",
    help="What would change: skills, or number ones; default skills, and both on a terminal.",
)
@click.option("--each", is_flag=True, help="One row for each period of a player.")
@number_option("rows")
@eligible_options_without_players
@query_options
def command(
    query: RunQuery,
    where: str | None,
    file: str | None,
    source: str | None,
    corrections: str | None,
    leader: str | None,
    refit: bool,
    kind: str,
    each: bool,
    number: int | None,
    limits: dict[str, Any],
) -> None:
    """Show what the run would say without some of its games.

    The games are those that meet a condition on date, year, white, black, player (either side), result, event, site,
    round, category, source or file, or those listed in a file. Without --refit skills are those of the joint posterior
    without the games: parameters, draw margins and careers stay as they are. The players whose means change most are
    first, in the period in which they do. Who may be number one is decided by all games.

    --corrections shows what a file of corrections would change (docs/corrections.md), always by a refit.

    --leader looks for the fewest games whose removal changes the number one of a period, and checks them by refits.
    """
    refuse(
        (
            "--where, --games, --source, --corrections or --leader: one of them",
            sum(option is not None for option in (where, file, source, corrections, leader)) != 1,
        ),
        (
            "--leader goes without --refit, --kind and --each",
            leader is not None and (refit or each or kind != "skills"),
        ),
        ("--each goes with skills", each and kind != "skills"),
    )
    from ttt_cli.views.doubt import DoubtedGames, corrections_view, doubt_view
    from ttt_cli.views.rankings.eligible import eligible

    run = query.open()
    eligible_players = eligible(run, **limits)
    refitting = None
    if refit or leader is not None or corrections is not None:
        from ttt_cli.fitting import refit_of

        refitting = refit_of(run, progress())
    if leader is not None and refitting is not None:
        from ttt_cli.views.fewest_removals import fewest_removal_rows

        query.show(fewest_removal_rows(run, leader, eligible_players, refitting))
        return
    if corrections is not None and refitting is not None:
        view = corrections_view(run, corrections, eligible_players, refitting, number, every=each)
    else:
        doubted = DoubtedGames(where, file, source)
        view = doubt_view(run, doubted, eligible_players, refitting, number, every=each)
    say(*view.notes)
    if kind == "leaders":
        query.show(view.leaders)
    else:
        query.show(view.skills, view.leaders)
