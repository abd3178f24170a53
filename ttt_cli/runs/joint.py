"""The joint Gaussian of a run's skills: covariances, and samples of several at once.

The precision matrix A is built from the tables `links` and `steps`. A few columns of its inverse are computed by
conjugate gradients, many by a factorisation. A skill in a period without games has additional noise: that of the
bridge between two nodes, or of the walk after the last node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from ttt_cli.gaussian.precision import (
    FEW,
    Entries,
    Precision,
    Solution,
    SumRows,
    dot,
    link_entries,
    sums_of_games,
)
from ttt_cli.histories import Curve, curve_columns, later_on
from ttt_cli.periods import STEPS_PER_YEAR, calendar_year
from ttt_cli.runs.schema import RUN
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.errors import ConfigError, LookupFailed, RunError
from ttt_cli.support.progress import waiting

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period
    from ttt_cli.gaussian.factor import Factor
    from ttt_cli.runs.meta import RunMeta

EXACT: Final = 1e-6  # of a right-hand side: covariances are exact to the square of it
AT_ONCE: Final = 64  # columns
WAIT: Final = "computing covariances of skills"
LONG: Final = 20_000  # variables, of which a factor takes a second or more
MOST_TOGETHER: Final = 1000  # skills that are sampled by their own covariance matrix
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
# The rows of skills beside offsets, and whether an offset is a player's last in the category
_OFFSETS: Final = f"""
SELECT s.rowid AS skill, o."until" IS NULL AS last
FROM {RUN}.category_spans o JOIN {RUN}.spans s ON s.player = o.player AND s.period_number = o.period_number
ORDER BY o.rowid
"""
# Points^2: years between which newcomers' mean walks less are one, as digits would be lost.
STIFF: Final = 1e-8

Arrays = Callable[..., dict[str, Any]]  # a query of a run and its parameters; columns as arrays
Skill = tuple[str, int]  # a player, named as in the run, and the number of a period


class ChainBlock(NamedTuple):
    """The variables of a chain, and their block of the precision matrix."""

    variables: slice
    matrix: Array


class RunPrecision(Precision):
    """Precision matrix A of a run's joint posterior. Raises ValueError for impossible numbers.

    | name | shape | unit | |
    |---|---|---|---|
    | group | (nodes + nodes of margins + years + offsets | | the variable of each node, year, offset or performance |
    | | + performances,) | | |
    | step_variance | as group | points^2 | of the step from the previous one; for the first, of the prior, infinite |
    | | | | for performances, which have none |
    | skill_of_offset | (offsets,) | | the node beside each offset of a category |
    | first_offset | | | place of the first offset in `group` |
    | variance | (variables,) | points^2 | of the step of each variable from the previous one, or of the prior |
    """

    def __init__(self, arrays: Arrays, meta: RunMeta) -> None:
        steps = arrays("FROM steps")
        spans = arrays(f'SELECT "until" IS NULL AS last, period_number FROM {RUN}.spans')
        last = spans["last"]
        nodes = len(last)
        has_margins = nodes > 0 and not np.isnan(steps["draw_margin_variance"]).any()
        quantities = ("variance", "draw_margin_variance") if has_margins else ("variance",)
        debut = np.append(True, last[:-1])[:nodes]
        variance_of_nodes = np.concatenate([steps[name] for name in quantities])
        newcomers = _newcomers(arrays, meta, debut, spans["period_number"], variance_of_nodes)
        years = len(newcomers.step_variance)
        offsets = _offsets(arrays)
        self.skill_of_offset = offsets.skill
        self.first_offset = len(variance_of_nodes) + years
        sums = _sums(arrays, nodes + len(offsets.skill))
        no_prior = np.full(sums.performances, math.inf)
        self.step_variance = np.concatenate(
            [variance_of_nodes, newcomers.step_variance, offsets.step_variance, no_prior]
        )
        first = np.concatenate(
            [
                np.tile(debut, len(quantities)),
                np.arange(years) == 0,
                offsets.is_first,
                no_prior > 0.0,
            ]
        )
        begins_variable = first | (self.step_variance > 0.0)
        self.group: Places = np.cumsum(begins_variable) - 1
        variance = self.step_variance[begins_variable]
        if not (variance > 0.0).all():
            raise ValueError("a first step without variance")
        previous = np.where(first[begins_variable], -1, np.arange(len(variance)) - 1)
        entries = self._link_entries(arrays, nodes if has_margins else 0)
        entries += self._category_entries(arrays)
        entries += self._sum_entries(sums, nodes)
        entries += [
            Entries(self.group[row], self.group[column], value)
            for row, column, value in newcomers.entries
        ]
        if has_margins:
            margins = self.group[nodes : 2 * nodes]
            entries.append(Entries(margins, margins, steps["draw_margin_precision"]))
        self.variance = variance
        super().__init__(previous, step_precision=1.0 / variance, entries=entries)

    def chain_of(self, variable: int) -> ChainBlock:
        """The chain of a variable, with the other chains left out."""
        begin = variable
        while self._previous[begin] >= 0:
            begin -= 1
        end = variable + 1
        while end < len(self._previous) and self._previous[end] >= 0:
            end += 1
        step_precision = 1.0 / self.variance[begin + 1 : end]
        matrix = (
            np.diag(self.diagonal[begin:end])
            - np.diag(step_precision, 1)
            - np.diag(step_precision, -1)
        )
        return ChainBlock(slice(begin, end), matrix)

    def _link_entries(self, arrays: Arrays, margins: int) -> list[Entries]:
        """Entries of the games; `margins`: index of the first margin, 0 without."""
        names = ("q11", "q12", "q22") if margins else ("q11",)
        links = arrays(f'SELECT "first", "second", {", ".join(names)} FROM links')
        ends, u = sums_of_games(links["first"], links["second"], margins)
        q = np.array([links[name] for name in names], np.float64)
        return link_entries([self.group[end] for end in ends], u, q)

    def _category_entries(self, arrays: Arrays) -> list[Entries]:
        """Entries of the games in categories, of differences of skills and offsets."""
        if not len(self.skill_of_offset):
            return []
        links = arrays('SELECT "first", "second", q11 FROM category_links')
        first = links["first"].astype(np.int64)
        second = links["second"].astype(np.int64)
        skills = [self.skill_of_offset[first], self.skill_of_offset[second]]
        ends = [*skills, self.first_offset + first, self.first_offset + second]
        u = np.array([[1.0, -1.0, 1.0, -1.0]])
        return link_entries(
            [self.group[end] for end in ends], u, np.array([links["q11"]], np.float64)
        )

    def _sum_entries(self, sums: StoredSums, nodes: int) -> list[Entries]:
        """Entries of the games whose sides are sums; beside so many nodes."""
        rows = self.sums_in_groups(sums, nodes)
        return rows.entries(sums.precision, rows.pairs())

    def sums_in_groups(self, sums: StoredSums, nodes: int) -> SumRows:
        """The sums over the variables of the matrix; there are so many nodes."""
        variable = sums.rows.variable.astype(np.int64)
        row = np.where(variable < nodes, variable, self.first_offset + variable - nodes)
        return sums.rows._replace(variable=self.group[row])


class StoredSums(NamedTuple):
    """Games whose sides are sums, and what defines performances, by the rows of sum_links.

    | name | shape | unit | |
    |---|---|---|---|
    | rows | | | their sums, over the rows of spans, those of category_spans, and performances |
    | precision | (links,) | 1/points^2 | of each sum |
    | performances | | | number of performances |
    """

    rows: SumRows
    precision: Array
    performances: int


def _sums(arrays: Arrays, of_players: int) -> StoredSums:
    """The sums of a joint posterior, in which so many variables are those of players."""
    links = arrays("FROM sum_links")
    terms = arrays("FROM sum_terms")
    count = len(links["q11"])
    start = np.append(0, np.cumsum(np.bincount(terms["link"], minlength=count)))
    rows = SumRows(start, terms["variable"], terms["coefficient"])
    performances = max(int(terms["variable"].max(initial=-1)) + 1 - of_players, 0)
    return StoredSums(rows, links["q11"].astype(np.float64), performances)


class _StoredOffsets(NamedTuple):
    """Offsets of players in categories of games, (offsets,) each, by the rows of category_spans; none without any."""

    step_variance: Array  # points^2, of the step from the offset before
    is_first: Mask  # whether it is a player's first in the category
    skill: Places  # the node of the skill beside it


def _offsets(arrays: Arrays) -> _StoredOffsets:
    """The offsets of a joint posterior."""
    step_variance = arrays("SELECT variance FROM category_steps")["variance"]
    if not len(step_variance):
        return _StoredOffsets(np.empty(0), np.empty(0, np.bool_), np.empty(0, np.int64))
    rows = arrays(_OFFSETS)
    return _StoredOffsets(
        step_variance, np.append(True, rows["last"][:-1]), rows["skill"].astype(np.int64)
    )


class _NewcomersMean(NamedTuple):
    """The mean of newcomers as further variables."""

    step_variance: Array  # (years,), points^2: of the steps from year to year
    entries: list[Entries]  # with first nodes, by nodes and years


def _newcomers(
    arrays: Arrays, meta: RunMeta, debut: Mask, period: Places, step_variance: Array
) -> _NewcomersMean:
    """The mean of newcomers, without years if it does not move. Raises ValueError."""
    years = arrays('SELECT "year" FROM newcomers ORDER BY "year"')["year"].astype(np.int64)
    if not len(years):
        return _NewcomersMean(np.empty(0), [])
    drift = meta.params.get("prior_mean_drift")
    first = np.flatnonzero(debut)
    year = calendar_year(period[first].astype(np.int64), cast("Period", meta.period))
    if not (
        isinstance(drift, float)
        and np.isin(year, years).all()
        and (step_variance[first] > 0.0).all()
    ):
        raise ValueError("newcomers without a mean, or as certain as it is")
    variance = np.append(1.0, drift**2 * np.diff(years))
    first_year_row = len(step_variance)  # after the nodes
    row_of_mean = first_year_row + np.searchsorted(years, year)
    precision = 1.0 / step_variance[first]
    entries = [
        Entries(row_of_mean, row_of_mean, precision),
        Entries(first, row_of_mean, -precision),
    ]
    return _NewcomersMean(np.where(variance > STIFF, variance, 0.0), entries)


class _SkillsAtPeriods(NamedTuple):
    """Skills in some periods, arrays of shape (skills,): between a node and the next, or after the last.

    Periods are counted by the clock of the player's career (see `histories.Curve`).
    """

    node: Places
    clock_ahead: Array  # periods from the node to the skill
    clock_way: Array  # periods from the node to the next one, NaN after the last
    rise: Array  # model points^2: variance of the walk in one period after the last node
    mean: Array  # model points

    def take(self, indices: Any) -> _SkillsAtPeriods:
        """The skills at some indices."""
        return _SkillsAtPeriods(*(column[indices] for column in self))

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


class _Interpolation(NamedTuple):
    """The variables that each skill is a weighted sum of, a part of which are before and after it, (parts, skills)."""

    variables: Places
    weights: Array


class SkillSum(NamedTuple):
    """A weighted sum of skills in the joint Gaussian, model points.

    | name | shape | |
    |---|---|---|
    | weights | (variables,) | of the variables |
    | mean | | its mean |
    | noise | | its variance beyond that of the variables: of periods without games |
    """

    weights: Array
    mean: float
    noise: float


class JointSkills:
    """The joint Gaussian of the skills of the run `name`, points; `slope` of its scale. Raises RunError.

    With the number of a `category` the skills are those there.
    """

    def __init__(
        self, arrays: Arrays, meta: RunMeta, name: str, slope: float, category: int | None = None
    ) -> None:
        self._arrays = arrays
        self._category = category
        self._period = meta.period
        self._name = name
        self._slope = slope
        with self._checked():
            self._a = RunPrecision(arrays, meta)
        self._few_so_far = 0  # skills in calls with few at once

    @property
    def precision(self) -> RunPrecision:
        """The precision matrix."""
        return self._a

    def sum_of(self, skills: Sequence[Skill], weights: Array) -> SkillSum:
        """The sum of skills with these weights (skills,). Raises LookupFailed."""
        at_periods = self._skills_at(skills)
        own_noise = self._own_noise(at_periods.take(np.s_[:, None]), at_periods)
        return SkillSum(
            self._columns(at_periods) @ weights,
            mean=float(at_periods.mean @ weights),
            noise=float(weights @ own_noise @ weights),
        )

    def interpolated(self, skills: Sequence[Skill], x: Array) -> Array:
        """Values x of the variables at skills, (skills,): between two nodes weighted as the skills are.

        Raises LookupFailed.
        """
        return self._interpolate(self._skills_at(skills), x)

    def covariance(self, skills: Sequence[Skill], exact: float = EXACT) -> Array:
        """The covariance matrix of skills, (skills, skills), points^2. Raises LookupFailed, RunError.

        `exact`: of conjugate gradients, as in `within`.
        """
        return self._covariance(self._skills_at(skills), exact, few=len(skills) <= FEW)

    def shared(
        self, skills: Sequence[Skill], groups: Sequence[Sequence[Skill]], exact: float = EXACT
    ) -> list[Array]:
        """Covariances of each skill with the skills of its group, points^2. Raises LookupFailed, RunError."""
        _, parts = self._groups([*([skill] for skill in skills), *groups])
        covariances = []
        for single, group in zip(parts[: len(skills)], parts[len(skills) :], strict=True):
            x, _ = self._solved(self._columns(single)[:, 0], exact)
            covariances.append(self._interpolate(group, x) + self._own_noise(single, group))
        return covariances

    def shown_sds(
        self, groups: Sequence[Sequence[Skill]], weights: Sequence[Array], exact: float = EXACT
    ) -> list[float]:
        """The sd of the weighted sum of each group of skills, on the shown scale. Raises as `within`.

        Conjugate gradients with a larger error take fewer steps, so that more groups are solved for one by one. They
        start from the solution for the group before, which takes half as many where groups are of successive periods.
        """
        variances = []
        if len(groups) > FEW * math.log(EXACT) / math.log(exact):
            covariances = self.within(groups, exact)
            variances = [
                w @ covariance @ w for w, covariance in zip(weights, covariances, strict=True)
            ]
        else:
            before = None
            for group, w in zip(self._groups(groups)[1], weights, strict=True):
                # No products by BLAS, of which the threads wait longer than they work
                b = np.einsum("vs,s->v", self._columns(group), w)
                x, r = self._solved(b, exact, before)
                before = Solution(x, b - r)
                noise = w @ self._own_noise(group.take(np.s_[:, None]), group) @ w
                variances.append(w @ self._interpolate(group, x) + dot(x, r) + noise)
        return [self._slope * max(float(variance), 0.0) ** 0.5 for variance in variances]

    def within(self, groups: Sequence[Sequence[Skill]], exact: float = EXACT) -> list[Array]:
        """The covariance matrix of each group of skills, points^2.

        Few skills are solved for by conjugate gradients, with a relative error of about `exact`^2. Many use one
        factorisation and entries of the inverse; so do few skills after several calls. Raises LookupFailed, RunError,
        and ConfigError when many skills need a factorisation that is too large.
        """
        at_periods, parts = self._groups(groups)
        if len(at_periods.node) <= FEW:
            self._few_so_far += len(at_periods.node)
            few = self._few_so_far <= FEW or not self._affordable
            return [self._covariance(part, exact, few=few) for part in parts]
        sizes = np.array([len(group) for group in groups])
        pairs = [np.indices((size, size)).reshape(2, size * size) for size in sizes]
        first, second = np.concatenate(pairs, axis=1) + np.repeat(
            np.cumsum(sizes) - sizes, sizes**2
        )
        entries = self._selected(at_periods.take(first), at_periods.take(second))
        matrices = np.split(entries, np.cumsum(sizes**2)[:-1])
        return [matrix.reshape(size, size) for matrix, size in zip(matrices, sizes, strict=True)]

    def samples(self, skills: Sequence[Skill], n: int, seed: int) -> Array:
        """Samples of skills, (n, skills), points; equal seeds give equal ones. Raises as `within`."""
        at_periods = self._skills_at(skills)
        rng = np.random.default_rng(seed)
        if len(skills) <= MOST_TOGETHER:
            return _drawn(rng, self.covariance(skills), n) + at_periods.mean
        samples = np.empty((n, len(at_periods.node)))
        for begin in range(0, n, AT_ONCE):
            z = rng.standard_normal((min(AT_ONCE, n - begin), len(self._a.diagonal)))
            variables = self._factor.solve(z.T, forward=False)
            samples[begin : begin + AT_ONCE] = self._interpolate(at_periods, variables).T
        noisy = np.flatnonzero(self._own_noise(at_periods, at_periods))
        for node in np.unique(at_periods.node[noisy]):
            after_node = noisy[at_periods.node[noisy] == node]
            noise = self._own_noise(
                at_periods.take(after_node[:, None]), at_periods.take(after_node)
            )
            samples[:, after_node] += _drawn(rng, noise, n)
        return samples + at_periods.mean

    def _groups(
        self, groups: Sequence[Sequence[Skill]]
    ) -> tuple[_SkillsAtPeriods, list[_SkillsAtPeriods]]:
        """The skills of all groups, and of each."""
        at_periods = self._skills_at([skill for group in groups for skill in group])
        parts = []
        begin = 0
        for group in groups:
            parts.append(at_periods.take(slice(begin, begin + len(group))))
            begin += len(group)
        return at_periods, parts

    def _skills_at(self, skills: Sequence[Skill]) -> _SkillsAtPeriods:
        players = [player for player, _ in skills]
        numbers = [number for _, number in skills]
        table = _OF_ALL
        if self._category is not None:
            table = _OF_CATEGORY.format(run=RUN, category=self._category)
        spans = self._arrays(_SPANS.format(spans=table), [players, numbers, len(skills)])
        if spans["absent"].any():
            player = players[int(np.argmax(spans["absent"]))]
            raise LookupFailed(f"{player} has no skill before the first game", where=self._name)
        mean, _ = later_on(spans, "skill", spans["ahead"], STEPS_PER_YEAR[self._period])
        clock = Curve(*(spans[name] for name in curve_columns("skill"))).clock
        node = spans["node"].astype(np.int64)
        return _SkillsAtPeriods(
            node=node,
            clock_ahead=clock(spans["ahead"]),
            clock_way=clock(spans["way"]),
            rise=spans["sd_rise"],
            mean=mean,
        )

    def _interpolation(self, skills: _SkillsAtPeriods) -> _Interpolation:
        rows = [row for at in (skills.node, skills.next_node) for row in self._rows_of(at)]
        parts = len(rows) // 2  # of a skill, before and after it
        weights = np.repeat([1.0 - skills.share, skills.share], parts, axis=0)
        return _Interpolation(self._a.group[np.array(rows)], weights)

    def _rows_of(self, node: Places) -> list[Places]:
        """The places in `group` of what a skill at nodes is the sum of: of skills, in a category of offsets, too."""
        if self._category is None:
            return [node]
        return [self._a.skill_of_offset[node], self._a.first_offset + node]

    def _interpolate(self, skills: _SkillsAtPeriods, x: Array) -> Array:
        """W' x: variables x, (variables, ...), interpolated at skills, (skills, ...); without their own noise.

        scipy's sparse products are faster by less than its import takes.
        """
        at = self._interpolation(skills)
        parts = [
            weight * x[variable].T
            for variable, weight in zip(at.variables, at.weights, strict=True)
        ]
        return np.asarray(sum(parts[1:], parts[0]).T)

    def _columns(self, skills: _SkillsAtPeriods) -> Array:
        """Interpolation weights W of skills, (variables, skills)."""
        at = self._interpolation(skills)
        column = np.arange(len(skills.node))
        weights = np.zeros((len(self._a.diagonal), len(column)))
        for variable, weight in zip(at.variables, at.weights, strict=True):
            np.add.at(weights, (variable, column), weight)
        return weights

    def _solved(
        self, b: Array, exact: float, similar: Solution | None = None
    ) -> tuple[Array, Array]:
        """x of A x = b and the residual."""
        with self._checked():
            return self._a.solve(b, residual=exact, similar=similar)

    def _own_noise(self, first: _SkillsAtPeriods, second: _SkillsAtPeriods) -> Array:
        """Covariances of the noise of bridges and of walks after a last node, for skills from the same nodes."""
        steps = sum(self._a.step_variance[rows] for rows in self._rows_of(first.next_node))
        step_variance = np.where(first.between, steps, 0.0)
        low = np.minimum(first.share, second.share)
        high = np.maximum(first.share, second.share)
        of_bridge = step_variance * low * (1.0 - high)
        of_walk = np.where(first.between, 0.0, first.rise) * np.minimum(
            first.clock_ahead, second.clock_ahead
        )
        return np.where(first.node == second.node, of_bridge + of_walk, 0.0)

    def _covariance(self, skills: _SkillsAtPeriods, exact: float, *, few: bool) -> Array:
        """W' A^-1 W for the weights W of skills, and their own noise."""
        covariance = (
            self._covariance_of_few(skills, exact) if few else self._covariance_of_many(skills)
        )
        covariance += self._own_noise(skills.take(np.s_[:, None]), skills)
        return np.asarray(0.5 * (covariance + covariance.T))

    def _covariance_of_few(self, skills: _SkillsAtPeriods, exact: float) -> Array:
        """W' A^-1 W from approximate solutions X with residuals R: W'X + X'R + R'A^-1 R without the last term."""
        columns = self._columns(skills)
        solved = [self._solved(column, exact) for column in columns.T]
        x = np.array([solution for solution, _ in solved]).reshape(columns.T.shape).T
        r = np.array([residual for _, residual in solved]).reshape(columns.T.shape).T
        return np.asarray(self._interpolate(skills, x) + x.T @ r)

    def _covariance_of_many(self, skills: _SkillsAtPeriods) -> Array:
        """W' A^-1 W by the factor of A, or nearly exact solutions where there is none."""
        count = len(skills.node)
        covariance = np.empty((count, count))
        for begin in range(0, count, AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            columns = self._columns(skills.take(part))
            if self._affordable:
                x = self._factor.solve(columns)
            else:
                x = np.array([self._solved(column, EXACT**2)[0] for column in columns.T]).T
            covariance[:, part] = self._interpolate(skills, x)
        return covariance

    @cached_property
    def _affordable(self) -> bool:
        """Whether A can be factorised within the limits."""
        try:
            _ = self._factor
        except ConfigError:
            return False
        return True

    def _selected(self, first: _SkillsAtPeriods, second: _SkillsAtPeriods) -> Array:
        """Covariances of pairs of skills, from the entries of the inverse that they need."""
        of_first = self._interpolation(first)
        of_second = self._interpolation(second)
        parts = len(of_first.weights)
        rows = np.repeat(of_first.variables, parts, axis=0).ravel()
        columns = np.tile(of_second.variables, (parts, 1)).ravel()
        with self._checked(wait=True):
            factor = self._a.factor(rows, columns, once=True)
            covariances = factor.covariances(rows, columns).reshape(parts**2, -1)
        row_weights = np.repeat(of_first.weights, parts, axis=0)
        column_weights = np.tile(of_second.weights, (parts, 1))
        products = row_weights * column_weights * covariances
        return np.asarray(products.sum(axis=0) + self._own_noise(first, second))

    @cached_property
    def _factor(self) -> Factor:
        with self._checked(wait=True):
            return self._a.factor()

    @contextmanager
    def _checked(self, *, wait: bool = False) -> Iterator[None]:
        """Translate failures of untrusted numbers into RunError; announce a `wait` of seconds."""
        is_long = wait and len(self._a.diagonal) > LONG
        try:
            with waiting(WAIT) if is_long else nullcontext():
                yield
        except ValueError as error:  # a LinAlgError is one
            raise RunError(
                "its joint posterior is inconsistent", where=self._name, hint="fit the games again"
            ) from error


def _drawn(rng: np.random.Generator, covariance: Array, n: int) -> Array:
    """Samples of N(0, covariance), (n, variables)."""
    centre = np.zeros(len(covariance))
    return rng.multivariate_normal(centre, covariance, n, check_valid="ignore", method="eigh")
