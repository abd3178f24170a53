"""`ttt why`: the games that move a skill most."""

import click

from ttt_cli.cli.options import RunQuery, query_options


@click.command("why")
@click.argument("player")
@click.option("--at", metavar="PERIOD", help="The period; default the player's peak.")
@click.option("--versus", metavar="NAME", help="Ask about the lead over this player instead.")
@click.option(
    "--by",
    type=click.Choice(
        ["game", "opponent", "event", "year", "source", "chain"], case_sensitive=False
    ),
    default="game",
    help="What is left out: single games, or all with an opponent, of an event, a year or a source; default game. "
    "chain: the chains of opponents through which the skill is known.",
)
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=10, metavar="N", help="Rows; default 10."
)
@query_options
def command(
    query: RunQuery, player: str, at: str | None, versus: str | None, by: str, number: int
) -> None:
    """Show which games move a player's mean skill most.

    Every row leaves games out, of the player or of others, and shows what the mean and its sd would be then: by
    the joint posterior of the run, without a refit. Parameters, draw margins and careers stay as they are. For
    single games also: White's score that all other games let expect, and the change for each other result.

    --by chain leaves nothing out: it shows whose results tie the player to contemporaries, or to the other player.
    """
    from ttt_cli.views.why import why_rows

    query.show(why_rows(query.open(), player, at, versus, by, number))
