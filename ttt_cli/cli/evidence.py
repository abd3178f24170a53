"""`ttt evidence`: how well the data support the parameters."""

from typing import Final

import click

from ttt_cli.cli import options
from ttt_cli.cli.console import progress, say
from ttt_cli.cli.options import cluster_option

_UNLIMITED: Final = 10_000  # columns


@click.command("evidence")
@click.option(
    "--grid",
    metavar="AXES",
    help="Compute a grid: beta,tau (the paper's axes) or beta=200:800:7,tau=20:200:7[:log].",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes for a grid; by default chosen by the work."
)
@click.option("--scores", is_flag=True, help="Also score predictions of each period from earlier ones only.")
@click.option("--from", "since", metavar="PERIOD", help="The first period to score; default the run's first.")
@click.option("--every", type=click.IntRange(min=1), help="Refit every N periods; default 1.")
@cluster_option
@options.set_option
@options.waiting_option
@options.query_options_in_points
def command(
    query: options.RunQuery,
    grid: str | None,
    jobs: int | None,
    scores: bool,
    since: str | None,
    every: int | None,
    overrides: tuple[str, ...],
) -> int:
    """Compare the log-evidence of a run with that of the naive model, or compute it over a grid of parameters.

    The report includes the leave-one-out score, and with --scores the prequential ones (docs/evidence.md). Finished
    points of a grid are stored, so an interrupted grid can be continued. Exit code 4: some fits did not converge.
    """
    options.refuse(
        ("--from and --every go with --scores", not scores and (since is not None or every is not None)),
        ("--scores and --grid do not go together", scores and grid is not None),
        ("--jobs, --cluster and -s go with --grid", grid is None and (jobs is not None or overrides)),
    )
    run = query.open(titled=False)
    from rich.console import Console

    from ttt_cli.views.evidence import computed_surface, evidence_report, surface_map, surface_rows

    if grid is not None:
        try:
            surface = computed_surface(run, grid, overrides, jobs, progress())
        except KeyboardInterrupt:
            say(f"{run.name} keeps the finished points; the same command continues from there")
            raise
        drawn = surface_map(surface) if query.titled and query.fmt is None else None
        console = Console(highlight=False)
        unlimited = console.options.update_width(_UNLIMITED)
        if drawn and console.measure(drawn, options=unlimited).maximum <= console.width:
            console.print(drawn)
        else:
            query.show(surface_rows(surface))
        say(f"the best of {len(surface.points):,}: {surface.best_words}", *surface.remarks)
        return options.NOT_CONVERGED if surface.missed else 0

    found = None
    if scores:
        from ttt_cli.evaluate.forecast import predict_run

        found = predict_run(run, since, every or 1, progress=progress())
    query.show(evidence_report(run.meta, found))
    return 0 if run.meta.converged and (found is None or found.converged) else options.NOT_CONVERGED
