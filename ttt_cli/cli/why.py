"""`ttt why`: the games that move a skill most."""

import click

from ttt_cli.cli.options import RunQuery, query_options, refuse
from ttt_cli.cli.output import figure_format, save_figure
from ttt_cli.views.why_kinds import KINDS


@click.command("why")
@click.argument("player")
@click.option("--at", metavar="PERIOD", help="The period; default the player's peak.")
@click.option("--versus", metavar="NAME", help="Ask about the lead over this player instead.")
@click.option(
    "--by",
    type=click.Choice(KINDS, case_sensitive=False),
    default="game",
    help="What is left out: single games, or all with an opponent, of an event, a year or a source; default game. "
    "chain: the chains of opponents through which the skill is known.",
)
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=10, metavar="N", help="Rows; default 10."
)
@click.option(
    "--plot", metavar="FILE", help="Also draw the rows: png, svg, pdf or html by its name."
)
@query_options
def command(
    query: RunQuery,
    player: str,
    at: str | None,
    versus: str | None,
    by: str,
    number: int,
    plot: str | None,
) -> None:
    """Show which games move a player's mean skill most.

    Every row leaves games out, of the player or of others, and shows what the mean and its sd would be then: by
    the joint posterior of the run, without a refit. Parameters, draw margins and careers stay as they are. For
    single games also: White's score that all other games let expect, and the change for each other result.

    --by chain leaves nothing out: it shows whose results tie the player to contemporaries, or to the other player.
    """
    from ttt_cli.views.why import why_rows

    refuse(
        ("--plot needs a file: the rows go to standard output", plot == "-" and query.out == "-")
    )
    plot_format = figure_format(plot) if plot else ""
    run = query.open()
    rows = why_rows(run, player, at, versus, by, number)
    if plot:
        from ttt_cli.views.figures.kinds.why import why_figure

        names = [player] if versus is None else [player, versus]
        save_figure(why_figure(run, rows, by, names), plot, plot_format)
    query.show(rows)
