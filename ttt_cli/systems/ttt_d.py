"""TTT-D: TrueSkill Through Time with a draw margin per player and period (TTT paper, section 3.3).

Departures from the paper: draws are taken with the exact moments of the two-dimensional truncated Gaussian, not by
two one-sided factors, and after each sweep all means are set to those of the joint Gaussian, as in TTT.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

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
from ttt_cli.inference.outcome import typical_margin
from ttt_cli.inference.params import PlayParams, alias
from ttt_cli.inference.solver import OnSweep, Pace, Sweep, iterate
from ttt_cli.inference.traits import DRIFT, PLAY, Range, Traits
from ttt_cli.timeline import Timeline

NAME: Final = "ttt-d"
TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=True,
    tunable={
        **PLAY,
        "tau": DRIFT,
        "draw_margin_mean": Range(1e-3, 20.0, "linear"),
        "draw_margin_sd": Range(1e-3, 20.0),
        "draw_margin_tau": DRIFT,
    },
)
REPEATS: Final = 50  # of equal games in a fast sweep
SETTLING: Final = 1  # sweep after the first two: margins may stand still where they are not going to stay
LEAST_RATE: Final = 0.3  # of the change left by a sweep: real games came to 0.25, after better first sweeps
NOTHING_TOL: Final = 1e-3  # of the margins before any game, points: log Z is flat there, and right to 1e-10
SLOPES_TOL: Final = 1e-6  # the same for slopes, which are not
ROUNDING: Final = 1e-13  # moves below this share of the widest prior are rounding


class Params(PlayParams):
    """Parameters of TTT-D."""

    REMOVED = MappingProxyType({"draw_moments": "leave it out: draws are taken by their exact moments"})

    draw_margin_mean: Annotated[
        float | None,
        Field(
            gt=0,
            validation_alias=alias("draw_margin_mean", "nu0"),
            description="mean draw margin at the first appearance, points; null: 0.55 * beta",
        ),
    ] = None
    draw_margin_sd: Annotated[
        float | None,
        Field(
            gt=0,
            validation_alias=alias("draw_margin_sd", "varsigma0"),
            description="sd of the draw margin at the first appearance, points; null: beta / 6",
        ),
    ] = None
    draw_margin_tau: Annotated[
        float | None,
        Field(
            ge=0,
            validation_alias=alias("draw_margin_tau", "varsigma"),
            description="sd of the change of the draw margin over one year, points; null: 0.1 * beta / 6",
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _drop_exact(cls, values: Any) -> Any:
        """Runs of earlier versions say `draw_moments: exact`, which is what there is now."""
        exact = isinstance(values, Mapping) and values.get("draw_moments") == "exact"
        return {key: value for key, value in values.items() if key != "draw_moments"} if exact else values

    def resolved(self) -> Params:
        """The same with every number there."""
        given = self.draw_margin_mean, self.draw_margin_sd, self.draw_margin_tau
        usual = 0.55 * self.beta, self.beta / 6.0, 0.1 * self.beta / 6.0
        mean, sd, tau = (u if g is None else g for g, u in zip(given, usual, strict=True))
        numbers = {"draw_margin_mean": mean, "draw_margin_sd": sd, "draw_margin_tau": tau}
        return self.model_copy(update=numbers)


def fit(
    timeline: Timeline,
    params: Params,
    solver: SolverConfig,
    *,
    on_sweep: OnSweep | None = None,
    start: Fit | None = None,
) -> Fit:
    """Find the fixed point of expectation propagation, and the log-evidence normalised by that without games.

    `start`: a fit of the same timeline, perhaps with other parameters, to begin from, or what is believed of its nodes.
    """
    params = params.resolved()
    pairs = merge_games(timeline, colours=params.white_advantage != 0.0)
    nothing = Inference(timeline, params, pairs.none(), 0.0, None, solver.threads)
    iterate(nothing.sweep, SolverConfig(tol=NOTHING_TOL), None)
    before_games, _ = nothing.log_evidence()

    def fit_at(advantage: float, near: Fit | None) -> Fit:
        inference = Inference(timeline, params, pairs, advantage, near, solver.threads)
        status, trace = iterate(
            inference.sweep, solver, on_sweep, LEAST_RATE, warm=inference.warm, settling=SETTLING
        )
        evidence, foreseen = inference.log_evidence()
        return Fit(
            model=NAME,
            kind=TRAITS.kind,
            params={**params.model_dump(), "white_advantage": advantage},
            chains=inference.chains(timeline),
            log_evidence=evidence - before_games,
            leave_one_out=foreseen,
            elo_unit=inference.elo_unit,
            status=status,
            trace=trace,
            state={
                sites_name(params.white_advantage != 0.0): inference.sites,
                "positivity": inference.positivity,
            },
        )

    return at_best_advantage(fit_at, params, start, colours=timeline.colours)


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """Slopes of the log-evidence at a converged fit in every numeric parameter, per point.

    Parameters of the draw margin that were left to their defaults follow beta. See `kernels/ep/gradient.py`.
    """
    numbers = params.resolved()
    pairs = merge_games(timeline, colours=params.white_advantage != 0.0)
    slopes = Inference(timeline, numbers, pairs, fit.params["white_advantage"], fit).slopes()
    nothing = Inference(timeline, numbers, pairs.none(), 0.0, None)
    iterate(nothing.sweep, SolverConfig(tol=SLOPES_TOL), None)
    slopes = {key: slope - nothing.slopes()[key] for key, slope in slopes.items()}
    for key in ("draw_margin_mean", "draw_margin_sd", "draw_margin_tau"):
        if getattr(params, key) is None:
            slopes["beta"] += slopes[key] * getattr(numbers, key) / params.beta
    return slopes


def predict(
    params: dict[str, Any], white: dict[str, NDArray[np.float64]], black: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Probabilities (n, 3) of loss, draw and win for White, points.

    `white` and `black` hold `mean`, `sd`, `draw_margin` and `draw_margin_sd`.
    """
    from scipy.special import ndtr

    lead = white["mean"] - black["mean"] + params["white_advantage"]
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    win = ndtr((lead - black["draw_margin"]) / np.sqrt(variance + black["draw_margin_sd"] ** 2))
    loss = ndtr((-lead - white["draw_margin"]) / np.sqrt(variance + white["draw_margin_sd"] ** 2))
    odds = np.stack([loss, np.maximum(1.0 - loss - win, 0.0), win], axis=-1)
    probabilities: NDArray[np.float64] = odds / odds.sum(axis=-1, keepdims=True)
    return probabilities


class Inference:
    """Sites and messages of one fit; see `kernels/ep/ttt_d.py` for the arrays."""

    def __init__(
        self,
        timeline: Timeline,
        params: Params,
        pairs: Pairs,
        advantage: float,
        start: Fit | None,
        threads: int | None = None,
    ) -> None:
        from ttt_cli.kernels.ep import chains, quad_links, ttt_d

        self._kernels, self._links_kernels, self._chain_kernels = ttt_d, quad_links, chains
        self._params, self._pairs = params, pairs
        self._years = timeline.gap_years
        given = params.draw_margin_mean, params.draw_margin_sd, params.draw_margin_tau
        margin_mean, margin_sd, margin_tau = (float(value or 0.0) for value in given)
        self._margin_mean, self._margin_sd, self._margin_tau = margin_mean, margin_sd, margin_tau
        n, games = timeline.n_nodes, len(pairs)
        self._nodes = n
        self._chains = (
            _twice(timeline.previous, n),
            _twice(timeline.next, n),
            np.concatenate([params.tau**2 * timeline.gap_years, margin_tau**2 * timeline.gap_years]),
        )
        self._layout = (timeline.node_start.copy(), *self._chains, *pairs.arrays)
        self._slices = Slices(timeline.node_start, pairs.start, timeline.previous, threads)
        self.elo_unit = normal_unit(params.beta, typical_margin(margin_mean, margin_sd)[0])
        self._prior = np.repeat([params.prior_sd**-2, margin_sd**-2], n)
        self._scalars = (2.0 * params.beta**2, advantage, self.elo_unit * pairs.odds, margin_mean)
        quantities = (params.prior_sd, params.tau), (margin_sd, margin_tau)
        widest = max(widest_prior(timeline, *quantity) for quantity in quantities)
        self._rounding = ROUNDING * widest
        self._walks = Walks(*self._chains, self._prior, self._slices)
        self._joint = JointSolver(self._walks, widest, self._slices)
        self.sites = started_sites((games, 8), start, sites_name(params.white_advantage != 0.0))
        self.positivity = started_sites((n, 2), start, "positivity")
        self._links = np.zeros((games, 5))
        self._means = np.empty(2 * n)
        forward, backward, marginal = np.empty((3, 2 * n, 2))
        self._messages = (forward, backward, marginal, self.sites, self.positivity)
        if tells_of(start, n) and not self.sites.any():
            skills = believed(start, "skill", n, params.prior_mean, params.prior_sd)
            margins = believed(start, "draw_margin", n, margin_mean, margin_sd)
            context = self._layout, self._prior, self._scalars, self._slices, self._messages, self._links
            guess_sites(ttt_d.sweep, *context, np.concatenate([skills, margins]))
        self.warm = bool(self.sites.any())
        self._moves = Moves(self._slices, self._messages[2])
        self._smooth()

    def _smooth(self) -> None:
        """All messages along the chains, from the sites as they are."""
        _, first, second, _, weight = self._pairs.arrays
        *messages, sites, positivity = self._messages
        slices = self._slices

        def gather(number: int) -> None:
            part = *slices.nodes[number], *slices.games[number]
            self._kernels.gather(*part, first, second, weight, messages[2], sites, positivity)

        slices.run(gather)
        self._walks.smooth(*messages)

    def sweep(self, pace: Pace) -> Sweep:
        """Every slice forward, then backward; then the joint means if asked for.

        Turning neighbours against each other, as TTT does, takes half as many sweeps again here.
        """
        repeats = REPEATS if pace is Pace.FAST else 0
        slices = self._slices

        def half(back: bool, number: int) -> int:
            return int(
                self._kernels.sweep(
                    *self._layout, self._prior, *self._scalars, repeats, *slices.periods[number], back,
                    *self._messages, self._links,
                )
            )  # fmt: skip

        moves = self._moves
        moves.begin()
        slices.run(partial(half, False))
        previous, _, variance = self._chains
        for later in (slices.later, slices.later + np.int32(self._nodes)):
            self._chain_kernels.exchange(later, previous, variance, *self._messages[:3])
        skipped = sum(slices.run(partial(half, True)))
        self._smooth()
        change = moves.largest()
        left = self._towards_joint_means(pace is not Pace.PLAIN)
        moved, ahead = moves.end()
        change = max(change, moved)
        return Sweep(change if change > self._rounding else 0.0, left, skipped, ahead)

    def _towards_joint_means(self, move: bool, tol: float = 1e-3, relative: float = 1e-2) -> float:
        """Solve for the joint means and `move` everything there; returns a bound on the distance left, points."""
        _, first, second, _, weight = self._pairs.arrays
        forward, backward, marginal, sites, positivity = self._messages
        joint, kernels, slices = self._joint, self._links_kernels, self._slices

        def residual(number: int) -> None:
            kernels.residual(
                *slices.nodes[number], *slices.games[number], first, second, weight, self._links,
                forward, backward, marginal, positivity, self._means, joint.diagonal, joint.residual,
            )  # fmt: skip

        def add_pulls(begin: int, end: int, z: Vector, az: Vector) -> float:
            return float(kernels.add_pulls(begin, end, first, second, weight, self._links, z, az))

        def spread(number: int) -> None:
            kernels.spread(*slices.games[number], first, second, self._links, sites, self._means)

        slices.run(residual)
        unsolved = joint.solve(add_pulls, tol, relative)
        if not move:
            return unsolved + largest(joint.correction)
        self._means += joint.correction
        slices.run(spread)
        self._smooth()
        return unsolved

    def log_evidence(self) -> tuple[float, float]:
        """log Z of the sites as they are, and the log probability of all games, each without its own site."""
        _, first, second, outcome, weight = self._pairs.arrays
        forward, backward, marginal, sites, positivity = self._messages
        slices = self._slices

        def part(number: int) -> tuple[float, float]:
            found: tuple[float, float] = self._kernels.site_evidence(
                *slices.nodes[number], *slices.games[number], first, second, outcome, weight,
                *self._scalars, marginal, sites, positivity,
            )  # fmt: skip
            return found

        evidence, foreseen = map(math.fsum, zip(*slices.run(part), strict=True))
        return evidence + float(self._chain_kernels.chain_evidence(forward, backward, marginal)), foreseen

    def slopes(self) -> dict[str, float]:
        """Slopes of log Z, positivity included, in the parameters, each alone."""
        from ttt_cli.kernels.ep.gradient import chain_slopes, margin_game_slopes

        n, previous, params = self._nodes, self._layout[1], self._params
        years = np.tile(self._years, 2)
        forward, _, marginal, sites, positivity = self._messages
        prior, drift = chain_slopes(0, n, previous, years, forward, marginal)
        margin_prior, margin_drift = chain_slopes(n, 2 * n, previous, years, forward, marginal)
        _, first, second, outcome, weight = self._pairs.arrays
        noise, mean, advantage, odds = margin_game_slopes(
            first, second, outcome, weight, self._pairs.balance, *self._scalars, marginal, sites, positivity
        )
        typical, by_mean, by_sd = typical_margin(self._margin_mean, self._margin_sd)
        by_beta, by_margin = (odds * slope for slope in normal_unit_growth(params.beta, typical))
        return {
            "prior_mean": 0.0,
            "prior_sd": 2.0 * params.prior_sd * prior,
            "beta": 4.0 * params.beta * noise + by_beta,
            "tau": 2.0 * params.tau * drift,
            "white_advantage": advantage,
            "draw_margin_mean": mean + by_margin * by_mean,
            "draw_margin_sd": 2.0 * self._margin_sd * margin_prior + by_margin * by_sd,
            "draw_margin_tau": 2.0 * self._margin_tau * margin_drift,
        }

    def chains(self, timeline: Timeline) -> dict[str, Chain]:
        """Skills and draw margins of all nodes, points."""
        _, backward, marginal, _, _ = self._messages
        n, params = self._nodes, self._params
        skills, margins = slice(0, n), slice(n, 2 * n)
        walks = {
            "skill": (skills, params.prior_mean, params.tau),
            "draw_margin": (margins, self._margin_mean, self._margin_tau),
        }
        return {
            name: smoothed_walk(timeline, marginal[part], backward[part], mean, tau)
            for name, (part, mean, tau) in walks.items()
        }


def _twice(links: NDArray[np.int32], nodes: int) -> NDArray[np.int32]:
    """Links along the chains of skills, then those of margins."""
    return np.concatenate([links, np.where(links < 0, -1, links + nodes)]).astype(np.int32)
