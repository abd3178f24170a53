"""`ttt player`: one player's history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.asked import asked_run
from ttt_cli.cli.options import format_option, output_option, run_option, scale_option, verbosity_options
from ttt_cli.cli.terminal.console import emit, is_titled, on_terminal, printable, say, width
from ttt_cli.cli.terminal.figures import figure_format, save_figure

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.players.player import PlayerView


@click.command("player")
@click.argument("name", nargs=-1, required=True)
@click.option("--record", is_flag=True, help="Instead, wins, draws and losses by period and colour.")
@click.option("--upsets", is_flag=True, help="Instead, the wins that were less likely than not.")
@click.option(
    "--plot", "plot", metavar="FILE", help="Draw the history too: png, svg, pdf or html by its name."
)
@run_option
@scale_option
@format_option
@output_option
@verbosity_options
def command(
    name: tuple[str, ...],
    record: bool,
    upsets: bool,
    plot: str | None,
    run: str | None,
    scale: tuple[str, ...],
    fmt: str | None,
    out: str,
) -> None:
    """One player's skill, period by period, with its uncertainty.

    NAME is the name as in the data, the surname, or words and initials of the name, accents and case aside:
    `ttt player morphy`, `ttt player "Morphy, P"`. Periods without games have games 0. Tables are followed by
    the record, the biggest upsets and, on a terminal, a chart.
    """
    from ttt_cli.views.formats import speaks_unicode
    from ttt_cli.views.players.player import player_games, player_view

    if record and upsets:
        raise click.UsageError("--record and --upsets are one or the other")
    if plot == "-" and out == "-":
        raise click.UsageError("--plot needs a file: the history goes to standard output")
    plot_format = figure_format(plot) if plot else ""
    opened = asked_run(run, scale, titled=is_titled(fmt, out))
    room = max(width() - len("rating 2000  2000 points "), 10)
    view = player_view(opened, " ".join(name), width=room, ascii_only=not speaks_unicode(sys.stdout))
    if view.note:
        say(view.note)
    if not opened.meta.converged:
        say(f"{opened.name}: this fit had not converged, its skills may be off by more than it was asked for")
    if plot:
        _draw(opened, view.player, plot, plot_format)
    as_table = is_titled(fmt, out)
    if record or upsets:
        games = player_games(opened, view.player)
        tabled = games.short_record if as_table else games.record
        emit(tabled if record else games.upsets, fmt, out=out)
        return
    emit(view.rows, fmt, out=out)
    if as_table:
        _show_more(opened, view)


def _draw(run: Run, player: str, out: str, fmt: str) -> None:
    from ttt_cli.views.charts.figure import make_figure

    save_figure(make_figure(run, "skills", [player]), out, fmt)


def _show_more(run: Run, view: PlayerView) -> None:
    from ttt_cli.views.formats import speaks_unicode
    from ttt_cli.views.players.player import player_chart, player_games

    games = player_games(run, view.player)
    for rows in (games.short_record, games.short_upsets):
        if rows.rows:
            click.echo()
            emit(rows, "table")
    if on_terminal():
        lines = player_chart(view.rows, width=width(), ascii_only=not speaks_unicode(sys.stdout))
        click.echo("".join(f"\n{printable(line)}" for line in lines))
