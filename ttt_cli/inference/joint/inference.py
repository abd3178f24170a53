"""Joint expectation propagation: one Gaussian over all variables, all sites updated at once by their cavities.

Opper and Winther 2005; Rasmussen and Williams 2006, section 3.6, whose updates go one by one.
"""

import math
from collections.abc import Callable
from importlib import import_module
from typing import Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import DrawCurve, NewcomerCurve, Status
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.warm_start import sites_name
from ttt_cli.inference.joint.damping import Damping
from ttt_cli.inference.joint.shape import Shape, joint_chains
from ttt_cli.inference.prior import prior_slopes
from ttt_cli.inference.solver import OnSweep
from ttt_cli.inference.year_margins import Posterior
from ttt_cli.sparse.factor import Factor

# Of the way at most go sites that keep draw margins positive: all the way they overshoot.
POSITIVE: Final = 0.85
ROUNDING: Final = 3e-12  # moves below this part of the widest prior are rounding


class JointInference(Posterior):
    """The joint Gaussian of a fit: from its sites on, or from given ones, (`links`, `positivity`).

    Behind the variables of all nodes come newcomers' means by year, if they move.

    | name | shape | unit | |
    |---|---|---|---|
    | beliefs | (2, variables) | points | means, from their origins, and sds |
    | links | (games, 2 or 5) | | the sites of games (`kernels/ep/structures.py`) |
    | positivity | (nodes, 2) | | those of draw margins, if there are any |
    """

    def __init__(self, inference: Inference, shape: Shape, given: tuple[Array, Array] | None = None) -> None:
        self._priors, self.merged, self.rule = inference.priors, inference.merged, inference.rule
        self.moving, self.of_years = inference.moving, inference.of_years
        self._margins = "draw_margin" in inference.priors
        sites, model = ("margin_sites", "ttt_d") if self._margins else ("skill_sites", "ttt")
        self._kernels = import_module(f"ttt_cli.kernels.joint.{sites}")
        self._gradient = import_module(f"ttt_cli.kernels.ep.{model}").gradient
        self._factorised = inference.sites.link, inference.sites.positivity
        links, positivity = given or self._factorised
        self.links, self.positivity = links.copy(), positivity.copy()
        self._newcomers, self._shape = inference.newcomers, shape
        self.chains, self._size = joint_chains(inference), len(inference.chains.previous)
        self._nodes = self._size // len(inference.priors)
        steps = np.append(np.flatnonzero(self.chains.previous < 0), shape.later)
        self._precision = np.zeros(len(self.chains.previous))  # of steps; 0 within a group
        self._precision[steps] = 1.0 / self.chains.variance[steps]
        known = [inference.beliefs()] + ([self._newcomers.beliefs] if self._newcomers else [])
        self.beliefs = np.concatenate(known, axis=1)
        self._covariances = np.empty((6 if self._margins else 1, len(self.merged)))
        self._shared = np.zeros(len(self.chains.previous))
        self._cavity = np.empty((len(self.merged), 5 if self._margins else 2))
        self._integral, self._apart = math.nan, 0.0  # of what offsets within groups add

    @property
    def state(self) -> dict[str, Array]:
        """What a further joint fit may start from: the sites, and those of factorised propagation before it."""
        name, (links, positivity) = sites_name(self.merged.colours), self._factorised
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
        """Update until means and sds stand still to `solver.tol`; the status and `trace` with a row more per round.

        With `evidence_only` no round more is done to see them stand (`Damping`). The sweeps of factorised propagation
        before it count among `solver.max_sweeps`.
        """
        least = ROUNDING * math.sqrt(self.chains.variance.max(initial=0.0))
        rows, damping = list(trace), Damping(least, evidence_only=evidence_only)
        skipped, remaining = 0, math.inf
        while len(rows) < solver.max_sweeps:
            before = self.beliefs
            self.believe()
            remaining = damping.after(self.beliefs - before)
            moved, ahead = self.moving.update(self)
            change, remaining = max(damping.change, moved), max(remaining, ahead)
            rows.append((change, remaining))
            if on_sweep:
                on_sweep(len(rows), change, remaining)
            if remaining < solver.tol and not skipped:
                break
            skipped = self._update(damping.share)
        return Status(remaining < solver.tol and not skipped, len(rows), remaining, skipped), tuple(rows)

    def believe(self) -> None:
        """Find the joint Gaussian of the sites as they are, and the cavities that it leaves."""
        shape, precision = self._shape, self._precision
        factor, b = self.factor(once=True)
        mean, group = factor.solve(b), shape.group
        of_prior = precision @ self.chains.mean**2 - np.log(precision[precision > 0.0]).sum()
        self._integral = 0.5 * float(b @ mean - of_prior - factor.log_determinant) + self._apart
        mean, variance, joined = mean[group] + shape.offset, factor.variances[group], factor.joined
        self.beliefs = np.array([mean, np.sqrt(variance)])
        self._shared = np.where(self.chains.previous < 0, 0.0, variance)
        self._shared[shape.later] = joined[self._covariances.size :]
        self._covariances = joined[: self._covariances.size].reshape(self._covariances.shape)
        of_nodes = mean[: self._size], variance[: self._size]
        self._kernels.cavities(self.merged.games, *of_nodes, self._covariances, self.links, self._cavity)

    def factor(self, *, once: bool = False) -> tuple[Factor, Array]:
        """Of the precision matrix A of groups of variables, sites as they are; and b, where A^-1 b are the means."""
        shape = self._shape
        joined, diagonal, b = self._assembled()
        towards = b - self._product(joined, diagonal, shape.offset)
        self._apart = 0.5 * float(shape.offset @ (b + towards))
        return Factor(shape.pattern, joined, shape.total(diagonal), once=once), shape.total(towards)

    def _assembled(self) -> tuple[Array, Array, Array]:
        """The precision matrix of all variables but for steps within groups: minus pairs, diagonal; and its b."""
        previous, precision, size = self.chains.previous, self._precision, len(self.chains.previous)
        later, nodes = self._shape.later, slice(self._size)
        margins = slice(self._size - len(self.positivity), self._size)
        couplings, before = np.empty_like(self._covariances), previous[later]
        diagonal, b = np.zeros((2, size))
        self._kernels.assemble(self.merged.games, self.links, couplings, diagonal[nodes], b[nodes])
        diagonal[margins] += self.positivity[:, 0]
        b[margins] += self.positivity[:, 1]
        weighted = precision * self.chains.mean
        diagonal += precision + np.bincount(before, precision[later], size)
        b += weighted - np.bincount(before, weighted[later], size)
        return np.append(couplings, precision[later]), diagonal, b

    def _product(self, joined: Array, diagonal: Array, x: Array) -> Array:
        """That of the matrix of all variables and x."""
        first, second = self._shape.first, self._shape.second
        if not x.any():
            return np.zeros(len(x))
        away = [np.bincount(at, joined * x[to], len(x)) for at, to in ((first, second), (second, first))]
        return np.asarray(diagonal * x - away[0] - away[1])

    def deviations(self, contrasts: Array) -> Array:
        """The sds of sums of skills, points, (sums,), with weights (nodes, sums)."""
        weights = np.zeros((len(self._shape.pattern.place), contrasts.shape[1]))
        np.add.at(weights, self._shape.group[: len(contrasts)], contrasts)
        variance: Array = np.einsum("ij,ij->j", weights, self.factor()[0].solve(weights))
        return np.sqrt(variance)

    def _update(self, share: float) -> int:
        skipped = self._kernels.update(self.merged.games, self.rule, self._cavity, share, self.links)
        return int(skipped + self._keep_positive(min(share, POSITIVE))[0])

    def _keep_positive(self, share: float) -> tuple[int, float, float]:
        """Sites of margins: how many cannot move, their part of log Z and of its gradient in the margins' origin."""
        if not self._margins:
            return 0, 0.0, 0.0
        mean, sd = np.ascontiguousarray(self.beliefs[:, self._nodes : self._size])
        found: tuple[int, float, float] = self._kernels.keep_positive(
            self.rule.origin, mean, sd**2, share, self.positivity
        )
        return found

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites as they are, and the log probability of all games, each without its own site."""
        total, predicted = self._kernels.evidence(self.merged.games, self.rule, self._cavity, self.links)
        total += self._integral + self._keep_positive(0.0)[1] + self.moving.log_evidence(self)
        return total, predicted

    def gradient(self) -> tuple[dict[str, float], tuple[float, ...]]:
        """Of log Z at the fixed point, as `Inference.gradient`."""
        by_margin, by_place = np.empty(len(self.merged)), np.zeros_like(self.rule.handicap)
        noise, advantage = self._gradient(
            self.merged.games, self.merged.balance, self.rule, self._cavity, by_margin, by_place
        )
        of_margins = self.moving.gradient(self, by_margin)
        margin = of_margins.pop("draw_margin") + self._keep_positive(0.0)[2]
        by_mean, by_variance = self.chain_slopes()
        of_priors = prior_slopes(self._priors, by_mean[: self._size], by_variance[: self._size])
        if self._newcomers:
            moved = 1.0 + 2.0 * (by_variance * self.chains.variance)[self._size :]
            of_priors |= self._newcomers.gradient(moved)
        return of_priors | of_margins, (noise, margin, advantage, self.merged.unit_slope(self.rule, by_place))

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of log Z in the means and variances of the steps of all variables."""
        _, previous, _, step, variance = self.chains
        mean, sd = self.beliefs
        steps = np.flatnonzero(self._precision)
        before = np.where(previous[steps] < 0, 0.0, 1.0)
        change = mean[steps] - before * mean[previous[steps]] - step[steps]
        moved = sd[steps] ** 2 + before * (sd[previous[steps]] ** 2 - 2.0 * self._shared[steps]) + change**2
        by_mean, by_variance = np.zeros((2, len(mean)))
        by_mean[steps] = change / variance[steps]
        by_variance[steps] = 0.5 * (moved / variance[steps] - 1.0) / variance[steps]
        if len(steps) < len(mean):  # within groups: what holds all later variables there back
            joined, diagonal, b = self._assembled()
            force = b - self._product(joined, diagonal, mean)
            for i in np.flatnonzero(self._precision == 0.0)[::-1]:
                by_mean[i] += force[i]
                if self._precision[previous[i]] == 0.0:
                    by_mean[previous[i]] += by_mean[i]
        return by_mean, by_variance

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""
        return self._cavity

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for all games."""
        task(0, len(self.merged))

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points."""
        return np.asarray(self.beliefs[0, : self._nodes])

    def draws(self) -> DrawCurve | None:
        """What is believed of draw margins that move."""
        return self.moving.curve(self, self._priors["skill"].origin)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """What is believed of newcomers' mean, if it moves."""
        return self._newcomers.curve(self.beliefs[:, self._size :]) if self._newcomers else None

    def histories(self) -> dict[str, Chain]:
        """What is believed of the quantities of all nodes, points."""
        shared = np.where(self.chains.previous < self._size, self._shared, 0.0)
        parts = np.split(np.array([*self.beliefs, shared])[:, : self._size], len(self._priors), axis=1)
        return {
            name: prior.history(mean + prior.origin, sd, shared)
            for (name, prior), (mean, sd, shared) in zip(self._priors.items(), parts, strict=True)
        }
