"""`ttt top`: the best players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ttt_cli.cli.options import Asked, asking_options, eligible_options

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.views.rankings.eligible import Eligible
    from ttt_cli.views.rows import Rows


@click.command("top")
@click.option("--at", metavar="PERIOD", help="The period, for instance 1872; default the run's last.")
@click.option("--peak", is_flag=True, help="Instead, everyone's highest mean, with its period.")
@click.option("--years", type=click.IntRange(min=1), metavar="K", help="Instead, best means over K years.")
@click.option("--leaders", is_flag=True, help="Instead, the number ones, one row per reign.")
@click.option("--each", is_flag=True, help="With --leaders: one row per period.")
@click.option("-n", "--number", type=click.IntRange(min=0), default=20, help="So many; default 20, 0 all.")
@eligible_options
@asking_options
def command(
    asked: Asked,
    at: str | None,
    peak: bool,
    years: int | None,
    leaders: bool,
    each: bool,
    number: int,
    limits: dict[str, Any],
) -> None:
    """The ranking of a period, of peaks, or the number one of every period.

    p_best is the probability of being the strongest of all who are eligible, their skills taken as independent. -n is
    for rankings; the number ones are all shown. In a run where fewer than ten players keep to the default limits of
    games, opponents and sd, nobody is held to them.
    """
    from ttt_cli.views.rankings.eligible import eligible

    _check(at, peak or years is not None, leaders, each, limits["active"] is not None)
    with asked.open() as run:
        chosen = eligible(run, **limits)
        if leaders:
            rows = _leaders(run, chosen, each)
        elif peak or years:
            rows = _peaks(run, chosen, years, number or None)
        else:
            from ttt_cli.views.rankings.top import ranking

            rows = ranking(run, at, chosen, number or None)
    asked.show(rows)


def _check(at: str | None, peaks: bool, leaders: bool, each: bool, activity: bool) -> None:
    if sum((at is not None, peaks, leaders)) > 1:
        raise click.UsageError("--at, --peak or --years, and --leaders: one of them")
    if each and not leaders:
        raise click.UsageError("--each goes with --leaders")
    if peaks and activity:
        raise click.UsageError("--active goes with rankings and --leaders")


def _leaders(run: Run, limits: Eligible, each: bool) -> Rows:
    from ttt_cli.views.rankings.leaders import leader_rows, reign_rows

    return leader_rows(run, limits) if each else reign_rows(run, limits)


def _peaks(run: Run, limits: Eligible, years: int | None, number: int | None) -> Rows:
    from ttt_cli.views.rankings.top import best_years, peaks

    return peaks(run, limits, number) if years is None else best_years(run, limits, years, number)
