"""`ttt top`: the best players."""

from typing import Any

import click

from ttt_cli.cli.options import (
    RunQuery,
    columns_option,
    eligible_options,
    number_option,
    query_options_by_category,
    refuse,
)


@click.command("top")
@click.option(
    "--at", metavar="PERIOD", help="The period, for instance 1872; default the run's last."
)
@click.option("--peak", is_flag=True, help="Rank by each player's highest mean instead.")
@click.option(
    "--peak-games",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --peak: only periods with at least N games of the player.",
)
@click.option(
    "--years",
    type=click.IntRange(min=1),
    metavar="K",
    help="Rank by the best mean over K consecutive years instead.",
)
@click.option("--leaders", is_flag=True, help="List the number ones instead, one row per reign.")
@click.option(
    "--matrix",
    is_flag=True,
    help="Show instead for every pair the probability that the row is stronger.",
)
@click.option("--each", is_flag=True, help="With --leaders: one row per period.")
@number_option("players")
@click.option(
    "--by",
    type=click.Choice(("mean", "lower", "dominance")),
    default="mean",
    show_default=True,
    help="Rank by mean, by mean - 2 sd, or by the lead over the ten best others.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the samples for p_best; default 1."
)
@eligible_options
@columns_option
@query_options_by_category
def command(
    query: RunQuery,
    at: str | None,
    peak: bool,
    peak_games: int | None,
    years: int | None,
    leaders: bool,
    matrix: bool,
    each: bool,
    number: int | None,
    by: str,
    seed: int | None,
    limits: dict[str, Any],
    columns: list[str],
) -> None:
    """Rank the players of a period or by their peaks, or list the number one of every period.

    p_best is the probability that a player is the strongest of all eligible players. It is estimated from samples
    of the joint posterior if the run has one, else skills are taken as independent. So is the 95 % interval of each
    rank, rank_low to rank_high. -n limits rankings, not the list of number ones.
    If fewer than ten players of the whole run ever meet the default limits of games, opponents and sd, these
    limits are ignored.
    """
    from ttt_cli.views.people import with_fields
    from ttt_cli.views.rankings.eligible import eligible
    from ttt_cli.views.rankings.leaders import leader_rows, reign_rows
    from ttt_cli.views.rankings.peaks import best_years, most_dominant, peaks
    from ttt_cli.views.rankings.period import SEED, ranking

    of_all_time = peak or years is not None  # by years where both are asked for
    refuse(
        (
            "--at, --peak or --years, and --leaders: one of them",
            sum((at is not None, of_all_time, leaders)) > 1,
        ),
        ("--each goes with --leaders", each and not leaders),
        ("--matrix is of one period, by mean", matrix and (of_all_time or leaders or by != "mean")),
        ("--seed goes with p_best, which --matrix has not", matrix and seed is not None),
        (
            "--peak-games goes with --peak, and with --by mean or lower",
            peak_games and (not peak or years or by == "dominance"),
        ),
        (  # and with leads of all time, which are over the active players of a period
            "--active goes with rankings and --leaders",
            of_all_time and by != "dominance" and limits["active"] is not None,
        ),
        ("--seed goes with rankings and --leaders", of_all_time and seed is not None),
        (f"--by {by} goes with rankings and --peak", by != "mean" and (leaders or years)),
    )
    seed = SEED if seed is None else seed
    with query.open() as run:
        eligible_players = eligible(run, **limits)
        if matrix:
            from ttt_cli.views.superiority import superiority_of_field

            query.show(
                superiority_of_field(run, at, eligible_players, number, numbered=query.titled)
            )
            return
        if leaders and each:
            rows = leader_rows(run, eligible_players, seed)
        elif leaders:
            rows = reign_rows(run, eligible_players, seed)
        elif years:
            rows = best_years(run, eligible_players, years, number)
        elif by == "dominance" and peak:
            rows = most_dominant(run, eligible_players, number)
        elif peak:
            rows = peaks(run, eligible_players, number, by, peak_games or 0)
        else:
            rows = ranking(run, at, eligible_players, number, seed, by)
    query.show(with_fields(run, rows, columns))
