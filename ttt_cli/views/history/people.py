"""The players of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from ttt_cli.runs.run import Run

_PLAYERS: Final = """
SELECT players.player, folded, players.games, wins, draws, losses, opponents,
       CAST(substr("first", 1, 4) AS INTEGER) AS "first", CAST(substr("last", 1, 4) AS INTEGER) AS "last",
       peak_period, peak_mean, peak_sd, spans.games
FROM players JOIN names USING (player)
LEFT JOIN periods ON period = peak_period
LEFT JOIN spans ON spans.player = players.player AND spans.period_number = periods.period_number ORDER BY id
"""


class Person(NamedTuple):
    """A player of a run.

    `folded`: the name without accents and case. `games`, `wins`, `draws`, `losses`: by weight. `opponents`: different
    ones. `first`, `last`: years of the first and last period with games. `peak_mean`, `peak_sd`: the highest mean, and
    its sd (None in a system without), on the shown scale. `peak_games`: in the period of the peak.
    """

    name: str
    folded: str
    games: float
    wins: float
    draws: float
    losses: float
    opponents: int
    first: int
    last: int
    peak_period: str
    peak_mean: float
    peak_sd: float | None
    peak_games: float | None = None


@dataclass(frozen=True)
class People:
    """All players of a run; their indices are the numbers in the run's names.

    `number`: of each player by name. `spellings`: other spellings united with a player's name.
    """

    rows: list[Person]
    number: dict[str, int]
    spellings: dict[str, list[str]]


def read_people(run: Run) -> People:
    """The players of a run."""
    rows = [Person(*row) for row in run.select(_PLAYERS)[1]]
    spellings: dict[str, list[str]] = {}
    for player, spelling in run.select("FROM spellings")[1]:
        spellings.setdefault(player, []).append(spelling)
    return People(rows, {person.name: number for number, person in enumerate(rows)}, spellings)
