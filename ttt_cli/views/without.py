"""The skills of a run as they would be without some of its games: to first order, or by a refit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from ttt_cli.games.lineup import further_members
from ttt_cli.games.table import Games, games_from_columns
from ttt_cli.periods import period_of
from ttt_cli.runs.joint import SkillSum
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import RUN
from ttt_cli.runs.skills_at_periods import Skill
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.progress import waiting

if TYPE_CHECKING:
    from ttt_cli.inference.influence import Influence, Supposed

MANY: Final = 20  # sds, of which the computation takes seconds in large runs
_WAIT: Final = "computing sds without the games"
_NODES: Final = f"SELECT player, period_number, mean, sd FROM {RUN}.spans"
_SKILLS_AT: Final = """
WITH wanted AS (SELECT unnest(?) AS player, unnest(?) AS number, unnest(range(?)) AS position)
SELECT skill.mean AS mean, skill.sd AS sd
FROM wanted LEFT JOIN (
    SELECT player, period_number, mean, sd FROM skills_of(?, ?, ?, NULL)
    WHERE player IN (SELECT player FROM wanted)) skill
ON skill.player = wanted.player AND skill.period_number = wanted.number ORDER BY position
"""


class Without(Protocol):
    """The skills of a run without some of its games, shown units; NaN where a player has no game up to the period."""

    def node_means(self) -> Array:
        """Means in all periods in which the run has games of the player, (nodes,), in the order of `node_skills`."""

    def sds(self, nodes: SkillsByPlayer) -> Array:
        """Sds of some of these skills, (nodes,)."""

    def means(self, skills: Sequence[Skill], before: Array) -> Array:
        """Means of skills (skills,), which were `before`."""

    def may_lead(self, skills: Sequence[Skill], before: Array) -> Mask:
        """Mask of the skills, by period, of which one may now be the highest of its period; others cannot be."""


@dataclass(frozen=True)
class SkillsByPlayer:
    """Skills of a run in periods with games of the player, by player, then period; (nodes,) each, shown units.

    `node`: their numbers in the run.
    """

    node: Places
    players: list[str]
    period_number: Places
    mean: Array
    sd: Array

    @property
    def skills(self) -> list[Skill]:
        """Player and period of each."""
        return list(zip(self.players, self.period_number.tolist(), strict=True))

    def take(self, rows: Places) -> SkillsByPlayer:
        """Some of the skills."""
        return SkillsByPlayer(
            self.node[rows],
            [self.players[row] for row in rows.tolist()],
            self.period_number[rows],
            mean=self.mean[rows],
            sd=self.sd[rows],
        )


def node_skills(run: Run) -> SkillsByPlayer:
    """The skills of a run in periods with games."""
    columns = run.arrays(_NODES)
    return SkillsByPlayer(
        np.arange(len(columns["mean"])),
        columns["player"].tolist(),
        columns["period_number"].astype(np.int64),
        mean=run.scale.slope * columns["mean"] + run.scale.shift,
        sd=run.scale.slope * columns["sd"],
    )


def games_without(games: Games, rows: Places) -> Games:
    """The games without some rows."""
    remaining = np.ones(len(games), np.bool_)
    remaining[rows] = False
    return games_from_columns(
        games.columns.take(remaining),
        games.players,
        games.report,
        games.spellings,
        games.people,
        teams=games.teams,
    )


def first_periods(run: Run, games: Games) -> dict[str, int]:
    """The number of the period of the first game of each player who has any."""
    period = period_of(games.date, run.meta.period)  # type: ignore[arg-type]
    never = np.iinfo(np.int64).max
    first = np.full(len(games.players), never)
    np.minimum.at(first, games.white, period)
    np.minimum.at(first, games.black, period)
    further = further_members(games)
    np.minimum.at(first, further.player, period[further.game])
    return {
        player: number
        for player, number in zip(games.players, first.tolist(), strict=True)
        if number != never
    }


class WithoutToFirstOrder:
    """The skills without games by the joint Gaussian of the run (`ttt_cli.inference.influence`).

    Raises ConfigError for runs without influence, RunError without
    a joint posterior.
    """

    def __init__(self, run: Run, influence: Influence, games: Games, rows: Places) -> None:
        from ttt_cli.inference.influence import Supposition

        self._run = run
        self._supposed: Supposed = influence.suppose(Supposition(rows))
        self._first = first_periods(run, games_without(games, rows))

    @cached_property
    def _nodes(self) -> SkillsByPlayer:
        return node_skills(self._run)

    @cached_property
    def _shift(self) -> Array:
        """Change of the mean of each variable, (variables,), shown points."""
        return self._run.scale.slope * self._supposed.total_shift

    def node_means(self) -> Array:
        """Means in all periods in which the run has games of the player."""
        mean: Array = self._nodes.mean + self._node_changes
        mean[self._absent(self._nodes.skills)] = np.nan
        return mean

    @property
    def _node_changes(self) -> Array:
        """Changes of the means in periods with games of the player, (nodes,), shown points."""
        return self._shift[self._run.joint.precision.variable_of_row[self._nodes.node]]

    @cached_property
    def _largest_change(self) -> dict[str, float]:
        """The largest change of the mean of each player in any period, shown points."""
        largest: dict[str, float] = {}
        sizes = np.abs(self._node_changes).tolist()
        for player, size in zip(self._nodes.players, sizes, strict=True):
            largest[player] = max(size, largest.get(player, 0.0))
        return largest

    def sds(self, nodes: SkillsByPlayer) -> Array:
        """Sds of skills: those of players without any of the games stay, the others take a solution each."""
        variable = self._run.joint.precision.variable_of_row[nodes.node]
        growth = self._supposed.growth[variable]
        sds = nodes.sd.copy()
        slope = self._run.scale.slope
        absent = self._absent(nodes.skills)
        sds[absent] = np.nan
        growth[absent] = 0.0
        with waiting(_WAIT) if np.count_nonzero(growth) > MANY else nullcontext():
            for index in np.flatnonzero(growth).tolist():
                weights = np.zeros(len(self._supposed.growth))
                weights[variable[index]] = 1.0
                mean = (nodes.mean[index] - self._run.scale.shift) / slope
                # in a period with games a skill is a variable, with no noise of its own
                skill = SkillSum(weights, float(mean), noise=0.0)
                sds[index] = slope * self._supposed.sd_of(skill)
        return sds

    def means(self, skills: Sequence[Skill], before: Array) -> Array:
        """Means of skills."""
        after: Array = before + self._run.joint.interpolated(skills, self._shift)
        after[self._absent(skills)] = np.nan
        return after

    def may_lead(self, skills: Sequence[Skill], before: Array) -> Mask:
        """Mask of the skills that can be the highest of their period: no mean changes more than its player's."""
        period = np.array([number for _, number in skills], np.int64)
        present = np.ones(len(skills), np.bool_)
        present[self._absent(skills)] = False
        _, index = np.unique(period, return_inverse=True)
        change = np.array([self._largest_change[player] for player, _ in skills], np.float64)
        least_highest = np.full(index.max(initial=0) + 1, -np.inf)
        np.maximum.at(least_highest, index[present], (before - change)[present])
        is_high: Mask = before + change >= least_highest[index]
        return present & is_high

    def _absent(self, skills: Sequence[Skill]) -> Places:
        """Indices of skills of players without a game up to the period."""
        absent = [
            index
            for index, (player, number) in enumerate(skills)
            if player not in self._first or number < self._first[player]
        ]
        return np.array(absent, np.int64)


class _MeansAndSds(NamedTuple):
    """Means and sds of skills, (skills,) each."""

    mean: Array
    sd: Array


class WithoutByRefit:
    """The skills without games in a run of the others, on the scale of the first run."""

    def __init__(self, run: Run, refitted: Run) -> None:
        self._run = run
        self._refitted = refitted

    def node_means(self) -> Array:
        """Means in all periods in which the first run has games of the player."""
        return self._at(node_skills(self._run).skills).mean

    def sds(self, nodes: SkillsByPlayer) -> Array:
        """Sds of skills."""
        return self._at(nodes.skills).sd

    def means(self, skills: Sequence[Skill], before: Array) -> Array:  # noqa: ARG002
        """Means of skills."""
        return self._at(skills).mean

    def may_lead(self, skills: Sequence[Skill], before: Array) -> Mask:  # noqa: ARG002
        """Mask of all skills."""
        return np.ones(len(skills), np.bool_)

    def _at(self, skills: Sequence[Skill]) -> _MeansAndSds:
        players = [player for player, _ in skills]
        numbers = [number for _, number in skills]
        first = min(numbers, default=0)
        last = max(numbers, default=0)
        columns = self._refitted.arrays(
            _SKILLS_AT, [players, numbers, len(skills), first, last, last]
        )
        scale = self._run.scale
        refitted_scale = self._refitted.scale
        slope = scale.slope / refitted_scale.slope
        return _MeansAndSds(
            mean=slope * (columns["mean"] - refitted_scale.shift) + scale.shift,
            sd=slope * columns["sd"],
        )
