"""`ttt compare`: rating systems side by side on the same games."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.line.where import cluster_option
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import QUIET, say, write

if TYPE_CHECKING:
    from ttt_cli.evaluate.forecast.compare import System
    from ttt_cli.evaluate.forecast.results import By


@click.command("compare")
@click.argument("configs", metavar="CONFIG...", nargs=-1, required=True)
@click.option(
    "--games", "files", metavar="FILE", multiple=True, help="Games to read, instead of a run's; repeatable."
)
@click.option(
    "--test-from", "since", metavar="YEAR", help="The first period to predict; default the later half."
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    help="Refit smoothed systems after so many periods; default 1, on large data more (and reported).",
)
@click.option("--tune", is_flag=True, help="Tune every system on the games before the test.")
@click.option(
    "--tune-by",
    type=click.Choice(["score", "evidence"]),
    help="Tune by what is predicted (default), or by the evidence where a system has one.",
)
@click.option(
    "--tune-from", metavar="YEAR", help="The first period predicted in tuning; default the later half."
)
@click.option("--evaluations", type=click.IntRange(min=10), help="Sets of parameters to try; default 100.")
@click.option(
    "--tuned-to", metavar="FOLDER", help="Write the tuned configs there, NAME.yaml, each as it is found."
)
@click.option(
    "--by", "bys", type=click.Choice(["decade", "experience"]), multiple=True, help="Also group by group."
)
@click.option("--calibration", is_flag=True, help="Also expected scores beside the scores made.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; default what pays off.")
@cluster_option
@options.set_option
@options.asking_in_points
def command(
    asked: options.Asked,
    configs: tuple[str, ...],
    files: tuple[str, ...],
    since: str | None,
    every: int | None,
    tune: bool,
    tune_by: str | None,
    tune_from: str | None,
    evaluations: int | None,
    tuned_to: str | None,
    bys: tuple[By, ...],
    calibration: bool,
    jobs: int | None,
    overrides: tuple[str, ...],
) -> int:
    """Let the rating system of each CONFIG predict the same games, and score them (docs/compare.md).

    CONFIG is a path or the name of a shipped config; `all` is every shipped one. Each period is predicted from the
    games of earlier periods only, then learned. The best system stands first; the others show how much higher their
    log-loss is, with the standard error of that. A system that cannot take the games, or whose process dies, is lost;
    the others go on. An interrupt shows those that are done. Exit code 4: some fits did not converge, or a system was
    lost.
    """
    chosen = {"by": tune_by, "since": tune_from, "evaluations": evaluations}
    given = {key: value for key, value in chosen.items() if value is not None}
    if not tune and (given or tuned_to is not None):
        raise click.UsageError("--tune-by, --tune-from, --evaluations and --tuned-to go with --tune")
    if files and asked.run is not None:
        raise click.UsageError("games come from --games or from -r, not from both")
    from ttt_cli.evaluate.forecast.compare import TuneOptions, compare
    from ttt_cli.evaluate.forecast.systems import read_systems, timeline_of_files, timeline_of_run
    from ttt_cli.views.evidence.compare import note_lines, shown_rows, tuning_lines

    systems = read_systems(configs, overrides)
    folder = None if tuned_to is None else _folder(tuned_to)
    if files:
        timeline = timeline_of_files(files, systems, progress=progress())
    else:
        timeline = timeline_of_run(asked.open(titled=False), overrides)
    say(*timeline.notes)
    tuning = TuneOptions(**given) if tune else None  # type: ignore[arg-type]
    found = compare(
        timeline, systems, since, every, tuning=tuning, jobs=jobs, progress=progress(),
        on_tuned=partial(_write, folder),
    )  # fmt: skip
    say(*tuning_lines(found))
    say(*note_lines(found), level=QUIET)
    asked.show(*shown_rows(found, bys, calibration, apart=asked.titled))
    if folder:
        say(f"tuned configs written to {folder}")
    if found.interrupted:
        raise KeyboardInterrupt
    return 0 if found.whole else options.NOT_CONVERGED


def _folder(place: str) -> Path:
    """The folder for tuned configs, made if it is not there. Raises UsageError, before the work begins."""
    folder = Path(place)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{place} cannot be used: {error.strerror or error}") from error
    return folder


def _write(folder: Path | None, system: System, begin: str) -> None:
    """Write a tuned config at once: what is found so far survives an interrupt."""
    from ttt_cli.views.evidence.compare import tuned_config

    if folder is not None:
        name, text = tuned_config(system, begin)
        write(text, str(folder / name))
