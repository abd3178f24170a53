"""`ttt player`: one player's history."""

import sys
from contextlib import suppress
from shlex import quote

import click

from ttt_cli.cli.messages import printable, say
from ttt_cli.cli.options import RunQuery, columns_option, query_options_by_category, refuse
from ttt_cli.cli.output import figure_format, save_figure
from ttt_cli.cli.streams import on_terminal, terminal_width
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.rows import speaks_unicode

SHOWN_UPSETS = 5


@click.command("player")
@click.argument("name", nargs=-1, required=True)
@click.option("--record", is_flag=True, help="Show wins, draws and losses by period and colour instead.")
@click.option("--upsets", is_flag=True, help="Show the wins with an expected score below a half instead.")
@click.option(
    "--plot", "plot", metavar="FILE", help="Also draw the history: png, svg, pdf or html by its name."
)
@columns_option
@query_options_by_category
def command(
    query: RunQuery, name: tuple[str, ...], record: bool, upsets: bool, plot: str | None, columns: list[str]
) -> None:
    """Show one player's skill and its uncertainty, period by period.

    NAME is a full name, a surname, or words and initials of the name; accents and case are ignored: `ttt player
    morphy`, `ttt player "Morphy, P"`. Periods without games have games 0. Tables are followed by the record,
    the biggest upsets and, on a terminal, a chart.
    """
    from ttt_cli.views.people import with_fields
    from ttt_cli.views.players import player_chart, player_games, player_view

    refuse(
        ("--record and --upsets exclude each other", record and upsets),
        ("--columns goes with the history", columns and (record or upsets)),
        ("--plot needs a file: the history goes to standard output", plot == "-" and query.out == "-"),
    )
    plot_format = figure_format(plot) if plot else ""
    run = query.open()
    try:
        view = player_view(run, " ".join(name))
    except LookupFailed as error:
        with suppress(LookupFailed):
            players = {run.find_player(part).player for part in name}
            if len(name) > 1 and len(players) == len(name):
                pair = " ".join(quote(part) for part in name[:2])
                error.hint = f"one player at a time; two together: `ttt versus {pair}`"
        raise
    if view.note:
        say(view.note)
    if plot:
        from ttt_cli.views.figures.figure import FigureOptions, make_figure

        save_figure(make_figure(run, "skills", FigureOptions([view.player])), plot, plot_format)
    history = with_fields(run, view.rows, columns)
    if not (record or upsets or query.titled):
        query.show(history)
        return
    most = None if record or upsets else SHOWN_UPSETS
    of_periods, won = player_games(run, view.player, short=query.titled, most=most)
    if record:
        query.show(of_periods)
    elif upsets:
        query.show(won)
    else:
        query.show(history, of_periods, won)
        if on_terminal() and speaks_unicode(sys.stdout):
            lines = player_chart(view.rows, width=terminal_width())
            click.echo("".join(f"\n{printable(line)}" for line in lines))
