"""`ttt top`: the best players."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ttt_cli.cli.console import emit, say
from ttt_cli.cli.options import format_option, output_option, run_option, scale_option, verbosity_options

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.field import Filters
    from ttt_cli.views.rows import Rows


@click.command("top")
@click.option("--at", metavar="PERIOD", help="The period, for instance 1872; default the run's last.")
@click.option("--peak", is_flag=True, help="Instead, everyone's highest mean, with its period.")
@click.option("--years", type=click.IntRange(min=1), metavar="K", help="Instead, best means over K years.")
@click.option("--leaders", is_flag=True, help="Instead, the number ones, one row per reign.")
@click.option("--each", is_flag=True, help="With --leaders: one row per period.")
@click.option("-n", "--number", type=click.IntRange(min=0), default=20, help="So many; default 20, 0 all.")
@click.option("--min-games", type=click.FloatRange(min=0), default=0, help="Only with so many games in all.")
@click.option("--max-sd", type=click.FloatRange(min=0), help="Only skills as certain as this, points.")
@click.option(
    "--active",
    type=click.FloatRange(min=0),
    metavar="YEARS",
    help="Only with a game so many years before or less; default 2, 0: in the period itself.",
)
@click.option("--everyone", is_flag=True, help="Whoever has games before and after, too.")
@run_option
@scale_option
@format_option
@output_option
@verbosity_options
def command(
    at: str | None,
    peak: bool,
    years: int | None,
    leaders: bool,
    each: bool,
    number: int,
    min_games: float,
    max_sd: float | None,
    active: float | None,
    everyone: bool,
    run: str | None,
    scale: tuple[str, ...],
    fmt: str | None,
    out: str,
) -> None:
    """The ranking of a period, of peaks, or the number one of every period.

    p_best is the probability of being the strongest of all who count, their skills taken as independent. -n is for
    rankings; the number ones are all shown.
    """
    from ttt_cli.runs.run import open_run
    from ttt_cli.views.field import ACTIVE_YEARS, Filters

    _check(at, peak or years is not None, leaders, each, active is not None or everyone)
    if active is not None and everyone:
        raise click.UsageError("--active and --everyone are one or the other")
    window = None if everyone else ACTIVE_YEARS if active is None else active
    opened = open_run(run, scale)
    if not opened.meta.converged:
        say(f"{opened.name}: this fit had not converged, its skills may be off by more than it was asked for")
    filters = Filters(window, min_games, max_sd)
    if leaders:
        rows = _leaders(opened, filters, each)
    elif peak or years:
        rows = _peaks(opened, filters, years, number or None)
    else:
        from ttt_cli.views.top import ranking

        rows = ranking(opened, at, filters, number or None)
    emit(rows, fmt, out=out)


def _check(at: str | None, peaks: bool, leaders: bool, each: bool, activity: bool) -> None:
    if sum((at is not None, peaks, leaders)) > 1:
        raise click.UsageError("--at, --peak or --years, and --leaders: one of them")
    if each and not leaders:
        raise click.UsageError("--each goes with --leaders")
    if peaks and activity:
        raise click.UsageError("--active and --everyone go with rankings and --leaders")


def _leaders(run: Run, filters: Filters, each: bool) -> Rows:
    from ttt_cli.views.leaders import leader_rows, reign_rows

    return leader_rows(run, filters) if each else reign_rows(run, filters)


def _peaks(run: Run, filters: Filters, years: int | None, number: int | None) -> Rows:
    from ttt_cli.views.top import best_years, peaks

    return peaks(run, filters, number) if years is None else best_years(run, filters, years, number)
