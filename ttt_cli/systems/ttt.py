"""TrueSkill Through Time: skills smoothed over all periods (Dangauthier, Herbrich, Minka, Graepel, NIPS 2007).

Departure from the paper: after each forward-backward sweep the means of all skills are set to those of the joint
Gaussian that the messages stand for (`kernels/ep/joint_means.py`). The fixed point is the same; it is reached in a
few sweeps where messages alone take hundreds.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.histories import Chain
from ttt_cli.inference.advantage import at_best_advantage
from ttt_cli.inference.elo_unit import normal_unit, normal_unit_growth
from ttt_cli.inference.ep.joint_means import JointSolver
from ttt_cli.inference.ep.merged import Pairs, merge_games
from ttt_cli.inference.ep.slices import Moves, Slices
from ttt_cli.inference.ep.smoothing import largest, sites_name, smoothed_walk, started_sites, widest_prior
from ttt_cli.inference.ep.walks import Vector, Walks
from ttt_cli.inference.ep.warm_start import believed, guess_sites, tells_of
from ttt_cli.inference.outcome import draw_share, margin_slope, outcome_probabilities, resolve_margin
from ttt_cli.inference.params import SkillParams
from ttt_cli.inference.solver import OnSweep, Pace, Sweep, iterate
from ttt_cli.inference.traits import COMMON_MARGIN, DRIFT, PLAY, Traits
from ttt_cli.timeline import Timeline

NAME: Final = "ttt"
TRAITS: Final = Traits(kind="smoothed", has_evidence=True, tunable={**PLAY, "tau": DRIFT, **COMMON_MARGIN})
ROUNDING: Final = 1e-13  # moves below this share of the widest prior are rounding
REPEATS: Final = 50  # of equal games in a fast sweep


class Params(SkillParams):
    """Parameters of TTT."""


def fit(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,
    *,
    on_sweep: OnSweep | None = None,
    start: Fit | None = None,
) -> Fit:
    """Find the fixed point of expectation propagation and its log-evidence.

    `start`: a fit of the same timeline, perhaps with other parameters, to begin from, or what is believed of its nodes.
    Raises ConfigError when the draw margin and the games exclude each other.
    """
    margin = resolve_margin(params, timeline)

    def fit_at(advantage: float, near: Fit | None) -> Fit:
        inference = Inference(timeline, params, margin, advantage, near, solver.threads)
        status, trace = iterate(inference.sweep, solver, on_sweep, warm=inference.warm)
        evidence, foreseen = inference.log_evidence()
        return Fit(
            model=NAME,
            kind=TRAITS.kind,
            params={**params.model_dump(), "draw_margin": margin, "white_advantage": advantage},
            chains={"skill": inference.chain(timeline)},
            log_evidence=evidence,
            leave_one_out=foreseen,
            elo_unit=inference.elo_unit,
            status=status,
            trace=trace,
            state={sites_name(params.white_advantage != 0.0): inference.sites},
        )

    return at_best_advantage(fit_at, params, start, colours=timeline.colours)


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """Slopes of the log-evidence at a converged fit in every numeric parameter, per point (or unit of it).

    An `auto` draw margin follows beta. Only the explicit dependence counts at the fixed point
    (`kernels/ep/gradient.py`).
    """
    margin, advantage = fit.params["draw_margin"], fit.params["white_advantage"]
    slopes = Inference(timeline, params, margin, advantage, fit).slopes()
    share = params.draw_probability or draw_share(timeline)
    slopes["draw_probability"] = slopes["draw_margin"] * margin_slope(share, params.beta)
    if params.draw_margin == "auto":
        slopes["beta"] += slopes["draw_margin"] * margin / params.beta
    return slopes


def predict(
    params: dict[str, Any], white: dict[str, NDArray[np.float64]], black: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Probabilities (n, 3) of loss, draw and win for White, from the players' `mean` and `sd`, points."""
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    lead = white["mean"] - black["mean"] + params["white_advantage"]
    return outcome_probabilities(lead, variance, params["draw_margin"])


class Inference:
    """Sites and messages of one fit; see `kernels/ep/ttt.py` for the arrays."""

    def __init__(
        self,
        timeline: Timeline,
        params: SkillParams,
        margin: float,
        advantage: float,
        start: Fit | None,
        threads: int | None = None,
    ) -> None:
        from ttt_cli.kernels.ep import chains, pair_links, ttt

        self._kernels, self._links_kernels, self._chain_kernels = ttt, pair_links, chains
        self._params = params
        self._years = timeline.gap_years
        self._pairs: Pairs = merge_games(timeline, colours=params.white_advantage != 0.0)
        self._chains = (timeline.previous.copy(), timeline.next.copy(), params.tau**2 * timeline.gap_years)
        self._layout = (timeline.node_start.copy(), *self._chains, *self._pairs.arrays)
        self._slices = Slices(timeline.node_start, self._pairs.start, timeline.previous, threads)
        nodes, games = timeline.n_nodes, len(self._pairs)
        self._prior = np.full(nodes, params.prior_sd**-2)
        self.elo_unit = normal_unit(params.beta, margin)
        self._scalars = (2.0 * params.beta**2, margin, advantage, self.elo_unit * self._pairs.odds)
        widest = widest_prior(timeline, params.prior_sd, params.tau)
        self._rounding = ROUNDING * widest
        self._walks = Walks(*self._chains, self._prior, self._slices)
        self._joint = JointSolver(self._walks, widest, self._slices)
        self.sites = started_sites((games, 4), start, sites_name(params.white_advantage != 0.0))
        self._links = np.zeros((games, 2))
        self._pull = np.empty(games)
        self._messages = (np.empty((nodes, 2)), np.empty((nodes, 2)), np.empty((nodes, 2)), self.sites)
        if tells_of(start, nodes) and not self.sites.any():
            beliefs = believed(start, "skill", nodes, params.prior_mean, params.prior_sd)
            context = self._layout, self._prior, self._scalars, self._slices, self._messages, self._links
            guess_sites(ttt.sweep, *context, beliefs)
        self.warm = bool(self.sites.any())
        self._moves = Moves(self._slices, self._messages[2])
        self._smooth()

    def _smooth(self) -> None:
        """All messages along the chains, from the sites as they are."""
        _, first, second, _, weight = self._pairs.arrays
        *messages, sites = self._messages
        slices = self._slices

        def gather(number: int) -> None:
            part = *slices.nodes[number], *slices.games[number]
            self._kernels.gather(*part, first, second, weight, messages[2], sites)

        slices.run(gather)
        self._walks.smooth(*messages)

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward and backward, its neighbours the other way about; then the joint means if asked for."""
        repeats = REPEATS if pace is Pace.FAST else 0
        slices = self._slices

        def half(turn: int, number: int) -> int:
            back = (turn + number) % 2 == 1
            return int(
                self._kernels.sweep(
                    *self._layout, self._prior, *self._scalars, repeats, *slices.periods[number], back,
                    *self._messages, self._links,
                )
            )  # fmt: skip

        moves = self._moves
        moves.begin()
        slices.run(partial(half, 0))
        previous, _, variance = self._chains
        self._chain_kernels.exchange(slices.later, previous, variance, *self._messages[:3])
        skipped = sum(slices.run(partial(half, 1)))
        self._smooth()
        change = moves.largest()
        left = self._towards_joint_means(pace is not Pace.PLAIN)
        moved, ahead = moves.end()
        change = max(change, moved)
        return Sweep(change if change > self._rounding else 0.0, left, skipped, ahead)

    def _towards_joint_means(self, move: bool, tol: float = 1e-3, relative: float = 1e-2) -> float:
        """Solve for the joint means and `move` all skills there; returns a bound on the distance left, points."""
        _, first, second, _, weight = self._pairs.arrays
        forward, backward, marginal, sites = self._messages
        joint, kernels, slices = self._joint, self._links_kernels, self._slices

        def residual(number: int) -> None:
            kernels.residual(
                *slices.nodes[number], *slices.games[number], first, second, weight, self._links,
                forward, backward, marginal, self._pull, joint.diagonal, joint.residual,
            )  # fmt: skip

        def add_pulls(begin: int, end: int, z: Vector, az: Vector) -> float:
            return float(kernels.add_pulls(begin, end, first, second, self._pull, z, az))

        def spread(number: int) -> None:
            kernels.spread(
                *slices.games[number], first, second, self._links, marginal, sites, joint.correction
            )

        slices.run(residual)
        unsolved = joint.solve(add_pulls, tol, relative)
        if not move:
            return unsolved + largest(joint.correction)
        slices.run(spread)
        self._smooth()
        return unsolved

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites as they are, and the log probability of all games, each without its own site."""
        _, first, second, outcome, weight = self._pairs.arrays
        forward, backward, marginal, sites = self._messages

        def games(number: int) -> tuple[float, float]:
            begin, end = self._slices.games[number]
            found: tuple[float, float] = self._kernels.game_evidence(
                begin, end, first, second, outcome, weight, *self._scalars, marginal, sites
            )
            return found

        evidence, foreseen = map(math.fsum, zip(*self._slices.run(games), strict=True))
        return evidence + float(self._chain_kernels.chain_evidence(forward, backward, marginal)), foreseen

    def slopes(self) -> dict[str, float]:
        """Slopes of log Z in the parameters, each alone."""
        from ttt_cli.kernels.ep.gradient import chain_slopes, game_slopes

        previous, years = self._layout[1], self._years.copy()
        forward, _, marginal, sites = self._messages
        prior, drift = chain_slopes(0, len(previous), previous, years, forward, marginal)
        _, first, second, outcome, weight = self._pairs.arrays
        noise, margin, advantage, odds = game_slopes(
            first, second, outcome, weight, self._pairs.balance, *self._scalars, marginal, sites
        )
        params = self._params
        by_beta, by_margin = normal_unit_growth(params.beta, self._scalars[1])
        return {
            "prior_mean": 0.0,
            "prior_sd": 2.0 * params.prior_sd * prior,
            "beta": 4.0 * params.beta * noise + odds * by_beta,
            "tau": 2.0 * params.tau * drift,
            "draw_margin": margin + odds * by_margin,
            "white_advantage": advantage,
        }

    def chain(self, timeline: Timeline) -> Chain:
        """Skills of all nodes, points."""
        _, backward, marginal, _ = self._messages
        return smoothed_walk(timeline, marginal, backward, self._params.prior_mean, self._params.tau)
