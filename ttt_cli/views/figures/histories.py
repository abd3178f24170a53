"""Histories of skills for figures, by players."""

from collections.abc import Sequence
from typing import Final

from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.folding import fold_surname
from ttt_cli.views.figures.curves import CurvePoint, Curves
from ttt_cli.views.figures.labels import shorten

MANY_DAYS: Final = 1000  # in a run: with more, curves skip most days without games
_TITLED: Final = 4  # names in the title
_IN_FILE_NAME: Final = 4  # players
_LONGEST_WORD: Final = 40  # characters, in the name of a file
_SKILLS: Final = """
SELECT player, period, period_number, mean, coalesce(sd, 0.0), games, {margin}
FROM skills WHERE player IN (SELECT unnest(?)) AND (games > 0 OR {drawn}) ORDER BY player, period_number
"""


def histories(run: Run, players: Sequence[str]) -> Curves:
    """The histories of players by their exact names, in the order given; those without any are left out."""
    with run:
        columns = run.select("SELECT * FROM skills LIMIT 0")[0]
        margin = "draw_margin" if "draw_margin" in columns else "NULL"
        query = _SKILLS.format(margin=margin, drawn=drawn_when_idle(run))
        points: dict[str, list[CurvePoint]] = {}
        for player, period, number, mean, sd, games, draw_margin in run.select(
            query, [list(players)]
        )[1]:
            year = year_of(number, run.meta.period)
            points.setdefault(player, []).append(
                CurvePoint(period, year, mean, sd, games, draw_margin)
            )
    return {player: points[player] for player in players if player in points}


def drawn_when_idle(run: Run) -> str:
    """The SQL condition on a row of skills without games to be drawn: of many days, the first of a month."""
    ((periods,),) = run.select("SELECT count(*) FROM periods")[1]
    if run.meta.period != "day" or periods <= MANY_DAYS:
        return "true"
    return "day(DATE '1970-01-01' + period_number) = 1"


def title_of(players: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(players) - _TITLED
    names = "; ".join([shorten(player) for player in players[:_TITLED]])
    return f"{names} and {more} more" if more > 0 else names


def stem_of(players: Sequence[str]) -> str:
    """A name for the file: the first surnames, safe for every file system."""
    surnames = ["-".join(fold_surname(player).split()) or "player" for player in players]
    words = [surname[:_LONGEST_WORD] for surname in surnames[:_IN_FILE_NAME]]
    more = len(surnames) - _IN_FILE_NAME
    return "-".join(words) + (f"-and-{more}" if more > 0 else "")
