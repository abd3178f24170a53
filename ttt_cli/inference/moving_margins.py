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
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import DrawCurve
from ttt_cli.inference.ep.merged import MergedGames
from ttt_cli.inference.solver import largest
from ttt_cli.inference.year_margins import Posterior, YearMargins, calendar, newcomers_of
from ttt_cli.inference.year_walk import YearWalk
from ttt_cli.kernels.ep.structures import Chains
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit
    from ttt_cli.inference.params import DrawsMove

STATE: Final = "log draw margins by year"
ROUNDING: Final = 1e-11  # smaller moves of logarithms are none
FIRST_STEPS: Final = 5  # from the same margin in all years to what shares of draws say
ROUGH: Final = 1e-3  # of a logarithm
NEAR: Final = 0.02  # the same: after smaller moves the next step takes the Fisher information as it was
TINY: Final = 1e-12
SLOPE_STEP: Final = 1e-2  # of the drift
SLOPE_TOL: Final = 1e-6  # points


class Held(Protocol):
    """What `YearMargins` do for a whole timeline, wherever its games are; that place knows its posterior and chains."""

    def counts(self) -> Array: ...  # noqa: D102
    def strengths(self, posterior: Any) -> Array: ...  # noqa: D102
    def widen(self, posterior: Any, level: Array, by_year: Array) -> None: ...  # noqa: D102
    def remember(self) -> None: ...  # noqa: D102
    def apply(self, chains: Any, by_year: Array) -> None: ...  # noqa: D102
    def move(self) -> float: ...  # noqa: D102
    def scores(self, posterior: Any, by_year: Array, informed: bool) -> Array: ...  # noqa: D102


class MovingMargins:
    """The margins of merged games, `margin` (games,), points, as `Rule` has them; `base` is eps0.

    `newcomers`: the sd of newcomers' margins, 0 where players have none of their own. `start` may hold theta of an
    earlier fit. `held` has the games where `merged` is None.
    """

    def __init__(
        self,
        timeline: Timeline,
        merged: MergedGames | None,
        base: float,
        drift: float,
        strength: float,
        *,
        newcomers: float = 0.0,
        start: Fit | None = None,
        held: Held | None = None,
    ) -> None:
        self.margin = np.full(0 if merged is None else len(merged), base)
        self._base, self._strength, self._newcomers = base, strength, newcomers
        self._timeline, self._merged, self._elsewhere = timeline, merged, held
        self.still = not base or not (drift or strength)
        if self.still:
            return
        self.walk = YearWalk(self._years, drift, None if start is None else start.state.get(STATE))
        self._last = math.inf
        self._near = np.zeros(0)  # the Fisher information of a posterior near by
        self._known: Array | None = None  # and of this one

    @cached_property
    def _calendar(self) -> tuple[Ids, Ids]:
        return calendar(self._timeline)

    @property
    def _years(self) -> Ids:
        return self._calendar[0]

    @cached_property
    def _held(self) -> Held:
        return self._elsewhere or self._whole

    @cached_property
    def _whole(self) -> YearMargins:
        assert self._merged is not None
        return YearMargins(
            self._merged.games, self.margin, self._base, self._strength, self._calendar[1], len(self._years),
            self._own if self._newcomers else None,
        )  # fmt: skip

    @cached_property
    def _own(self) -> tuple[Ids, Ids]:
        """The variables of newcomers' margins, and the places of their years."""
        timeline = self._timeline
        first, year = newcomers_of(timeline.previous, timeline.node_start, self._calendar[1])
        return first + np.int32(timeline.n_nodes), year

    @cached_property
    def _weight(self) -> Array:
        found: Array = self._held.counts()[0]
        return found

    @property
    def state(self) -> dict[str, Array]:
        """What a further fit may start from."""
        return {} if self.still or not self.walk.drift else {STATE: self.walk.theta}

    @property
    def of_newcomers(self) -> bool:
        """Whether years move the means of newcomers' margins."""
        return self._newcomers > 0.0 and not self.still and self.walk.drift != 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of a fit."""
        if self.still or not self._strength:
            return ()
        return ("the log-evidence is approximate: draw margins follow skills that know the games",)

    def begin(self, chains: Chains | None, noise: float) -> None:
        """The margins that a fit with these chains begins with: of games as if all were equals, of none as if alone."""
        if self.still:
            return
        weight, drawn = self._held.counts()
        if self.of_newcomers and not weight.any():
            debuts = np.bincount(self._own[1], minlength=len(weight))
            while self.walk.step(*_of_one_margin(self._by_year / self._newcomers, debuts)) > ROUGH:
                pass
        elif self.walk.drift and not self.walk.theta.any():
            for _ in range(FIRST_STEPS):
                self.walk.step(*_of_equals(self._by_year / math.sqrt(noise), drawn, weight))
        self.apply(chains)

    def apply(self, chains: Chains | None) -> None:
        """Set margins and chains as they are now."""
        if not self.still:
            self._held.apply(chains, self._by_year)

    def update(self, posterior: Any) -> tuple[float, float]:
        """Follow a posterior; the largest move of a margin, and what is still to come at the rate of years', points."""
        if self.still:
            return 0.0, 0.0
        self._held.remember()
        self._known = None
        self.follow_strength(posterior)
        step = self._step(posterior) if self.walk.drift else 0.0
        self._held.apply(posterior.chains, self._by_year)
        step = step if step > ROUNDING else 0.0
        ahead = step * step / (self._last - step) if step < self._last else step and math.inf
        self._last = step
        most = largest(self._by_year)
        return max(most * step, self._held.move()), most * ahead

    def _step(self, posterior: Any) -> float:
        informed = self._newcomers > 0.0 or self._last > NEAR  # of newcomers it costs nothing
        found = self._held.scores(posterior, self._by_year, informed)
        if informed:
            self._near = found[1]
        move = self.walk.accelerated if self._weight.any() else self.walk.step
        return move(found[0], self._near)

    def follow_strength(self, posterior: Any) -> None:
        """Work out how far the players of each game are above its year."""
        if self._strength and not self.still:
            self._held.widen(posterior, self._level(posterior), self._by_year)

    def log_evidence(self, posterior: Any) -> float:
        """What theta adds to that of the games."""
        if self.still or not self.walk.drift:
            return 0.0
        return self.walk.log_evidence(self._information(posterior))

    def curve(self, posterior: Any, origin: float) -> DrawCurve | None:
        """What a fit says of the years; `origin` is that of skills."""
        if self.still:
            return None
        sd = np.zeros(len(self._years))
        if self.walk.drift:
            sd = self._by_year * np.sqrt(self.walk.variance(self._information(posterior)))
        return DrawCurve(self._years, self._by_year, sd, origin + self._level(posterior))

    def gradient(self, posterior: Posterior, by_margin: Array) -> dict[str, float]:
        """Of the log-evidence in eps0 and the strength; `by_margin` (games,) is that in each game's margin.

        In the strength it is approximate: as if margins did not know the skills that follow from them. How the
        information of a walk depends on parameters is left out.
        """
        base = float(by_margin @ (self.margin / self._base)) if self._base else float(by_margin.sum())
        if self.of_newcomers:
            variables, year = self._own
            by_mean = posterior.chain_slopes()[0][variables]
            base += float(by_mean @ np.expm1(self.walk.theta[year]))
        above = self._whole.above(posterior, self._level(posterior)) if len(by_margin) else self.margin
        return {"draw_margin": base, "draw_margin_strength": float((by_margin * self.margin) @ above)}

    @property
    def _by_year(self) -> Array:
        found: Array = self._base * np.exp(self.walk.theta)
        return found

    def _level(self, posterior: Any) -> Array:
        """l_t (years,), points."""
        played = self._weight > 0.0
        total = self._held.strengths(posterior)
        return _filled(np.where(played, total / np.where(played, self._weight, 1.0), np.nan))

    def _information(self, posterior: Any) -> Array:
        """The Fisher information of each year's theta, (years,)."""
        if self._known is None:
            self._known = self._held.scores(posterior, self._by_year, informed=True)[1]
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
