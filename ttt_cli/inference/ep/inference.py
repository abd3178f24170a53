"""Gaussian expectation propagation: one Gaussian per quantity of a node, found by sweeps over the timeline."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.fitted import DrawCurve, Fit, NewcomerCurve
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.joint_means import JointSolver
from ttt_cli.inference.ep.levels import levels_of
from ttt_cli.inference.ep.merged import MergedGames
from ttt_cli.inference.ep.slices import Moves, Slices
from ttt_cli.inference.ep.two_filter import TwoFilter, Vector
from ttt_cli.inference.ep.warm_start import believed, sites_name, started_sites, tells_of
from ttt_cli.inference.moving_margins import MovingMargins
from ttt_cli.inference.prior import Prior, prior_slopes
from ttt_cli.inference.solver import Pace, Sweep, largest
from ttt_cli.kernels.ep.structures import Chains, Messages, Rule, Sites
from ttt_cli.timeline import Timeline

ROUNDING: Final = 1e-13  # moves below this part of the widest prior are rounding
EARLY: Final = 3  # sweeps, in which margins of all games follow half a sweep, too
REPEATS: Final = 50  # of equal games in a fast sweep


class Inference:
    """Sites and messages of one fit, of skills alone or of skills and draw margins (`kernels/ep/structures.py`).

    `priors`: of each quantity of a node, `skill` and perhaps `draw_margin`. `start`: a fit of the same timeline,
    perhaps with other parameters, to begin from, or what is believed of its nodes; `warm`: whether it is of use.
    `moving` are the margins of `rule`, which follow the fit.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames,
        priors: Mapping[str, Prior],
        rule: Rule,
        moving: MovingMargins,
        start: Fit | None = None,
        threads: int | None = None,
    ) -> None:
        margins = "draw_margin" in priors
        self._kernels, self._links, self._chain_kernels = (
            import_module(f"ttt_cli.kernels.ep.{name}")
            for name in (("ttt_d", "ttt_d_links", "chains") if margins else ("ttt", "ttt_links", "chains"))
        )
        self._margins = margins
        self._alternate = not margins  # slices turned against each other: with margins it takes more sweeps
        self.merged, self._games, self.priors, self.rule, self.moving = (
            merged,
            merged.games,
            priors,
            rule,
            moving,
        )
        n, games = timeline.n_nodes, len(merged)
        self._nodes, self._firsts = n, range(0, len(priors) * n, max(n, 1))
        self.chains = Chains(
            timeline.node_start.copy(),
            self._of_variables(timeline.previous),
            self._of_variables(timeline.next),
            *map(np.concatenate, zip(*(prior.steps() for prior in priors.values()), strict=True)),
        )
        moving.begin(self.chains, rule.noise)
        self._slices = Slices(timeline.node_start, merged.games.start, timeline.previous, threads)
        self._between = self._of_variables(self._slices.later)
        self.sites = Sites(
            started_sites((games, 4 * len(priors)), start, sites_name(merged.colours)),
            np.zeros((games, 5 if margins else 2)),
            started_sites((n if margins else 0, 2), start, "positivity"),
        )
        self._coupling = np.empty(0 if margins else games)
        self._means = np.empty(len(priors) * n)
        self._messages = Messages(*np.empty((3, len(priors) * n, 2)))
        self.newcomers, shared = priors["skill"].newcomers, None
        if self.newcomers:
            self._debuts = self.newcomers.debuts(self.chains, self._messages)
            shared = levels_of(timeline, self.newcomers, self.chains, self._debuts)
        self._joint = JointSolver(TwoFilter(self.chains, self._slices), self._slices, shared)
        if tells_of(start, n) and not self.sites.message.any():
            self._guess(start, timeline.previous < 0)
        self.warm, self._sweeps = bool(self.sites.message.any()), 0
        self._moves = Moves(self._slices, self._messages.marginal)
        self._smooth()
        if self.warm:
            moving.follow_strength(self)

    def _of_variables(self, nodes: Ids) -> Ids:
        """Nodes, or -1, as variables: of each quantity in turn."""
        every = [np.where(nodes < 0, -1, nodes + first) for first in self._firsts]
        return np.concatenate([np.empty(0), *every]).astype(np.int32)

    @property
    def state(self) -> dict[str, Vector]:
        """What a further fit may start from."""
        message, _, positivity = self.sites
        return (
            {sites_name(self.merged.colours): message}
            | ({"positivity": positivity} if len(positivity) else {})
            | self.moving.state
        )

    def _guess(self, start: Fit | None, first: Mask) -> None:
        """Give every game the sites that it would have if its players were as `start` believes.

        A pass backward in which no node has one after it and games have no weight, so that beliefs stay as they are.
        """
        _, backward, marginal = self._messages
        backward[:] = 0.0
        marginal[:] = np.concatenate(
            [believed(start, name, prior, first) for name, prior in self.priors.items()]
        )
        chains = self.chains._replace(following=np.full_like(self.chains.following, -1))
        games = self._games._replace(weight=np.zeros_like(self._games.weight))
        self._slices.run(
            lambda number: self._kernels.sweep(
                self._slices.parts[number], True, 0, chains, games, self.rule, self._messages, self.sites
            )
        )

    def _smooth(self) -> None:
        """All messages along the chains, from the sites as they are."""
        marginal, parts = self._messages.marginal, self._slices.parts
        for last in (False, True)[self.newcomers is None :]:
            self._slices.run(
                lambda number: self._kernels.gather(parts[number], self._games, marginal, self.sites)
            )
            self._joint.filters.smooth(self._messages)
            if self.newcomers and not last:
                self.newcomers.listen(self._debuts)

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means if asked for."""
        repeats = REPEATS if pace is Pace.FAST else 0
        slices, moves = self._slices, self._moves

        def half(turn: int, number: int) -> int:
            back = (turn + number * self._alternate) % 2 == 1
            return int(
                self._kernels.sweep(
                    slices.parts[number], back, repeats, self.chains, self._games, self.rule, self._messages,
                    self.sites,
                )
            )  # fmt: skip

        moves.begin()
        slices.run(partial(half, 0))
        self._chain_kernels.exchange(self._between, self.chains, self._messages)
        if self._sweeps < EARLY and not self.moving.of_newcomers:
            self.moving.update(self)
        self._sweeps += 1
        skipped = sum(slices.run(partial(half, 1)))
        if self._margins and pace is not Pace.PLAIN:
            slices.run(self._settle_margins)
        self._smooth()
        change = moves.largest()
        left = self._towards_joint_means(pace is not Pace.PLAIN)
        follows = self.moving.update(self)
        if self.moving.of_newcomers:
            self._smooth()
        moved, ahead = map(max, moves.end(), follows)
        change = max(change, moved)
        return Sweep(change if change > ROUNDING * self._joint.widest else 0.0, left, skipped, ahead)

    def _settle_margins(self, number: int) -> None:
        """Forward and backward through the margins of a slice, while the sites of games stay."""
        for back in (False, True):
            self._kernels.settle_margins(
                self._slices.parts[number],
                back,
                self.chains,
                self.rule.origin,
                self._messages,
                self.sites.positivity,
            )

    def _towards_joint_means(self, move: bool, tol: float = 1e-3, relative: float = 1e-2) -> float:
        """Solve for the joint means and `move` all variables there; returns a bound on the distance left, points."""
        joint, slices = self._joint, self._slices
        if not len(self.merged):  # chains alone: smoothed means are the joint means
            return 0.0

        def spread(number: int) -> None:
            part = slices.parts[number]
            self._links.spread(part.game, part.game_end, self._games, self.sites, self._means)

        self._linearise()
        joint.factor()
        unsolved = joint.solve(self._add_couplings, tol, relative)
        if not move:
            return unsolved + largest(joint.correction)
        self._means += joint.correction
        slices.run(spread)
        self._smooth()
        return unsolved

    def _linearise(self) -> None:
        """Fill means, couplings, and the diagonal and residual of the joint solver."""
        joint = self._joint

        def residual(number: int) -> None:
            self._links.residual(
                self._slices.parts[number], self._games, self.sites, self._messages, self._means,
                self._coupling, joint.diagonal, joint.residual,
            )  # fmt: skip

        self._slices.run(residual)

    def _add_couplings(self, begin: int, end: int, z: Vector, az: Vector) -> float:
        first, second, weight = self._games.first, self._games.second, self._games.weight
        return float(
            self._links.add_couplings(
                begin, end, first, second, weight, self.sites.link, self._coupling, z, az
            )
        )

    def joint_solver(self) -> Callable[[Vector, float], Vector]:
        """b, relative error -> A^-1 b for the precision A of the joint Gaussian of chains and sites as they are.

        The error is that of the energy norm. Newcomers' mean is integrated out: no sweep may follow.
        """
        if self.newcomers:
            self.newcomers.leave(self.chains)
        self._linearise()
        self._joint.factor()

        def solution(right: Vector, relative: float) -> Vector:
            self._joint.residual[:] = right
            self._joint.solve(self._add_couplings, 0.0, relative)
            return self._joint.correction.copy()

        return solution

    def by_chains(self, x: Vector) -> Vector:
        """M^-1 (M - A) x, M being A without what players share, by the factors of the last `joint_solver`."""
        away = np.zeros_like(x)
        self.run_games(lambda begin, end: self._add_couplings(begin, end, x, away))
        if self.newcomers:
            self._debuts.add_shared(self.newcomers.shared(self._debuts.total(x)), x, away)
        return self._joint.of_chains(-away)

    def chain_variances(self) -> tuple[Vector, Vector]:
        """The diagonal of M^-1, and its entries with the variable before, after `joint_solver`."""
        self._linearise()
        messages = Messages(*np.zeros((3, len(self._means), 2)))
        messages.marginal[:, 0] = self._joint.diagonal
        self._joint.filters.smooth(messages)
        mean, sd, covariance = np.empty((3, len(self._means)))
        self._chain_kernels.smoothed(0, self.chains, messages, mean, sd, covariance)
        return sd**2, covariance

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites as they are, and the log probability of all games, each without its own site."""

        def evidence(number: int) -> tuple[float, float]:
            found: tuple[float, float] = self._kernels.evidence(
                self._slices.parts[number], self._games, self.rule, self._messages.marginal, self.sites
            )
            return found

        total, predicted = map(math.fsum, zip(*self._slices.run(evidence), strict=True))
        total += float(self._chain_kernels.chain_evidence(self._messages)) + self.moving.log_evidence(self)
        return total + (self.newcomers.log_evidence if self.newcomers else 0.0), predicted

    def gradient(self) -> tuple[dict[str, float], tuple[float, float, float, float]]:
        """Of log Z at the fixed point: in the parameters of the priors, and in those of games (`kernels/ep/ttt.py`).

        With those of priors come those of moving margins. Those of games are 2 beta^2, the draw margin (or the origin
        of the players' own), White's advantage and the logarithm of an Elo point.
        """
        by_margin, by_place = np.empty(len(self.merged)), np.zeros_like(self.rule.handicap)
        noise, advantage = self._kernels.gradient(
            self._games, self.merged.balance, self.rule, self.cavities(), by_margin, by_place
        )
        of_margins = self.moving.gradient(self, by_margin)
        margin, positivity = of_margins.pop("draw_margin"), self.sites.positivity
        if len(positivity):
            marginal = self._messages.marginal
            margin += self._kernels.positive_gradient(self.rule.origin, marginal, positivity)
        of_newcomers = self.newcomers.gradient(self.newcomers.squares) if self.newcomers else {}
        of_priors = prior_slopes(self.priors, *self.chain_slopes()) | of_newcomers
        return of_priors | of_margins, (noise, margin, advantage, self.merged.unit_slope(self.rule, by_place))

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of log Z in the means and variances of the steps of all variables."""
        by_mean, by_variance = np.empty((2, len(self._means)))
        self._chain_kernels.chain_gradient(self._messages, by_mean, by_variance)
        return by_mean, by_variance

    @property
    def told(self) -> tuple[Array, Array]:
        """Marginals, and the sites of single skills that games have."""
        return self._messages.marginal, self.sites.message

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""
        cavity = np.empty((len(self.merged), 5 if len(self.sites.positivity) else 2))
        marginal = self._messages.marginal
        self.run_games(lambda *part: self._kernels.cavities(*part, self._games, marginal, self.sites, cavity))
        return cavity

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for the games from one to before another, a thread for each slice."""
        parts = self._slices.parts
        self._slices.run(lambda number: task(parts[number].game, parts[number].game_end))

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points."""
        precision, weighted = self._messages.marginal[: self._nodes].T
        mean: Array = weighted / precision
        return mean

    def beliefs(self) -> Array:
        """Means from their origins, and sds, of all variables, (2, variables), points."""
        precision, weighted = self._messages.marginal.T
        return np.array([weighted / precision, precision**-0.5])

    def draws(self) -> DrawCurve | None:
        """What is believed of draw margins that move."""
        return self.moving.curve(self, self.priors["skill"].origin)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """What is believed of newcomers' mean, if it moves."""
        return self.newcomers.curve(self.newcomers.beliefs) if self.newcomers else None

    def histories(self) -> dict[str, Chain]:
        """What is believed of the quantities of all nodes, points."""
        chains: dict[str, Chain] = {}
        for number, (name, prior) in enumerate(self.priors.items()):
            mean, sd, covariance = (np.empty(self._nodes) for _ in range(3))
            first = number * len(mean)
            self._chain_kernels.smoothed(first, self.chains, self._messages, mean, sd, covariance)
            mean += prior.origin
            chains[name] = prior.history(mean, sd, covariance)
        return chains
