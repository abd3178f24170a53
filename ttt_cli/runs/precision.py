"""The precision matrix A of a run's joint posterior: products, solutions by conjugate gradients, its factor.

Variables are the groups of nodes between which skills do not move, then those of draw margins, then the means of
newcomers by year, if they move.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ttt_cli.arrays import Array, Mask, Places
from ttt_cli.periods import calendar_year
from ttt_cli.runs.curves import by_year
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period
    from ttt_cli.runs.run import Run
    from ttt_cli.sparse.factor import Factor

FEW: Final = 50  # columns of the inverse that take less time by conjugate gradients than a factor does
MOST_ITERATIONS: Final = 10_000
# Points^2: years between which newcomers' mean walks less are one, as digits would be lost.
STIFF: Final = 1e-8
NOWHERE: Final = np.empty(0, np.int64)
_STEPS: Final = f"SELECT * FROM {DATABASE}.main.steps"
_LINKS: Final = f"SELECT * FROM {DATABASE}.main.links"
_SPANS: Final = f'SELECT "until" IS NULL AS last, period_number FROM {DATABASE}.main.spans'


class Precision:
    """A of a run that has a joint posterior. Raises ValueError where it cannot be one.

    | name | shape | unit | |
    |---|---|---|---|
    | group | (nodes + nodes of margins + years,) | | the variable of each node or year |
    | step | as group | points^2 | the variance of the step since the one before; at a first, of the prior |
    | diagonal | (variables,) | 1/points^2 | |
    | chain | (variables - 1,) | 1/points^2 | entries of A beside the diagonal: steps from one variable to the next |
    | low, high, above | (entries,) | 1/points^2 | rows, columns and values of all entries above the diagonal |
    """

    def __init__(self, run: Run) -> None:
        steps, spans = run.arrays(_STEPS), run.arrays(_SPANS)
        last = spans["last"]
        margins = bool(len(last)) and not np.isnan(steps["draw_margin_variance"]).any()
        quantities = ("variance", "draw_margin_variance")[: 1 + margins]
        self.nodes = len(last)
        debut = np.append(True, last[:-1])[: self.nodes]
        of_nodes = np.concatenate([steps[name] for name in quantities])
        years, of_newcomers = _newcomers(run, debut, spans["period_number"], of_nodes)
        self.step = np.append(of_nodes, years)
        first = np.append(np.tile(debut, len(quantities)), np.arange(len(years)) == 0)
        begins = first | (self.step > 0.0)
        self.group: Places = np.cumsum(begins) - 1
        variance = self.step[begins]
        if not (variance > 0.0).all():
            raise ValueError("a first step without variance")
        weight, moved = 1.0 / variance, ~first[begins]
        self.chain = -np.where(moved, weight, 0.0)[1:]
        self.diagonal = weight - np.append(self.chain, np.zeros(min(len(weight), 1)))
        parts = _of_margins if margins else _of_skills
        row, column, value = _joined(
            parts(run.arrays(_LINKS), self.nodes, steps["draw_margin_precision"]),
            of_newcomers,
        )
        row, column = self.group[row], self.group[column]
        own, size = row == column, len(weight)
        self.diagonal += np.bincount(row[own], value[own], size)
        low, high = np.minimum(row, column)[~own], np.maximum(row, column)[~own]
        joined = np.flatnonzero(self.chain)
        self.low, self.high = np.append(low, joined), np.append(high, joined + 1)
        self.above: Array = np.append(value[~own], self.chain[joined])

    def times(self, x: Array) -> Array:
        """A x for x of shape (variables,)."""
        product: Array = self.diagonal * x
        product += np.bincount(self.low, self.above * x[self.high], len(x))
        product += np.bincount(self.high, self.above * x[self.low], len(x))
        return product

    def solve(self, b: Array, exact: float) -> tuple[Array, Array]:
        """x and b - A x for b of shape (variables,), where the residual is `exact` times b in the chains' norm.

        The chains with the diagonal of A, in which nobody has met anybody, are the preconditioner. Raises ValueError
        where A is not positive definite.
        """
        x, r = np.zeros_like(b), b.copy()
        z = self._chains.solve(r)
        p = z.copy()
        size = first = _dot(r, z)
        for _ in range(MOST_ITERATIONS):
            if size <= exact**2 * first:
                return x, r
            q = self.times(p)
            curved = _dot(p, q)
            if not curved > 0.0:
                break
            x += (size / curved) * p
            r -= (size / curved) * q
            z = self._chains.solve(r)
            before, size = size, _dot(r, z)
            p *= size / before
            p += z
        raise ValueError("not positive definite")

    def factor(self, first: Places = NOWHERE, second: Places = NOWHERE, *, once: bool = False) -> Factor:
        """That of A; its selected inverse knows further pairs of variables, too.

        Raises ConfigError where it is out of reach, LinAlgError where A is not positive definite.
        """
        from ttt_cli.sparse.factor import Factor, require_affordable
        from ttt_cli.sparse.pattern import Pattern

        apart = first != second
        low, high = np.append(self.low, first[apart]), np.append(self.high, second[apart])
        pattern = Pattern(low, high, len(self.diagonal))
        require_affordable(pattern, "covariances", f"ask for at most {FEW} at once")
        coupling = -np.append(self.above, np.zeros(apart.sum()))
        return Factor(pattern, coupling, self.diagonal, once=once)

    @cached_property
    def _chains(self) -> Chains:
        return Chains(self.diagonal, self.chain)


def _dot(x: Array, y: Array) -> float:
    """In one thread: those of BLAS wait for each other longer than they work."""
    return float(np.einsum("i,i->", x, y))


Entries = tuple[Places, Places, Array]


def _of_skills(links: dict[str, Any], nodes: int, positive: Array) -> Entries:  # noqa: ARG001
    """Rows, columns and values of what links bring, one half of what is symmetric."""
    i, j, q = links["first"], links["second"], links["q11"].astype(np.float64)
    return _joined((i, i, q), (j, j, q), (i, j, -q))


def _of_margins(links: dict[str, Any], nodes: int, positive: Array) -> Entries:
    i, j = links["first"], links["second"]
    q11, q12, q22 = (links[name].astype(np.float64) for name in ("q11", "q12", "q22"))
    a, b, every, between = i + nodes, j + nodes, np.arange(nodes), q11 - 2.0 * q12 + q22
    return _joined(
        (i, i, between), (j, j, between), (i, j, -between), (a, a, q11), (b, b, q22), (a, b, q12),
        (i, a, q11 - q12), (i, b, q12 - q22), (j, a, q12 - q11), (j, b, q22 - q12),
        (every + nodes, every + nodes, positive),
    )  # fmt: skip


def _newcomers(run: Run, debut: Mask, period: Places, step: Array) -> tuple[Array, Entries]:
    """The variances of the steps of newcomers' mean, (years,), and what ties it to first nodes; nothing if it is still.

    Raises ValueError where a newcomer has no year, or no variance around its mean.
    """
    years = np.array([year for year, *_ in by_year(run, "newcomers")], np.int64)
    if not len(years):
        return np.empty(0), (NOWHERE, NOWHERE, np.empty(0))
    drift, kind = run.meta.params.get("prior_mean_drift"), cast("Period", run.meta.period)
    first = np.flatnonzero(debut)
    of = calendar_year(period[first].astype(np.int64), kind)
    if not (isinstance(drift, float) and np.isin(of, years).all() and (step[first] > 0.0).all()):
        raise ValueError("newcomers without a mean, or as certain as it is")
    variance = np.append(1.0, drift**2 * np.diff(years))
    mean, weight = len(step) + np.searchsorted(years, of), 1.0 / step[first]
    return np.where(variance > STIFF, variance, 0.0), _joined((mean, mean, weight), (first, mean, -weight))


def _joined(*parts: tuple[Any, Any, Array]) -> Entries:
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    return row, column, value


class Chains:
    """L D L' of a symmetric matrix with `diagonal` (n,) and entries `beside` it (n - 1,), 0 between two chains.

    Links of all chains are solved for together, the first ones first; the longest chains stand first among them.
    Raises ValueError where the matrix is not positive definite.
    """

    def __init__(self, diagonal: Array, beside: Array) -> None:
        every = np.arange(len(diagonal))
        begins = np.append(True, beside == 0.0)[: len(diagonal)]
        number = np.cumsum(begins) - 1
        place = every - every[begins][number]
        longest = np.argsort(-np.bincount(number), kind="stable")
        rank = np.empty_like(longest)
        rank[longest] = np.arange(len(longest))
        self._order = np.lexsort((rank[number], place))
        ends = np.cumsum(np.bincount(place))
        starts = np.append(0, ends)[:-1]
        before = np.append(0.0, beside)[: len(diagonal)][self._order]
        self._pivot, self._share = diagonal[self._order], np.zeros(len(diagonal))
        self._steps = [
            (slice(begin, begin + end - middle), slice(middle, end))
            for begin, middle, end in zip(starts[:-1], starts[1:], ends[1:], strict=True)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            for back, here in self._steps:
                self._share[here] = before[here] / self._pivot[back]
                self._pivot[here] -= self._share[here] * before[here]
        if not (self._pivot > 0.0).all():
            raise ValueError("not positive definite")

    def solve(self, b: Array) -> Array:
        """x of the equations with right-hand sides b (n,)."""
        x = b[self._order]
        for back, here in self._steps:
            x[here] -= self._share[here] * x[back]
        x /= self._pivot
        for back, here in reversed(self._steps):
            x[back] -= self._share[here] * x[here]
        found = np.empty_like(x)
        found[self._order] = x
        return found
