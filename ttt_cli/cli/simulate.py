"""`ttt simulate`: an artificial history with known skills."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ttt_cli.cli.options import verbosity_options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import say


@click.command("simulate")
@click.option("--players", type=int, default=2000, show_default=True, help="Number of players.")
@click.option("--years", type=int, default=100, show_default=True, help="Length of the history.")
@click.option("--games", type=int, default=100_000, show_default=True, help="Number of games.")
@click.option("--first-year", type=int, default=1850, show_default=True, help="Where the history begins.")
@click.option(
    "--prior-mean", type=float, default=1200, show_default=True, help="Mean skill at first, points."
)
@click.option("--prior-sd", type=float, default=400, show_default=True, help="Its sd among players, points.")
@click.option("--beta", type=float, default=480, show_default=True, help="Sd of one performance, points.")
@click.option("--tau", type=float, default=60, show_default=True, help="Sd of the change in a year, points.")
@click.option("--draw-margin", type=float, help="A lead up to this is a draw, points; else by the next.")
@click.option(
    "--draw-probability", type=float, default=0.303, show_default=True, help="Chance between equals."
)
@click.option(
    "--white-advantage",
    type=float,
    default=0,
    show_default=True,
    help="Added to White's performance, points.",
)
@click.option("--growth", type=float, default=0.05, show_default=True, help="Of games and players, per year.")
@click.option("--career-years", type=float, default=8, show_default=True, help="Mean length of a career.")
@click.option("--circles", type=int, default=20, show_default=True, help="Groups who mostly meet each other.")
@click.option("--travel", type=float, default=0.1, show_default=True, help="Share of games against anyone.")
@click.option(
    "--dates", type=click.Choice(["year", "day"]), default="year", show_default=True, help="Given out."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Equal seeds give equal histories.")
@click.option(
    "-o", "--output", default="games.csv", show_default=True, help="CSV, or PGN by its name; - stdout."
)
@click.option(
    "--truth", type=Path, help="The true skills as CSV.  [default: NAME.skills.csv beside the output]"
)
@click.option(
    "--movetext",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Bytes of moves in a PGN game.",
)
@verbosity_options
def command(output: str, truth: Path | None, movetext: int, **options: Any) -> None:
    """Write an artificial history drawn from the TTT model, and the true skills beside it.

    Who meets whom does not depend on skill, so that a fit of the games can be judged by the truth.
    """
    from ttt_cli.evaluate.simulate.files import check_places, save
    from ttt_cli.evaluate.simulate.simulate import Plan, simulate

    plan = Plan(**options)
    games = sys.stdout.buffer if output == "-" else Path(output)
    if truth is None and isinstance(games, Path) and (games.is_file() or not games.exists()):
        truth = games.with_suffix(".skills.csv")
    for standing in check_places(games, truth, movetext=movetext):
        say(f"{standing} exists and will be replaced")
    shown = progress()
    save(simulate(plan, shown), games, truth, movetext=movetext, progress=shown)
    places = ", ".join(str(place) for place in ("stdout" if output == "-" else output, truth) if place)
    say(f"{options['games']:,} games of {options['players']:,} players: {places}")
