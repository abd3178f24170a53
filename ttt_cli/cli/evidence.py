"""`ttt evidence`: how well the data support the parameters."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

import click

from ttt_cli.cli import options
from ttt_cli.cli.bars import progress
from ttt_cli.cli.messages import say

if TYPE_CHECKING:
    from rich.table import Table

    from ttt_cli.views.evidence import Surface

_DARK: Final = 6  # shades from here on take white letters
_LEAST_CELL: Final = 6  # columns
_UNLIMITED: Final = 10_000


@click.command("evidence")
@click.option(
    "--grid",
    metavar="AXES",
    help="Compute a grid: beta,tau (the paper's axes) or beta=200:800:7,tau=20:200:7[:log].",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes for a grid; by default chosen by the work.",
)
@click.option(
    "--scores", is_flag=True, help="Also score predictions of each period from earlier ones only."
)
@click.option(
    "--from", "since", metavar="PERIOD", help="The first period to score; default the run's first."
)
@click.option("--every", type=click.IntRange(min=1), help="Refit every N periods; default 1.")
@click.option(
    "--terms",
    is_flag=True,
    help="Show what each term is worth: the nats that the log-evidence loses without it.",
)
@options.cluster_option
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
    terms: bool,
    overrides: tuple[str, ...],
) -> int:
    """Compare the log-evidence of a run with that of the naive model, or compute it over a grid of parameters.

    The report includes the leave-one-out score, and with --scores the prequential ones (docs/evidence.md). Finished
    points of a grid are stored, so an interrupted grid can be continued. Exit code 4: some fits did not converge.
    """
    options.refuse(
        (
            "--from and --every go with --scores",
            not scores and (since is not None or every is not None),
        ),
        ("--scores and --grid do not go together", scores and grid is not None),
        ("--terms goes without --scores and --grid", terms and (scores or grid is not None)),
        (
            "--jobs, --cluster and -s go with --grid",
            grid is None and (jobs is not None or overrides),
        ),
    )
    run = query.open(titled=grid is None)
    from rich.console import Console

    from ttt_cli.views.evidence import computed_surface, evidence_report, surface_rows, term_rows

    if terms:
        from ttt_cli.evaluate.terms import worth_of_terms

        worths = worth_of_terms(run, progress=progress())
        query.show(term_rows(run.meta, worths))
        return 0 if all(worth.converged for worth in worths) else options.NOT_CONVERGED
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
        best = f"the best of {len(surface.points):,}: {surface.best_words}"
        say(best, *surface.remarks, *run.points_remarks())
        return options.NOT_CONVERGED if surface.missed else 0

    forecast = None
    if scores:
        from ttt_cli.evaluate.forecast import predict_run

        forecast = predict_run(run, since, every or 1, progress=progress())
    query.show(evidence_report(run.meta, forecast))
    return (
        0
        if run.meta.converged and (forecast is None or forecast.converged)
        else options.NOT_CONVERGED
    )


def surface_map(surface: Surface) -> Table | None:
    """The nats that points of two axes are below the best, brighter where the evidence is higher; else None."""
    from rich.table import Table
    from rich.text import Text

    from ttt_cli.views.evidence import DROPS, SHADES

    if len(surface.keys) != 2:
        return None
    (down, across) = surface.keys
    (rows, columns) = surface.ticks
    title = f"Nats below {surface.points[surface.best].log_evidence:.3f}"
    table = Table(box=None, padding=0, title=title, title_justify="left", title_style="bold")
    for name in (f"{down} \\ {across} ", *(f"{column:g} " for column in columns)):
        table.add_column(name, justify="right", no_wrap=True, min_width=_LEAST_CELL)
    for row in rows:
        cells = [Text(f"{row:g} ")]
        for column in columns:
            drop = surface.drop((row, column))
            digits = 1 if drop < 10 else 0
            number = "best" if (row, column) == surface.best else f"{drop:,.{digits}f}"
            mark = "" if surface.points[row, column].converged else "!"
            shade = bisect_left(DROPS, drop)
            letters = "black" if shade < _DARK else "white"
            cells.append(Text(f"{number}{mark} ", f"{letters} on {SHADES[shade]}"))
        table.add_row(*cells)
    return table
