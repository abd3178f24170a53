"""`ttt evidence`: how well the data support the parameters."""

import click

from ttt_cli.cli.line import options
from ttt_cli.cli.line.where import cluster_option
from ttt_cli.cli.terminal.bars import progress
from ttt_cli.cli.terminal.console import say


@click.command("evidence")
@click.option(
    "--grid", metavar="AXES", help="A grid: beta,tau (the paper's axes) or beta=200:800:7,tau=20:200:7[:log]."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes for a grid; default what pays off.")
@click.option(
    "--scores", is_flag=True, help="Also predict each period from earlier ones only, and score that."
)
@click.option("--from", "since", metavar="YEAR", help="The first period to score; default the run's first.")
@click.option("--every", type=click.IntRange(min=1), help="Refit after so many periods; default 1.")
@cluster_option
@options.set_option
@options.waiting_option
@options.asking_in_points
def command(
    asked: options.Asked,
    grid: str | None,
    jobs: int | None,
    scores: bool,
    since: str | None,
    every: int | None,
    overrides: tuple[str, ...],
) -> int:
    """The log-evidence of a run beside the naive model, or its surface over a grid of parameters.

    The leave-one-out score stands beside it, with --scores the prequential ones too (docs/evidence.md). On a
    terminal careers, and draw margins and newcomers that move, stand below; `ttt export` has all of them.
    Points of a grid are kept in the run as they finish: an interrupted grid goes on where it stopped. The
    point of highest evidence is marked. Exit code 4: not everything converged.
    """
    options.refuse(
        ("--from and --every go with --scores", not scores and (since is not None or every is not None)),
        ("--scores and --grid do not go together", scores and grid is not None),
        ("--jobs, --cluster and -s go with --grid", grid is None and (jobs is not None or overrides)),
    )
    if grid is not None:
        return _surface(asked, grid, overrides, jobs)
    run = asked.open(titled=False)
    from ttt_cli.views.evidence.report import scored_report
    from ttt_cli.views.run import short_tables

    report, converged = scored_report(run, scores, since, every or 1, progress())
    asked.show(report, *(short_tables(run) if asked.titled else ()))
    return 0 if converged else options.NOT_CONVERGED


def _surface(asked: options.Asked, grid: str, overrides: tuple[str, ...], jobs: int | None) -> int:
    run = asked.open(titled=False)
    from ttt_cli.cli.terminal.heatmap import draw_surface
    from ttt_cli.views.evidence.surface import computed_surface, surface_rows

    try:
        surface = computed_surface(run, grid, overrides, jobs, progress())
    except KeyboardInterrupt:
        say(f"{run.name} keeps the points that were finished: the same command goes on from there")
        raise
    if not (asked.fmt is None and asked.titled and draw_surface(surface)):
        asked.show(surface_rows(surface))
        say(f"the best of {len(surface.points):,}: {surface.best_words}")
    say(*surface.remarks)
    return options.NOT_CONVERGED if surface.missed else 0
