"""The joint Gaussian of a run's skills: what two skills have in common, and samples of several at once.

The precision matrix A is made again from the tables `links` and `steps`; columns of its inverse are found by conjugate
gradients with the chains alone as preconditioner, so that a question of two skills needs no factor of A. A skill in a
period without games is a point of the bridge between two nodes, or a walk from the last one, with noise of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpttrf, dpttrs
from scipy.sparse import coo_array, csr_array

from ttt_cli.arrays import Array, Mask, Places
from ttt_cli.errors import LookupFailed, RunError
from ttt_cli.fitted import later_on
from ttt_cli.histories import Curve
from ttt_cli.quantities import curve_columns
from ttt_cli.runs.schema import DATABASE
from ttt_cli.runs.when import find_period

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

EXACT: Final = 1e-12  # of the residual, in the norm of the preconditioner
MOST_ITERATIONS: Final = 10_000
AT_ONCE: Final = 32  # columns
_STEPS: Final = f"FROM {DATABASE}.main.steps"
_LINKS: Final = f"FROM {DATABASE}.main.links"
_LAST: Final = f'SELECT "until" IS NULL AS last FROM {DATABASE}.main.spans'
_PLACES: Final = f"""
WITH asked AS (SELECT unnest(?) AS player, unnest(?) AS number, unnest(range(?)) AS place)
SELECT s.rowid AS node, number - s.period_number AS ahead, s."until" - s.period_number AS way,
       s.* EXCLUDE (player, period_number, "until", games)
FROM asked ASOF LEFT JOIN (SELECT rowid, * FROM {DATABASE}.main.spans) s
ON asked.player = s.player AND asked.number >= s.period_number ORDER BY asked.place
"""

Skill = tuple[str, int]  # a player, named as in the run, and the number of a period


def meant(run: Run, skills: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[Skill]]:
    """Pairs of player and period as people name them: as the run does, and with numbers. Raises LookupFailed."""
    named, numbered = [], []
    for name, at in skills:
        player = run.find_player(name).player
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

    @property
    def between(self) -> Mask:
        """Whether there is a next node."""
        return ~np.isnan(self.way)

    @property
    def share(self) -> Array:
        """Of the way."""
        return np.where(self.between, self.ahead / np.where(self.between, self.way, 1.0), 0.0)


class JointSkills:
    """The joint Gaussian of a run, points. Raises RunError where the run holds none.

    Variables are the groups of nodes between which skills do not move, those of draw margins behind those of skills.
    """

    def __init__(self, run: Run) -> None:
        if not run.has_joint:
            raise RunError(
                "it holds no joint posterior: what skills have in common is not known",
                where=run.name,
                hint="fit with -s solver.posterior=joint (ttt, ttt-d)",
            )
        self._run = run
        steps = run.arrays(f"SELECT * {_STEPS}")
        last = run.arrays(_LAST)["last"]
        margins = bool(len(last)) and not np.isnan(steps["draw_margin_variance"]).any()
        quantities = ("variance", "draw_margin_variance")[: 1 + margins]
        self._nodes = len(last)
        self._step = np.concatenate([steps[name] for name in quantities])
        self._first = np.tile(np.append(True, last[:-1])[: self._nodes], len(quantities))
        begins = self._first | (self._step > 0.0)
        self._group = np.cumsum(begins) - 1
        self._margins = margins
        self._positive = steps["draw_margin_precision"]
        if not (self._step[self._first] > 0.0).all():
            raise self._strange()

    def covariance(self, skills: Sequence[Skill], others: Sequence[Skill] | None = None) -> Array:
        """The covariances of skills with others (None: with themselves), (skills, others), points^2.

        One system of equations is solved for each of the others. Raises LookupFailed, RunError.
        """
        rows = self._points(skills)
        columns = rows if others is None else self._points(others)
        left, right = self._weights(rows), self._weights(columns)
        found = np.empty((left.shape[1], right.shape[1]))
        for begin in range(0, right.shape[1], AT_ONCE):
            part = slice(begin, begin + AT_ONCE)
            found[:, part] = left.T @ self._solve(right[:, part].toarray())
        found += self._own_noise(rows, columns)
        return 0.5 * (found + found.T) if others is None else found

    def samples(self, skills: Sequence[Skill], n: int, seed: int) -> Array:
        """Samples of skills, (n, skills), points; equal seeds give equal ones. Raises LookupFailed, RunError."""
        draw = np.random.default_rng(seed).multivariate_normal
        return draw(
            self._points(skills).mean, self.covariance(skills), n, check_valid="ignore", method="eigh"
        )

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

    def _weights(self, points: _Points) -> Any:
        """What skills are of variables, noise of their own aside, (variables, skills)."""
        later, every = points.node + points.between, np.arange(len(points.node))
        return csr_array(
            (
                np.append(1.0 - points.share, points.share),
                (self._group[np.append(points.node, later)], np.append(every, every)),
            ),
            (self._size, len(every)),
        )

    def _own_noise(self, rows: _Points, columns: _Points) -> Array:
        """The covariances of what is added to the variables: of bridges, and of walks onward, from the same nodes."""
        step = np.where(rows.between, self._step[rows.node + rows.between], 0.0)[:, None]
        low, high = (of.outer(rows.share, columns.share) for of in (np.minimum, np.maximum))
        onward = np.where(rows.between, 0.0, rows.rise)[:, None] * np.minimum.outer(rows.ahead, columns.ahead)
        return np.where(rows.node[:, None] == columns.node, step * low * (1.0 - high) + onward, 0.0)

    @property
    def _size(self) -> int:
        return int(self._group[-1]) + 1 if len(self._group) else 0

    @cached_property
    def _matrix(self) -> Any:
        """A, in rows."""
        links = self._run.arrays(f"SELECT * {_LINKS}")
        i, j = links["first"], links["second"]
        q11, q12, q22 = (links[name].astype(np.float64) for name in ("q11", "q12", "q22"))
        parts = [(i, i, q11), (j, j, q11), (i, j, -q11)]
        if self._margins:
            a, b = i + self._nodes, j + self._nodes
            between = q11 - 2.0 * q12 + q22
            every = np.arange(self._nodes)
            parts = [
                (i, i, between), (j, j, between), (i, j, -between), (a, a, q11), (b, b, q22), (a, b, q12),
                (i, a, q11 - q12), (i, b, q12 - q22), (j, a, q12 - q11), (j, b, q22 - q12),
                (every + self._nodes, every + self._nodes, self._positive),
            ]  # fmt: skip
        steps = np.flatnonzero(self._step > 0.0)
        weight, moved = 1.0 / self._step[steps], ~self._first[steps]
        later, one = steps[moved], weight[moved]
        parts += [(steps, steps, weight), (later - 1, later - 1, one), (later - 1, later, -one)]
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        row, column = self._group[row], self._group[column]
        off = row != column
        return coo_array(
            (np.append(value, value[off]), (np.append(row, column[off]), np.append(column, row[off]))),
            (self._size, self._size),
        ).tocsr()

    @cached_property
    def _chains(self) -> tuple[Array, Array]:
        """The factor of the chains with the diagonal of A, in which nobody has met anybody."""
        steps = np.flatnonzero((self._step > 0.0) & ~self._first)
        off = np.zeros(max(self._size - 1, 0))
        off[self._group[steps] - 1] = -1.0 / self._step[steps]
        diagonal, below, failed = dpttrf(self._matrix.diagonal(), off)
        if failed:
            raise self._strange()
        return diagonal, below

    def _solve(self, b: Array) -> Array:
        """A^-1 b for b of shape (variables, columns)."""
        matrix, chains = self._matrix, self._chains

        def towards(r: Array) -> Array:
            solved: Array = dpttrs(*chains, r)[0]
            return solved

        x, r = np.zeros_like(b), b.copy()
        p = z = towards(r)
        size = first = np.einsum("ij,ij->j", r, z)
        for _ in range(MOST_ITERATIONS):
            if (size <= EXACT**2 * first).all():
                return x
            q = matrix @ p
            curved = np.einsum("ij,ij->j", p, q)
            if not (curved[size > 0.0] > 0.0).all():
                break
            along = np.divide(size, curved, out=np.zeros_like(size), where=curved > 0.0)
            x += along * p
            r -= along * q
            z = towards(r)
            before, size = size, np.einsum("ij,ij->j", r, z)
            p = z + np.divide(size, before, out=np.zeros_like(size), where=before > 0.0) * p
        raise self._strange()

    def _strange(self) -> RunError:
        return RunError(
            "its joint posterior cannot be true", where=self._run.name, hint="fit the games again"
        )
