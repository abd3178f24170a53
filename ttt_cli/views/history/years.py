"""Skills of all players by year, and the ranking of every year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.views.history.people import People
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.period import SEED
from ttt_cli.views.rankings.strongest import NAMED, compute_probabilities, find_contenders

# A year is represented by its last period, in histories as in rankings.
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
CHANCES: Final = 10  # first players of a ranking with a probability of being the strongest


@dataclass(frozen=True)
class YearSkills:
    """Skills at the end of every year of every player, by player, then year; arrays of shape (rows,).

    | field | content |
    |---|---|
    | `id` | players, numbers in the run's names |
    | `year` | year |
    | `mean`, `sd` | skill and its uncertainty in the last period, on the shown scale; NaN sds where there are none |
    | `games` | games in the year |
    | `starts` | (players + 1,): the first row of each player |
    """

    id: Ids
    year: Ids
    mean: Array
    sd: Array
    games: Array
    starts: Places

    @cached_property
    def has_sd(self) -> bool:
        """Whether the system estimates uncertainties."""
        return not np.isnan(self.sd).any()

    def of(self, player: int) -> YearSkills:
        """The rows of one player."""
        rows = rows_of(self.starts, player)
        return YearSkills(
            self.id[rows], self.year[rows], self.mean[rows], self.sd[rows], self.games[rows],
            np.array([0, rows.stop - rows.start]),
        )  # fmt: skip

    def mean_in(self, player: int, year: int) -> float | None:
        """The skill of a player at the end of a year or, without a row for it, of the next; None after the last."""
        rows = rows_of(self.starts, player)
        row = rows.start + int(np.searchsorted(self.year[rows], year))
        return float(self.mean[row]) if row < rows.stop else None


def year_skills(run: Run, people: People) -> YearSkills:
    """The skills of all players by year."""
    columns: dict[str, Any] = run.arrays(_SKILLS)
    starts = np.searchsorted(columns["id"], np.arange(len(people.rows) + 1))
    return YearSkills(**columns, starts=starts)


@dataclass(frozen=True)
class YearRanking:
    """Who was eligible in the last period of a year, by descending mean: arrays of shape (players,).

    `id`: players, numbers in the run's names. `games`: in the period. `best`: the probabilities of being the
    strongest, of the first `CHANCES`; empty in a system without sds.
    """

    period_number: int
    id: Ids
    mean: Array
    sd: Array
    games: Array
    best: Sequence[float] = ()

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of each player."""
        return {player: rank for rank, player in enumerate(self.id.tolist(), 1)}


class YearRankings(NamedTuple):
    """The ranking of every year in which anybody is eligible, and how probabilities were computed.

    `covariances`: of the groups of skills that were asked for, None without a joint posterior.
    """

    by_year: dict[int, YearRanking]
    remark: str
    covariances: list[Array] | None = None


def year_rankings(
    run: Run, limits: Eligible, people: People, groups: Sequence[Sequence[tuple[str, int]]] = ()
) -> YearRankings:
    """The rankings of all years with probabilities of being the strongest, and covariances of groups of skills.

    `groups`: player and period number of each skill; they share the factorisation of the joint posterior.
    """
    rankings = plain_year_rankings(run, limits)
    if not rankings or any(np.isnan(ranking.sd).any() for ranking in rankings.values()):
        return YearRankings(rankings, "")
    return _with_probabilities(run, rankings, people, groups)


def plain_year_rankings(run: Run, limits: Eligible) -> dict[int, YearRanking]:
    """The ranking of every year in which anybody is eligible, without probabilities."""
    columns = run.arrays(_RANKED.format(rows=limits.skills(run)))
    years, starts = np.unique(columns["year"], return_index=True)
    borders = [*starts.tolist(), len(columns["year"])]
    rankings = {}
    for year, (start, end) in zip(years.tolist(), pairwise(borders), strict=True):
        rows = slice(start, end)
        rankings[year] = YearRanking(
            int(columns["period_number"][start]), columns["id"][rows], columns["mean"][rows],
            columns["sd"][rows], columns["games"][rows],
        )  # fmt: skip
    return rankings


def _with_probabilities(
    run: Run,
    rankings: dict[int, YearRanking],
    people: People,
    groups: Sequence[Sequence[tuple[str, int]]],
) -> YearRankings:
    """The rankings with the probabilities of being the strongest; a single player has none."""
    contenders_of_years = []
    for ranking in rankings.values():
        # all who may be shown or be the strongest, so that the names of the others are not looked up
        names = [people.rows[player].name for player in ranking.id[:NAMED]]
        contenders_of_years.append(
            find_contenders(ranking.period_number, names, ranking.mean, ranking.sd, n_shown=CHANCES)
        )
    probabilities = compute_probabilities(run, contenders_of_years, SEED, groups)
    by_year = dict(rankings)
    for (year, ranking), contenders in zip(rankings.items(), probabilities.periods, strict=True):
        if len(ranking.id) > 1:
            by_year[year] = replace(ranking, best=contenders.p[:CHANCES].tolist())
    return YearRankings(by_year, probabilities.remark, probabilities.covariances)
