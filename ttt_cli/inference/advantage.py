"""White's advantage estimated from the games: the most probable value by the evidence and a weak prior.

The prior is N(0, (beta / 3)^2), beta the sd of one performance. It decides where there are few games; hundreds of games
outweigh it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import rough_enough

PRIOR_SD: Final = 1.0 / 3.0  # of beta
FARTHEST: Final = 10.0  # beta, in games of typical size, at most
PRECISION: Final = 1e-4  # of beta: how finely the maximum is found at the usual tolerance
USUAL_TOL: Final = 0.01  # points: of the solver; with a smaller one the maximum is refined
# Part of the prior's sd: neither rounding nor a cubic term counts so near the maximum
REFINING_STEP: Final = 1e-3
FIRST_STEP: Final = 0.1  # of beta: from no advantage
WARM_STEP: Final = 0.02  # of beta: from the advantage of another fit
STEP_GROWTH: Final = (
    1.618034  # from one step to the next while the maximum lies ahead: the golden ratio
)
MOST_VERTICES: Final = 20
ALMOST_NONE: Final = 1e-9  # points: a fit at exactly 0 merges colours and cannot start another
TYPICAL_FALL: Final = 0.5  # nats: of the log posterior at one standard error from its maximum
# Nats that a trial must fall by for a standard error; smaller falls are rounding
LEAST_FALL: Final = 0.02
MOST_FALL: Final = 8.0  # nats: beyond, the log posterior is no parabola
# Part of the prior's sd. Where more than this is left, the games say less than the prior.
UNINFORMATIVE: Final = math.sqrt(0.5)
NAME: Final = "white_advantage"


@dataclass(frozen=True)
class AdvantagePrior:
    """Prior of White's advantage where it is estimated, or of the points per unit of a covariate.

    - `performance_sd`: beta, points
    - `key`: of the parameter
    - `size`: typical size of a covariate, in its unit
    """

    performance_sd: float
    key: str = NAME
    size: float = 1.0

    @property
    def sd(self) -> float:
        """Sd of the prior, points per unit."""
        return PRIOR_SD * self.unit

    @property
    def unit(self) -> float:
        """Points per unit in one unit of its coordinate."""
        return self.performance_sd / self.size

    @property
    def bounds(self) -> tuple[float, float]:
        """Coordinates between which it is searched."""
        return -FARTHEST, FARTHEST

    @property
    def begin(self) -> float:
        """The coordinate at which the search begins."""
        return 0.0

    def log_density(self, advantage: float) -> float:
        """Log density at an advantage (points) relative to that of no advantage, nats."""
        return -0.5 * (advantage / self.sd) ** 2

    def gradient(self, advantage: float) -> dict[str, float]:
        """Derivatives of `log_density` in the advantage and in beta, nats per point."""
        return {
            self.key: -advantage / self.sd**2,
            "beta": (advantage / self.sd) ** 2 / self.performance_sd,
        }


class FitAt(Protocol):
    """A fit of one timeline at any advantage."""

    def __call__(
        self,
        advantage: float,
        start: Fit | None,
        solver: SolverConfig,
        /,
        *,
        evidence_only: bool = False,
    ) -> Fit:
        """Fit with an advantage in points, perhaps from a warm start, without joint sds if `evidence_only`."""


def fit_with_advantage(
    fit_at: FitAt,
    params: Params,
    start: Fit | None,
    solver: SolverConfig,
    *,
    colours: bool,
) -> Fit:
    """Fit with the configured advantage; `estimate` is the most probable one, with its standard error.

    `auto` is 0 (`systems.resolve.for_games` has replaced it where a side plays at home), and so is `estimate` without
    known `colours`.
    """
    advantage = params.given_advantage
    if advantage is None and not colours:
        advantage = 0.0
    if advantage is not None:
        return fit_at(advantage, start, solver)
    prior = AdvantagePrior(params.performance_sd)
    search = AdvantageSearch(fit_at, prior, start, rough_enough(solver))
    advantage = search.maximise()
    if solver.tol < USUAL_TOL:
        advantage = search.refine(advantage)
    standard_error = search.standard_error(advantage)
    fit = fit_at(advantage, search.best_fit, solver)
    notes = fit.notes
    if standard_error > UNINFORMATIVE * prior.sd:
        notes = (*notes, few_games_note(advantage, standard_error, prior.sd))
    return replace(fit, notes=notes, standard_errors={NAME: standard_error})


def few_games_note(advantage: float, standard_error: float, prior_sd: float) -> str:
    """Note on an advantage that is mostly its prior's."""
    return (
        f"too few games to estimate the advantage of the side named first: {advantage:.1f} +- {standard_error:.1f} "
        f"points, +-{prior_sd:.1f} before any game"
    )


class AdvantageSearch:
    """Trial fits on the way to the most probable advantage, each started from the best one before.

    - `best_fit`: fit with the highest log posterior so far; at first the given start
    - `trials`: log posterior (nats, up to a constant) by advantage (points)
    """

    def __init__(
        self, fit_at: FitAt, prior: AdvantagePrior, start: Fit | None, solver: SolverConfig
    ) -> None:
        self.best_fit = start
        self.trials: dict[float, float] = {}
        self._fit_at = fit_at
        self._prior = prior
        self._solver = solver
        self._start = start

    def maximise(self) -> float:
        """The most probable advantage: bracketed from that of the start, then found by parabolas, points."""
        step = FIRST_STEP * self._prior.performance_sd
        origin = ALMOST_NONE
        if self._start is not None and isinstance(self._start.params.get(NAME), float):
            origin = self._start.params[NAME]
            step = WARM_STEP * self._prior.performance_sd
        low, high = bracket(self._cost, origin, step)
        for _ in range(MOST_VERTICES):
            best_three = sorted(self.trials.items(), key=lambda trial: -trial[1])[:3]
            vertex = vertex_of(best_three)
            nearest = np.abs(vertex - np.array([*self.trials])).min()
            if not low <= vertex <= high or nearest < PRECISION * self._prior.performance_sd:
                break
            self._cost(vertex)
        return float(min(max(vertex, low), high))

    def refine(self, advantage: float) -> float:
        """The vertex of the parabola through three points around the most probable advantage, points."""
        step = REFINING_STEP * self._prior.sd
        points = [advantage, advantage - step, advantage + step]
        return vertex_of([(point, -self._cost(point)) for point in points])

    def standard_error(self, advantage: float) -> float:
        """Sd of the posterior at its maximum, points, from the fall of the log posterior beside it."""
        top = max(self.trials.values())
        error = self._prior.sd
        for _ in range(MOST_VERTICES):
            trial = min(self.trials, key=lambda at: self._unlikeness(top - self.trials[at]))
            fall = top - self.trials[trial]
            if LEAST_FALL <= fall <= MOST_FALL:
                return abs(trial - advantage) / math.sqrt(2.0 * fall)
            if fall > 0.0:
                error = abs(trial - advantage) / math.sqrt(2.0 * fall)
            self._cost(advantage + error)
        return error

    def _unlikeness(self, fall: float) -> float:
        """How far a fall is from that at one standard error, as a logarithm."""
        return abs(math.log(fall / TYPICAL_FALL)) if fall > 0.0 else math.inf

    def _cost(self, advantage: float) -> float:
        """Minus the log posterior at an advantage, by a fit."""
        advantage = float(advantage)
        fit = self._fit_at(advantage, self.best_fit, self._solver, evidence_only=True)
        value = fit.log_evidence + self._prior.log_density(advantage)
        if not self.trials or value > max(self.trials.values()):
            self.best_fit = fit
        self.trials[advantage] = value
        return -value


class Bracket(NamedTuple):
    """Two positions that have a minimum between them."""

    low: float
    high: float


def bracket(cost: Callable[[float], float], origin: float, step: float) -> Bracket:
    """Find positions around a minimum of `cost`: go downhill from `origin` until a step leads uphill.

    The first step is `step`, each next one `STEP_GROWTH` times as long.
    """
    behind = origin
    middle = origin + step
    cost_of_origin = cost(origin)
    cost_of_middle = cost(middle)
    if cost_of_origin < cost_of_middle:
        behind, middle = middle, behind
        cost_of_middle = cost_of_origin
    while True:
        ahead = middle + STEP_GROWTH * (middle - behind)
        cost_ahead = cost(ahead)
        if not cost_ahead < cost_of_middle:
            return Bracket(min(behind, ahead), max(behind, ahead))
        behind = middle
        middle = ahead
        cost_of_middle = cost_ahead


def vertex_of(points: Sequence[tuple[float, float]]) -> float:
    """Position of the maximum of the parabola through three points (x, y); the first x where it is convex."""
    (a, f), (b, g), (c, h) = points
    left = (g - f) / (b - a)
    right = (h - f) / (c - a)
    bend = (right - left) / (c - b)
    return a + 0.5 * ((b - a) - left / bend) if bend < 0.0 else a
