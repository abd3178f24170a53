"""`ttt evidence`: how well the data support the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ttt_cli.cli.bars import progress
from ttt_cli.cli.console import NORMAL, emit, on_terminal, say, voice
from ttt_cli.cli.options import format_option, output_option, run_option, set_option, verbosity_options

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

NOT_CONVERGED = 4


@click.command("evidence")
@click.option(
    "--grid", metavar="AXES", help="A grid: beta,tau (the paper's axes) or beta=200:800:7,tau=20:200:7[:log]."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes for a grid; default what pays off.")
@set_option
@run_option
@format_option
@output_option
@verbosity_options
@click.pass_context
def command(
    context: click.Context,
    grid: str | None,
    jobs: int | None,
    overrides: tuple[str, ...],
    run: str | None,
    fmt: str | None,
    out: str,
) -> None:
    """The log-evidence of a run beside the naive model, or its surface over a grid of parameters.

    Points of a grid are kept in the run as they finish: an interrupted grid goes on where it stopped. With
    several points the one of highest evidence is marked. Exit code 4: not everything converged.
    """
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.evidence import evidence_report

    opened = open_run(run)
    if grid is None:
        if jobs is not None or overrides:
            raise click.UsageError("--jobs and -s go with --grid")
        emit(evidence_report(opened.meta), fmt, out=out)
        context.exit(0 if opened.meta.converged else NOT_CONVERGED)
    context.exit(_grid(opened, grid, overrides, jobs, fmt, out))


def _grid(
    run: Run, grid: str, overrides: tuple[str, ...], jobs: int | None, fmt: str | None, out: str
) -> int:
    from ttt_cli.cli.heatmap import print_heatmap
    from ttt_cli.evaluate.grid import evidence_grid
    from ttt_cli.views.evidence import evidence_surface

    keys, points = evidence_grid(run, grid, overrides, jobs=jobs, progress=progress())
    surface = evidence_surface(keys, points)
    if fmt is None and out == "-" and on_terminal() and len(keys) == 2:
        print_heatmap(surface)
    else:
        emit(surface.rows, fmt, out=out)
        best = ", ".join(f"{key} {value:g}" for key, value in zip(keys, surface.best, strict=True))
        say(f"best of {len(points):,} points: {best}", level=NORMAL)
    missed = sum(not point.converged for point in points)
    if missed:
        say(f"{missed:,} of {len(points):,} points did not converge", level=voice.level)
    return NOT_CONVERGED if missed else 0
