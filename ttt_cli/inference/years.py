"""Draw margins that follow the year and the players' strength.

The logarithm of their factor, theta, is a Gaussian random walk over the years, found at its maximum: score = precision
times theta. Laplace's method with the Fisher information F integrates it out: -theta'P theta/2 + log|P|/2 - log|P +
F|/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ttt_cli.fitted import DrawCurve
from ttt_cli.games.table import DRAW
from ttt_cli.inference.links import MergedGames, points_given
from ttt_cli.inference.newcomers import GaussianWalk
from ttt_cli.inference.outcome import STRENGTH_REACH, STRENGTH_UNIT
from ttt_cli.inference.solver import largest
from ttt_cli.kernels.ep.structures import Chains, Pairings, Rule
from ttt_cli.room import MEMORY, Room
from ttt_cli.support.arrays import Array, Ids
from ttt_cli.timeline import Timeline, calendar

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit


# in 2 beta^2, the draw margin (or the origin of the players' own), White's advantage, and the log of an Elo point
GamesGradient = tuple[float, ...]

FARTHEST: Final = 0.5  # of a step
EARLIER: Final = 3  # steps that accelerate the next


class YearWalk(GaussianWalk):
    """theta = L u, started at `start` or 0; `information` (years,) is the Fisher information F of theta."""

    def __init__(self, years: Ids, drift: float, start: Array | None) -> None:
        super().__init__(years, drift)
        theta = np.zeros(len(years))
        if start is not None and len(start) and len(years):
            known = min(len(start), len(years))
            theta[:known] = start[:known]
            theta[known:] = start[known - 1]
        self._u = np.diff(theta, prepend=0.0) / np.where(self.variances > 0.0, np.sqrt(self.variances), 1.0)
        self._earlier: list[tuple[Array, Array]] = []  # moves, and where they led

    @property
    def theta(self) -> Array:
        """Current walk, (years,)."""
        return np.asarray(self.root @ self._u)

    def step(self, score: Array, information: Array, *, accelerate: bool = False) -> float:
        """Take one step of Fisher scoring, optionally with Anderson acceleration (1965); returns the largest move."""
        precision = self.precision(information)
        move = self._limited(np.linalg.solve(precision, self.root.T @ score - self._u))
        goal = self._u + move
        self._u = goal
        if accelerate:
            scale = np.linalg.cholesky(precision)
            if self._earlier and np.linalg.norm(move @ scale) > np.linalg.norm(self._earlier[-1][0] @ scale):
                self._earlier = []
            if self._earlier:
                moves, goals = map(np.stack, zip(*self._earlier, strict=True))
                share = np.linalg.lstsq(((move - moves) @ scale).T, move @ scale, rcond=1e-6)[0]
                self._u = goal - self._limited(share @ (goal - goals))
            self._earlier = [*self._earlier[1 - EARLIER :], (move, goal)]
        return largest(self.root @ move)

    def _limited(self, move: Any) -> Array:
        return np.asarray(move * min(1.0, FARTHEST / max(largest(self.root @ move), FARTHEST)))

    def log_evidence(self, information: Array) -> float:
        """Contribution of the walk to the log-evidence."""
        return -0.5 * float(self._u @ self._u + np.linalg.slogdet(self.precision(information))[1])

    def variance(self, information: Array) -> Array:
        """Variance (years,) of theta."""
        covariance = np.linalg.solve(self.precision(information), self.root.T)
        return np.asarray(np.einsum("ij,ji->i", self.root, covariance))


class Posterior:
    """Posterior of a timeline or slice during a fit, as moving margins use it.

    | name | |
    |---|---|
    | mean_skills | means of all nodes from the origin, points |
    | cavities | of all games, as the kernels take them |
    | run_games | calls a kernel for ranges of games until all are done |
    | chain_slopes | gradient of the log-evidence in the means and variances of all steps |
    """

    rule: Rule
    chains: Chains
    of_years: YearMargins
    mean_skills: Callable[[], Array]
    cavities: Callable[[], Array]
    run_games: Callable[..., None]
    chain_slopes: Callable[[], tuple[Array, Array]]

    def margins(self, name: str, *arguments: Any) -> list[Any]:
        """Results of a method of `YearMargins` for all slices."""
        return [getattr(self.of_years, name)(self, *arguments)]


class YearMargins:
    """Draw margins of `games`, `margin` (games,), points, filled here.

    `place` (periods,) is the index of each period's year among `years`. With margins per player, counted from
    `play.margin`, `own` are newcomers' variables and the index of their years: these follow the years instead.
    """

    def __init__(
        self,
        games: Pairings,
        margin: Array,
        play: Play,
        place: Ids,
        years: int,
        own: tuple[Ids, Ids] | None,
        room: Room = MEMORY,
    ) -> None:
        self.margin = margin
        self.own = own
        self._games = games
        self._play = play
        self._years = years
        count = np.bincount(place, np.diff(games.start), years).astype(np.int64)  # games of years in order
        self._count = count
        self._start = np.cumsum(count) - count
        self._wider = room.empty("wider", (len(margin) if play.strength else 0,), np.float64)
        self._wider[:] = 1.0
        self._found = room.empty("scores", (2, len(margin) if play.drift and not own else 0), np.float64)

    def _summed(self, values: Array) -> Array:
        found = np.zeros(self._years)
        played = self._count > 0
        found[played] = np.add.reduceat(values, self._start[played])
        return found

    def _mean_skill(self, posterior: Posterior) -> Array:
        """Mean skill of both players of each game, points, (games,)."""
        skill = posterior.mean_skills()
        games = self._games
        strength: Array = skill[games.first]
        strength += skill[games.second]
        strength *= 0.5
        return strength

    def strengths(self, posterior: Posterior) -> Array:
        """Weight of games per year, and the sum over them of the mean of both skills, points, (2, years)."""
        weight = self._games.weight
        return np.stack([self._summed(weight), self._summed(weight * self._mean_skill(posterior))])

    def above(self, posterior: Posterior, level: Array) -> Array:
        """Skill of each game's players above the year's level, in units of strength, (games,)."""
        above = self._mean_skill(posterior)
        above -= np.repeat(level, self._count)
        above /= STRENGTH_UNIT
        return np.clip(above, -STRENGTH_REACH, STRENGTH_REACH, out=above)

    def apply(self, posterior: Posterior, by_year: Array, level: Array | None = None) -> float:
        """Set margins of games, and the prior means of newcomers' margins; returns the largest move, points.

        With levels (years,), points, the strength of games' players above them is updated.
        """
        if level is not None:
            above = self.above(posterior, level)
            np.exp(np.multiply(above, self._play.strength, out=above), out=self._wider)
        margin = np.full(len(self.margin), self._play.margin) if self.own else np.repeat(by_year, self._count)
        if self._play.strength:
            margin *= self._wider
        self.margin -= margin
        moved = largest(self.margin)
        self.margin[:] = margin
        if self.own:
            first, year = self.own
            posterior.chains.mean[first] = (by_year - self._play.margin)[year]
        return moved

    def scores(self, posterior: Posterior, by_year: Array) -> Array:
        """Score of each year's log margin, and its Fisher information, (2, years)."""
        from ttt_cli.kernels.ep.margins import margin_information

        if not self.own:
            rest = posterior.rule, posterior.cavities(), *self._found
            posterior.run_games(margin_information, self._games, *rest)
            return np.stack([self._summed(self._found[0]), self._summed(self._found[1])])
        first, year = self.own
        by_mean, by_variance = np.array(posterior.chain_slopes())[:, first]
        margin = by_year[year]
        information = margin**2 * np.maximum(by_mean**2 - 2.0 * by_variance, 0.0)
        score = np.bincount(year, margin * by_mean, self._years)
        return np.stack([score, np.bincount(year, information, self._years)])


STATE: Final = "log draw margins by year"
INITIAL: Final = "before joint propagation:"  # prefix of that state
ROUNDING: Final = 1e-11  # smaller moves of logarithms are zero
FIRST_STEPS: Final = 5  # before a posterior is known
TINY: Final = 1e-12


class MovingMargins:
    """Draw margins of a timeline that follow a posterior; `start` may have theta of an earlier fit."""

    def __init__(self, timeline: Timeline, play: Play, start: Fit | None = None) -> None:
        self._timeline = timeline
        self._play = play
        self._drift, self._strength = (play.drift, play.strength) if play.margin else (0.0, 0.0)
        self.still = not (self._drift or self._strength)
        if self.still:
            return
        theta = None if start is None else start.state.get(STATE)
        self._years = calendar(timeline)[0]
        self.walk = YearWalk(self._years, self._drift, theta)
        self._last = math.inf
        self._known: Array | None = None  # the Fisher information of this posterior
        if self._drift and not self.walk.theta.any():
            self._first_steps()

    @property
    def state(self) -> dict[str, Array]:
        """State for a warm start."""
        return {STATE: self.walk.theta} if self._drift else {}

    def extrapolate(self, posterior: Any, start: Fit) -> None:
        """Move theta as joint propagation did in an earlier fit."""
        then = start.state.get(STATE)
        initial = start.state.get(f"{INITIAL} {STATE}")
        if self.still or then is None or initial is None or len(then) != len(theta := self.walk.theta):
            return
        self.walk = YearWalk(self._years, self._drift, theta + (then - initial))
        self.apply(posterior)

    @property
    def of_newcomers(self) -> bool:
        """Whether years move the means of newcomers' margins."""
        return self._play.own_margins > 0.0 and self._drift != 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        if not self._strength:
            return ()
        return (
            "the log-evidence is approximate: draw margins depend on skills that are estimated from the same games",
        )

    def apply(self, posterior: Any) -> float:
        """Set the current margins and chains; returns the largest move, points."""
        return 0.0 if self.still else float(max(posterior.margins("apply", self._by_year)))

    def update(self, posterior: Any) -> tuple[float, float]:
        """Update from a posterior; returns the largest move of a margin and its estimated remaining move, points."""
        if self.still:
            return 0.0, 0.0
        self._known = None
        step = 0.0
        moved = self.follow_strength(posterior)
        if self._drift:
            scores = self._sum(posterior, "scores", self._by_year)
            step = self.walk.step(*scores, accelerate=self._timeline.n_games > 0)
        moved += self.apply(posterior)
        step = step if step > ROUNDING else 0.0
        ahead = step * step / (self._last - step) if step < self._last else step and math.inf
        self._last = step
        most = largest(self._by_year)
        return max(most * step, moved), most * ahead

    def follow_strength(self, posterior: Any) -> float:
        """Update each game's strength above its year's level; returns the largest move of a margin, points."""
        if not self._strength:
            return 0.0
        return float(max(posterior.margins("apply", self._by_year, self._level(posterior))))

    def log_evidence(self, posterior: Any) -> float:
        """Contribution of theta to the log-evidence."""
        if not self._drift:
            return 0.0
        return self.walk.log_evidence(self._information(posterior))

    def curve(self, posterior: Any, origin: float) -> DrawCurve | None:
        """Curve of draw margins by year; `origin` is that of skills."""
        if self.still:
            return None
        sd = np.zeros(len(self._years))
        if self._drift:
            sd = self._by_year * np.sqrt(self.walk.variance(self._information(posterior)))
        return DrawCurve(self._years, self._by_year, sd, origin + self._level(posterior))

    def gradient(
        self, posterior: Posterior, merged: MergedGames, kernel: Callable[..., tuple[float, float]]
    ) -> tuple[dict[str, float], GamesGradient]:
        """Gradient of the log-evidence in the strength, approximately, and in the parameters of games.

        `kernel` is the gradient of the model's games.
        """
        rule = posterior.rule
        margin = posterior.rule.margin
        base = self._play.margin
        by_margin = np.empty(len(merged))
        by_offset = np.empty(len(merged))
        noise, advantage = kernel(
            merged.games, merged.balance, rule, posterior.cavities(), by_margin, by_offset
        )
        slope = float(by_margin @ (margin / base)) if base else float(by_margin.sum())
        if self.of_newcomers and (own := posterior.of_years.own):
            variables, year = own
            slope += float(posterior.chain_slopes()[0][variables] @ np.expm1(self.walk.theta[year]))
        given = rule.handicap - points_given(merged.handicap, 0.0, rule.advantage)
        above = margin
        if len(by_margin):
            (above,) = posterior.margins("above", self._level(posterior))
        by_handicap = float(given @ by_offset[: len(given)])
        of_games = noise, slope, advantage, by_handicap
        return {"draw_margin_strength": float((by_margin * margin) @ above)}, of_games

    def _first_steps(self) -> None:
        """Move as if all players were equal; without games, as if newcomers' margins were all there is."""
        from scipy.special import log_ndtr, ndtr

        timeline = self._timeline
        year = calendar(self._timeline)[1]
        years = len(self._years)
        games, drawn, newcomers = np.zeros((3, years))
        if timeline.n_games:
            for place, (begin, end) in zip(year, pairwise(timeline.game_start.tolist()), strict=True):
                weight = timeline.weight[begin:end]
                games[place] += weight.sum()
                drawn[place] += weight @ (timeline.outcome[begin:end] == DRAW)
        elif self.of_newcomers:
            debuts = np.repeat(year, np.diff(timeline.node_start))[timeline.previous < 0]
            newcomers += np.bincount(debuts, minlength=years)
        else:
            return
        for _ in range(FIRST_STEPS):
            if timeline.n_games:
                margin = self._by_year / math.sqrt(self._play.noise)  # in sds of a difference
                draw = np.clip(2.0 * ndtr(margin) - 1.0, TINY, 1.0 - TINY)
                slope = math.sqrt(2.0 / math.pi) * margin * np.exp(-0.5 * margin**2)
                score = slope * (drawn / draw - (games - drawn) / (1.0 - draw))
                self.walk.step(score, games * slope**2 / (draw * (1.0 - draw)))
            else:
                margin = self._by_year / self._play.own_margins
                slope = np.exp(-0.5 * margin**2 - log_ndtr(margin)) / math.sqrt(2.0 * math.pi)
                score = newcomers * margin * slope
                self.walk.step(score, score * margin * (slope + margin))

    @property
    def _by_year(self) -> Array:
        return np.asarray(self._play.margin * np.exp(self.walk.theta))

    def _sum(self, posterior: Any, *what: Any) -> Array:
        return np.asarray(np.sum(posterior.margins(*what), axis=0))

    def _level(self, posterior: Any) -> Array:
        """Levels l_t (years,), points: of years without games that of the last year before; 0 without any games."""
        weight, total = self._sum(posterior, "strengths")
        played = weight > 0.0
        last = np.maximum.accumulate(np.where(played, np.arange(len(weight)), played.argmax()))
        return np.asarray((total / np.where(played, weight, 1.0))[last])

    def _information(self, posterior: Any) -> Array:
        """Fisher information (years,) of theta."""
        if self._known is None:
            self._known = self._sum(posterior, "scores", self._by_year)[1]
        return self._known


@dataclass(frozen=True)
class Play:
    """A `Rule` without its games; `unit`: points per Elo point; `drift`, `strength`: motion of margins.

    `own_margins`: sd of newcomers' draw margins, counted from `margin`; 0 with a common margin.
    """

    noise: float
    margin: float
    unit: float
    advantage: float = 0.0
    own_margins: float = 0.0
    drift: float = 0.0
    strength: float = 0.0

    def rule(self, margin: Array, handicap: Array) -> Rule:
        """Rule with these draw margins and the handicaps of `MergedGames`."""
        given = points_given(handicap, self.unit, self.advantage)
        return Rule(self.noise, margin, self.margin, self.advantage, given)
