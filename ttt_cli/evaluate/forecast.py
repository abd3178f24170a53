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
from ttt_cli.fitted import AFTER_ALL_YEARS, Filter, Fit, points_added, skills_in_category
from ttt_cli.games.lineup import Members
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.histories import chain_columns
from ttt_cli.inference.advantage import NAME as ADVANTAGE
from ttt_cli.inference.covariates import find_terms, with_computed, with_points
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.outcome import by_advantage_owner, in_year, logistic_margin
from ttt_cli.inference.params import Params, Traits
from ttt_cli.inference.sides import SidesAsPlayers, sides_as_players
from ttt_cli.inference.solver import rough_enough
from ttt_cli.inference.victory import find_steps
from ttt_cli.periods import numbers_within
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.registry import Model
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import KNOWN, Timeline, build_timeline

ESTIMATED_FROM: Final = 100  # games: with fewer White's advantage, covariates and lapses count as 0
# White's advantage, covariates, lapses and margin steps are estimated again after this factor of games
GROWTH: Final = 1.25
# A share of draws for fits that do not depend on it: with the same one always, one fit serves all periods
ANY_SHARE: Final = 1.0 / 3.0
EQUAL: Final = 1e-9  # probabilities closer than this are equal but for rounding
OUTCOMES: Final = ("loss", "draw", "win")  # White's, by code
BINS: Final = 20  # of a probability

# Beliefs as `predict` takes them: `mean`, `sd` and the model's further columns
Columns = dict[str, Array]


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
    def scores(self) -> "ForecastScores":
        """Scores of the system and of the naive one."""
        return ForecastScores(
            model=score(self.model, self.outcome, self.weight),
            naive=score(self.naive, self.outcome, self.weight),
        )

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
    first = find_period_index(timeline, since) if since else 0
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
        for block in blocks(timeline, first, every):
            probabilities = forecaster.predict(block.first, block.stop)
            model_parts.append(probabilities)
            naive_parts.append(
                np.tile(naive_probabilities(timeline.until(block.first)), (len(probabilities), 1))
            )
            last = timeline.label(int(timeline.periods[block.stop - 1]))
            bar.advance(block.stop - block.first, last)
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


class PeriodBlock(NamedTuple):
    """Successive periods of a timeline, all predicted by one fit: indices from `first` to before `stop`."""

    first: int
    stop: int


def blocks(timeline: Timeline, first: int, every: int) -> list[PeriodBlock]:
    """The periods from index `first` on in blocks of `every`; the last one may be shorter."""
    end = len(timeline.periods)
    return [PeriodBlock(index, min(index + every, end)) for index in range(first, end, every)]


def naive_probabilities(seen: Timeline) -> Array:
    """Probabilities of loss, draw and win, (3,), from the share of draws; one game of each outcome is added."""
    drawn = float(seen.weight[seen.outcome == DRAW].sum())
    share = (drawn + 1.0) / (float(seen.weight.sum()) + 3.0)
    return np.array([(1.0 - share) / 2.0, share, (1.0 - share) / 2.0])


def later_half(timeline: Timeline, end: int) -> int:
    """Index of the period that halves the games of the periods before `end`."""
    half = int(timeline.game_start[end]) / 2
    return min(int(np.searchsorted(timeline.game_start[: end + 1], half)), max(end - 1, 0))


def known_before(timeline: Timeline, first: int, stop: int) -> Timeline:
    """What a fit may know that predicts the periods from index `first` to before `stop`.

    The games are those of the periods before `first`. The nodes are those of all periods before `stop`: a fit then has
    predictions for the nodes of the predicted games, which have no games yet.
    """
    nodes = timeline.until(stop)
    end = int(timeline.game_start[first])
    return nodes.with_games(slice(end), np.minimum(nodes.game_start, end))


def find_period_index(timeline: Timeline, since: str) -> int:
    """Index of the first period with games from the period `since` on. Raises LookupFailed when there is none."""
    ends = [timeline.periods[0], timeline.periods[-1]] if len(timeline.periods) else []
    labels_of_ends = [timeline.label(int(number)) for number in ends]
    first_number, _ = numbers_within(since, timeline.period, labels_of_ends)
    index = int(np.searchsorted(timeline.periods, first_number))
    if index == len(timeline.periods):
        last = f"the last ones are of {labels_of_ends[-1]}" if labels_of_ends else None
        raise LookupFailed(f"there are no games from {since} on", hint=last)
    return index


class CategoryBeliefs(NamedTuple):
    """Beliefs about skills in one category of games.

    | name | shape | unit | |
    |---|---|---|---|
    | is_game | (games,) | | mask of the games of the category |
    | mean, sd | (nodes,) | points | of the skill there |
    """

    is_game: Mask
    mean: Array
    sd: Array


@dataclass(frozen=True)
class BlockBeliefs:
    """Beliefs about skills at the nodes of a block of periods, before its games.

    `columns`: as of `beliefs_at`, (nodes,) each. `categories`: those with offsets that have games in the block.
    """

    columns: Columns
    categories: list[CategoryBeliefs]

    def of_players(self, node: Ids | Places, game: Any) -> Columns:
        """Beliefs about players, a column each, by their node in the block and their game among those of the block.

        In a game of a category with offsets they are those about the skill there.
        """
        columns = {name: column[node] for name, column in self.columns.items()}
        for category in self.categories:
            in_category = category.is_game[game]
            columns["mean"] = np.where(in_category, category.mean[node], columns["mean"])
            columns["sd"] = np.where(in_category, category.sd[node], columns["sd"])
        return columns


class _SidesOfTeams(NamedTuple):
    """Which of some games have sides of teams or are in orders of finish, (games,), and these sides as players."""

    is_game: Mask
    as_players: SidesAsPlayers

    def in_place_of(self, players: Columns, side: int) -> Columns:
        """Beliefs about players, in these games those about White's side (0) or Black's (1)."""
        mean = np.where(self.is_game, self.as_players.mean[:, side], players["mean"])
        sd = np.where(self.is_game, self.as_players.sd[:, side], players["sd"])
        return {**players, "mean": mean, "sd": sd}


class FitBefore(NamedTuple):
    """A fit with beliefs from earlier games only, and parameters for `predict`."""

    fit: Fit
    params: dict[str, Any]


class OpenParams(NamedTuple):
    """Values of the parameters that earlier games decide: for a fit, and those that differ in predictions."""

    of_fit: dict[str, Any]
    of_predictions: dict[str, float]


class _FullFit(NamedTuple):
    """One fit of a filter to all games, with beliefs before the games of each node.

    It was made with `params` for the periods from index `first` on. Earlier ones need another: a system that fits
    periods one by one keeps beliefs from `first` on only.
    """

    fit: Fit
    first: int
    params: Params


@dataclass
class Forecaster:
    """Predict the games of a timeline, block by block, forwards in time.

    | name | |
    |---|---|
    | starts | fits to start from, by the index of the first period that they predict; each fit is put there |
    | converged | whether all fits did so far |
    | _last | the fit made last: the next one starts from it where `starts` has none |
    | _full_fit | the fit that serves all periods, of filters with the same parameters for all |
    | _estimates | estimates of parameters beside skills from earlier games, by key |
    | _next_estimate_at | weighted number of games from which on they are estimated again |
    """

    timeline: Timeline
    model: Model
    params: Params
    solver: SolverConfig
    starts: dict[int, Fit] | None = field(default=None, repr=False)
    converged: bool = field(default=True, init=False)
    _last: Fit | None = field(default=None, init=False, repr=False)
    _full_fit: _FullFit | None = field(default=None, init=False, repr=False)
    _estimates: dict[str, float] = field(default_factory=dict, init=False)
    _next_estimate_at: float = field(default=ESTIMATED_FROM, init=False)

    def __post_init__(self) -> None:
        registry.check_games(self.model, self.timeline)
        self.timeline = with_computed(self.timeline, self.params)

    def predict(self, first: int, stop: int) -> Array:
        """Probabilities (games, 3) of loss, draw and win in the games of the periods `first` to before `stop`, indices.

        A side of a team, or in an order of finish, is predicted as a player in a game of two with the same chances.
        """
        timeline = self.timeline
        first_node = int(timeline.node_start[first])
        nodes = slice(first_node, int(timeline.node_start[stop]))
        games = slice(int(timeline.game_start[first]), int(timeline.game_start[stop]))
        fit, params = self._fit_before(first, stop)
        params = in_year(params, None if fit.draws is None else fit.draws.at(AFTER_ALL_YEARS))
        beliefs = self._beliefs(fit, nodes, games)
        white = beliefs.of_players(timeline.game_white[games] - first_node, np.s_[:])
        black = beliefs.of_players(timeline.game_black[games] - first_node, np.s_[:])
        added_to_white = fit.elo_unit * timeline.offset[games]
        if points_by_term(params) or timeline.members is not None:
            # Only columns of games are read from this timeline: where periods start in it does not matter.
            predicted = timeline.with_games(games, np.zeros_like(timeline.game_start))
            added_to_white = added_to_white + points_added(params, predicted)
            if predicted.members is not None:
                sides = self._sides_of_teams(predicted, predicted.members, beliefs, first_node)
                white = sides.in_place_of(white, 0)
                black = sides.in_place_of(black, 1)
                advantage = params.get(ADVANTAGE, 0.0) * (predicted.advantage_owner == KNOWN)
                added_to_white = sides.as_players.added_to_first(added_to_white, advantage)
        # Half to each leaves the level of both, on which moving draw margins depend.
        white["mean"] = white["mean"] + 0.5 * added_to_white
        black["mean"] = black["mean"] - 0.5 * added_to_white
        probabilities = by_advantage_owner(
            self.model.predict, params, white, black, timeline.advantage_owner[games]
        )
        return np.maximum(probabilities, 0.0)  # rounding takes a vanishing chance of a draw below

    def _sides_of_teams(
        self, predicted: Timeline, members: Members, beliefs: BlockBeliefs, first_node: int
    ) -> _SidesOfTeams:
        """The sides of teams and in orders of finish; `first_node`: that of the block."""
        of_members = beliefs.of_players(members.node - first_node, members.game)
        as_players = sides_as_players(
            members,
            of_members["mean"],
            of_members["sd"],
            predicted.n_games,
            self.params.team_skill,
        )
        return _SidesOfTeams(members.mask_of_games(predicted.n_games), as_players)

    def params_before(self, first: int) -> dict[str, Any]:
        """Parameters for predicting the period at index `first`; fits the games before it to find them."""
        return self._fit_before(first, first + 1).params

    def log_evidence(self) -> float:
        """Log-evidence of all games under the configured parameters, NaN where the model has none."""
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

    @property
    def _traits(self) -> Traits:
        return self.model.TRAITS

    def _beliefs(self, fit: Fit, nodes: slice, games: slice) -> BlockBeliefs:
        """The beliefs of a fit at the nodes of a block of periods, with those in the categories of its games."""
        categories = []
        for category, setting in self.params.offset_settings.items():
            is_game = self.timeline.in_category(category)[games]
            if is_game.any():
                skills = skills_in_category(fit, category, setting["sd"])
                categories.append(CategoryBeliefs(is_game, skills.mean[nodes], skills.sd[nodes]))
        return BlockBeliefs(beliefs_at(fit, nodes), categories)

    def _fit_before(self, first: int, stop: int) -> FitBefore:
        """A fit that predicts the periods from index `first` to before `stop`, by `beliefs_at` their nodes.

        None of its beliefs there knows a result of its own period or a later one. That is seen to in three ways:

        - A smoothed model is fitted to the games before `first` only.
        - A filter passes the games once, and `beliefs_at` takes its beliefs before the games of a node. So one fit to
          all games serves all periods, as long as the parameters stay the same.
        - A filter that depends on the share of draws has other parameters for each block: it passes the games before
          `stop` again.
        """
        open_params = self._resolve_open(first)
        params = self.params.model_copy(
            update={**self._traits.for_predictions, **open_params.of_fit}
        )
        depends_on_draws = "draw_probability" in open_params.of_fit and not self._traits.draws_apart
        if self._traits.kind == "smoothed":
            fit = self._fit(known_before(self.timeline, first, stop), params, first)
        elif depends_on_draws:
            fit = self._fit(self.timeline.until(stop), params, first)
        else:
            fit = self._fit_all(params, first)
        return FitBefore(fit, {**fit.params, **open_params.of_predictions})

    def _fit_all(self, params: Params, first: int) -> Fit:
        """The fit of a filter to all games, for the periods from index `first` on; made anew only if it must be."""
        full = self._full_fit
        if full is None or first < full.first or params != full.params:
            full = _FullFit(self._fit(self.timeline, params, first), first, params)
            self._full_fit = full
        return full.fit

    def _resolve_open(self, first: int) -> OpenParams:
        """The parameters left open (`auto`, `estimate`), from the games before the period at index `first`."""
        seen = self.timeline.until(first)
        of_fit: dict[str, Any] = {}
        of_predictions: dict[str, float] = {}
        if self.params.draws_open:
            share = float(naive_probabilities(seen)[DRAW])
            if self._traits.draws_apart:
                of_fit["draw_probability"] = ANY_SHARE
                of_predictions = {"draw_probability": share, "draw_margin": logistic_margin(share)}
            else:
                of_fit["draw_probability"] = share
        if self._estimates_anything:
            self._estimate_beside_skills(seen, of_fit)
        if self.params.step_settings:
            of_fit["margin_steps"] = self._margin_steps_before(seen)
        if self.params.estimates_lapse:
            of_fit[LAPSE] = self._estimates.get(LAPSE, 0.0)
        if self.params.estimates_advantage:
            of_fit[ADVANTAGE] = self._estimates.get(ADVANTAGE, 0.0)
        if self.params.estimates_covariates:
            of_fit["covariates"] = self._covariates_before(seen)
        return OpenParams(of_fit, of_predictions)

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

    def _margin_steps_before(self, seen: Timeline) -> dict[str, float]:
        """Steps between margins of victory as numbers, from the games seen, by margin.

        Empty, so that wins of any margin count alike, in two cases: no game seen has a margin, or steps are to be
        estimated and have not been yet.
        """
        if not _has_margins(seen):
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

    def _estimate_beside_skills(self, seen: Timeline, of_fit: dict[str, Any]) -> None:
        """Estimate White's advantage, covariates, lapses and margin steps, if enough games were played since.

        `of_fit`: parameters resolved so far. The estimates are put into `_estimates`.
        """
        games = float(seen.weight.sum())
        decided_both_ways = bool(np.any(seen.outcome == WIN) and np.any(seen.outcome == LOSS))
        if decided_both_ways and games >= self._next_estimate_at:
            if not _has_margins(seen):
                of_fit = {**of_fit, "margin_steps": {}}
            fit = self._fit(seen, self.params.model_copy(update=of_fit))
            self._estimates = {ADVANTAGE: fit.params[ADVANTAGE], **points_by_key(fit.params)}
            self._estimates |= {
                key: value for key, value in fit.params.items() if key.startswith(STEPS)
            }
            if self.params.estimates_lapse:
                self._estimates[LAPSE] = fit.params[LAPSE]
            self._next_estimate_at = GROWTH * games

    def _fit(self, timeline: Timeline, params: Params, first: int | None = None) -> Fit:
        """Fit a timeline as roughly as predictions allow.

        `first`: index of the first period that it predicts; None: it estimates parameters only, and is no start for
        fits of the same period.
        """
        solver = rough_enough(self.solver).model_copy(update={"posterior": "factorised"})
        start = self._last
        if self.starts is not None and first is not None:
            start = self.starts.get(first, start)
        # Without White's advantage games of either colour are merged, and have one site in the place of two.
        merges_colours = params.given_advantage == 0.0
        if start and merges_colours != (not start.params.get("white_advantage")):
            start = None
        if self._traits.fits_periods and first is not None:
            self._last = self.model.fit_before(timeline, params, solver, first, start)
        else:
            self._last = registry.fit(self.model, timeline, params, solver, start=start)
        if self.starts is not None and first is not None:
            self.starts[first] = self._last
        self.converged &= self._last.status.converged
        return self._last


def _has_margins(seen: Timeline) -> bool:
    """Whether the margin of any victory is known."""
    return seen.victory_margin is not None and bool(seen.victory_margin.any())


def beliefs_at(fit: Fit, nodes: slice) -> Columns:
    """Means and sds at nodes, (nodes,) each; those of a filter are before the nodes' games."""
    columns: Columns = {}
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


class ForecastScores(NamedTuple):
    """Scores of the same games by a system and by the naive one."""

    model: Scores
    naive: Scores


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
