"""`ttt simulate`: an artificial history with known skills."""

import sys
from pathlib import Path
from typing import Any

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say
from ttt_cli.cli.options import config_option, set_option
from ttt_cli.support.errors import ConfigError, OutputError

_PLAN_PREFIX = "simulate."  # keys of the plan that have no option


@click.command("simulate")
@config_option
@set_option
@click.option("--players", type=int, help="Number of players; default 2000.")
@click.option("--games", type=int, help="Number of games; default 100,000.")
@click.option(
    "--years", metavar="RANGE", help="Such as 1850-1949 (default), or a number of years from 1850."
)
@click.option(
    "--dates", type=click.Choice(["year", "day"]), help="Precision of dates; default year."
)
@click.option("--seed", type=int, help="Random seed; default 0.")
@click.option(
    "-o", "--output", metavar="FILE", help="CSV, or PGN by its name; - stdout; default games.csv."
)
@click.option(
    "--truth",
    type=Path,
    metavar="FILE",
    help="File of the true skills, CSV; default NAME.skills.csv.",
)
def command(
    config: str | None, overrides: tuple[str, ...], years: str | None, output: str | None, truth: Path | None,
    **plan_options: Any,
) -> None:  # fmt: skip
    """Write an artificial history drawn from TrueSkill Through Time, and the true skills in a second file.

    -c and -s set the model, for instance `-c ttt-career -s model.tau=80`. Keys of `simulate` set pairings and
    growth, for instance `-s simulate.opponents_sd=250` (docs/simulation.md). By default opponents do not depend
    on skill.
    """
    from ttt_cli.config.load import read_document
    from ttt_cli.config.schema import year_range
    from ttt_cli.config.validation import validate
    from ttt_cli.evaluate.simulate import Plan, simulate
    from ttt_cli.evaluate.simulated_files import check_targets, save
    from ttt_cli.systems.resolve import resolve

    plan_overrides = [text for text in overrides if text.strip().startswith(_PLAN_PREFIX)]
    model_overrides = [text for text in overrides if text not in plan_overrides]
    resolved = resolve(read_document(config or "ttt", model_overrides))
    if resolved.config.model.name != "ttt":
        raise ConfigError(
            f"histories are drawn from the model ttt, not {resolved.config.model.name}",
            hint="-c ttt or -c ttt-career",
        )
    document = read_document(None, plan_overrides)
    if years is not None and years.isdecimal():
        plan_options["years"] = int(years)
    elif years is not None:
        try:
            first, last = year_range(years)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--years") from error
        plan_options |= {"first_year": first, "years": last - first + 1}
    for key, value in plan_options.items():
        if value is not None:
            document = document.assign(("simulate", key), value, f"--{key} {value}")
    keys = resolved.params.model_dump() | document.values.get("simulate", {})
    plan = validate(Plan, keys, document, ("simulate",))
    if output is None and Path("games.csv").exists():
        raise OutputError(
            "games.csv is there already", hint="-o games.csv replaces it if it holds games"
        )
    output = output or "games.csv"
    games = sys.stdout.buffer if output == "-" else Path(output)
    years_of_truth = plan.truth_years and Path(plan.truth_years)
    if isinstance(games, Path) and (games.is_file() or not games.exists()):
        truth = truth or games.with_suffix(".skills.csv")
        years_of_truth = years_of_truth or games.with_suffix(".years.csv")
    outputs = games, truth, years_of_truth or None
    replaced = check_targets(
        *outputs, by_category=bool(plan.offsets), of_sides=plan.players_of_game > 2
    )
    save(simulate(plan, progress()), *outputs)
    say(*(f"{path} replaced" for path in replaced))
    written = ("stdout" if output == "-" else output, *outputs[1:])
    names = ", ".join(str(name) for name in written if name)
    say(f"{plan.games:,} games of {plan.players:,} players: {names}")
