"""The players of a run as a site shows them: records, histories by year, ranks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.strongest import NAMED, contest, covariances_of, settled, sharing
from ttt_cli.views.rankings.top import SEED

_PLAYERS: Final = """
SELECT player, folded, games, wins, draws, losses, opponents, CAST(substr("first", 1, 4) AS INTEGER) AS "first",
       CAST(substr("last", 1, 4) AS INTEGER) AS "last", peak_period, peak_mean, peak_sd
FROM players JOIN names USING (player) ORDER BY id
"""
# Of a year the last period counts, in a history as in rankings.
_SKILLS: Final = """
SELECT id, CAST(substr(period, 1, 4) AS INTEGER) AS year, arg_max(mean, period_number) AS mean,
       arg_max(sd, period_number) AS sd, sum(games) AS games
FROM skills JOIN names USING (player) GROUP BY id, year ORDER BY id, year
"""
_RANKED: Final = """
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year, period_number, id, mean, sd, games
FROM ({rows}) ranked JOIN names USING (player)
WHERE period_number IN (SELECT max(period_number) FROM periods GROUP BY substr(period, 1, 4))
ORDER BY period_number, mean DESC, player
"""
CHANCES: Final = 10  # of a ranking's first players the probability of being the strongest is worked out


@dataclass(frozen=True)
class Person:
    """A row of the run's players, `first` and `last` as years.

    `page` is the address in the folder of players, `slug` the name in it; both None for one who has none.
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
    slug: str | None = None
    page: str | None = None


@dataclass(frozen=True)
class Years:
    """Rows of (id, year), by id, then year: skills at the end of a year; NaN sds where there are none.

    | name | shape | unit | |
    |---|---|---|---|
    | id, year | (rows,) | | player, number in the run's names |
    | mean, sd | (rows,) | run's scale | |
    | games | (rows,) | games | in the year |
    | starts | (players + 1,) | | the rows of each player |
    """

    id: Ids
    year: Ids
    mean: Array
    sd: Array
    games: Array

    @cached_property
    def starts(self) -> Places:
        """Where the rows of each player begin, and the end."""
        return np.searchsorted(self.id, np.arange(int(self.id.max(initial=-1)) + 2))


@dataclass(frozen=True)
class Ranking:
    """Who was eligible in the last period of a year, its `number`, by descending mean: arrays of shape (players,).

    `best`: the probabilities of being the strongest, of the first `CHANCES`; empty in a system without sds.
    """

    number: int
    id: Ids
    mean: Array
    sd: Array
    games: Array
    best: tuple[float, ...] = ()

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of each player."""
        return {player: rank for rank, player in enumerate(self.id.tolist(), 1)}


def people(run: Run) -> list[Person]:
    """All players, by number in the run's names."""
    return [Person(*row) for row in run.query(_PLAYERS)[1]]


def histories(run: Run) -> Years:
    """The skills of all players at the end of every year of their careers."""
    return Years(**run.arrays(_SKILLS))


def rankings(run: Run, limits: Eligible, everybody: Sequence[Person]) -> tuple[dict[int, Ranking], str]:
    """The ranking of every year in which anybody is eligible, and how the probabilities were found."""
    rows, values = limits.always(run)
    found = run.arrays(_RANKED.format(rows=rows), values)
    year, number = found.pop("year"), found.pop("period_number")
    years, start = np.unique(year, return_index=True)
    end = [*start[1:].tolist(), len(year)][: len(years)]
    parts: dict[int, Ranking] = {}
    for one, low, high in zip(years.tolist(), start.tolist(), end, strict=True):
        columns: dict[str, Any] = {name: column[low:high] for name, column in found.items()}
        parts[one] = Ranking(int(number[low]), **columns)
    if np.isnan(found["sd"]).any() or not parts:
        return parts, ""
    contests = [
        contest(one.number, [everybody[at].name for at in one.id[:NAMED]], one.mean, one.sd, CHANCES)
        for one in parts.values()
    ]
    decided, remark = settled(contests, covariances_of(run, sharing(contests)), SEED)
    return {
        at: replace(one, best=tuple(decision.p[:CHANCES].tolist()))
        for (at, one), decision in zip(parts.items(), decided, strict=True)
    }, remark
