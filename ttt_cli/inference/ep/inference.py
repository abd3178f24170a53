"""Gaussian expectation propagation: one Gaussian per quantity of a node, found by sweeps over the timeline."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Ids
from ttt_cli.fitted import DrawCurve, Fit, NewcomerCurve
from ttt_cli.histories import Chain
from ttt_cli.inference.ep.joint_means import JointSolver
from ttt_cli.inference.ep.levels import levels_of
from ttt_cli.inference.ep.merged import MergedGames
from ttt_cli.inference.ep.slices import Moves, Slices
from ttt_cli.inference.ep.state import Result, State
from ttt_cli.inference.ep.two_filter import TwoFilter, Vector
from ttt_cli.inference.ep.warm_start import believed, sites_name, started_sites, tells_of
from ttt_cli.inference.moving_margins import MovingMargins
from ttt_cli.inference.play import Play
from ttt_cli.inference.prior import Prior, prior_slopes
from ttt_cli.inference.solver import Pace, Sweep, largest
from ttt_cli.kernels.ep.structures import Chains, Messages, Part, Sites
from ttt_cli.timeline import Timeline

ROUNDING: Final = 1e-13  # moves below this part of the widest prior are rounding
EARLY: Final = 3  # sweeps, in which margins of all games follow half a sweep, too


class Inference(State):
    """Sites and messages of one fit of a whole timeline.

    `priors`: of each quantity of a node, `skill` and perhaps `draw_margin`. `start`: a fit of the same timeline,
    perhaps with other parameters, to begin from, or what is believed of its nodes; `warm`: whether it is of use.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames,
        priors: Mapping[str, Prior],
        play: Play,
        start: Fit | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(own="draw_margin" in priors)
        self.merged, self._games, self.priors = merged, merged.games, priors
        n, games, variables = timeline.n_nodes, len(merged), len(priors) * timeline.n_nodes
        self.rule = play.rule(np.full(games, play.margin), merged.handicap)
        self.moving = MovingMargins(timeline, play, start)
        self._nodes = n
        self._ranges = [(first, first + n) for first in range(0, variables, max(n, 1))] or [(0, 0)]
        self.chains = Chains(
            timeline.node_start.copy(),
            self._of_variables(timeline.previous),
            self._of_variables(timeline.next),
            *map(np.concatenate, zip(*(prior.steps() for prior in priors.values()), strict=True)),
        )
        years, place = self.moving.calendar
        self.of_years = self.margins_of_years(play, place, len(years))
        self.moving.begin(self)
        self._slices = Slices(timeline.node_start, merged.games.start, timeline.previous, threads)
        self._parts = self._slices.parts
        self._between = self._of_variables(self._slices.later)
        self.sites = Sites(
            started_sites((games, 4 * len(priors)), start, sites_name(merged.colours)),
            np.zeros((games, 5 if self._own else 2)),
            started_sites((n if self._own else 0, 2), start, "positivity"),
        )
        self._coupling, self._means = np.empty(0 if self._own else games), np.empty(variables)
        self._messages = Messages(*np.empty((3, variables, 2)))
        self.newcomers, shared = priors["skill"].newcomers, None
        if self.newcomers:
            self._debuts = self.newcomers.debuts(self.chains, self._messages)
            shared = levels_of(timeline, self.newcomers, self.chains, self._debuts)
        self._joint = JointSolver(TwoFilter(self.chains, self._slices), self._slices, shared)
        if tells_of(start, n) and not self.sites.message.any():
            first = timeline.previous < 0
            self._messages.backward[:] = 0.0
            self._messages.marginal[:] = np.concatenate(
                [believed(start, name, prior, first) for name, prior in priors.items()]
            )
            self._guess()
        self.warm, self._sweeps = bool(self.sites.message.any()), 0
        self._moves = Moves(self._slices, self._messages.marginal)
        self._smooth()
        if self.warm:
            self.moving.follow_strength(self)

    def _each(self, task: Callable[[Part], Result]) -> list[Result]:
        """A thread for each slice."""
        return self._slices.run(lambda number: task(self._parts[number]))

    def _of_variables(self, nodes: Ids) -> Ids:
        """Nodes, or -1, as variables: of each quantity in turn."""
        every = [np.where(nodes < 0, -1, nodes + first) for first, _ in self._ranges]
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

    def _smooth(self) -> None:
        """All messages along the chains, from the sites as they are."""
        for last in (False, True)[self.newcomers is None :]:
            self._gather()
            self._joint.filters.smooth(self._messages)
            if self.newcomers and not last:
                self.newcomers.listen(self._asked)

    def _asked(self, name: str, *arguments: Any) -> list[Any]:
        """What `Debuts` do, as the only slice."""
        return [getattr(self._debuts, name)(*arguments)]

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward; then the joint means if asked for."""
        slices, moves = self._slices, self._moves
        moves.begin()
        slices.run(lambda number: self._half(0, number, self._parts[number], pace))
        self._chain_kernels.exchange(self._between, self.chains, self._messages)
        if self._sweeps < EARLY and not self.moving.of_newcomers:
            self.moving.update(self)
        self._sweeps += 1
        skipped = sum(slices.run(lambda number: self._half(1, number, self._parts[number], pace)))
        if self._own and pace is not Pace.PLAIN:
            self._settle_margins()
        self._smooth()
        change = moves.largest()
        left = self._towards_joint_means(pace is not Pace.PLAIN)
        follows = self.moving.update(self)
        if self.moving.of_newcomers:
            self._smooth()
        moved, ahead = map(max, moves.end(), follows)
        change = max(change, moved)
        return Sweep(change if change > ROUNDING * self._joint.widest else 0.0, left, skipped, ahead)

    def _towards_joint_means(self, move: bool, tol: float = 1e-3, relative: float = 1e-2) -> float:
        """Solve for the joint means and `move` all variables there; returns a bound on the distance left, points."""
        joint = self._joint
        if not len(self.merged):  # chains alone: smoothed means are the joint means
            return 0.0
        self._linearise(joint.diagonal, joint.residual)
        joint.factor()
        unsolved = joint.solve(self._add_couplings, tol, relative)
        if not move:
            return unsolved + largest(joint.correction)
        self._move(joint.correction)
        self._smooth()
        return unsolved

    def joint_solver(self) -> Callable[[Vector, float], Vector]:
        """b, relative error (of energy) -> A^-1 b for the joint precision A, newcomers' mean left out."""
        if self.newcomers:
            self.newcomers.leave(self.chains)
        self._linearise(self._joint.diagonal, self._joint.residual)
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
        self._linearise(self._joint.diagonal, self._joint.residual)
        messages = Messages(*np.zeros((3, len(self._means), 2)))
        messages.marginal[:, 0] = self._joint.diagonal
        self._joint.filters.smooth(messages)
        mean, sd, covariance = np.empty((3, len(self._means)))
        self._chain_kernels.smoothed(0, self.chains, messages, mean, sd, covariance)
        return sd**2, covariance

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites as they are, and the log probability of all games, each without its own site."""
        total, predicted = map(math.fsum, zip(*self._evidence(), strict=True))
        total += float(self._chain_kernels.chain_evidence(self._messages)) + self.moving.log_evidence(self)
        return total + (self.newcomers.log_evidence if self.newcomers else 0.0), predicted

    def gradient(self) -> tuple[dict[str, float], tuple[float, float, float, float]]:
        """Of log Z at the fixed point: in the parameters of priors and moving margins, and in those of games.

        The latter are 2 beta^2, the draw margin (or the origin of the players' own), White's advantage, and the
        logarithm of an Elo point.
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
            first = number * self._nodes
            self._chain_kernels.smoothed(first, self.chains, self._messages, mean, sd, covariance)
            mean += prior.origin
            chains[name] = prior.history(mean, sd, covariance)
        return chains
