"""Predict games from earlier games only, and score the predictions.

A smoothed model is refitted to the earlier periods; a filter is fitted once. Parameters that are estimated from the
games (`draw_margin: auto`, `estimate`) are estimated from the earlier ones. Scores: log, Brier,
accuracy (prequential: Dawid 1984), calibration.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.covariates import points_by_key, points_by_term
from ttt_cli.config.documents import Document
from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.calibration import CalibrationBin, calibrate
from ttt_cli.fitted import LAST, Filter, Fit, points_added, skills_in_category
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.histories import chain_columns
from ttt_cli.inference.advantage import NAME as ADVANTAGE
from ttt_cli.inference.covariates import find_terms, with_computed, with_points
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.outcome import by_sides, in_year, logistic_margin
from ttt_cli.inference.params import Params
from ttt_cli.inference.sides import sides_as_players
from ttt_cli.inference.solver import rough_enough
from ttt_cli.inference.victory import find_steps
from ttt_cli.periods import numbers_within
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.registry import Model
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import KNOWN, Timeline, build_timeline

ESTIMATED_FROM: Final = 100  # games: with fewer White's advantage, covariates and lapses count as 0
GROWTH: Final = (
    1.25  # of the games seen, after which White's advantage and covariates are re-estimated
)
ANY_SHARE: Final = 1.0 / 3.0  # of draws, where it does not matter


@dataclass(frozen=True)
class Forecast:
    """Predictions of the n games from the period `first` on, each from games of earlier periods.

    In the timeline's order: `outcome` and `weight`, shape (n,); the probabilities of the system, `model`, and of the
    naive one, shape (n, 3): loss, draw and win for White. `every`: periods between refits. `converged`: all fits did.
    """

    first: str
    every: int
    outcome: NDArray[np.int8]
    weight: Array
    model: Array
    naive: Array
    converged: bool

    @property
    def scores(self) -> "tuple[Scores, Scores]":
        """Scores of the system and of the naive one."""
        model = score(self.model, self.outcome, self.weight)
        naive = score(self.naive, self.outcome, self.weight)
        return model, naive

    @property
    def games(self) -> float:
        """Weighted number of games."""
        return float(self.weight.sum())

    @property
    def bins(self) -> "dict[str, tuple[CalibrationBin, ...]]":
        """Calibration of the system by outcome."""
        return {
            name: calibrate(
                self.model[:, code], (self.outcome == code).astype(np.float64), self.weight, BINS
            )
            for code, name in enumerate(OUTCOMES)
        }


def predict_run(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Forecast:
    """Predict a run's games from `since` on, refitting every `every`. Raises LookupFailed, ConfigError, RunError."""
    resolved = resolve(Document(values=run.meta.config))
    data = resolved.config.data
    solver = resolved.config.solver
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    first = find_step(timeline, since) if since else 0
    return forecast(
        timeline,
        resolved.model,
        resolved.params,
        solver,
        first=first,
        every=every,
        progress=progress,
    )


def forecast(
    timeline: Timeline,
    model: Model,
    params: Params,
    solver: SolverConfig,
    *,
    first: int = 0,
    every: int = 1,
    progress: Progress = SILENT,
) -> Forecast:
    """Predict the games from the period at index `first` on, refitting every `every` periods."""
    forecaster = Forecaster(timeline, model, params, solver)
    model_parts = []
    naive_parts = []
    with progress.task("predicting", total=len(timeline.periods) - first, unit="periods") as bar:
        for step, stop in blocks(timeline, first, every):
            probabilities = forecaster.predict(step, stop)
            model_parts.append(probabilities)
            naive_parts.append(
                np.tile(naive_probabilities(timeline.until(step)), (len(probabilities), 1))
            )
            bar.advance(stop - step, timeline.label(int(timeline.periods[stop - 1])))
    games = slice(int(timeline.game_start[first]), None)
    return Forecast(
        first=timeline.label(int(timeline.periods[first])),
        every=every,
        outcome=timeline.outcome[games],
        weight=timeline.weight[games],
        model=np.concatenate(model_parts),
        naive=np.concatenate(naive_parts),
        converged=forecaster.converged,
    )


def blocks(timeline: Timeline, first: int, every: int) -> list[tuple[int, int]]:
    """Periods from `first` on in blocks of `every`, as (start, stop) indices."""
    end = len(timeline.periods)
    return [(step, min(step + every, end)) for step in range(first, end, every)]


def naive_probabilities(seen: Timeline) -> Array:
    """Probabilities of loss, draw and win, (3,), from the share of draws; one game of each outcome is added."""
    drawn = float(seen.weight[seen.outcome == DRAW].sum())
    share = (drawn + 1.0) / (float(seen.weight.sum()) + 3.0)
    return np.array([(1.0 - share) / 2.0, share, (1.0 - share) / 2.0])


def later_half(timeline: Timeline, end: int) -> int:
    """Index of the period that halves the games of the periods before `end`."""
    half = int(timeline.game_start[end]) / 2
    return min(int(np.searchsorted(timeline.game_start[: end + 1], half)), max(end - 1, 0))


def known_before(timeline: Timeline, step: int, stop: int) -> Timeline:
    """The games before the period at index `step`, with all nodes before index `stop`, to predict those from `step`."""
    nodes = timeline.until(stop)
    end = int(timeline.game_start[step])
    return nodes.with_games(slice(end), np.minimum(nodes.game_start, end))


def find_step(timeline: Timeline, since: str) -> int:
    """Index of the first period with games from the period `since` on. Raises LookupFailed when there is none."""
    labels = [
        timeline.label(number)
        for number in timeline.periods[[0, -1][: len(timeline.periods)]].tolist()
    ]
    first, _ = numbers_within(since, timeline.period, labels)
    step = int(np.searchsorted(timeline.periods, first))
    if step == len(timeline.periods):
        last = f"the last ones are of {labels[-1]}" if labels else None
        raise LookupFailed(f"there are no games from {since} on", hint=last)
    return step


@dataclass
class Forecaster:
    """Predict the games of a timeline, forwards in time; a fit starts from its step's in `starts`, or the last."""

    timeline: Timeline
    model: Model
    params: Params
    solver: SolverConfig
    starts: dict[int, Fit] | None = field(default=None, repr=False)
    converged: bool = field(default=True, init=False)
    _last: Fit | None = field(default=None, init=False, repr=False)
    _full_fit: Fit | None = field(default=None, init=False, repr=False)
    _full_fit_from: int = field(default=0, init=False)  # index of the first period that it predicts
    _full_fit_params: Params | None = field(default=None, init=False, repr=False)
    _estimates: dict[str, float] = field(default_factory=dict, init=False)  # of offsets, by key
    _next_estimate_at: float = field(
        default=ESTIMATED_FROM, init=False
    )  # games for the next estimates

    def __post_init__(self) -> None:
        registry.check_games(self.model, self.timeline)
        self._traits = self.model.TRAITS
        self.timeline = with_computed(self.timeline, self.params)
        self._loose = rough_enough(self.solver).model_copy(update={"posterior": "factorised"})

    def predict(self, step: int, stop: int) -> Array:
        """Probabilities (games, 3) of the games of periods `step` to `stop` (excluded)."""
        nodes = slice(int(self.timeline.node_start[step]), int(self.timeline.node_start[stop]))
        games = slice(int(self.timeline.game_start[step]), int(self.timeline.game_start[stop]))
        fit, params = self._fit_before(step, stop)
        params = in_year(params, None if fit.draws is None else fit.draws.at(LAST))
        beliefs = expected(fit, nodes)
        white_node = self.timeline.game_white[games] - nodes.start
        black_node = self.timeline.game_black[games] - nodes.start
        white = {name: column[white_node] for name, column in beliefs.items()}
        black = {name: column[black_node] for name, column in beliefs.items()}
        for category, setting in self.params.offset_settings.items():
            in_category = self.timeline.in_category(category)[games]
            if in_category.any():
                skills = skills_in_category(fit, category, setting["sd"])
                for side, node in ((white, white_node), (black, black_node)):
                    side["mean"] = np.where(in_category, skills.mean[nodes][node], side["mean"])
                    side["sd"] = np.where(in_category, skills.sd[nodes][node], side["sd"])
        half_handicap = 0.5 * fit.elo_unit * self.timeline.offset[games]
        of_games = self.timeline
        if points_by_term(params) or self.timeline.members is not None:
            of_games = self.timeline.with_games(games, np.zeros_like(self.timeline.game_start))
        if points_by_term(params):
            half_handicap = half_handicap + 0.5 * points_added(params, of_games)
        if of_games.members is not None:
            half_handicap = self._with_sums(
                fit, params, of_games, nodes, white, black, half_handicap
            )
        white["mean"] = white["mean"] + half_handicap
        black["mean"] = black["mean"] - half_handicap
        probabilities = by_sides(
            self.model.predict, params, white, black, self.timeline.sides[games]
        )
        return np.maximum(probabilities, 0.0)  # rounding takes a vanishing chance of a draw below

    def _with_sums(
        self,
        fit: Fit,
        params: dict[str, Any],
        of_games: Timeline,
        nodes: slice,
        white: dict[str, Array],
        black: dict[str, Array],
        half_handicap: Array,
    ) -> Array:
        """Set the sides of games of teams and in orders of finish; returns half of what is added to skills in games.

        A side has the beliefs of a player in a game of two with the same chances (`sides_as_players`), so that White's
        advantage is to be divided, too.
        """
        members = of_games.members
        assert members is not None
        beliefs = expected(fit, nodes)
        node = members.node - nodes.start
        mean = beliefs["mean"][node]
        sd = beliefs["sd"][node] if "sd" in beliefs else np.zeros(len(node))
        for category, setting in self.params.offset_settings.items():
            in_category = of_games.in_category(category)[members.game]
            skills = skills_in_category(fit, category, setting["sd"])
            mean = np.where(in_category, skills.mean[nodes][node], mean)
            sd = np.where(in_category, skills.sd[nodes][node], sd)
        sides = sides_as_players(members, mean, sd, of_games.n_games, self.params.team_skill)
        has_members = np.zeros(of_games.n_games, np.bool_)
        has_members[members.game] = True
        for number, side in enumerate((white, black)):
            side["mean"] = np.where(has_members, sides.mean[:, number], side["mean"])
            side["sd"] = np.where(has_members, sides.sd[:, number], side["sd"])
        more = (1.0 / sides.scale - 1.0) * params.get(ADVANTAGE, 0.0) * (of_games.sides == KNOWN)
        half_added: Array = half_handicap / sides.scale + 0.5 * more
        return half_added

    def numbers(self, step: int) -> dict[str, Any]:
        """Resolved parameters for predicting the period at index `step`."""
        return self._fit_before(step, step + 1)[1]

    def log_evidence(self) -> float:
        """Log-evidence of all games under the given parameters, NaN where the model has none."""
        if not self._traits.has_evidence:
            return math.nan
        if self._traits.fits_periods:
            fit = self.model.fit_before(self.timeline, self.params, self.solver, 0)
        else:
            fit = registry.fit(
                self.model, self.timeline, self.params, self.solver, start=self._last
            )
        self.converged &= fit.status.converged
        return fit.log_evidence

    def _fit_before(self, step: int, stop: int) -> tuple[Fit, dict[str, Any]]:
        """A fit to the games before the period at index `step`, and parameters that predict outcomes before `stop`."""
        resolved, prediction_only = self._resolve_open(step)
        params = self.params.model_copy(update={**self._traits.for_predictions, **resolved})
        if self._traits.kind == "smoothed":
            fit = self._fit(known_before(self.timeline, step, stop), params, step)
        elif (
            "draw_probability" in resolved and not self._traits.draws_apart
        ):  # other for every step
            fit = self._fit(self.timeline.until(stop), params, step)
        else:
            if (
                self._full_fit is None
                or step < self._full_fit_from
                or params != self._full_fit_params
            ):
                self._full_fit = self._fit(self.timeline, params, step)
                self._full_fit_from = step
                self._full_fit_params = params
            fit = self._full_fit
        return fit, {**fit.params, **prediction_only}

    def _resolve_open(self, step: int) -> tuple[dict[str, Any], dict[str, float]]:
        """Open parameters from the games before the period at index `step`: for fits, and for predictions only."""
        seen = self.timeline.until(step)
        resolved: dict[str, Any] = {}
        prediction_only: dict[str, float] = {}
        if self.params.draws_open:
            share = float(naive_probabilities(seen)[DRAW])
            resolved["draw_probability"] = share
            if self._traits.draws_apart:
                resolved["draw_probability"] = ANY_SHARE
                prediction_only = {"draw_probability": share, "draw_margin": logistic_margin(share)}
        if self._estimates_anything:
            self._estimate_offsets(seen, resolved)
        if self.params.step_settings:
            resolved["margin_steps"] = self._steps_before(seen)
        if self.params.estimates_lapse:
            resolved[LAPSE] = self._estimates.get(LAPSE, 0.0)
        if self.params.estimates_advantage:
            resolved[ADVANTAGE] = self._estimates.get(ADVANTAGE, 0.0)
        if self.params.estimates_covariates:
            resolved["covariates"] = self._covariates_before(seen)
        return resolved, prediction_only

    @property
    def _estimates_anything(self) -> bool:
        """Whether a fit estimates parameters beside skills."""
        params = self.params
        return (
            params.estimates_advantage
            or params.estimates_covariates
            or params.estimates_lapse
            or params.estimates_steps
        )

    def _steps_before(self, seen: Timeline) -> dict[str, float]:
        """Steps between margins of victory as numbers, by the games before.

        None before estimates, where wins of any margin count alike, and none before the first game with a margin.
        """
        if seen.victory_margin is None or not seen.victory_margin.any():
            return {}
        steps = find_steps(self.params.step_settings, seen)
        if self.params.estimates_steps:
            keys = [step.key for step in steps if step.key in self._estimates]
            return {key.removeprefix(STEPS): self._estimates[key] for key in keys}
        return {str(step.margin): step.points for step in steps if step.points}

    def _covariates_before(self, seen: Timeline) -> dict[str, Any]:
        """Points per unit of covariates as numbers, by the games before."""
        points = {}
        for term in find_terms(self.params, seen):
            points[term.name] = (
                self._estimates.get(term.key, 0.0) if term.points is None else term.points
            )
        return with_points({}, points)

    def _estimate_offsets(self, seen: Timeline, resolved: dict[str, Any]) -> None:
        """Estimate White's advantage, covariates, lapses and steps anew if enough games have been played since."""
        games = float(seen.weight.sum())
        decided_both_ways = bool(np.any(seen.outcome == WIN) and np.any(seen.outcome == LOSS))
        if decided_both_ways and games >= self._next_estimate_at:
            if seen.victory_margin is None or not seen.victory_margin.any():
                resolved = {**resolved, "margin_steps": {}}
            fit = self._fit(seen, self.params.model_copy(update=resolved))
            self._estimates = {ADVANTAGE: fit.params[ADVANTAGE], **points_by_key(fit.params)}
            self._estimates |= {
                key: value for key, value in fit.params.items() if key.startswith(STEPS)
            }
            if self.params.estimates_lapse:
                self._estimates[LAPSE] = fit.params[LAPSE]
            self._next_estimate_at = GROWTH * games

    def _fit(self, timeline: Timeline, params: Params, step: int | None = None) -> Fit:
        """Fit a timeline, to predict from the period at index `step` on; None: to estimate parameters."""
        start = self._last
        if self.starts is not None and step is not None:
            start = self.starts.get(step, start)
        coloured = params.given_advantage != 0.0
        if start and bool(start.params.get("white_advantage")) != coloured:
            start = None  # sites are laid out by colours
        if self._traits.fits_periods and step is not None:
            self._last = self.model.fit_before(timeline, params, self._loose, step, start)
        else:
            self._last = registry.fit(self.model, timeline, params, self._loose, start=start)
        if self.starts is not None and step is not None:
            self.starts[step] = self._last
        self.converged &= self._last.status.converged
        return self._last


def expected(fit: Fit, nodes: slice) -> dict[str, Array]:
    """Means and sds at nodes, as columns for `predict`; for a filter those before the nodes' games."""
    columns: dict[str, Array] = {}
    for name, chain in fit.chains.items():
        mean = chain.mean
        sd = chain.sd
        if isinstance(chain, Filter):
            mean = chain.before_mean
            sd = chain.before_sd
        mean_column, sd_column = chain_columns(name)
        columns[mean_column] = mean[nodes]
        columns[sd_column] = sd[nodes]
    return columns


EQUAL: Final = 1e-9  # probabilities closer than this are equal but for rounding


@dataclass(frozen=True)
class Scores:
    """Weighted scores of `games` outcomes: the sum of log probabilities, nats, and means."""

    games: float
    log_score: float
    brier: float
    accuracy: float

    @property
    def per_game(self) -> float:
        """Mean log probability of the outcome, nats."""
        return self.log_score / self.games


class GameScores(NamedTuple):
    """Scores by game, arrays of shape (games,).

    - `loss`: minus the log probability of the outcome, nats
    - `brier`: squared distance between probabilities and outcome
    - `hit`: whether the most probable outcome happened; one of k equally probable outcomes counts 1 / k
    """

    loss: Array
    brier: Array
    hit: Array

    def total(self, weight: Array) -> Scores:
        """Scores of all games, weights > 0."""
        games = float(weight.sum())
        loss, brier, hit = (float(weight @ column) for column in self)
        return Scores(games, -loss, brier / games, hit / games)


def score_games(probabilities: Array, outcome: NDArray[np.int8]) -> GameScores:
    """Score probabilities (n, 3) of loss, draw and win, game by game."""
    happened = np.eye(3)[outcome]
    most = probabilities > probabilities.max(axis=1, keepdims=True) - EQUAL
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities[np.arange(len(outcome)), outcome])
    return GameScores(
        loss=-logs,
        brier=np.square(probabilities - happened).sum(axis=1),
        hit=(most & (happened > 0.0)).any(axis=1) / most.sum(axis=1),
    )


def score(probabilities: Array, outcome: NDArray[np.int8], weight: Array) -> Scores:
    """Score probabilities (n, 3) of loss, draw and win; n > 0, weights > 0."""
    return score_games(probabilities, outcome).total(weight)


OUTCOMES: Final = ("loss", "draw", "win")  # White's, by code
BINS: Final = 20  # of a probability
