"""`ttt player`: one player's history."""

from __future__ import annotations

import sys
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.messages import printable, say
from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    query_options_by_category,
    refuse,
    years_options,
)
from ttt_cli.cli.output import figure_format, save_figure
from ttt_cli.cli.streams import on_terminal, terminal_width
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.rows import speaks_unicode

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.players import PlayerView

MORE = "more: --record (score and expected score), --upsets, --games, --opponents, --events, --streaks, --at PERIOD"


@click.command("player")
@click.argument("name", nargs=-1, required=True)
@click.option(
    "--record", is_flag=True, help="Show wins, draws and losses by period and colour instead."
)
@click.option(
    "--upsets", is_flag=True, help="Show the wins with an expected score below a half instead."
)
@click.option("--games", is_flag=True, help="Show every game with the expected score instead.")
@click.option(
    "--opponents", is_flag=True, help="Show score and expected score by opponent instead."
)
@click.option("--events", is_flag=True, help="Show score and performance by event instead.")
@click.option(
    "--streaks",
    is_flag=True,
    help="Show the longest series unbeaten, of wins and the like instead.",
)
@click.option("--at", metavar="PERIOD", help="Show skill, rank and score in one period instead.")
@years_options("games and periods")
@click.option(
    "--plot",
    "plot",
    metavar="FILE",
    help="Also draw the history: png, svg, pdf or html by its name.",
)
@columns_option
@query_options_by_category
def command(
    query: RunQuery,
    name: tuple[str, ...],
    record: bool,
    upsets: bool,
    games: bool,
    opponents: bool,
    events: bool,
    streaks: bool,
    at: str | None,
    since: int | None,
    until: int | None,
    plot: str | None,
    columns: list[str],
) -> None:
    """Show one player's skill and its uncertainty, period by period.

    NAME is a full name, a surname, or words and initials of the name; accents and case are ignored: `ttt player
    morphy`, `ttt player "Morphy, P"`. Periods without games have games 0. A table on a terminal has the record of
    each period, too, and a chart below.
    """
    from ttt_cli.views.people import with_fields
    from ttt_cli.views.players import player_chart, player_games, with_record

    of_book = {"games": games, "opponents": opponents, "events": events, "streaks": streaks}
    instead = record or upsets or any(of_book.values()) or at is not None
    refuse(
        (
            "--record, --upsets, --games, --opponents, --events, --streaks and --at: one of them",
            sum((record, upsets, *of_book.values(), at is not None)) > 1,
        ),
        ("--columns goes with the history", columns and instead),
        (
            "--from and --to do not go with --at",
            at is not None and (since is not None or until is not None),
        ),
        (
            "--plot needs a file: the history goes to standard output",
            plot == "-" and query.out == "-",
        ),
    )
    plot_format = figure_format(plot) if plot else ""
    run = query.open()
    view = _player_view(run, name, since, until)
    if view.note:
        say(view.note)
    if plot:
        from ttt_cli.views.figures.figure import FigureOptions, make_figure

        save_figure(make_figure(run, "skills", FigureOptions([view.player])), plot, plot_format)
    in_book = [table for table, is_chosen in of_book.items() if is_chosen]
    if in_book:
        from ttt_cli.views.player_book import book_rows

        query.show(book_rows(run, view.player, in_book[0], since, until))
        return
    if at is not None:
        from ttt_cli.views.player_book import player_at
        from ttt_cli.views.rankings.eligible import eligible

        query.show(player_at(run, view.player, at, eligible(run)))
        return
    history = with_fields(run, view.rows, columns)
    if not (record or upsets or query.titled):
        query.show(history)
        return
    if record or upsets:
        by_period, won = player_games(
            run, view.player, short=query.titled, since=since, until=until
        )
        query.show(by_period if record else won)
        return
    query.show(with_record(run, view.player, history))
    if on_terminal():
        if speaks_unicode(sys.stdout):
            lines = player_chart(view.rows, width=terminal_width())
            click.echo("".join(f"\n{printable(line)}" for line in lines))
        say(MORE)


def _player_view(
    run: Run, name: tuple[str, ...], since: int | None, until: int | None
) -> PlayerView:
    """The history of a player by the words of the name. Raises LookupFailed, with a hint where they are two players."""
    from ttt_cli.views.players import player_view

    try:
        return player_view(run, " ".join(name), since, until)
    except LookupFailed as error:
        with suppress(LookupFailed):
            players = {run.find_player(part).player for part in name}
            if len(name) > 1 and len(players) == len(name):
                pair = " ".join(quote(part) for part in name[:2])
                error.hint = f"one player at a time; two together: `ttt versus {pair}`"
        raise
