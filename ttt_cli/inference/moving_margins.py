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
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import DrawCurve
from ttt_cli.inference.play import Play
from ttt_cli.inference.solver import largest
from ttt_cli.inference.year_margins import Posterior, calendar, newcomers_of
from ttt_cli.inference.year_walk import YearWalk
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit
    from ttt_cli.inference.params import DrawsMove

STATE: Final = "log draw margins by year"
BEGAN: Final = "before joint propagation:"  # what a state was then
ROUNDING: Final = 1e-11  # smaller moves of logarithms are none
FIRST_STEPS: Final = 5  # from the same margin in all years to what shares of draws say
ROUGH: Final = 1e-3  # of a logarithm
NEAR: Final = 0.02  # the same: after smaller moves the next step takes the Fisher information as it was
TINY: Final = 1e-12
SLOPE_STEP: Final = 1e-2  # of the drift
SLOPE_TOL: Final = 1e-6  # points


class MovingMargins:
    """The margins of a timeline, which follow a posterior wherever its games are; `start` may hold theta of a fit."""

    def __init__(self, timeline: Timeline, play: Play, start: Fit | None = None) -> None:
        self._timeline, self._play = timeline, play
        self.still = not play.margin or not (play.drift or play.strength)
        self._weight: Array | None = None  # of the games of each year
        if self.still:
            return
        theta = None if start is None else start.state.get(STATE)
        self.walk = YearWalk(self.calendar[0], play.drift, theta)
        self._last = math.inf
        self._near = np.zeros(0)  # the Fisher information of a posterior near by
        self._known: Array | None = None  # and of this one

    @cached_property
    def calendar(self) -> tuple[Ids, Ids]:
        """The calendar years there are, and the place of each period's among them."""
        return calendar(self._timeline)

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit may start from."""
        return {} if self.still or not self.walk.drift else {STATE: self.walk.theta}

    def go_ahead(self, posterior: Any, start: Fit) -> None:
        """Go as far as joint propagation took theta in an earlier fit."""
        then, began = (start.state.get(name) for name in (STATE, f"{BEGAN} {STATE}"))
        if self.still or then is None or began is None or len(then) != len(theta := self.walk.theta):
            return
        self.walk = YearWalk(self.calendar[0], self._play.drift, theta + (then - began))
        self.apply(posterior)

    @property
    def of_newcomers(self) -> bool:
        """Whether years move the means of newcomers' margins."""
        return self._play.own_margins > 0.0 and not self.still and self.walk.drift != 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of a fit."""
        if self.still or not self._play.strength:
            return ()
        return ("the log-evidence is approximate: draw margins follow skills that know the games",)

    def begin(self, posterior: Any) -> None:
        """The margins that a fit begins with: of games as if all were equals, of none as if alone."""
        if self.still:
            return
        play, timeline = self._play, self._timeline
        self._weight, drawn = self._sum(posterior, "counts")
        if self.of_newcomers and not self._weight.any():
            _, year = newcomers_of(timeline.previous, timeline.node_start, self.calendar[1])
            debuts = np.bincount(year, minlength=len(self._weight))
            while self.walk.step(*_of_one_margin(self._by_year / play.own_margins, debuts)) > ROUGH:
                pass
        elif self.walk.drift and not self.walk.theta.any():
            for _ in range(FIRST_STEPS):
                self.walk.step(*_of_equals(self._by_year / math.sqrt(play.noise), drawn, self._weight))
        self.apply(posterior)

    def apply(self, posterior: Any) -> None:
        """Set margins and chains as they are now."""
        if not self.still:
            posterior.margins("apply", self._by_year)

    def update(self, posterior: Any) -> tuple[float, float]:
        """Follow a posterior; the largest move of a margin, and what is still to come at the rate of years', points."""
        if self.still:
            return 0.0, 0.0
        posterior.margins("remember")
        self._known = None
        self.follow_strength(posterior)
        step = self._step(posterior) if self.walk.drift else 0.0
        self.apply(posterior)
        step = step if step > ROUNDING else 0.0
        ahead = step * step / (self._last - step) if step < self._last else step and math.inf
        self._last = step
        most = largest(self._by_year)
        return max(most * step, *posterior.margins("move")), most * ahead

    def _step(self, posterior: Any) -> float:
        informed = self._play.own_margins > 0.0 or self._last > NEAR  # of newcomers it costs nothing
        found = self._sum(posterior, "scores", self._by_year, informed)
        if informed:
            self._near = found[1]
        move = self.walk.accelerated if self._weight_of(posterior).any() else self.walk.step
        return move(found[0], self._near)

    def follow_strength(self, posterior: Any) -> None:
        """Work out how far the players of each game are above its year."""
        if self._play.strength and not self.still:
            posterior.margins("widen", self._level(posterior), self._by_year)

    def log_evidence(self, posterior: Any) -> float:
        """What theta adds to that of the games."""
        if self.still or not self.walk.drift:
            return 0.0
        return self.walk.log_evidence(self._information(posterior))

    def curve(self, posterior: Any, origin: float) -> DrawCurve | None:
        """What a fit says of the years; `origin` is that of skills."""
        if self.still:
            return None
        years = self.calendar[0]
        sd = np.zeros(len(years))
        if self.walk.drift:
            sd = self._by_year * np.sqrt(self.walk.variance(self._information(posterior)))
        return DrawCurve(years, self._by_year, sd, origin + self._level(posterior))

    def gradient(self, posterior: Posterior, by_margin: Array) -> dict[str, float]:
        """Of the log-evidence in eps0 and, roughly, the strength, from that in each game's margin, (games,)."""
        margin, base = posterior.rule.margin, self._play.margin
        slope = float(by_margin @ (margin / base)) if base else float(by_margin.sum())
        if self.of_newcomers and (own := posterior.of_years.own):
            variables, year = own
            slope += float(posterior.chain_slopes()[0][variables] @ np.expm1(self.walk.theta[year]))
        above = margin
        if len(by_margin):
            (above,) = posterior.margins("above", self._level(posterior))
        return {"draw_margin": slope, "draw_margin_strength": float((by_margin * margin) @ above)}

    @property
    def _by_year(self) -> Array:
        return np.asarray(self._play.margin * np.exp(self.walk.theta))

    def _sum(self, posterior: Any, *what: Any) -> Array:
        """What all slices find, by year."""
        return np.asarray(np.sum(posterior.margins(*what), axis=0))

    def _weight_of(self, posterior: Any) -> Array:
        if self._weight is None:
            self._weight = self._sum(posterior, "counts")[0]
        return self._weight

    def _level(self, posterior: Any) -> Array:
        """l_t (years,), points."""
        weight, total = self._weight_of(posterior), self._sum(posterior, "strengths")
        played = weight > 0.0
        return _filled(np.where(played, total / np.where(played, weight, 1.0), np.nan))

    def _information(self, posterior: Any) -> Array:
        """The Fisher information of each year's theta, (years,)."""
        if self._known is None:
            self._known = self._sum(posterior, "scores", self._by_year, True)[1]
        return self._known


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
    return np.asarray(level[known[last]])


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
