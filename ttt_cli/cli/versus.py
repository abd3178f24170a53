"""`ttt versus`: two players against each other."""

import click

from ttt_cli.cli.line.options import Asked, asking_options
from ttt_cli.cli.terminal.console import say


@click.command("versus")
@click.argument("a")
@click.argument("b")
@click.option("--at", metavar="PERIOD", help="A's period, and B's if no other is given; or peak.")
@click.option("--at-b", metavar="PERIOD", help="B's period; or peak.")
@click.option("--games", type=click.IntRange(1, 500), metavar="N", help="A match of N games, too.")
@click.option("--record", is_flag=True, help="Instead, their own games by period and colour.")
@asking_options
def command(
    asked: Asked, a: str, b: str, at: str | None, at_b: str | None, games: int | None, record: bool
) -> None:
    """What a game between A and B promises, and the record of those they played.

    `ttt versus morphy fischer --at 1859 --at-b 1972`. Without periods: the last that both have, else the peak of
    each. Probabilities are A's; stronger is the probability of the higher skill; colours are drawn by lot unless a
    key says white, black or neutral.
    """
    from ttt_cli.views.players.versus import versus_view

    view = versus_view(asked.open(), a, b, at=at, at_b=at_b, games=games)
    say(*view.notes)
    if record:
        asked.show(view.record)
    else:
        asked.show(view.report, view.record)
