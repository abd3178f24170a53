"""TrueSkill Through Time: skills smoothed over all periods (Dangauthier, Herbrich, Minka, Graepel, NIPS 2007).

Departure from the paper: after each forward-backward sweep the means of all skills are set to those of the joint
Gaussian that the messages stand for (`kernels/joint.py`). The fixed point is the same; it is reached in a few sweeps
where messages alone take hundreds.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Chain, Fit, Kind
from ttt_cli.models.outcomes import outcome_probabilities, resolve_margin
from ttt_cli.models.pairs import Pairs, merge_games
from ttt_cli.models.params import SkillParams
from ttt_cli.models.solver import OnSweep, Pace, Sweep, iterate
from ttt_cli.timeline import Timeline

NAME: Final = "ttt"
KIND: Final[Kind] = "smoothed"
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

    `start`: a fit of the same timeline, perhaps with other parameters, to begin from.
    Raises ConfigError when the draw margin and the games exclude each other.
    """
    margin = resolve_margin(params, timeline)
    inference = Inference(timeline, params, margin, start)
    status, trace = iterate(inference.sweep, solver, on_sweep)
    return Fit(
        model=NAME,
        kind=KIND,
        params={**params.model_dump(), "draw_margin": margin},
        chains={"skill": inference.chain()},
        log_evidence=inference.log_evidence(),
        status=status,
        trace=trace,
        state={"sites": inference.sites},
    )


def predict(
    params: dict[str, Any], white: dict[str, NDArray[np.float64]], black: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Probabilities (n, 3) of loss, draw and win for White, from the players' `mean` and `sd`, points."""
    variance = 2.0 * params["beta"] ** 2 + white["sd"] ** 2 + black["sd"] ** 2
    return outcome_probabilities(white["mean"] - black["mean"], variance, params["draw_margin"])


class Inference:
    """Sites and messages of one fit; see `kernels/ttt.py` for the arrays."""

    def __init__(self, timeline: Timeline, params: SkillParams, margin: float, start: Fit | None) -> None:
        from ttt_cli.kernels import joint, ttt

        self._ttt, self._joint = ttt, joint
        self._params = params
        self._pairs: Pairs = merge_games(timeline, colours=False)
        variance = params.tau**2 * timeline.gap_years
        self._chains = (timeline.previous.copy(), timeline.next.copy(), variance)
        self._layout = (timeline.node_start.copy(), *self._chains, *self._pairs.arrays)
        self._prior_precision = params.prior_sd**-2
        self._scalars = (self._prior_precision, 2.0 * params.beta**2, margin, 0.0)
        self._widest = _widest_prior(timeline, params)
        nodes, games = timeline.n_nodes, len(self._pairs)
        self.sites = np.zeros((games, 4))
        if start is not None and start.state.get("sites", self.sites[:0]).shape == self.sites.shape:
            self.sites[:] = start.state["sites"]
        self._links = np.zeros((games, 2))
        self._messages = (np.empty((nodes, 2)), np.empty((nodes, 2)), np.empty((nodes, 2)), self.sites)
        self._pull = np.empty(games)
        self._work = np.empty((9, nodes))
        self._smooth()

    def _smooth(self) -> None:
        self._ttt.smooth(*self._layout, self._prior_precision, *self._messages)

    def beliefs(self) -> NDArray[np.float64]:
        """Means (from the prior mean) and sds of all skills, points; shape (2, nodes)."""
        precision, weighted = self._messages[2].T
        return np.stack([weighted / precision, 1.0 / np.sqrt(precision)])

    def sweep(self, pace: Pace) -> Sweep:
        """One pass forward and one backward, then the joint means if asked for."""
        repeats = REPEATS if pace is Pace.FAST else 0
        arguments = (*self._layout, *self._scalars, repeats, *self._messages, self._links)
        before = self.beliefs()
        self._ttt.sweep_forward(*arguments)
        skipped = self._ttt.sweep_backward(*arguments)
        self._smooth()
        swept = self.beliefs()
        accelerate = pace is not Pace.PLAIN
        left = self._towards_joint_means(accelerate)
        after = self.beliefs() if accelerate else swept
        change = max(_largest(swept - before), _largest(after - before))
        rounding = ROUNDING * self._widest
        return Sweep(change if change > rounding else 0.0, left, int(skipped))

    def _towards_joint_means(self, move: bool, tol: float = 1e-3, relative: float = 1e-3) -> float:
        """Solve for the joint means and `move` all skills there; returns a bound on the distance left, points.

        For the error e of a solution |e_i| <= sqrt(e^T A e) sqrt((A^-1)_ii), and no skill is less certain than before
        any game.
        """
        _, first, second, _, weight = self._pairs.arrays
        forward, backward, marginal, sites = self._messages
        residual, correction = self._work[7], self._work[8]
        self._joint.residual(
            first, second, weight, self._links, forward, backward, marginal, self._pull, residual
        )
        _, error = self._joint.solve(
            *self._chains, first, second, self._pull, self._prior_precision,
            residual, correction, tol / self._widest, relative, 10_000, self._work[:7],
        )  # fmt: skip
        unsolved = float(error) * self._widest
        if not move:
            return unsolved + _largest(correction)
        self._joint.spread(first, second, self._links, marginal, sites, correction)
        self._smooth()
        return unsolved

    def log_evidence(self) -> float:
        """log Z of the sites as they are."""
        return float(self._ttt.log_evidence(*self._layout, *self._scalars, *self._messages))

    def chain(self) -> Chain:
        """Skills of all nodes, points."""
        _, backward, marginal, _ = self._messages
        past = marginal - backward
        mean = self._params.prior_mean
        skill, sd = self.beliefs()
        return Chain(
            mean=mean + skill,
            sd=sd,
            forward_mean=mean + past[:, 1] / past[:, 0],
            forward_sd=1.0 / np.sqrt(past[:, 0]),
            drift=self._params.tau,
        )


def _widest_prior(timeline: Timeline, params: SkillParams) -> float:
    """The largest sd that any skill has before a game is seen, points."""
    years = np.bincount(timeline.node_player, timeline.gap_years, minlength=1).max(initial=0.0)
    return float(np.sqrt(params.prior_sd**2 + params.tau**2 * years))


def _largest(values: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(values), initial=0.0))
