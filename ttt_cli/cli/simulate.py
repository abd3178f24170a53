"""`ttt simulate`: an artificial history with known skills."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ttt_cli.cli.line.options import Command, verbosity_options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import say
from ttt_cli.evaluate.simulate.plan import Plan


def _plan_options(command: Command) -> Command:
    """An option for every key of the plan."""
    for one in reversed(fields(Plan)):
        choices = one.metadata["choices"]
        kind = click.Choice(choices) if choices else int if type(one.default) is int else float
        command = click.option(
            f"--{one.name.replace('_', '-')}",
            type=kind,
            default=one.default,
            show_default=one.default is not None,
            help=one.metadata["description"],
        )(command)
    return command


@click.command("simulate")
@_plan_options
@click.option(
    "-o", "--output", default="games.csv", show_default=True, help="CSV, or PGN by its name; - stdout."
)
@click.option(
    "--truth", type=Path, help="The true skills as CSV.  [default: NAME.skills.csv beside the output]"
)
@click.option(
    "--truth-years",
    type=Path,
    help="Draw margin and newcomers' mean of each year as CSV.  [default: NAME.years.csv beside the output]",
)
@click.option(
    "--movetext",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Bytes of moves in a PGN game.",
)
@verbosity_options
def command(output: str, truth: Path | None, truth_years: Path | None, movetext: int, **options: Any) -> None:
    """Write an artificial history drawn from the TTT model, and the truth beside it.

    Careers, draw margins that move and a mean of newcomers that does are off by default, and who meets whom does not
    depend on skill, so that a fit of the games can be judged by the truth.
    """
    from ttt_cli.evaluate.simulate.files import check_places, save
    from ttt_cli.evaluate.simulate.simulate import simulate

    plan = Plan(**options)
    games = sys.stdout.buffer if output == "-" else Path(output)
    if isinstance(games, Path) and (games.is_file() or not games.exists()):
        truth = truth or games.with_suffix(".skills.csv")
        truth_years = truth_years or games.with_suffix(".years.csv")
    for standing in check_places(games, truth, truth_years, movetext=movetext):
        say(f"{standing} exists and will be replaced")
    shown = progress()
    save(simulate(plan, shown), games, truth, truth_years, movetext=movetext, progress=shown)
    written = ("stdout" if output == "-" else output, truth, truth_years)
    places = ", ".join(str(place) for place in written if place)
    say(f"{options['games']:,} games of {options['players']:,} players: {places}")
