"""`ttt players`: who is in the run."""

import click

from ttt_cli.cli.line.options import Asked, asking_options


@click.command("players")
@click.argument("pattern", nargs=-1)
@click.option("--from", "since", type=int, metavar="YEAR", help="Only who played in or after this year.")
@click.option("--to", "until", type=int, metavar="YEAR", help="Only who played in or before this year.")
@click.option("--min-games", type=click.FloatRange(min=0), default=0, help="Only with so many games in all.")
@click.option("-n", "--number", type=click.IntRange(min=0), default=0, help="So many; default 0, all.")
@asking_options
def command(
    asked: Asked,
    pattern: tuple[str, ...],
    since: int | None,
    until: int | None,
    min_games: float,
    number: int,
) -> None:
    """The players of a run, those with most games first: years, games and peak.

    PATTERN is a part of the name, or several, accents and case aside: `ttt players alekh`.
    """
    if since is not None and until is not None and since > until:
        raise click.UsageError(
            f"{since} to {until} goes backwards: perhaps --from {until} --to {since} is meant"
        )
    from ttt_cli.views.players.player import players_rows

    limits = {"since": since, "until": until, "number": number or None}
    with asked.open() as run:
        asked.show(players_rows(run, " ".join(pattern), min_games=min_games, **limits))
