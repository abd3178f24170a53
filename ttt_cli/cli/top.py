"""`ttt top`: the best players."""

from typing import Any

import click

from ttt_cli.cli.line.options import Asked, asking_options, eligible_options, refuse

MEASURES = ("mean", "lower", "dominance")


@click.command("top")
@click.option("--at", metavar="PERIOD", help="The period, for instance 1872; default the run's last.")
@click.option("--peak", is_flag=True, help="Instead, everyone's highest mean, with its period.")
@click.option("--years", type=click.IntRange(min=1), metavar="K", help="Instead, best means over K years.")
@click.option("--leaders", is_flag=True, help="Instead, the number ones, one row per reign.")
@click.option("--each", is_flag=True, help="With --leaders: one row per period.")
@click.option("-n", "--number", type=click.IntRange(min=0), default=20, help="So many; default 20, 0 all.")
@click.option(
    "--by",
    type=click.Choice(MEASURES),
    default="mean",
    show_default=True,
    help="Rank by the mean, by the mean less two sds, or by the lead over the ten best others.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the samples that p_best is found by; default 1.")
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
    by: str,
    seed: int | None,
    limits: dict[str, Any],
) -> None:
    """The ranking of a period, of peaks, or the number one of every period.

    p_best is the probability of being the strongest of all who are eligible, by samples of the joint posterior where
    the run has one, else their skills taken as independent. -n is for rankings; the number ones are all shown. In a run
    where fewer than ten players keep to the default limits of games, opponents and sd, nobody is held to them.
    """
    from ttt_cli.views.rankings import leaders as number_ones
    from ttt_cli.views.rankings import top
    from ttt_cli.views.rankings.eligible import eligible

    peaks = peak or years is not None
    refuse(
        ("--at, --peak or --years, and --leaders: one of them", sum((at is not None, peaks, leaders)) > 1),
        ("--each goes with --leaders", each and not leaders),
        (
            "--active goes with rankings and --leaders",
            peaks and by != "dominance" and limits["active"] is not None,
        ),
        ("--seed goes with rankings and --leaders", peaks and seed is not None),
        (f"--by {by} goes with rankings and --peak", by != "mean" and (leaders or years)),
    )
    sampled, some = top.SEED if seed is None else seed, number or None
    with asked.open() as run:
        chosen = eligible(run, **limits)
        if leaders:
            rows = (number_ones.leader_rows if each else number_ones.reign_rows)(run, chosen, sampled)
        elif years:
            rows = top.best_years(run, chosen, years, some)
        elif peak and by == "mean":
            rows = top.peaks(run, chosen, some)
        elif peak:
            from ttt_cli.views.rankings import peaks_by

            rows = (peaks_by.safest_peaks if by == "lower" else peaks_by.most_dominant)(run, chosen, some)
        else:
            rows = top.ranking(run, at, chosen, some, sampled, by)
    asked.show(rows)
