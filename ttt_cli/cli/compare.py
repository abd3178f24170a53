"""`ttt compare`: rating systems side by side on the same games."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ttt_cli.cli.asked import asked_run
from ttt_cli.cli.options import format_option, output_option, run_option, set_option, verbosity_options
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import QUIET, emit, on_terminal, say

if TYPE_CHECKING:
    from ttt_cli.evaluate.forecast.compare import Comparison, System, TuneOptions
    from ttt_cli.evaluate.forecast.grouping import By
    from ttt_cli.timeline import Timeline

NOT_WHOLE = 4


@click.command("compare")
@click.argument("configs", metavar="CONFIG...", nargs=-1, required=True)
@run_option
@click.option(
    "--games", "files", metavar="FILE", multiple=True, help="Games to read, instead of a run's; repeatable."
)
@click.option(
    "--test-from", "since", metavar="YEAR", help="The first period to foresee; default the later half."
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    help="Fit smoothed systems anew after so many periods; default 1, on large data more (told).",
)
@click.option("--tune", is_flag=True, help="Tune every system on the games before the test.")
@click.option(
    "--tune-by",
    type=click.Choice(["score", "evidence"]),
    help="Tune by what is foreseen (default), or by the evidence where a system has one.",
)
@click.option(
    "--tune-from", metavar="YEAR", help="The first period foreseen in tuning; default the later half."
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
@set_option
@format_option
@output_option
@verbosity_options
@click.pass_context
def command(
    context: click.Context,
    configs: tuple[str, ...],
    run: str | None,
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
    fmt: str | None,
    out: str,
) -> None:
    """Let the rating system of each CONFIG foresee the same games, and score them (docs/compare.md).

    CONFIG is a path or the name of a shipped config; `all` is every shipped one. Each period is foreseen from the
    games of earlier periods only, then learned. The best system stands first; the others show how far behind they
    are, with the standard error of that. A system that cannot take the games, or whose process dies, is lost; the
    others go on. An interrupt shows those that are done. Exit code 4: some fits did not converge, or a system was lost.
    """
    asked = (tune_by, tune_from, evaluations, tuned_to)
    if not tune and any(option is not None for option in asked):
        raise click.UsageError("--tune-by, --tune-from, --evaluations and --tuned-to go with --tune")
    if files and run is not None:
        raise click.UsageError("games come from --games or from -r, not from both")
    from ttt_cli.evaluate.forecast.compare import compare
    from ttt_cli.evaluate.forecast.systems import read_systems

    systems = read_systems(configs, overrides)
    folder = _folder(tuned_to)
    timeline = _timeline(run, files, overrides, systems)
    say(*timeline.notes)
    tuning = _tuning(tune_by, tune_from, evaluations) if tune else None
    found = compare(
        timeline, systems, since, every, tuning=tuning, jobs=jobs, progress=progress(),
        on_tuned=partial(_write, folder),
    )  # fmt: skip
    _show(found, bys, calibration, fmt, out)
    if folder:
        say(f"tuned configs written to {folder}")
    if found.interrupted:
        raise KeyboardInterrupt
    whole = not found.lost and all(entry.converged for entry in found.entries)
    context.exit(0 if whole else NOT_WHOLE)


def _timeline(
    run: str | None, files: tuple[str, ...], overrides: tuple[str, ...], systems: list[System]
) -> Timeline:
    from ttt_cli.evaluate.forecast.systems import timeline_of_files, timeline_of_run

    if files:
        return timeline_of_files(files, systems, progress=progress())
    return timeline_of_run(asked_run(run), overrides)


def _tuning(by: str | None, since: str | None, evaluations: int | None) -> TuneOptions:
    from ttt_cli.evaluate.forecast.compare import TuneOptions

    defaults = TuneOptions()
    return TuneOptions(
        since=since,
        by="evidence" if by == "evidence" else "score",
        evaluations=evaluations or defaults.evaluations,
    )


def _show(found: Comparison, bys: tuple[By, ...], calibrated: bool, fmt: str | None, out: str) -> None:
    from ttt_cli.evaluate.forecast.results import Standings
    from ttt_cli.views.evidence.compare import (
        calibration_rows,
        group_rows,
        long_rows,
        note_lines,
        overall_rows,
        tuning_lines,
    )

    say(*tuning_lines(found))
    say(*note_lines(found), level=QUIET)
    standings = Standings(found)
    for_the_eye = out == "-" and (fmt == "table" or (fmt is None and on_terminal()))
    if (bys or calibrated) and not for_the_eye:
        emit(long_rows(standings, bys, calibrated), fmt, out=out)
        return
    emit(overall_rows(standings), fmt, out=out)
    more = [*(group_rows(standings, by) for by in bys), *([calibration_rows(standings)] * calibrated)]
    for rows in more:
        click.echo()
        emit(rows, "table")


def _folder(tuned_to: str | None) -> Path | None:
    """The folder for tuned configs, made if it is not there. Raises UsageError, before the work begins."""
    if tuned_to is None:
        return None
    folder = Path(tuned_to)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{tuned_to} cannot be used: {error.strerror or error}") from error
    return folder


def _write(folder: Path | None, system: System, begin: str) -> None:
    """Write a tuned config at once: what is found so far survives an interrupt."""
    from ttt_cli.errors import RunError
    from ttt_cli.files import replacing
    from ttt_cli.views.evidence.compare import tuned_config

    if folder is None:
        return
    name, text = tuned_config(system, begin)
    place = folder / name
    try:
        with replacing(place) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error
