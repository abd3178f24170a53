"""`ttt tournament`: the odds of a tournament."""

import click

from ttt_cli.cli.messages import say
from ttt_cli.cli.options import RunQuery, query_options, refuse
from ttt_cli.cli.output import figure_format, save_figure


@click.command("tournament")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--kind",
    type=click.Choice(("round-robin", "double", "knockout", "swiss", "match")),
    default="round-robin",
    show_default=True,
    help="Who meets whom.",
)
@click.option(
    "--games",
    type=click.IntRange(1, 500),
    metavar="N",
    help="Games of a pair; default 1, 2 in double and knockout, 12 in a match.",
)
@click.option("--rounds", type=click.IntRange(1, 100), metavar="N", help="Rounds of a swiss.")
@click.option(
    "--at",
    metavar="PERIOD",
    help="The period of all skills, or peak; default their last common one.",
)
@click.option(
    "--samples",
    type=click.IntRange(100, 1_000_000),
    default=40_000,
    show_default=True,
    help="So many tournaments are played.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the samples."
)
@click.option(
    "--plot", metavar="FILE", help="Also draw the odds: png, svg, pdf or html by its name."
)
@query_options
def command(
    query: RunQuery,
    names: tuple[str, ...],
    kind: str,
    games: int | None,
    rounds: int | None,
    at: str | None,
    samples: int,
    seed: int,
    plot: str | None,
) -> None:  # fmt: skip
    """Show the odds of a tournament: the probability of every place for each player.

    NAME is a player, several with semicolons between, or a file with a name in each line. The tournament is played
    many times with skills drawn from what the run knows of all players together. In a knockout neighbours in the list
    meet first.
    """
    from ttt_cli.views.tournament import TournamentPlan, tournament_rows

    refuse(
        ("--plot needs a file: the odds go to standard output", plot == "-" and query.out == "-")
    )
    plot_format = figure_format(plot) if plot else ""
    run = query.open()
    plan = TournamentPlan(kind, games, rounds)
    odds = tournament_rows(run, names, plan, at=at, samples=samples, seed=seed)
    say(*odds.notes)
    if plot:
        from ttt_cli.views.figures.tournament import draw_tournament

        save_figure(draw_tournament(odds.rows), plot, plot_format)
    query.show(odds.rows)
