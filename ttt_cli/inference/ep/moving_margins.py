"""Draw margins that follow the year and the players' strength.

The logarithm of their factor, theta, is a Gaussian random walk over the years, found at its maximum: score = precision
times theta. Laplace's method with the Fisher information F integrates it out: -theta'P theta/2 + log|P|/2 - log|P +
F|/2.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from ttt_cli.fitted import DrawCurve
from ttt_cli.games.table import DRAW
from ttt_cli.inference.links import MergedGames, handicap_slopes
from ttt_cli.inference.model import ChainSlopes, GamesGradient, Play
from ttt_cli.inference.outcome import STRENGTH_REACH, STRENGTH_UNIT
from ttt_cli.inference.solver import largest
from ttt_cli.inference.victory import interval_slopes
from ttt_cli.inference.walk import SmoothedWalk, smooth_walk, step_variances
from ttt_cli.kernels.ep.structures import Chains, GamesSlopes, Pairings, Rule
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Array, Ids
from ttt_cli.support.normal import normal_cdf_of_all
from ttt_cli.timeline import Timeline, calendar

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit

LONGEST_MOVE: Final = 0.5  # of theta in an iteration of Fisher scoring
EARLIER: Final = 3  # earlier iterations that accelerate one
# Singular values of earlier moves below this part of the largest do not accelerate
REGULAR: Final = 1e-6


class ScoringMove(NamedTuple):
    """An iteration of Fisher scoring: the move of theta, and the theta that it led to, (years,)."""

    move: Array
    goal: Array


class YearWalk:
    """theta (years,), a Gaussian random walk over the years, started at `start` or 0.

    All that is done here takes time in proportion to the years. `information` (years,) is the diagonal F of the
    information on theta; P is the precision of its prior.
    """

    def __init__(self, years: Ids, drift: float, start: Array | None) -> None:
        self._variances = step_variances(years, drift)
        self.theta = np.zeros(len(years))
        if start is not None and len(start) and len(years):
            common = min(len(start), len(years))
            self.theta[:common] = start[:common]
            self.theta[common:] = start[common - 1]
        self._earlier: deque[ScoringMove] = deque(maxlen=EARLIER)

    def step(self, score: Array, information: Array, *, accelerate: bool = False) -> float:
        """Take one step of Fisher scoring, optionally with Anderson acceleration (1965); returns the largest move."""
        aim = self._smoothed(information, information * self.theta + score).mean
        move = self._limited(aim - self.theta)
        goal = self.theta + move
        self.theta = goal
        if accelerate:
            self._accelerate(ScoringMove(move, goal), information)
        return largest(move)

    def _accelerate(self, step: ScoringMove, information: Array) -> None:
        """Go to the combination of this and earlier goals whose combined move is smallest in the norm of P + F.

        Least squares find the shares x_j of earlier steps that minimise |m - sum x_j (m - m_j)|, where m is the move of
        this step and m_j theirs; the combination is g - sum x_j (g - g_j) for goals g and g_j. A move that is larger
        than the last one ends the combination with earlier steps.
        """
        move = self._scaled(step.move, information)
        if self._earlier:
            last_move = self._scaled(self._earlier[-1].move, information)
            if np.linalg.norm(move) > np.linalg.norm(last_move):
                self._earlier.clear()
        if self._earlier:
            goals = np.stack([earlier.goal for earlier in self._earlier])
            changes = [move - self._scaled(earlier.move, information) for earlier in self._earlier]
            share = np.linalg.lstsq(np.stack(changes, axis=1), move, rcond=REGULAR)[0]
            self.theta = step.goal - self._limited(share @ (step.goal - goals))
        self._earlier.append(step)

    def _scaled(self, move: Array, information: Array) -> Array:
        """A vector (2 years,) whose length is that of a move in the norm of P + F."""
        by_prior = np.diff(move, prepend=0.0) / np.sqrt(self._variances)
        return np.append(by_prior, np.sqrt(information) * move)

    def _limited(self, move: Array) -> Array:
        most = max(largest(move), LONGEST_MOVE)
        return np.asarray(move * min(1.0, LONGEST_MOVE / most))

    def log_evidence(self, information: Array) -> float:
        """Contribution of the walk to the log-evidence: log|P|/2 - log|P + F|/2 - theta'P theta/2."""
        log_determinant_ratio = self._smoothed(
            information, np.zeros(len(information))
        ).log_determinant_ratio
        squares = float((np.diff(self.theta, prepend=0.0) ** 2 / self._variances).sum())
        return -0.5 * (squares + log_determinant_ratio)

    def variance(self, information: Array) -> Array:
        """Variance (years,) of theta."""
        return self._smoothed(information, np.zeros(len(information))).variance

    def _smoothed(self, information: Array, weighted: Array) -> SmoothedWalk:
        return smooth_walk(self._variances, information, weighted)


class YearStrengths(NamedTuple):
    """Weight of the games of each year, and the sum over them of the mean of both skills, points; (years,)."""

    weight: Array
    total: Array


class YearScores(NamedTuple):
    """Score of each year's log margin, and its Fisher information, (years,)."""

    score: Array
    information: Array


class Debuts(NamedTuple):
    """Variables of newcomers' draw margins, and the index of the year of each, (newcomers,)."""

    variable: Ids
    year: Ids


class Posterior(Protocol):
    """The posterior of the games of a slice, or of all games, as their margins use it."""

    @property
    def rule(self) -> Rule:
        """How these games are played."""

    @property
    def chains(self) -> Chains:
        """Chains of all variables."""

    def mean_skills(self) -> Array:
        """Means of the skills of all nodes from the origin, points; 0 before the first variable."""

    def cavities(self) -> Array:
        """Cavities of all games, as the kernels take them."""

    def chain_slopes(self) -> ChainSlopes:
        """Gradient of the log-evidence in the steps of all variables."""

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for ranges of games, each from the first to before the end, until all games are done."""


class SliceMargins:
    """Draw margins of the games of a slice, `margin` (games,), points, which is filled here.

    `margin` is the same array as `PairGames.rule.margin`: `apply` changes it in place. `period_year` (periods,) is the
    index of each period's year among `years`. With margins per player, theta moves the prior means of newcomers'
    margins (`debuts`) instead of `margin`, which then follows strength alone.
    """

    def __init__(
        self,
        games: Pairings,
        margin: Array,
        play: Play,
        period_year: Ids,
        years: int,
        debuts: Debuts | None,
        storage: ArrayStorage = MEMORY,
    ) -> None:
        self.margin = margin
        self.debuts = debuts
        self._games = games
        self._play = play
        self._years = years
        games_of_years = np.bincount(period_year, np.diff(games.start), years)
        self._count = games_of_years.astype(np.int64)
        # the first game of each year; games are in their order
        self._start = np.cumsum(self._count) - self._count
        self._wider = storage.zeros(
            "wider", (len(margin) if play.margin_strength else 0,), np.float64
        )
        self._wider[:] = 1.0
        scored = len(margin) if play.margin_drift and debuts is None else 0
        self._scores = YearScores(*storage.zeros("scores", (2, scored), np.float64))  # of games

    def _summed(self, values: Array) -> Array:
        """Sums over the games of each year."""
        sums = np.zeros(self._years)
        played = self._count > 0
        sums[played] = np.add.reduceat(values, self._start[played])
        return sums

    def _mean_skill(self, posterior: Posterior) -> Array:
        """Mean skill of both players of each game, points, (games,)."""
        skill = posterior.mean_skills()
        games = self._games
        strength: Array = skill[games.first]
        strength += skill[games.second]
        strength *= 0.5
        return strength

    def strengths(self, posterior: Posterior) -> YearStrengths:
        """Strength of the players of each year."""
        weight = self._games.weight
        return YearStrengths(
            self._summed(weight), self._summed(weight * self._mean_skill(posterior))
        )

    def above(self, posterior: Posterior, level: Array) -> Array:
        """Skill of each game's players above the year's level, in units of strength, (games,)."""
        above = self._mean_skill(posterior)
        above -= np.repeat(level, self._count)
        above /= STRENGTH_UNIT
        return np.clip(above, -STRENGTH_REACH, STRENGTH_REACH, out=above)

    def follow_strength(self, posterior: Posterior, level: Array) -> None:
        """Update the factor of each game's margin by the strength of its players above the year's level, points."""
        above = self.above(posterior, level)
        np.multiply(above, self._play.margin_strength, out=above)
        np.exp(above, out=self._wider)

    def apply(self, chains: Chains, by_year: Array) -> float:
        """Set margins of games and prior means of newcomers' margins; the largest move of the former, points."""
        if self.debuts is None:
            margin = np.repeat(by_year, self._count)
        else:
            margin = np.full(len(self.margin), self._play.margin)
        if self._play.margin_strength:
            margin *= self._wider
        # the move overwrites the margins before it, since another array would take memory
        self.margin -= margin
        moved = largest(self.margin)
        self.margin[:] = margin
        if self.debuts is not None:
            chains.mean[self.debuts.variable] = (by_year - self._play.margin)[self.debuts.year]
        return moved

    def scores(self, posterior: Posterior, by_year: Array) -> YearScores:
        """Score and information of each year's log margin."""
        if self.debuts is None:
            return self._scores_of_games(posterior, posterior.rule)
        year = self.debuts.year
        slopes = posterior.chain_slopes()
        by_mean = slopes.by_mean[self.debuts.variable]
        by_variance = slopes.by_variance[self.debuts.variable]
        margin = by_year[year]
        # By the heat equation the slope of Z in the variance is half its second derivative in the mean. With the slopes
        # m and v of log Z in mean and variance, its second derivative in the mean is 2 v - m^2; this is minus that.
        curvature = by_mean**2 - 2.0 * by_variance
        information = margin**2 * np.maximum(curvature, 0.0)
        return YearScores(
            np.asarray(np.bincount(year, margin * by_mean, self._years), np.float64),
            np.asarray(np.bincount(year, information, self._years), np.float64),
        )

    def information_with_lapse(self, posterior: Posterior, lapse: float) -> Array:
        """Fisher information of each year's log margin if chance decided this share of the games."""
        return self._scores_of_games(posterior, posterior.rule._replace(lapse=lapse)).information

    def _scores_of_games(self, posterior: Posterior, rule: Rule) -> YearScores:
        from ttt_cli.kernels.ep.margins import margin_information

        cavities = posterior.cavities()

        def score_games(begin: int, end: int) -> None:
            margin_information(
                begin,
                end,
                self._games,
                rule,
                cavities,
                self._scores.score,
                self._scores.information,
            )

        posterior.run_games(score_games)
        return YearScores(self._summed(self._scores.score), self._summed(self._scores.information))


class MarginsOfSlices(Protocol):
    """The margins of all slices of a timeline, wherever these are."""

    def apply_margins(self, by_year: Array) -> float:
        """`SliceMargins.apply` in all slices; the largest move, points."""

    def follow_strength(self, level: Array, by_year: Array) -> float:
        """`SliceMargins.follow_strength` and then `apply` in all slices; the largest move, points."""

    def strengths(self) -> YearStrengths:
        """Strengths of all games."""

    def margin_scores(self, by_year: Array) -> YearScores:
        """Scores of all games or newcomers."""


class PosteriorOfKind(Posterior, Protocol):
    """The posterior of games of one kind in a whole timeline: between two players, or links in categories."""

    @property
    def margins(self) -> SliceMargins:
        """Margins of these games."""

    def strengths(self) -> YearStrengths:
        """Strengths of all games of the timeline, whatever their kind."""


class PosteriorOfCategories(PosteriorOfKind, Protocol):
    """The posterior of games in categories (`category_margins`)."""

    @property
    def merged(self) -> MergedGames:
        """These games."""


class WholePosterior(PosteriorOfKind, MarginsOfSlices, Protocol):
    """The posterior of a whole timeline in memory: `SliceState` of one slice, or `JointInference`.

    Its members of `PosteriorOfKind` are those of the games between two players; those of games in categories are in a
    posterior of their own. What it has of `MarginsOfSlices` is of both kinds of games.
    """

    def in_categories(self) -> PosteriorOfCategories | None:
        """The posterior of games in categories, if there are any."""


class MarginsGradient(NamedTuple):
    """Gradient of the log-evidence.

    | name | |
    |---|---|
    | by_strength | in `Play.margin_strength`, at the strengths of the games as they are |
    | of_games | in what is common to all games |
    """

    by_strength: float
    of_games: GamesGradient


STATE: Final = "log draw margins by year"
INITIAL: Final = "before joint propagation:"  # prefix of that state
LAPSE_STEP: Final = 1e-5  # of the difference that gives the slope in the lapse
ROUNDING: Final = 1e-11  # smaller moves of logarithms are zero
FIRST_MOVES: Final = 5  # before a posterior is known
TINY: Final = 1e-12


class MarginsMove(NamedTuple):
    """The largest move of a margin, and how far one is estimated to move yet, points."""

    largest: float
    ahead: float


class MovingMargins:
    """Draw margins of a timeline that follow a posterior; `start` may have theta of an earlier fit.

    `still`: whether they do not move at all.
    """

    def __init__(self, timeline: Timeline, play: Play, start: Fit | None = None) -> None:
        self._timeline = timeline
        self._play = play
        self._drift = play.margin_drift if play.margin else 0.0
        self._strength = play.margin_strength if play.margin else 0.0
        self.still = not (self._drift or self._strength)
        self._years = np.empty(0, np.int32) if self.still else calendar(timeline)[0]
        self.walk = YearWalk(self._years, self._drift, start.state.get(STATE) if start else None)
        self._last_step = math.inf
        self._information: Array | None = None  # of theta at this posterior, once it is computed
        if self._drift and not self.walk.theta.any():
            self._start_from_shares()

    @property
    def state(self) -> dict[str, Array]:
        """State for a warm start."""
        return {STATE: self.walk.theta} if self._drift else {}

    def extrapolate(self, margins: MarginsOfSlices, start: Fit) -> None:
        """Move theta as joint propagation did in an earlier fit, whose state has theta before it, too (`INITIAL`)."""
        joint = start.state.get(STATE)
        initial = start.state.get(f"{INITIAL} {STATE}")
        theta = self.walk.theta
        if self.still or joint is None or initial is None or len(joint) != len(theta):
            return
        moved_in_joint_propagation = joint - initial
        self.walk = YearWalk(self._years, self._drift, theta + moved_in_joint_propagation)
        self.apply(margins)

    @property
    def of_newcomers(self) -> bool:
        """Whether years move the means of newcomers' margins."""
        return self._play.own_margins and self._drift != 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user."""
        if not self._strength:
            return ()
        return (
            "the log-evidence is approximate: draw margins depend on skills that are estimated from the same games",
        )

    def apply(self, margins: MarginsOfSlices) -> float:
        """Set the current margins and chains; returns the largest move, points."""
        return 0.0 if self.still else margins.apply_margins(self._by_year)

    def update(self, margins: MarginsOfSlices) -> MarginsMove:
        """Update from a posterior."""
        if self.still:
            return MarginsMove(0.0, 0.0)
        self._information = None
        step = 0.0
        moved = self.follow_strength(margins)
        if self._drift:
            scores = margins.margin_scores(self._by_year)
            step = self.walk.step(*scores, accelerate=self._timeline.n_games > 0)
        moved += self.apply(margins)
        if step <= ROUNDING:
            step = 0.0
        ahead = self._ahead_of(step)
        self._last_step = step
        largest_margin = largest(self._by_year)
        return MarginsMove(max(largest_margin * step, moved), largest_margin * ahead)

    def _ahead_of(self, step: float) -> float:
        """The sum of all further steps if each is r times the one before, as this one is of the last.

        That is d r / (1 - r), with this step d.
        """
        if step < self._last_step:
            return step * step / (self._last_step - step)
        return math.inf if step else 0.0

    def follow_strength(self, margins: MarginsOfSlices) -> float:
        """Update each game's strength above its year's level; returns the largest move of a margin, points."""
        if not self._strength:
            return 0.0
        return margins.follow_strength(self._level(margins), self._by_year)

    def log_evidence(self, margins: MarginsOfSlices) -> float:
        """Contribution of theta to the log-evidence."""
        if not self._drift:
            return 0.0
        return self.walk.log_evidence(self._information_of(margins))

    def curve(self, margins: MarginsOfSlices, origin: float) -> DrawCurve | None:
        """Curve of draw margins by year; `origin` is that of skills."""
        if self.still:
            return None
        sd = np.zeros(len(self._years))
        if self._drift:
            sd = self._by_year * np.sqrt(self.walk.variance(self._information_of(margins)))
        return DrawCurve(self._years, self._by_year, sd, origin + self._level(margins))

    def gradient(
        self, posterior: WholePosterior, merged: MergedGames, kernel: Callable[..., GamesSlopes]
    ) -> MarginsGradient:
        """Gradient of the log-evidence.

        `merged` are the games between two players, to which those in categories are added; `kernel` is the gradient of
        the model's games.
        """
        by_strength, of_games = self._gradient_of(posterior, merged, kernel)
        of_games = of_games._replace(lapse=of_games.lapse + self._lapse_slope(posterior))
        in_categories = posterior.in_categories()
        if in_categories is None:
            return MarginsGradient(by_strength, of_games)
        of_categories = self._gradient_of(in_categories, in_categories.merged, kernel)
        return MarginsGradient(
            by_strength + of_categories.by_strength, of_games.plus(of_categories.of_games)
        )

    def _lapse_slope(self, posterior: WholePosterior) -> float:
        """Slope of the walk's part of the log-evidence in the share of games that chance decides, at the same cavities.

        Of that part (`YearWalk.log_evidence`) only -log|P + F|/2 changes. It is a difference between shares that are
        `LAPSE_STEP` lower, but not below 0, and higher.
        """
        rule = posterior.rule
        if not self._drift or self.of_newcomers or rule.lapse_draws < 0.0:
            return 0.0
        shares = max(rule.lapse - LAPSE_STEP, 0.0), rule.lapse + LAPSE_STEP
        low, high = (
            self.walk.log_evidence(posterior.margins.information_with_lapse(posterior, share))
            for share in shares
        )
        return (high - low) / (shares[1] - shares[0])

    def _gradient_of(
        self,
        posterior: PosteriorOfKind,
        merged: MergedGames,
        kernel: Callable[..., GamesSlopes],
    ) -> MarginsGradient:
        """`gradient` of the games of a posterior."""
        rule = posterior.rule
        by_margin = np.empty(len(merged))
        by_offset = np.empty(len(merged))
        of_games = kernel(
            merged.games, merged.balance, rule, posterior.cavities(), by_margin, by_offset
        )
        steps = self._play.offsets.steps
        of_intervals = (
            interval_slopes(merged.interval, len(steps), by_margin, by_offset) if steps else None
        )
        slope = (
            of_intervals.draw_margin
            if of_intervals
            else self._slope_of_margin(posterior, by_margin)
        )
        of_handicaps = handicap_slopes(merged.handicap, by_offset, self._play.elo_unit)
        by_strength = 0.0
        if len(by_margin):
            above = posterior.margins.above(posterior, self._level(posterior))
            by_strength = float((by_margin * rule.margin) @ above)
        gradient = GamesGradient(
            noise=of_games.noise,
            margin=slope,
            advantage=of_games.advantage,
            elo_unit=of_handicaps.elo_unit,
            covariates=tuple(of_handicaps.covariates.tolist()),
            lapse=of_games.lapse,
            steps=of_intervals.steps if of_intervals else (),
        )
        return MarginsGradient(by_strength, gradient)

    def _slope_of_margin(self, posterior: PosteriorOfKind, by_margin: Array) -> float:
        """Gradient of the log-evidence in `play.margin`; `by_margin`: that in the margin of each game, (games,)."""
        base = self._play.margin
        if not base:
            return float(by_margin.sum())
        # margins of games are multiples of the base
        slope = float(by_margin @ (posterior.rule.margin / base))
        debuts = posterior.margins.debuts
        if self.of_newcomers and debuts is not None:
            # prior means of newcomers' margins are (exp(theta) - 1) times the base (see `SliceMargins.apply`)
            by_mean = posterior.chain_slopes().by_mean
            slope += float(by_mean[debuts.variable] @ np.expm1(self.walk.theta[debuts.year]))
        return slope

    def _start_from_shares(self) -> None:
        """Move as if all players were equal; without games, as if newcomers' margins were all there is."""
        if self._timeline.n_games:
            self._start_from_draws()
        elif self.of_newcomers:
            self._start_from_newcomers()

    def _start_from_draws(self) -> None:
        timeline = self._timeline
        period_year = calendar(timeline)[1]
        games = np.zeros(len(self._years))
        drawn = np.zeros(len(self._years))
        for year, (begin, end) in zip(
            period_year, pairwise(timeline.game_start.tolist()), strict=True
        ):
            weight = timeline.weight[begin:end]
            games[year] += weight.sum()
            drawn[year] += weight @ (timeline.outcome[begin:end] == DRAW)
        for _ in range(FIRST_MOVES):
            margin = self._by_year / math.sqrt(self._play.noise)  # in sds of a difference
            draw = np.clip(2.0 * normal_cdf_of_all(margin) - 1.0, TINY, 1.0 - TINY)
            slope = math.sqrt(2.0 / math.pi) * margin * np.exp(-0.5 * margin**2)
            score = slope * (drawn / draw - (games - drawn) / (1.0 - draw))
            self.walk.step(score, games * slope**2 / (draw * (1.0 - draw)))

    def _start_from_newcomers(self) -> None:
        """Towards the maximum of the newcomers' log Phi(z), z = margin / sd: their margins are positive.

        With h = phi(z) / Phi(z), its derivative in theta is z h, and minus the second one z^2 h (h + z) - z h. The
        information is the first term, which is positive.
        """
        from scipy.special import log_ndtr

        timeline = self._timeline
        period_year = calendar(timeline)[1]
        node_year = np.repeat(period_year, np.diff(timeline.node_start))
        newcomers = np.bincount(node_year[timeline.previous < 0], minlength=len(self._years))
        for _ in range(FIRST_MOVES):
            margin = self._by_year / self._play.own_margin_sd
            slope = np.exp(-0.5 * margin**2 - log_ndtr(margin)) / math.sqrt(2.0 * math.pi)
            score = newcomers * margin * slope
            self.walk.step(score, score * margin * (slope + margin))

    @property
    def _by_year(self) -> Array:
        return np.asarray(self._play.margin * np.exp(self.walk.theta))

    def _level(self, margins: MarginsOfSlices | PosteriorOfKind) -> Array:
        """Levels l_t (years,), points: means of the strengths of a year's games.

        Years without games have the level of the last year before that has any, those before all games the level of the
        first year with games; 0 without any games.
        """
        weight, total = margins.strengths()
        played = weight > 0.0
        level = total / np.where(played, weight, 1.0)
        first_played = played.argmax()
        year_if_played = np.where(played, np.arange(len(weight)), first_played)
        last_played = np.maximum.accumulate(year_if_played)
        return np.asarray(level[last_played])

    def _information_of(self, margins: MarginsOfSlices) -> Array:
        """Fisher information (years,) of theta."""
        if self._information is None:
            self._information = margins.margin_scores(self._by_year).information
        return self._information
