"""The joint Gaussian of a run's skills: covariances, and samples of several at once.

A few columns of the inverse of the precision matrix A are computed by conjugate gradients, many by a factorisation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ttt_cli.gaussian.precision import FEW, Solution, Solved, dot
from ttt_cli.runs.precision import Arrays, RunPrecision
from ttt_cli.runs.skills_at_periods import Interpolator, Skill, SkillsAtPeriods
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import ConfigError, RunError
from ttt_cli.support.progress import waiting

if TYPE_CHECKING:
    from ttt_cli.gaussian.factor import Factor
    from ttt_cli.runs.meta import RunMeta

EXACT: Final = 1e-6  # of a right-hand side: covariances are exact to the square of it
AT_ONCE: Final = 64  # columns
WAIT: Final = "computing covariances of skills"
LONG: Final = 20_000  # variables, of which a factor takes a second or more
MOST_TOGETHER: Final = 1000  # skills that are sampled by their own covariance matrix


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


class _SkillGroups(NamedTuple):
    """The skills of some groups: all one after the other, and those of each group."""

    together: SkillsAtPeriods
    apart: list[SkillsAtPeriods]


class JointSkills:
    """The joint Gaussian of the skills of the run `name`, points; `slope` of its scale. Raises RunError.

    With the number of a `category` the skills are those there.
    """

    def __init__(
        self, arrays: Arrays, meta: RunMeta, name: str, slope: float, category: int | None = None
    ) -> None:
        self._name = name
        self._slope = slope
        with self._checked():
            self._a = RunPrecision(arrays, meta)
        self._skills = Interpolator(arrays, meta, name, self._a, category)
        self._few_so_far = 0  # skills in all calls of `within` with few at once

    @property
    def precision(self) -> RunPrecision:
        """The precision matrix."""
        return self._a

    def sum_of(self, skills: Sequence[Skill], weights: Array) -> SkillSum:
        """The sum of skills with these weights (skills,). Raises LookupFailed."""
        at_periods = self._skills.find(skills)
        own_noise = self._skills.own_noise(at_periods.as_column, at_periods)
        return SkillSum(
            self._skills.weights(at_periods) @ weights,
            mean=float(at_periods.mean @ weights),
            noise=float(weights @ own_noise @ weights),
        )

    def interpolated(self, skills: Sequence[Skill], x: Array) -> Array:
        """Values x of the variables at skills, (skills,): between two nodes weighted as the skills are.

        Raises LookupFailed.
        """
        return self._skills.values(self._skills.find(skills), x)

    def covariance(self, skills: Sequence[Skill], exact: float = EXACT) -> Array:
        """The covariance matrix of skills, (skills, skills), points^2. Raises LookupFailed, RunError.

        `exact`: of conjugate gradients, as in `within`.
        """
        return self._covariance(self._skills.find(skills), exact, few=len(skills) <= FEW)

    def shared(
        self, skills: Sequence[Skill], groups: Sequence[Sequence[Skill]], exact: float = EXACT
    ) -> list[Array]:
        """Covariances of each skill with the skills of its group, points^2. Raises LookupFailed, RunError."""
        parts = self._groups([*([skill] for skill in skills), *groups]).apart
        covariances = []
        for single, group in zip(parts[: len(skills)], parts[len(skills) :], strict=True):
            x = self._solved(self._skills.weights(single)[:, 0], exact).x
            own_noise = self._skills.own_noise(single, group)
            covariances.append(self._skills.values(group, x) + own_noise)
        return covariances

    def shown_sds(
        self, groups: Sequence[Sequence[Skill]], weights: Sequence[Array], exact: float = EXACT
    ) -> list[float]:
        """The sd of the weighted sum of each group of skills, on the shown scale. Raises as `within`.

        `weights`: (skills,) of each group. Conjugate gradients take steps in proportion to the digits that they find,
        so that with a larger error more groups are solved for one by one.
        """
        most_one_by_one = FEW * math.log(EXACT) / math.log(exact)
        if len(groups) > most_one_by_one:
            variances = [
                float(group_weights @ covariance @ group_weights)
                for group_weights, covariance in zip(
                    weights, self.within(groups, exact), strict=True
                )
            ]
        else:
            variances = self._variances_of_sums(self._groups(groups).apart, weights, exact)
        return [self._slope * max(variance, 0.0) ** 0.5 for variance in variances]

    def _variances_of_sums(
        self, groups: Sequence[SkillsAtPeriods], weights: Sequence[Array], exact: float
    ) -> list[float]:
        """Variances of weighted sums by conjugate gradients, points^2.

        Each begins with the solution for the group before, which takes half as many steps where groups are of
        successive periods. With the solution x of A x = b and its residual r, b'A^-1 b is near b'x + x'r.
        """
        variances: list[float] = []
        before: Solution | None = None
        for group, group_weights in zip(groups, weights, strict=True):
            # no products by BLAS, of which the threads wait longer than they work
            b = np.einsum("vs,s->v", self._skills.weights(group), group_weights)
            x, residual = self._solved(b, exact, before)
            before = Solution(x, b - residual)
            own_noise = self._skills.own_noise(group.as_column, group)
            noise = group_weights @ own_noise @ group_weights
            product = group_weights @ self._skills.values(group, x)
            variances.append(float(product + dot(x, residual) + noise))
        return variances

    def within(self, groups: Sequence[Sequence[Skill]], exact: float = EXACT) -> list[Array]:
        """The covariance matrix of each group of skills, points^2.

        Few skills are solved for by conjugate gradients, with a relative error of about `exact`^2, and after several
        calls by a factor that is kept. Many use one factorisation and entries of the inverse. Raises LookupFailed,
        RunError, and ConfigError when many skills need a factorisation that is too large.
        """
        together, apart = self._groups(groups)
        count = len(together.node)
        if count > FEW:
            return self._within_many(together, np.array([len(group) for group in groups]))
        self._few_so_far += count
        few = self._few_so_far <= FEW or not self._affordable
        return [self._covariance(group, exact, few=few) for group in apart]

    def _within_many(self, skills: SkillsAtPeriods, sizes: Places) -> list[Array]:
        """The covariance matrices of successive groups of skills with these sizes, by entries of one inverse."""
        begin = np.cumsum(sizes) - sizes
        pairs_in_group = [np.indices((size, size)).reshape(2, size * size) for size in sizes]
        first, second = np.concatenate(pairs_in_group, axis=1) + np.repeat(begin, sizes**2)
        entries = self._selected(skills.take(first), skills.take(second))
        matrices = np.split(entries, np.cumsum(sizes**2)[:-1])
        return [matrix.reshape(size, size) for matrix, size in zip(matrices, sizes, strict=True)]

    def samples(self, skills: Sequence[Skill], n: int, seed: int) -> Array:
        """Samples of skills, (n, skills), points; equal seeds give equal ones. Raises as `within`."""
        at_periods = self._skills.find(skills)
        rng = np.random.default_rng(seed)
        if len(skills) <= MOST_TOGETHER:
            return _drawn(rng, self.covariance(skills), n) + at_periods.mean
        samples = np.empty((n, len(at_periods.node)))
        for begin in range(0, n, AT_ONCE):
            z = rng.standard_normal((min(AT_ONCE, n - begin), len(self._a.diagonal)))
            variables = self._factor.solve(z.T, forward=False)
            samples[begin : begin + AT_ONCE] = self._skills.values(at_periods, variables).T
        self._add_own_noise(rng, at_periods, samples)
        return samples + at_periods.mean

    def _add_own_noise(
        self, rng: np.random.Generator, skills: SkillsAtPeriods, samples: Array
    ) -> None:
        """Add the noise of bridges and walks to samples (n, skills); that after the same node is correlated."""
        noisy = np.flatnonzero(self._skills.own_noise(skills, skills))
        for node in np.unique(skills.node[noisy]):
            after_node = noisy[skills.node[noisy] == node]
            at_periods = skills.take(after_node)
            noise = self._skills.own_noise(at_periods.as_column, at_periods)
            samples[:, after_node] += _drawn(rng, noise, len(samples))

    def _groups(self, groups: Sequence[Sequence[Skill]]) -> _SkillGroups:
        """The skills of all groups, and of each."""
        together = self._skills.find([skill for group in groups for skill in group])
        apart = []
        begin = 0
        for group in groups:
            apart.append(together.take(slice(begin, begin + len(group))))
            begin += len(group)
        return _SkillGroups(together, apart)

    def _solved(self, b: Array, exact: float, similar: Solution | None = None) -> Solved:
        """x of A x = b, as exact as `exact` of b."""
        with self._checked():
            return self._a.solve(b, residual=exact, similar=similar)

    def _covariance(self, skills: SkillsAtPeriods, exact: float, *, few: bool) -> Array:
        """W' A^-1 W for the weights W of skills, and their own noise."""
        covariance = (
            self._covariance_of_few(skills, exact) if few else self._covariance_of_many(skills)
        )
        covariance += self._skills.own_noise(skills.as_column, skills)
        return np.asarray(0.5 * (covariance + covariance.T))

    def _covariance_of_few(self, skills: SkillsAtPeriods, exact: float) -> Array:
        """W' A^-1 W from approximate solutions X with residuals R: W'X + X'R + R'A^-1 R without the last term."""
        columns = self._skills.weights(skills)
        solutions = [self._solved(column, exact) for column in columns.T]
        x = np.array([solution.x for solution in solutions]).reshape(columns.T.shape).T
        residuals = [solution.residual for solution in solutions]
        r = np.array(residuals).reshape(columns.T.shape).T
        return np.asarray(self._skills.values(skills, x) + x.T @ r)

    def _covariance_of_many(self, skills: SkillsAtPeriods) -> Array:
        """W' A^-1 W by the factor of A, or nearly exact solutions where there is none."""
        count = len(skills.node)
        covariance = np.empty((count, count))
        for begin in range(0, count, AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            columns = self._skills.weights(skills.take(part))
            if self._affordable:
                x = self._factor.solve(columns)
            else:
                x = np.array([self._solved(column, EXACT**2).x for column in columns.T]).T
            covariance[:, part] = self._skills.values(skills, x)
        return covariance

    @cached_property
    def _affordable(self) -> bool:
        """Whether A can be factorised within the limits."""
        try:
            _ = self._factor
        except ConfigError:
            return False
        return True

    def _selected(self, first: SkillsAtPeriods, second: SkillsAtPeriods) -> Array:
        """Covariances of pairs of skills, from the entries of the inverse that they need."""
        of_first = self._skills.interpolation(first)
        of_second = self._skills.interpolation(second)
        parts = len(of_first.weights)
        rows = np.repeat(of_first.variables, parts, axis=0).ravel()
        columns = np.tile(of_second.variables, (parts, 1)).ravel()
        with self._checked(wait=True):
            factor = self._a.factor(rows, columns, once=True)
            covariances = factor.covariances(rows, columns).reshape(parts**2, -1)
        row_weights = np.repeat(of_first.weights, parts, axis=0)
        column_weights = np.tile(of_second.weights, (parts, 1))
        products = row_weights * column_weights * covariances
        return np.asarray(products.sum(axis=0) + self._skills.own_noise(first, second))

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
