"""Skills of a run in any period, as weighted sums of the variables of its joint posterior, and noise of their own.

Between two nodes a skill is interpolated, and has the noise of the bridge between them; after the last node it is that
of the node, with the noise of the walk since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ttt_cli.histories import Curve, curve_columns, later_on
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.precision import Arrays, RunPrecision
from ttt_cli.runs.schema import RUN
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.errors import LookupFailed

if TYPE_CHECKING:
    from ttt_cli.runs.meta import RunMeta

_SPANS: Final = """
WITH wanted AS (SELECT unnest(?) AS player, unnest(?) AS number, unnest(range(?)) AS position)
SELECT s.rowid IS NULL AS absent, s.rowid AS node, CAST(number - s.period_number AS DOUBLE) AS ahead,
       CAST(s."until" - s.period_number AS DOUBLE) AS way,
       s.* EXCLUDE (player, period_number, "until", games)
FROM wanted ASOF LEFT JOIN (
    SELECT rowid, * FROM {spans} WHERE player IN (SELECT player FROM wanted)) s
ON wanted.player = s.player AND wanted.number >= s.period_number ORDER BY wanted.position
"""
_OF_ALL: Final = f"{RUN}.spans"
_OF_CATEGORY: Final = (
    "(SELECT rowid, * EXCLUDE (category) FROM {run}.category_spans WHERE category = {category})"
)

Skill = tuple[str, int]  # a player, named as in the run, and the number of a period


class SkillsAtPeriods(NamedTuple):
    """Skills in some periods, (skills,) each: between a node and the next, or after the last.

    Periods are counted by the clock of the player's career (see `histories.Curve`).

    | name | unit | |
    |---|---|---|
    | node | | row of the last node up to that period |
    | clock_ahead | periods | from the node to the skill |
    | clock_way | periods | from the node to the next one, NaN after the last |
    | rise | points^2 | variance of the walk in one period after the last node |
    | mean | points | |
    """

    node: Places
    clock_ahead: Array
    clock_way: Array
    rise: Array
    mean: Array

    def take(self, indices: Any) -> SkillsAtPeriods:
        """The skills at some indices."""
        return SkillsAtPeriods(*(column[indices] for column in self))

    @property
    def as_column(self) -> SkillsAtPeriods:
        """The same with shape (skills, 1), for a table of all pairs."""
        return self.take(np.s_[:, None])

    @property
    def between(self) -> Mask:
        """Whether there is a next node."""
        return ~np.isnan(self.clock_way)

    @property
    def next_node(self) -> Places:
        """The next node, which is in the row after; after the last node this one."""
        return self.node + self.between

    @property
    def share(self) -> Array:
        """Interpolation weight of the next node; 0 after the last node."""
        way = np.where(self.between, self.clock_way, 1.0)
        return np.where(self.between, self.clock_ahead / way, 0.0)


class Interpolation(NamedTuple):
    """The variables and weights of which skills are sums: those before, then those after it, (parts, skills) each."""

    variables: Places
    weights: Array


class Interpolator:
    """Finds skills of a run, and interpolates its variables there.

    With the number of a `category` the skills are those in it: a skill is then a sum of a skill in all games, an
    offset, and what that shares with other categories. `name` of the run is for errors.
    """

    def __init__(
        self,
        arrays: Arrays,
        meta: RunMeta,
        name: str,
        precision: RunPrecision,
        category: int | None = None,
    ) -> None:
        self._arrays = arrays
        self._name = name
        self._steps_per_year = STEPS_PER_YEAR[meta.period]
        self._precision = precision
        self._category = category

    def find(self, skills: Sequence[Skill]) -> SkillsAtPeriods:
        """Skills of players in periods. Raises LookupFailed before a player's first game."""
        players = [player for player, _ in skills]
        numbers = [number for _, number in skills]
        table = _OF_ALL
        if self._category is not None:
            table = _OF_CATEGORY.format(run=RUN, category=self._category)
        spans = self._arrays(_SPANS.format(spans=table), [players, numbers, len(skills)])
        if spans["absent"].any():
            player = players[int(np.argmax(spans["absent"]))]
            raise LookupFailed(f"{player} has no skill before the first game", where=self._name)
        mean, _ = later_on(spans, "skill", spans["ahead"], self._steps_per_year)
        clock = Curve(*(spans[name] for name in curve_columns("skill"))).clock
        return SkillsAtPeriods(
            node=spans["node"].astype(np.int64),
            clock_ahead=clock(spans["ahead"]),
            clock_way=clock(spans["way"]),
            rise=spans["sd_rise"],
            mean=mean,
        )

    def interpolation(self, skills: SkillsAtPeriods) -> Interpolation:
        """The variables and weights of skills."""
        before = self._rows_of(skills.node)
        after = self._rows_of(skills.next_node)
        weights = np.repeat([1.0 - skills.share, skills.share], len(before), axis=0)
        rows = [*before, *after]
        shared = self._precision.shared_of_offset
        if self._category is not None and len(shared):  # a part that does not change
            rows.append(shared[skills.node])
            weights = np.vstack([weights, self._precision.loading_of_offset[skills.node]])
        return Interpolation(self._precision.variable_of_row[np.array(rows)], weights)

    def values(self, skills: SkillsAtPeriods, x: Array) -> Array:
        """W' x: variables x, (variables, ...), interpolated at skills, (skills, ...); without their own noise.

        scipy's sparse products are faster by less than its import takes.
        """
        interpolation = self.interpolation(skills)
        parts = [
            weight * x[variable].T
            for variable, weight in zip(interpolation.variables, interpolation.weights, strict=True)
        ]
        return np.asarray(sum(parts[1:], parts[0]).T)

    def weights(self, skills: SkillsAtPeriods) -> Array:
        """Interpolation weights W of skills, (variables, skills)."""
        interpolation = self.interpolation(skills)
        column = np.arange(len(skills.node))
        weights = np.zeros((len(self._precision.diagonal), len(column)))
        for variable, weight in zip(interpolation.variables, interpolation.weights, strict=True):
            np.add.at(weights, (variable, column), weight)
        return weights

    def own_noise(self, first: SkillsAtPeriods, second: SkillsAtPeriods) -> Array:
        """Covariances of the noise of bridges and of walks after a last node, points^2; 0 of different nodes.

        A bridge over a step of variance v has the covariance v s (1 - t) at shares s < t of the way. A walk has its
        variance up to the earlier one.
        """
        step_variance = sum(
            self._precision.step_variance[rows] for rows in self._rows_of(first.next_node)
        )
        earlier = np.minimum(first.share, second.share)
        later = np.maximum(first.share, second.share)
        of_bridge = np.where(first.between, step_variance, 0.0) * earlier * (1.0 - later)
        clock_ahead = np.minimum(first.clock_ahead, second.clock_ahead)
        of_walk = np.where(first.between, 0.0, first.rise) * clock_ahead
        return np.where(first.node == second.node, of_bridge + of_walk, 0.0)

    def _rows_of(self, node: Places) -> list[Places]:
        """The rows of `RunPrecision` that a skill at nodes is the sum of, but for shared parts of offsets."""
        if self._category is None:
            return [node]
        return [self._precision.skill_of_offset[node], self._precision.first_offset + node]
