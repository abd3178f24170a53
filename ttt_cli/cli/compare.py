"""`ttt compare`: rating systems side by side on the same games."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import QUIET, say
from ttt_cli.cli.output import check_output_path, write
from ttt_cli.support.outputs import CONFIG

if TYPE_CHECKING:
    from ttt_cli.evaluate.compare import By
    from ttt_cli.systems.resolve import Resolved


@click.command("compare")
@click.argument("configs", metavar="CONFIG...", nargs=-1, required=True)
@click.option(
    "--games",
    "files",
    metavar="FILE",
    multiple=True,
    help="Read these games instead of a run's; repeatable.",
)
@click.option(
    "--from",
    "since",
    metavar="PERIOD",
    help="The first period to predict; default: predict the later half of the games.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    help="Refit smoothed systems every N periods; default 1, more for large data (reported).",
)
@click.option("--tune", is_flag=True, help="Tune every system on the games before --from.")
@click.option(
    "--tune-by",
    type=click.Choice(["score", "evidence"]),
    help="Tune by predictive score (default), or by evidence if a system has one.",
)
@click.option(
    "--tune-from",
    metavar="PERIOD",
    help="The first period to predict while tuning; default: the later half of these games.",
)
@click.option(
    "--evaluations", type=click.IntRange(min=10), help="Sets of parameters to try; default 100."
)
@click.option(
    "--tuned-to", metavar="FOLDER", help="Write each tuned config to this folder as NAME.yaml."
)
@click.option(
    "--by",
    "bys",
    type=click.Choice(["decade", "experience"]),
    multiple=True,
    help="Also show scores by group.",
)
@click.option("--calibration", is_flag=True, help="Also show expected against actual scores.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Number of processes; by default chosen by the amount of work.",
)
@options.cluster_option
@options.set_option
@options.query_options_in_points
def command(
    query: options.RunQuery,
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
    """Let the rating system of each CONFIG predict the same games, and score the predictions (docs/compare.md).

    CONFIG is a path or a shipped config; `all` means all shipped ones. Each period is predicted from the games
    of earlier periods only. The best system comes first; `behind` is the difference in log-loss from it, with a
    standard error. If a system fails, the others continue, and the exit code is 4, as for fits that did not
    converge. After Ctrl-C the finished systems are shown.
    """
    chosen = {"by": tune_by, "since": tune_from, "evaluations": evaluations}
    tune_options = {key: value for key, value in chosen.items() if value is not None}
    if not tune and (tune_options or tuned_to is not None):
        raise click.UsageError(
            "--tune-by, --tune-from, --evaluations and --tuned-to go with --tune"
        )
    if files and query.run is not None:
        raise click.UsageError("games come from --games or from -r, not from both")
    from ttt_cli.evaluate.compare import (
        TuneOptions,
        compare,
        games_of_files,
        games_of_run,
        read_systems,
    )
    from ttt_cli.systems.resolve import for_sides
    from ttt_cli.views.compare import note_lines, shown_rows, tuned_config, tuned_name, tuning_lines

    systems = read_systems(configs, overrides)
    folder = None if tuned_to is None else Path(tuned_to)
    if folder:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"{folder} cannot be used: {error.strerror or error}") from error
        for system in systems:
            check_output_path(str(folder / tuned_name(system)), CONFIG)

    def keep(system: Resolved, begin: str) -> None:
        """Write a tuned config at once: what is found so far survives an interrupt."""
        if folder:
            write(tuned_config(system, begin), str(folder / tuned_name(system)), CONFIG)

    if files:
        games = games_of_files(files, systems, progress=progress())
    else:
        games = games_of_run(query.open(titled=False), overrides)
    systems = [for_sides(system, home=games.home) for system in systems]
    timeline = games.timeline
    say(*timeline.notes)
    tuning = TuneOptions(**tune_options) if tune else None  # type: ignore[arg-type]
    comparison = compare(
        timeline, systems, since, every, tuning=tuning, jobs=jobs, progress=progress(), on_tuned=keep
    )  # fmt: skip
    say(*tuning_lines(comparison))
    say(*note_lines(comparison), level=QUIET)
    query.show(*shown_rows(comparison, bys, calibration, separate=query.titled))
    if folder:
        say(f"tuned configs written to {folder}")
    if comparison.interrupted:
        raise KeyboardInterrupt
    return 0 if comparison.whole else options.NOT_CONVERGED
