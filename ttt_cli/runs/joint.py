"""The joint Gaussian of a run's skills: covariances, and samples of several at once.

The precision matrix A is built from the tables `links` and `steps`. A few columns of its inverse are computed by
conjugate gradients, many by a factorisation. A skill in a period without games has additional noise: that of the
bridge between two nodes, or of the walk after the last node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from ttt_cli.gaussian.precision import FEW, Entries, Precision, link_entries, sums_of_games
from ttt_cli.histories import Curve, curve_columns, later_on
from ttt_cli.periods import STEPS_PER_YEAR, calendar_year
from ttt_cli.runs.database import DATABASE
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
_PLACES: Final = f"""
WITH asked AS (SELECT unnest(?) AS player, unnest(?) AS number, unnest(range(?)) AS place)
SELECT s.rowid IS NULL AS absent, s.rowid AS node, CAST(number - s.period_number AS DOUBLE) AS ahead,
       CAST(s."until" - s.period_number AS DOUBLE) AS way,
       s.* EXCLUDE (player, period_number, "until", games)
FROM asked ASOF LEFT JOIN (
    SELECT rowid, * FROM {DATABASE}.main.spans WHERE player IN (SELECT player FROM asked)) s
ON asked.player = s.player AND asked.number >= s.period_number ORDER BY asked.place
"""
# Points^2: years between which newcomers' mean walks less are one, as digits would be lost.
STIFF: Final = 1e-8

Arrays = Callable[..., dict[str, Any]]  # a query of a run and its parameters; columns as arrays
Skill = tuple[str, int]  # a player, named as in the run, and the number of a period


class RunPrecision(Precision):
    """Precision matrix A of a run's joint posterior. Raises ValueError for impossible numbers.

    | name | shape | unit | |
    |---|---|---|---|
    | group | (nodes + nodes of margins + years,) | | the variable of each node or year |
    | step | as group | points^2 | variance of the step from the previous one; for the first, of the prior |
    """

    def __init__(self, arrays: Arrays, meta: RunMeta) -> None:
        steps = arrays("FROM steps")
        spans = arrays('SELECT "until" IS NULL AS last, period_number FROM spans')
        last = spans["last"]
        margins = bool(len(last)) and not np.isnan(steps["draw_margin_variance"]).any()
        quantities = ("variance", "draw_margin_variance")[: 1 + margins]
        nodes = len(last)
        debut = np.append(True, last[:-1])[:nodes]
        of_nodes = np.concatenate([steps[name] for name in quantities])
        years, of_newcomers = _newcomers(arrays, meta, debut, spans["period_number"], of_nodes)
        self.step = np.append(of_nodes, years)
        first = np.append(np.tile(debut, len(quantities)), np.arange(len(years)) == 0)
        begins = first | (self.step > 0.0)
        self.group: Places = np.cumsum(begins) - 1
        variance = self.step[begins]
        if not (variance > 0.0).all():
            raise ValueError("a first step without variance")
        previous = np.where(first[begins], -1, np.arange(len(variance)) - 1)
        names = ("q11", "q12", "q22")[: 3 if margins else 1]
        links = arrays(f'SELECT "first", "second", {", ".join(names)} FROM links')
        ends, u = sums_of_games(links["first"], links["second"], nodes if margins else 0)
        q = np.array([links[name] for name in names], np.float64)
        entries = link_entries([self.group[end] for end in ends], u, q)
        entries += [
            Entries(self.group[row], self.group[column], value) for row, column, value in of_newcomers
        ]
        if margins:
            of_margins = self.group[nodes : 2 * nodes]
            entries.append(Entries(of_margins, of_margins, steps["draw_margin_precision"]))
        super().__init__(previous, 1.0 / variance, entries)


def _newcomers(
    arrays: Arrays, meta: RunMeta, debut: Mask, period: Places, step: Array
) -> tuple[Array, list[Entries]]:
    """Variances of the steps of newcomers' mean, (years,), and its links to first nodes. Raises ValueError."""
    years = arrays('SELECT "year" FROM newcomers ORDER BY "year"')["year"].astype(np.int64)
    if not len(years):
        return np.empty(0), []
    drift = meta.params.get("prior_mean_drift")
    kind = cast("Period", meta.period)
    first = np.flatnonzero(debut)
    of = calendar_year(period[first].astype(np.int64), kind)
    if not (isinstance(drift, float) and np.isin(of, years).all() and (step[first] > 0.0).all()):
        raise ValueError("newcomers without a mean, or as certain as it is")
    variance = np.append(1.0, drift**2 * np.diff(years))
    mean = len(step) + np.searchsorted(years, of)
    weight = 1.0 / step[first]
    links = [Entries(mean, mean, weight), Entries(first, mean, -weight)]
    return np.where(variance > STIFF, variance, 0.0), links


class _Points(NamedTuple):
    """Skills in some periods, arrays of shape (skills,): between a node and the next, or after the last.

    A skill is `ahead` periods after `node`, and the next node is `way` periods after it (NaN: none). Both are counted
    by the clock of the player's career. `rise`: variance of the walk in one period, after the last node.
    """

    node: Places
    ahead: Array
    way: Array
    rise: Array
    mean: Array

    def of(self, chosen: Any) -> _Points:
        """The skills at some indices."""
        return _Points(*(column[chosen] for column in self))

    @property
    def between(self) -> Mask:
        """Whether there is a next node."""
        return ~np.isnan(self.way)

    @property
    def share(self) -> Array:
        """Interpolation weight of the next node; 0 after the last node."""
        return np.where(self.between, self.ahead / np.where(self.between, self.way, 1.0), 0.0)


class JointSkills:
    """The joint Gaussian of the skills of the run `name`, points; `slope` of its scale. Raises RunError."""

    def __init__(self, arrays: Arrays, meta: RunMeta, name: str, slope: float) -> None:
        self._arrays = arrays
        self._period = meta.period
        self._name = name
        self._slope = slope
        with self._checked():
            self._a = RunPrecision(arrays, meta)
        self._asked = 0  # columns of the inverse, of few at once

    def covariance(self, skills: Sequence[Skill]) -> Array:
        """The covariance matrix of skills, (skills, skills), points^2. Raises LookupFailed, RunError."""
        return self._covariance(self._points(skills), EXACT, few=len(skills) <= FEW)

    def shared(
        self, ones: Sequence[Skill], groups: Sequence[Sequence[Skill]], exact: float = EXACT
    ) -> list[Array]:
        """Covariances of each skill in `ones` with the skills of its group, points^2. Raises LookupFailed, RunError."""
        _, parts = self._groups([*([skill] for skill in ones), *groups])
        found = []
        for one, others in zip(parts[: len(ones)], parts[len(ones) :], strict=True):
            x, _ = self._solved(self._columns(one)[:, 0], exact)
            found.append(self._at(others, x) + self._own_noise(one, others))
        return found

    def deviations(
        self, groups: Sequence[Sequence[Skill]], weights: Sequence[Array], exact: float = EXACT
    ) -> list[float]:
        """The sd of the weighted sum of each group of skills, on the scale of the run. Raises as `within`."""
        variances = []
        if len(groups) > FEW:
            variances = [w @ own @ w for w, own in zip(weights, self.within(groups), strict=True)]
        else:
            for part, w in zip(self._groups(groups)[1], weights, strict=True):
                x, r = self._solved(self._columns(part) @ w, exact)
                own = w @ self._own_noise(part.of(np.s_[:, None]), part) @ w
                variances.append(w @ self._at(part, x) + x @ r + own)
        return [self._slope * max(float(variance), 0.0) ** 0.5 for variance in variances]

    def within(self, groups: Sequence[Sequence[Skill]], exact: float = EXACT) -> list[Array]:
        """The covariance matrix of each group of skills, points^2.

        Few skills are solved for by conjugate gradients, with a relative error of about `exact`^2. Many use one
        factorisation and entries of the inverse; so do few skills after several calls. Raises LookupFailed, RunError,
        and ConfigError when many skills need a factorisation that is too large.
        """
        points, parts = self._groups(groups)
        if len(points.node) <= FEW:
            self._asked += len(points.node)
            few = self._asked <= FEW or not self._affordable
            return [self._covariance(part, exact, few=few) for part in parts]
        sizes = np.array(list(map(len, groups)))
        pairs = [np.indices((size, size)).reshape(2, size * size) for size in sizes]
        one, other = np.concatenate(pairs, axis=1) + np.repeat(np.cumsum(sizes) - sizes, sizes**2)
        found = np.split(self._selected(points.of(one), points.of(other)), np.cumsum(sizes**2)[:-1])
        return [part.reshape(size, size) for part, size in zip(found, sizes, strict=True)]

    def samples(self, skills: Sequence[Skill], n: int, seed: int) -> Array:
        """Samples of skills, (n, skills), points; equal seeds give equal ones. Raises as `within`."""
        points = self._points(skills)
        rng = np.random.default_rng(seed)
        if len(skills) <= MOST_TOGETHER:
            return _drawn(rng, self.covariance(skills), n) + points.mean
        found = np.empty((n, len(points.node)))
        for begin in range(0, n, AT_ONCE):
            z = rng.standard_normal((min(AT_ONCE, n - begin), len(self._a.diagonal)))
            found[begin : begin + AT_ONCE] = self._at(points, self._factor.solve(z.T, forward=False)).T
        moved = np.flatnonzero(self._own_noise(points, points))
        for node in np.unique(points.node[moved]):
            part = moved[points.node[moved] == node]
            own = self._own_noise(points.of(part[:, None]), points.of(part))
            found[:, part] += _drawn(rng, own, n)
        return found + points.mean

    def _groups(self, groups: Sequence[Sequence[Skill]]) -> tuple[_Points, list[_Points]]:
        """The skills of all groups, and of each."""
        points = self._points([skill for group in groups for skill in group])
        ends = np.cumsum([0, *map(len, groups)])
        return points, [points.of(slice(*both)) for both in pairwise(ends)]

    def _points(self, skills: Sequence[Skill]) -> _Points:
        players = [player for player, _ in skills]
        numbers = [number for _, number in skills]
        of = self._arrays(_PLACES, [players, numbers, len(skills)])
        if of["absent"].any():
            player = players[int(np.argmax(of["absent"]))]
            raise LookupFailed(f"{player} has no skill before the first game", where=self._name)
        mean, _ = later_on(of, "skill", of["ahead"], STEPS_PER_YEAR[self._period])
        clock = Curve(*(of[name] for name in curve_columns("skill"))).clock
        return _Points(of["node"].astype(np.int64), clock(of["ahead"]), clock(of["way"]), of["sd_rise"], mean)

    def _variables(self, points: _Points) -> tuple[Places, Array]:
        """The two variables that each skill interpolates, and their weights, (2, skills)."""
        place = self._a.group[np.stack([points.node, points.node + points.between])]
        return place, np.stack([1.0 - points.share, points.share])

    def _at(self, points: _Points, x: Array) -> Array:
        """W' x: variables x, (variables, ...), interpolated at skills, (skills, ...); without their own noise.

        scipy's sparse products are faster by less than its import takes.
        """
        (before, after), (weight, further) = self._variables(points)
        return np.asarray((weight * x[before].T + further * x[after].T).T)

    def _columns(self, points: _Points) -> Array:
        """Interpolation weights W of skills, (variables, skills)."""
        place, share = self._variables(points)
        found = np.zeros((len(self._a.diagonal), place.shape[1]))
        np.add.at(found, (place, np.arange(place.shape[1])), share)
        return found

    def _solved(self, b: Array, exact: float) -> tuple[Array, Array]:
        """x of A x = b and the residual."""
        with self._checked():
            return self._a.solve(b, residual=exact)

    def _own_noise(self, one: _Points, other: _Points) -> Array:
        """Covariances of the noise of bridges and of walks after a last node, for skills from the same nodes."""
        step = np.where(one.between, self._a.step[one.node + one.between], 0.0)
        low = np.minimum(one.share, other.share)
        high = np.maximum(one.share, other.share)
        onward = np.where(one.between, 0.0, one.rise) * np.minimum(one.ahead, other.ahead)
        return np.where(one.node == other.node, step * low * (1.0 - high) + onward, 0.0)

    def _covariance(self, points: _Points, exact: float, *, few: bool) -> Array:
        """W' A^-1 W for the weights W of skills, and their own noise.

        Of few, from approximate solutions X with residuals R it is W'X + X'R + R'A^-1 R. The last term is neglected.
        """
        count = len(points.node)
        if few:
            b = self._columns(points)
            solved = [self._solved(one, exact) for one in b.T]
            x, r = (np.array([pair[k] for pair in solved]).reshape(b.T.shape).T for k in (0, 1))
            found = self._at(points, x) + x.T @ r
        else:
            found = np.empty((count, count))
            for begin in range(0, count, AT_ONCE):
                part = slice(begin, begin + AT_ONCE)
                b = self._columns(points.of(part))
                if self._affordable:
                    x = self._factor.solve(b)
                else:
                    x = np.array([self._solved(one, EXACT**2)[0] for one in b.T]).T
                found[:, part] = self._at(points, x)
        found += self._own_noise(points.of(np.s_[:, None]), points)
        return np.asarray(0.5 * (found + found.T))

    @cached_property
    def _affordable(self) -> bool:
        """Whether A can be factorised within the limits."""
        try:
            _ = self._factor
        except ConfigError:
            return False
        return True

    def _selected(self, one: _Points, other: _Points) -> Array:
        """Covariances of pairs of skills, from the entries of the inverse that they need."""
        (place, share) = self._variables(one)
        (other_place, other_share) = self._variables(other)
        first = np.repeat(place, 2, axis=0).ravel()
        second = np.tile(other_place, (2, 1)).ravel()
        with self._checked(wait=True):
            covariances = self._a.factor(first, second, once=True).covariances(first, second)
        products = np.repeat(share, 2, axis=0) * np.tile(other_share, (2, 1)) * covariances.reshape(4, -1)
        found: Array = products.sum(axis=0) + self._own_noise(one, other)
        return found

    @cached_property
    def _factor(self) -> Factor:
        with self._checked(wait=True):
            return self._a.factor()

    @contextmanager
    def _checked(self, *, wait: bool = False) -> Iterator[None]:
        """Translate failures of untrusted numbers into RunError; announce a `wait` of seconds."""
        try:
            with waiting(WAIT) if wait and len(self._a.diagonal) > LONG else nullcontext():
                yield
        except ValueError as error:  # a LinAlgError is one
            raise RunError(
                "its joint posterior is inconsistent", where=self._name, hint="fit the games again"
            ) from error


def _drawn(rng: np.random.Generator, covariance: Array, n: int) -> Array:
    """Samples of N(0, covariance), (n, variables)."""
    centre = np.zeros(len(covariance))
    return rng.multivariate_normal(centre, covariance, n, check_valid="ignore", method="eigh")
