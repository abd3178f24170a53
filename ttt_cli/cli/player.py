"""`ttt player`: one player's history."""

import sys

import click

from ttt_cli.cli.line.options import Asked, asking_options, refuse
from ttt_cli.cli.terminal.console import figure_format, on_terminal, save_figure, say, width
from ttt_cli.cli.terminal.streams import printable
from ttt_cli.views.rows import speaks_unicode


@click.command("player")
@click.argument("name", nargs=-1, required=True)
@click.option("--record", is_flag=True, help="Instead, wins, draws and losses by period and colour.")
@click.option("--upsets", is_flag=True, help="Instead, the wins that were less likely than not.")
@click.option(
    "--plot", "plot", metavar="FILE", help="Draw the history too: png, svg, pdf or html by its name."
)
@asking_options
def command(asked: Asked, name: tuple[str, ...], record: bool, upsets: bool, plot: str | None) -> None:
    """One player's skill, period by period, with its uncertainty.

    NAME is the name as in the data, the surname, or words and initials of the name, accents and case aside:
    `ttt player morphy`, `ttt player "Morphy, P"`. Periods without games have games 0. Tables are followed by
    the record, the biggest upsets and, on a terminal, a chart.
    """
    from ttt_cli.views.players.player import player_chart, player_games, player_view

    refuse(
        ("--record and --upsets are one or the other", record and upsets),
        ("--plot needs a file: the history goes to standard output", plot == "-" and asked.out == "-"),
    )
    plot_format = figure_format(plot) if plot else ""
    run = asked.open()
    ascii_only = not speaks_unicode(sys.stdout)
    room = max(width() - len("rating 2000  2000 points "), 10)
    view = player_view(run, " ".join(name), width=room, ascii_only=ascii_only)
    if view.note:
        say(view.note)
    if plot:
        from ttt_cli.views.charts.figure import make_figure

        save_figure(make_figure(run, "skills", [view.player]), plot, plot_format)
    if not (record or upsets or asked.titled):
        asked.show(view.rows)
        return
    games = player_games(run, view.player)
    if record:
        asked.show(games.short_record if asked.titled else games.record)
    elif upsets:
        asked.show(games.upsets)
    else:
        asked.show(view.rows, games.short_record, games.short_upsets)
        if on_terminal():
            lines = player_chart(view.rows, width=width(), ascii_only=ascii_only)
            click.echo("".join(f"\n{printable(line)}" for line in lines))
