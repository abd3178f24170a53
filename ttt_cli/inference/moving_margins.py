"""Draw margins that follow the year and the strength of the players (docs/models/draws.md).

In games of year t between players whose posterior skills have the means x, the margin is
eps_t exp(kappa clip(((x_w + x_b)/2 - l_t)/400, +-2)), l_t the year's mean of that half-sum, eps_t = eps0 exp(theta_t).
Where players have margins of their own, counted from eps0, eps_t is eps0; newcomers' have the mean eps0 exp(theta_t).
theta is a random walk over the years (`year_walk.py`), found together with the sites.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import DrawCurve
from ttt_cli.games.table import DRAW
from ttt_cli.inference.ep.merged import MergedGames, outcomes
from ttt_cli.inference.gaussian import STRENGTH_REACH, STRENGTH_UNIT
from ttt_cli.inference.solver import largest
from ttt_cli.inference.year_walk import YearWalk
from ttt_cli.kernels.ep.structures import Chains, Rule
from ttt_cli.periods import calendar_year
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit
    from ttt_cli.inference.params import DrawsMove

STATE: Final = "log draw margins by year"
ROUNDING: Final = 1e-11  # smaller moves of logarithms are none
FIRST_STEPS: Final = 5  # from the same margin in all years to what shares of draws say
ROUGH: Final = 1e-3  # of a logarithm
TINY: Final = 1e-12
SLOPE_STEP: Final = 1e-2  # of the drift
SLOPE_TOL: Final = 1e-6  # points


class Posterior(Protocol):
    """What margins follow: the posterior of a fit on its way."""

    rule: Rule
    chains: Chains

    def mean_skills(self) -> Array:
        """Of all nodes, from the origin, points."""

    def cavities(self) -> Array:
        """Of all games, as the kernels take them."""

    def run_games(self, task: Callable[[int, int], None]) -> None:
        """Do a task for the games from one to before another, all of them."""

    def chain_slopes(self) -> tuple[Array, Array]:
        """The gradient of the log-evidence in the means and variances of the steps of all variables."""


class MovingMargins:
    """The margins of merged games, `margin` (games,), points, as `Rule` has them; `base` is eps0.

    `newcomers`: players have margins of their own. `start` may hold theta of an earlier fit.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames,
        base: float,
        drift: float,
        strength: float,
        *,
        newcomers: bool = False,
        start: Fit | None = None,
    ) -> None:
        self.margin = np.full(len(merged), base)
        self._base, self._strength, self._newcomers = base, strength, newcomers
        self._timeline, self._games = timeline, merged.games
        self.still = not base or not (drift or strength)
        if self.still:
            return
        self.walk = YearWalk(self._years, drift, None if start is None else start.state.get(STATE))
        self._wider = np.ones(len(merged))  # by the strength of its players
        self._last = math.inf
        self._found = np.empty((2, len(merged)))  # in each update the same memory
        self._known: tuple[Array, Array] | None = None

    @cached_property
    def _years(self) -> Ids:
        return self._calendar[0]

    @cached_property
    def _calendar(self) -> tuple[Ids, Ids]:
        """The calendar years there are, and the place of each period's among them."""
        timeline = self._timeline
        year = [calendar_year(number, timeline.period) for number in timeline.periods.tolist()]
        years, place = np.unique(np.array(year, np.int32), return_inverse=True)
        return years, place.astype(np.int32)

    @cached_property
    def _games_of_years(self) -> Places:
        """How many distinct games each year has; they come in this order."""
        games = np.bincount(self._calendar[1], np.diff(self._games.start), len(self._years))
        return games.astype(np.int64)

    def _summed(self, values: Array) -> Array:
        """Sums over the games of each year."""
        found, played = np.zeros(len(self._years)), self._games_of_years > 0
        start = np.cumsum(self._games_of_years) - self._games_of_years
        found[played] = np.add.reduceat(values, start[played])
        return found

    @cached_property
    def _weight(self) -> Array:
        return self._summed(self._games.weight)

    @cached_property
    def _first(self) -> Ids:
        return np.flatnonzero(self._timeline.previous < 0).astype(np.int32)

    @cached_property
    def _year_of_first(self) -> Ids:
        return np.repeat(self._calendar[1], np.diff(self._timeline.node_start))[self._first]

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit may start from."""
        return {} if self.still or not self.walk.drift else {STATE: self.walk.theta}

    @property
    def of_newcomers(self) -> bool:
        """Whether years move the means of newcomers' margins."""
        return self._newcomers and not self.still and self.walk.drift != 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of a fit."""
        if self.still or not self._strength:
            return ()
        return ("the log-evidence is approximate: draw margins follow skills that know the games",)

    def begin(self, chains: Chains, noise: float) -> None:
        """The margins that a fit with these chains begins with: of games as if all were equals, of none as if alone."""
        if self.still:
            return
        if self.of_newcomers and not len(self._games.first):
            newcomers = np.bincount(self._year_of_first, minlength=len(self._years))
            sd = math.sqrt(chains.variance[self._timeline.n_nodes + self._first].max(initial=0.0))
            while self.walk.step(*_of_one_margin(self._by_year / sd, newcomers)) > ROUGH:
                pass
        elif self.walk.drift and not self.walk.theta.any():
            drawn = self._summed(np.where(outcomes(self._games) == DRAW, self._games.weight, 0.0))
            for _ in range(FIRST_STEPS):
                self.walk.step(*_of_equals(self._by_year / math.sqrt(noise), drawn, self._weight))
        self._apply(chains)

    def update(self, posterior: Posterior) -> tuple[float, float]:
        """Follow a posterior; the largest move of a margin, and what is still to come at the rate of years', points."""
        if self.still:
            return 0.0, 0.0
        before = self.margin.copy()
        self._known = None
        self.follow_strength(posterior)
        move = self.walk.accelerated if len(self._games.first) else self.walk.step
        step = move(*self._scores(posterior)) if self.walk.drift else 0.0
        self._apply(posterior.chains)
        step = step if step > ROUNDING else 0.0
        ahead = step * step / (self._last - step) if step < self._last else step and math.inf
        self._last = step
        most = largest(self._by_year)
        before -= self.margin
        return max(most * step, largest(before)), most * ahead

    def follow_strength(self, posterior: Posterior) -> None:
        """Work out how far the players of each game are above its year."""
        if self._strength and not self.still:
            above, _ = self._strengths(posterior)
            self._wider = np.exp(np.multiply(above, self._strength, out=above), out=above)
            self._apply(posterior.chains)

    def log_evidence(self, posterior: Posterior) -> float:
        """What theta adds to that of the games."""
        if self.still or not self.walk.drift:
            return 0.0
        return self.walk.log_evidence(self._scores(posterior)[1])

    def curve(self, posterior: Posterior, origin: float) -> DrawCurve | None:
        """What a fit says of the years; `origin` is that of skills."""
        if self.still:
            return None
        sd = np.zeros(len(self._years))
        if self.walk.drift:
            sd = self._by_year * np.sqrt(self.walk.variance(self._scores(posterior)[1]))
        return DrawCurve(self._years, self._by_year, sd, origin + self._strengths(posterior)[1])

    def gradient(self, posterior: Posterior, by_margin: Array) -> dict[str, float]:
        """Of the log-evidence in eps0 and the strength; `by_margin` (games,) is that in each game's margin.

        In the strength it is approximate: as if margins did not know the skills that follow from them. How the
        information of a walk depends on parameters is left out.
        """
        base = float(by_margin @ (self.margin / self._base)) if self._base else float(by_margin.sum())
        if self.of_newcomers:
            by_mean = posterior.chain_slopes()[0][self._timeline.n_nodes + self._first]
            base += float(by_mean @ np.expm1(self.walk.theta[self._year_of_first]))
        above = self._strengths(posterior)[0] if len(by_margin) else self.margin
        return {"draw_margin": base, "draw_margin_strength": float((by_margin * self.margin) @ above)}

    @property
    def _by_year(self) -> Array:
        found: Array = self._base * np.exp(self.walk.theta)
        return found

    def _apply(self, chains: Chains) -> None:
        """Set the margins of games, and the means of newcomers' margins in the chains of what follows them."""
        self.margin[:] = self._base if self._newcomers else np.repeat(self._by_year, self._games_of_years)
        if self._strength:
            self.margin *= self._wider
        if self.of_newcomers:
            chains.mean[self._timeline.n_nodes + self._first] = (self._by_year - self._base)[
                self._year_of_first
            ]

    def _strengths(self, posterior: Posterior) -> tuple[Array, Array]:
        """How far each game's players are above its year, in units of strength, (games,), and l_t (years,), points."""
        games, mean = self._games, posterior.mean_skills()
        strength = mean[games.first]
        strength += mean[games.second]
        strength *= 0.5
        total, played = self._summed(games.weight * strength), self._weight > 0.0
        level = _filled(np.where(played, total / np.where(played, self._weight, 1.0), np.nan))
        strength -= np.repeat(level, self._games_of_years)
        strength /= STRENGTH_UNIT
        return np.clip(strength, -STRENGTH_REACH, STRENGTH_REACH, out=strength), level

    def _scores(self, posterior: Posterior) -> tuple[Array, Array]:
        """The score of each year's theta, and its Fisher information."""
        if self._known is None:
            self._known = self._of_newcomers(posterior) if self._newcomers else self._of_games(posterior)
        return self._known

    def _of_games(self, posterior: Posterior) -> tuple[Array, Array]:
        from ttt_cli.kernels.ep.ttt import margin_information

        found, cavities = self._found, posterior.cavities()
        posterior.run_games(
            lambda *part: margin_information(*part, self._games, posterior.rule, cavities, *found)
        )
        return self._summed(found[0]), self._summed(found[1])

    def _of_newcomers(self, posterior: Posterior) -> tuple[Array, Array]:
        own = self._timeline.n_nodes + self._first
        by_mean, by_variance = (slopes[own] for slopes in posterior.chain_slopes())
        margin = self._by_year[self._year_of_first]
        information = margin**2 * np.maximum(by_mean**2 - 2.0 * by_variance, 0.0)
        score, information = (
            np.bincount(self._year_of_first, of, len(self._years)).astype(np.float64)
            for of in (margin * by_mean, information)
        )
        return score, information


def _of_equals(bound: Array, drawn: Array, games: Array) -> tuple[Array, Array]:
    """Score and Fisher information of each year's theta if all players were equals; `bound` in sds of a difference."""
    from scipy.special import ndtr

    draw = np.clip(2.0 * ndtr(bound) - 1.0, TINY, 1.0 - TINY)
    slope = math.sqrt(2.0 / math.pi) * bound * np.exp(-0.5 * bound * bound)
    score = slope * (drawn / draw - (games - drawn) / (1.0 - draw))
    return score, games * slope * slope / (draw * (1.0 - draw))


def _of_one_margin(bound: Array, newcomers: Places) -> tuple[Array, Array]:
    """The same without games, if all that newcomers' first margins, of mean `bound` sds, have to be is positive."""
    from scipy.special import log_ndtr

    slope = np.exp(-0.5 * bound * bound - log_ndtr(bound)) / math.sqrt(2.0 * math.pi)
    return newcomers * bound * slope, newcomers * bound**2 * slope * (slope + bound)


def _filled(level: Array) -> Array:
    """Levels of years without games are those of the last year with any; 0 before there is one."""
    known = np.flatnonzero(~np.isnan(level))
    if not len(known):
        return np.zeros(len(level))
    last = np.maximum(np.searchsorted(known, np.arange(len(level)), side="right") - 1, 0)
    found: Array = level[known[last]]
    return found


def drift_slope(refit: Callable[..., Fit], timeline: Timeline, params: DrawsMove, fit: Fit) -> float:
    """The gradient of the log-evidence in the drift by central differences of fits from `fit` on; 0 without one."""
    drift = params.draw_margin_drift
    if not drift:
        return 0.0
    solver = SolverConfig(posterior="joint" if fit.posterior == "joint" else "factorised", tol=SLOPE_TOL)
    ends = []
    for sign in (-1.0, 1.0):
        moved = {"draw_margin_drift": drift * (1.0 + sign * SLOPE_STEP)}
        moved["white_advantage"] = fit.params["white_advantage"]
        ends.append(refit(timeline, params.model_copy(update=moved), solver, start=fit).log_evidence)
    return (ends[1] - ends[0]) / (2.0 * SLOPE_STEP * drift)
