"""The joint Gaussian of a run's skills: what they have in common, and samples of several at once.

The precision matrix is made again from the tables `links` and `steps`. Few columns of its inverse are found by
conjugate gradients, many at once by a factor. A skill in a period without games is a point of the bridge between two
nodes, or a walk from the last one, with noise of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from ttt_cli.arrays import Array, Mask, Places
from ttt_cli.errors import ConfigError, LookupFailed, RunError
from ttt_cli.fitted import later_on
from ttt_cli.histories import Curve
from ttt_cli.progress import waiting
from ttt_cli.quantities import curve_columns
from ttt_cli.runs.lookup import find_period
from ttt_cli.runs.precision import FEW, Precision
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run
    from ttt_cli.sparse.factor import Factor

EXACT: Final = 1e-6  # of a right-hand side: covariances are exact to the square of it
AT_ONCE: Final = 64  # columns
WAIT: Final = "finding what skills have in common"
LONG: Final = 20_000  # variables, of which a factor takes a second or more
MOST_TOGETHER: Final = 1000  # skills that are sampled by their own covariance matrix
_PLACES: Final = f"""
WITH asked AS (SELECT unnest(?) AS player, unnest(?) AS number, unnest(range(?)) AS place)
SELECT s.rowid AS node, number - s.period_number AS ahead, s."until" - s.period_number AS way,
       s.* EXCLUDE (player, period_number, "until", games)
FROM asked ASOF LEFT JOIN (SELECT rowid, * FROM {DATABASE}.main.spans) s
ON asked.player = s.player AND asked.number >= s.period_number ORDER BY asked.place
"""

_EVERY: Final = f"""
SELECT s.rowid AS node, player, period, s.mean FROM {DATABASE}.main.spans s
JOIN {DATABASE}.main.periods USING (period_number) ORDER BY node
"""

T = TypeVar("T")
Skill = tuple[str, int]  # a player, named as in the run, and the number of a period


def meant(run: Run, skills: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[Skill]]:
    """Pairs of player and period as people name them: as the run does, and with numbers. Raises LookupFailed."""
    named, numbered = [], []
    found = cache(run.find_player)
    for name, at in skills:
        player = found(name).player
        label, number = find_period(run, at, player)
        named.append((player, label))
        numbered.append((player, number))
    return named, numbered


class _Points(NamedTuple):
    """Skills by what they follow from, each (skills,): a share of the way from one node to the next, or a walk onward.

    `ahead` periods after `node`; `rise` is the variance of a period's walk, `way` the periods to the next node, NaN
    after the last; both by the clock of the player's career.
    """

    node: Places
    ahead: Array
    way: Array
    rise: Array
    mean: Array

    def of(self, chosen: Any) -> _Points:
        """Those at some places."""
        return _Points(*(column[chosen] for column in self))

    @property
    def between(self) -> Mask:
        """Whether there is a next node."""
        return ~np.isnan(self.way)

    @property
    def share(self) -> Array:
        """Of the way."""
        return np.where(self.between, self.ahead / np.where(self.between, self.way, 1.0), 0.0)


class _Weights(NamedTuple):
    """The variables that skills lie between, and what share of each they have: W (variables, skills), two a column.

    `place` and `share` (2, skills), `size` variables.
    """

    place: Places
    share: Array
    size: int

    def of(self, x: Array) -> Array:
        """W' x for x (variables, columns)."""
        found: Array = (self.share[:, :, None] * x[self.place]).sum(axis=0)
        return found

    def sum(self, w: Array) -> Array:
        """W w for w (skills,)."""
        found = np.bincount(self.place.ravel(), (self.share * w).ravel(), self.size)
        return found.astype(np.float64)

    def columns(self, part: slice = slice(None)) -> Array:
        """Those columns of W, whole."""
        place, share = self.place[:, part], self.share[:, part]
        found = np.zeros((self.size, place.shape[1]))
        np.add.at(found, (place, np.arange(place.shape[1])), share)
        return found


class JointSkills:
    """The joint Gaussian of a run, points. Raises RunError where the run holds none."""

    def __init__(self, run: Run) -> None:
        if not run.has_joint:
            raise RunError(
                "it holds no joint posterior: what skills have in common is not known",
                where=run.name,
                hint="fit with -s solver.posterior=joint (ttt, ttt-d)",
            )
        self._run = run
        self._a = self._true(lambda: Precision(run))
        self._asked = 0  # columns of the inverse, of few at once

    def covariance(self, skills: Sequence[Skill]) -> Array:
        """The covariance matrix of skills, (skills, skills), points^2. Raises LookupFailed, RunError."""
        return self._covariance(self._points(skills), EXACT, by_factor=len(skills) > FEW)

    def variances(
        self, groups: Sequence[Sequence[Skill]], weights: Sequence[Array], exact: float = EXACT
    ) -> Array:
        """The variance of the weighted sum of each group of skills, (groups,), points^2.

        Those of few groups are `exact` to its square. Raises as `within`.
        """
        if len(groups) > FEW:
            found = zip(weights, self.within(groups), strict=True)
            return np.array([w @ covariance @ w for w, covariance in found])
        points, ends = self._points([skill for group in groups for skill in group]), _ends(groups)
        parts = (points.of(slice(*both)) for both in pairwise(ends))
        return np.array([self._variance(part, w, exact) for part, w in zip(parts, weights, strict=True)])

    def deviations(
        self, groups: Sequence[Sequence[Skill]], weights: Sequence[Array], exact: float = EXACT
    ) -> list[float]:
        """The sds of the same, on the scale of the run."""
        variance = np.maximum(self.variances(groups, weights, exact), 0.0)
        sds: list[float] = (self._run.scale.slope * np.sqrt(variance)).tolist()
        return sds

    def _variance(self, points: _Points, w: Array, exact: float) -> float:
        b = self._weights(points).sum(w)
        x, r = self._true(lambda: self._a.solve(b, exact))
        return float(b @ x + x @ r + w @ self._own_covariance(points) @ w)

    def within(self, groups: Sequence[Sequence[Skill]], exact: float = EXACT) -> list[Array]:
        """The covariance matrix of each group of skills, points^2; those of few skills `exact` to its square.

        Many take one factor and the entries of the inverse that are asked for; so do few, by and by. Raises
        LookupFailed, RunError, and ConfigError where the factor of many is out of reach.
        """
        points = self._points([skill for group in groups for skill in group])
        ends = _ends(groups)
        if len(points.node) <= FEW:
            self._asked += len(points.node)
            by_factor = self._asked > FEW and self._affordable
            each = (points.of(slice(begin, end)) for begin, end in pairwise(ends))
            return [self._covariance(some, exact, by_factor=by_factor) for some in each]
        sizes = list(map(len, groups))
        pairs = [np.indices((size, size)).reshape(2, size * size) for size in sizes]
        one, other = np.concatenate(pairs, axis=1) + np.repeat(ends[:-1], np.square(sizes))
        found = self._selected(points.of(one), points.of(other))
        parts = np.split(found, np.cumsum(np.square(sizes))[:-1])
        return [part.reshape(size, size) for part, size in zip(parts, sizes, strict=True)]

    def samples(self, skills: Sequence[Skill], n: int, seed: int) -> Array:
        """Samples of skills, (n, skills), points; equal seeds give equal ones. Raises as `within`."""
        points, rng = self._points(skills), np.random.default_rng(seed)
        if len(skills) > MOST_TOGETHER:
            return self._sampled(points, n, rng)
        covariance = self._covariance(points, EXACT, by_factor=len(skills) > FEW)
        return _drawn(rng, covariance, n) + points.mean

    def samples_of_all(self, n: int, seed: int) -> tuple[list[tuple[str, str]], Array]:
        """Players and periods with games, and samples of their skills, as `samples`."""
        every = self._run.arrays(_EVERY)
        nothing = np.zeros(len(every["node"]))
        points = _Points(every["node"], nothing, np.full(len(nothing), np.nan), nothing, every["mean"])
        named = list(zip(every["player"].tolist(), every["period"].tolist(), strict=True))
        return named, self._sampled(points, n, np.random.default_rng(seed))

    def _sampled(self, points: _Points, n: int, rng: np.random.Generator) -> Array:
        """Samples of many skills, by those of all variables."""
        weights, found = self._weights(points), np.empty((n, len(points.node)))
        for begin in range(0, n, AT_ONCE):
            z = rng.standard_normal((min(AT_ONCE, n - begin), len(self._a.diagonal)))
            found[begin : begin + AT_ONCE] = weights.of(self._factor.coloured(z.T)).T
        moved = np.flatnonzero(self._own_noise(points, points))
        for node in np.unique(points.node[moved]):
            part = moved[points.node[moved] == node]
            found[:, part] += _drawn(rng, self._own_covariance(points.of(part)), n)
        return found + points.mean

    def _points(self, skills: Sequence[Skill]) -> _Points:
        players, numbers = [player for player, _ in skills], [number for _, number in skills]
        names, rows = self._run.query(_PLACES, [players, numbers, len(skills)])
        for (node, *_), player in zip(rows, players, strict=True):
            if node is None:
                raise LookupFailed(f"{player} has no skill so early", where=self._run.name)
        of = dict(zip(names, np.array(rows, np.float64).reshape(-1, len(names)).T, strict=True))
        mean, _ = later_on(of, "skill", of["ahead"])
        clock = Curve(*(of[name] for name in curve_columns("skill"))).clock
        return _Points(of["node"].astype(np.int64), clock(of["ahead"]), clock(of["way"]), of["sd_rise"], mean)

    def _ends(self, points: _Points) -> list[tuple[Places, Array]]:
        """The two variables between which each skill is, and what share of it each has, noise of its own aside."""
        group = self._a.group
        return [
            (group[points.node], 1.0 - points.share),
            (group[points.node + points.between], points.share),
        ]

    def _weights(self, points: _Points) -> _Weights:
        place, share = map(np.stack, zip(*self._ends(points), strict=True))
        return _Weights(place, share, len(self._a.diagonal))

    def _own_noise(self, one: _Points, other: _Points) -> Array:
        """The covariances of what is added to the variables: of bridges, and of walks onward, from the same nodes."""
        step = np.where(one.between, self._a.step[one.node + one.between], 0.0)
        low, high = np.minimum(one.share, other.share), np.maximum(one.share, other.share)
        onward = np.where(one.between, 0.0, one.rise) * np.minimum(one.ahead, other.ahead)
        return np.where(one.node == other.node, step * low * (1.0 - high) + onward, 0.0)

    def _own_covariance(self, points: _Points) -> Array:
        return self._own_noise(points.of(np.s_[:, None]), points)

    def _covariance(self, points: _Points, exact: float, *, by_factor: bool) -> Array:
        found = self._inverse(self._weights(points), exact, by_factor=by_factor)
        found += self._own_covariance(points)
        return 0.5 * (found + found.T)

    def _inverse(self, weights: _Weights, exact: float, *, by_factor: bool) -> Array:
        """W' A^-1 W for weights W.

        With residuals R of solutions X it is W'X + X'R + R'A^-1 R, of which the last is left out.
        """
        columns = weights.place.shape[1]
        if by_factor:
            found = np.empty((columns, columns))
            for begin in range(0, columns, AT_ONCE):
                part = slice(begin, begin + AT_ONCE)
                found[:, part] = weights.of(self._solve(weights.columns(part)))
            return found
        solved = self._true(lambda: [self._a.solve(b, exact) for b in weights.columns().T])
        x, r = (np.array([pair[k] for pair in solved]).reshape(columns, weights.size).T for k in (0, 1))
        product: Array = weights.of(x) + x.T @ r
        return product

    @cached_property
    def _solve(self) -> Callable[[Array], Array]:
        """A^-1 b for many columns b, also where a factor is out of reach."""
        if self._affordable:
            return self._factor.solve
        return lambda b: np.array([self._a.solve(column, EXACT**2)[0] for column in b.T]).T

    @cached_property
    def _affordable(self) -> bool:
        """Whether a factor is within reach."""
        try:
            _ = self._factor
        except ConfigError:
            return False
        return True

    def _selected(self, one: _Points, other: _Points) -> Array:
        """The covariances of skills with others, pair by pair, from the selected inverse."""
        ends = [(i, j, u * v) for i, u in self._ends(one) for j, v in self._ends(other)]
        first, second, weight = (np.concatenate(part) for part in zip(*ends, strict=True))
        with self._waited():
            factor = self._true(lambda: self._a.factor(first, second, once=True))
            covariances = factor.covariances(first, second)
        products = (weight * covariances).reshape(len(ends), -1)
        found: Array = products.sum(axis=0) + self._own_noise(one, other)
        return found

    @cached_property
    def _factor(self) -> Factor:
        with self._waited():
            return self._true(self._a.factor)

    def _waited(self) -> AbstractContextManager[None]:
        """Announce what takes seconds."""
        return waiting(WAIT) if len(self._a.diagonal) > LONG else nullcontext()

    def _true(self, made: Callable[[], T]) -> T:
        """What is made of a run, whose tables may be anybody's."""
        try:
            return made()
        except ValueError as error:  # a LinAlgError is one
            raise RunError(
                "its joint posterior cannot be true", where=self._run.name, hint="fit the games again"
            ) from error


def _ends(groups: Sequence[Sequence[Skill]]) -> Places:
    """Where each group begins among the skills of all, and the last one ends."""
    return np.cumsum([0, *map(len, groups)])


def _drawn(rng: np.random.Generator, covariance: Array, n: int) -> Array:
    """Samples of N(0, covariance), (n, variables)."""
    centre = np.zeros(len(covariance))
    return rng.multivariate_normal(centre, covariance, n, check_valid="ignore", method="eigh")
