"""Joint expectation propagation: one Gaussian over all variables; all sites updated at once from their cavities."""

import math
from collections import deque
from collections.abc import Callable
from itertools import combinations
from typing import Any, Final

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Chain, DrawCurve, NewcomerCurve, Status
from ttt_cli.gaussian.factor import Factor, pattern_of
from ttt_cli.gaussian.precision import (
    Entries,
    Precision,
    first_of,
    link_entries,
    link_pulls,
    sums_of_games,
)
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.start import sites_name
from ttt_cli.inference.prior import histories, prior_slopes
from ttt_cli.inference.solver import OnSweep, largest
from ttt_cli.inference.years import GamesGradient, Posterior
from ttt_cli.kernels import joint as kernels
from ttt_cli.kernels.ep import ttt, ttt_d
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.support.arrays import Array, Ids, Mask

STIFF: Final = 1e-10  # of the largest variance: smaller steps are none, as the matrix would lose its digits


def beginnings(previous: Ids, variance: Array) -> Mask:
    """Mask of variables that start a group: without a previous one, or after a step of positive `variance`."""
    first = previous < 0
    return np.asarray(first | (variance > STIFF * variance.max(initial=0.0)))


def joint_chains(inference: Inference) -> Chains:
    """Chains of all variables: nodes, and newcomers' mean by year if it moves."""
    return inference.newcomers.tied(inference.chains) if inference.newcomers else inference.chains


class Shape:
    """Structure of the joint Gaussian of a fit, without numbers.

    Consecutive variables form one group if the step between them has no variance: without drift a player has one skill.

    | name | shape | |
    |---|---|---|
    | group | (variables,) | group of each variable |
    | offset | (variables,) | sum of the steps' means from the group's first variable, points |
    | later | (steps,) | variables with a step from the previous one |
    | ends, u | | variables of each game, and the sums of them in its site (`link_entries`) |
    | pattern | | sparsity pattern of groups: pairs linked by games, in the order of the kernels, then by steps |
    """

    def __init__(self, inference: Inference) -> None:
        games = inference.merged.games
        (_, previous, _, mean, variance) = joint_chains(inference)
        begins = beginnings(previous, variance)
        self.offset = np.where(begins, 0.0, mean)
        first = first_of(np.where(begins, np.arange(len(previous)), previous), self.offset)
        firsts, self.group = np.unique(first, return_inverse=True)
        self.later = np.flatnonzero(begins & (previous >= 0))
        margins = len(inference.chains.previous) // 2 if "draw_margin" in inference.priors else 0
        self.ends, self.u = sums_of_games(games.first, games.second, margins)
        pairs = [*combinations(self.ends, 2), (previous[self.later], self.later)]
        first, second = map(np.concatenate, zip(*pairs, strict=True))
        self.pattern = pattern_of(self.group[first], self.group[second], len(firsts))

    def total(self, values: Array) -> Array:
        """Sums of values (variables,) over groups."""
        return np.bincount(self.group, values, len(self.pattern.place)).astype(np.float64)


OVERSHOT: Final = -0.25  # of the last move is reversed: shorten steps
LEAST_SHARE: Final = 0.4  # of the way
STEEPEST: Final = -3.0  # smallest slope of a move in the previous one
DOUBT: Final = 3.0  # factor on the sum of further moves: fast ones hide slow ones
EARLY_DOUBT: Final = 10.0  # the same with few rates, and longer where they are not small
LONG: Final = 8  # moves
SMALL: Final = 0.3  # a rate
RECENT: Final = 3  # rates of which the largest counts
TOGETHER: Final = 5  # moves that are extrapolated from


class Damping:
    """Step length of the sites, and the remaining error, from successive moves of all marginals.

    Moves below `least` points count as rounding. Moves of means and of sds may be large in turn, so the error is at
    least the larger of the last two moves; with `evidence_only` the last one is used.

    D and D' are successive moves, d the step length. Undamped, D' would be about l D with l = 1 - (1 - r) / d and
    r = D'.D / |D|^2. Where moves reverse, d becomes 2 / (2 - l), optimal for ratios between l and 0.
    """

    def __init__(self, least: float, *, evidence_only: bool = False) -> None:
        self.share = 1.0
        self.change = math.inf
        self._least = least
        self._evidence_only = evidence_only
        self._changes: list[float] = []
        self._moves: deque[Array] = deque(maxlen=TOGETHER)

    def after(self, move: Array) -> float:
        """Record a move (2, variables) and return the estimated largest remaining error, points."""
        change = largest(move)
        self.change = change if change > self._least else 0.0
        self._changes.append(self.change)
        last = self._moves[-1] if self._moves else None
        if last is not None and (size := float(np.vdot(last, last))) > 0.0:
            left = float(np.vdot(move, last)) / size
            if left < OVERSHOT:
                slope = max(1.0 - (1.0 - left) / self.share, STEEPEST)
                self.share = min(self.share, max(LEAST_SHARE, 2.0 / (2.0 - slope)))
        if len(self._changes) == 2:  # the first led from another posterior
            self._moves.clear()
        self._moves.append(move)
        # the largest of three estimates: recent moves, the geometric sum of further moves, and the extrapolation
        if len(self._changes) < 3:
            return math.inf
        changes = np.array(self._changes[-RECENT - 2 :])
        pairs = np.maximum(changes[:-1], changes[1:])
        if pairs[-1] == 0.0:
            return 0.0
        rates = pairs[1:] / pairs[:-1]
        if (rate := rates.max()) >= 1.0:
            return math.inf
        known = len(rates) == RECENT and (len(self._changes) >= LONG or rate < SMALL)
        ahead = (DOUBT if known else EARLY_DOUBT) * rate / (1.0 - rate)
        least = DOUBT * self.change if self._evidence_only else pairs[-1]
        extrapolated = 0.0
        moves = np.array(self._moves).reshape(len(self._moves), -1)
        products = moves @ moves.T
        if size := np.trace(products):  # marginals are extrapolated by Eddy's method (1979)
            weights = np.linalg.solve(products + 1e-14 * size * np.eye(len(moves)), np.ones(len(moves)))
            before = np.cumsum(weights / weights.sum())[:-1]
            extrapolated = largest(before @ moves[1:])
        return float(max(least, pairs[-1] * ahead, DOUBT * extrapolated))


POSITIVE: Final = 0.85  # largest step of positivity sites: full ones overshoot
ROUNDING: Final = 3e-12  # moves below this part of the widest prior are rounding


class JointInference(Posterior):
    """Joint Gaussian of a fit, from its sites or given ones (`links`, `positivity`).

    Newcomers' means by year, if they move, follow the variables of all nodes.

    | name | shape | unit | |
    |---|---|---|---|
    | beliefs | (2, variables) | points | means, from their origins, and sds |
    | links | (games, 2 or 5) | | sites of games (`kernels/ep/structures.py`) |
    | positivity | (nodes, 2) | | sites of draw margins, if there are any |
    """

    def __init__(self, inference: Inference, shape: Shape, given: tuple[Array, Array] | None = None) -> None:
        self._priors = inference.priors
        self.merged = inference.merged
        self.rule = inference.rule
        self.moving = inference.moving
        self.of_years = inference.of_years
        self._margins = "draw_margin" in inference.priors
        self._of_sites = kernels.skill_cavities, kernels.skill_update, kernels.skill_evidence
        if self._margins:
            self._of_sites = kernels.margin_cavities, kernels.margin_update, kernels.margin_evidence
        self._gradient = (ttt_d if self._margins else ttt).gradient
        self._factorised = inference.sites.link, inference.sites.positivity
        links, positivity = given or self._factorised
        self.links = links.copy()
        self.positivity = positivity.copy()
        self._newcomers = inference.newcomers
        self._shape = shape
        self.chains = joint_chains(inference)
        self._size = len(inference.chains.previous)
        self._nodes = self._size // len(inference.priors)
        steps = np.append(np.flatnonzero(self.chains.previous < 0), shape.later)
        self._precision = np.zeros(len(self.chains.previous))  # of steps; 0 within a group
        self._precision[steps] = 1.0 / self.chains.variance[steps]
        known = [inference.slice.marginals()] + ([self._newcomers.beliefs] if self._newcomers else [])
        self.beliefs = np.concatenate(known, axis=1)
        self._covariances = np.empty((6 if self._margins else 1, len(self.merged)))
        self._shared = np.zeros(len(self.chains.previous))
        self._cavity = np.empty((len(self.merged), 5 if self._margins else 2))
        # contribution of offsets within groups
        self._integral = math.nan
        self._apart = 0.0

    @property
    def state(self) -> dict[str, Array]:
        """State for a warm start: joint and factorised sites."""
        name = sites_name(self.merged.colours)
        (links, positivity) = self._factorised
        return {
            f"joint {name}": self.links, "joint positivity": self.positivity,
            f"links of {name}": links, "links of positivity": positivity,
        }  # fmt: skip

    def solve(
        self,
        solver: SolverConfig,
        on_sweep: OnSweep | None,
        trace: tuple[tuple[float, float], ...],
        *,
        evidence_only: bool = False,
    ) -> tuple[Status, tuple[tuple[float, float], ...]]:
        """Update until means and sds are within `solver.tol`; returns the status and `trace` with a row per round
        added.

        With `evidence_only` there is no confirming round (`Damping`). `trace` counts towards `solver.max_sweeps`.
        """
        least = ROUNDING * math.sqrt(self.chains.variance.max(initial=0.0))
        rows = list(trace)
        damping = Damping(least, evidence_only=evidence_only)
        skipped = 0
        remaining = math.inf
        while len(rows) < solver.max_sweeps:
            before = self.beliefs
            self.believe()
            remaining = damping.after(self.beliefs - before)
            moved, ahead = self.moving.update(self)
            change = max(damping.change, moved)
            remaining = max(remaining, ahead)
            rows.append((change, remaining))
            if on_sweep:
                on_sweep(len(rows), change, remaining)
            if remaining < solver.tol and not skipped:
                break
            rest = self._cavity, damping.share, self.links
            skipped = self._of_sites[1](self.merged.games, self.rule, *rest)
            skipped += self._keep_positive(min(damping.share, POSITIVE))[0]
        return Status(remaining < solver.tol and not skipped, len(rows), remaining, skipped), tuple(rows)

    def believe(self) -> None:
        """Compute the joint Gaussian of the current sites and its cavities."""
        shape = self._shape
        precision = self._precision
        factor, b = self.factor(once=True)
        mean = factor.solve(b)
        group = shape.group
        of_prior = precision @ self.chains.mean**2 - np.log(precision[precision > 0.0]).sum()
        self._integral = 0.5 * float(b @ mean - of_prior - factor.log_determinant) + self._apart
        mean = mean[group] + shape.offset
        variance = factor.variances[group]
        joined = factor.joined
        self.beliefs = np.array([mean, np.sqrt(variance)])
        self._shared = np.where(self.chains.previous < 0, 0.0, variance)
        self._shared[shape.later] = joined[self._covariances.size :]
        self._covariances = joined[: self._covariances.size].reshape(self._covariances.shape)
        of_nodes = mean[: self._size], variance[: self._size]
        self._of_sites[0](self.merged.games, *of_nodes, self._covariances, self.links, self._cavity)

    def factor(self, *, once: bool = False) -> tuple[Factor, Array]:
        """Factor of the precision matrix A of groups, and b, where A^-1 b are the means."""
        shape = self._shape
        matrix, b = self._assembled()
        towards = b - matrix.times(shape.offset) if shape.offset.any() else b
        self._apart = 0.5 * float(shape.offset @ (b + towards))
        diagonal = shape.total(matrix.diagonal)
        return Factor(shape.pattern, matrix.above, diagonal, once=once), shape.total(towards)

    def _assembled(self) -> tuple[Precision, Array]:
        """Precision matrix of all variables, without steps inside groups, and its b."""
        previous = self.chains.previous
        size = len(self.chains.previous)
        links = self.links.T * self.merged.games.weight
        kinds = len(links) - len(self._shape.u)
        entries = link_entries(self._shape.ends, self._shape.u, links[:kinds])
        margins = np.arange(self._size - len(self.positivity), self._size)
        entries.append(Entries(margins, margins, self.positivity[:, 0]))
        stepped = np.where(self._precision > 0.0, previous, -1)
        b = link_pulls(self._shape.ends, self._shape.u, links[kinds:], size)
        b[margins] += self.positivity[:, 1]
        weighted = self._precision * self.chains.mean
        later = self._shape.later
        b += weighted - np.bincount(previous[later], weighted[later], size)
        return Precision(stepped, self._precision, entries), b

    def deviations(self, contrasts: Array) -> Array:
        """Sds (sums,) of sums of skills with weights (nodes, sums), points."""
        weights = np.zeros((len(self._shape.pattern.place), contrasts.shape[1]))
        np.add.at(weights, self._shape.group[: len(contrasts)], contrasts)
        variance: Array = np.einsum("ij,ij->j", weights, self.factor()[0].solve(weights))
        return np.sqrt(variance)

    def _keep_positive(self, share: float) -> tuple[int, float, float]:
        """Move the sites that keep margins positive by `share`.

        Returns the number not moved, and the contributions of all these sites to log Z and to its gradient in the
        margins' origin.
        """
        if not self._margins:
            return 0, 0.0, 0.0
        mean, sd = np.ascontiguousarray(self.beliefs[:, self._nodes : self._size])
        found: tuple[int, float, float] = ttt_d.positive_evidence(
            self.rule.origin, mean, sd**2, share, self.positivity
        )
        return found

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the current sites, and the leave-one-out log probability of all games."""
        total, predicted = self._of_sites[2](self.merged.games, self.rule, self._cavity, self.links)
        total += self._integral + self._keep_positive(0.0)[1] + self.moving.log_evidence(self)
        return total, predicted

    def gradient(self) -> tuple[dict[str, float], GamesGradient]:
        """Gradient of log Z at the fixed point, as `Inference.gradient`."""
        of_margins, (noise, margin, *rest) = self.moving.gradient(self, self.merged, self._gradient)
        by_mean, by_variance = self.chain_slopes()
        of_priors = prior_slopes(self._priors, by_mean[: self._size], by_variance[: self._size])
        if self._newcomers:
            moved = 1.0 + 2.0 * (by_variance * self.chains.variance)[self._size :]
            of_priors |= self._newcomers.gradient(moved)
        return of_priors | of_margins, (noise, margin + self._keep_positive(0.0)[2], *rest)

    def chain_slopes(self) -> tuple[Array, Array]:
        """Gradient of log Z in the means and variances of all steps."""
        _, previous, _, step, variance = self.chains
        mean, sd = self.beliefs
        steps = np.flatnonzero(self._precision)
        before = np.where(previous[steps] < 0, 0.0, 1.0)
        change = mean[steps] - before * mean[previous[steps]] - step[steps]
        moved = sd[steps] ** 2 + before * (sd[previous[steps]] ** 2 - 2.0 * self._shared[steps]) + change**2
        by_mean, by_variance = np.zeros((2, len(mean)))
        by_mean[steps] = change / variance[steps]
        by_variance[steps] = 0.5 * (moved / variance[steps] - 1.0) / variance[steps]
        if len(steps) < len(mean):  # within groups: the force on all later variables there
            matrix, b = self._assembled()
            force = b - matrix.times(mean)
            for i in np.flatnonzero(self._precision == 0.0)[::-1]:
                by_mean[i] += force[i]
                if self._precision[previous[i]] == 0.0:
                    by_mean[previous[i]] += by_mean[i]
        return by_mean, by_variance

    def cavities(self) -> Array:
        """Cavities of all games, as the kernels take them."""
        return self._cavity

    def run_games(self, kernel: Callable[..., object], *rest: Any) -> None:
        """Call a kernel for all games."""
        kernel(0, len(self.merged), *rest)

    def mean_skills(self) -> Array:
        """Mean skills of all nodes from the origin, points."""
        return np.asarray(self.beliefs[0, : self._nodes])

    def draws(self) -> DrawCurve | None:
        """Curve of moving draw margins, if they move."""
        return self.moving.curve(self, self._priors["skill"].origin)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """Curve of newcomers' mean, if it moves."""
        return self._newcomers.curve(self.beliefs[:, self._size :]) if self._newcomers else None

    def histories(self) -> dict[str, Chain]:
        """Chains of all quantities, points."""
        shared = np.where(self.chains.previous < self._size, self._shared, 0.0)
        parts = np.array([*self.beliefs, shared])[:, : self._size]
        return histories(self._priors, parts.reshape(3, len(self._priors), -1))
