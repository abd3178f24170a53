"""Games predicted from earlier ones only: predict, then learn.

A smoothing model is fitted to the games of earlier periods, a filter once, or for the periods asked for where each is a
fit of its own; what either believed before a period gives its probabilities. Whatever is worked out from all games
(`draw_margin: auto`, `white_advantage: estimate`) is worked out from the earlier ones.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.config.document import Document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.fitted import LAST, Fit
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.histories import Filter
from ttt_cli.inference.draws import logistic_margin
from ttt_cli.inference.gaussian import in_year
from ttt_cli.inference.outcome import by_sides
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import rough_enough
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.systems import registry
from ttt_cli.systems.registry import Model
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import Timeline, build_timeline

ESTIMATED_FROM: Final = 100  # games: with fewer White's advantage counts as 0
GROWTH: Final = 1.25  # of the games seen, after which White's advantage is re-estimated
ANY_SHARE: Final = 1.0 / 3.0  # of draws, where it does not matter


@dataclass(frozen=True)
class Forecast:
    """The last n games of a timeline, from the period `first` on, each predicted from games of earlier periods only.

    In the timeline's order, `outcome` and `weight` of shape (n,), and the probabilities of the system, `model`, and of
    the naive one, shape (n, 3): loss, draw and win for White. `converged`: whether all fits did.
    """

    first: str
    outcome: NDArray[np.int8]
    weight: Array
    model: Array
    naive: Array
    converged: bool


def predict_run(
    run: Run, since: str | None = None, every: int = 1, *, progress: Progress = SILENT
) -> Forecast:
    """Predict a run's games period by period, under its config.

    `since`: the first period that counts, as it is written or its year; None for the run's first. `every`: refit
    after so many periods only. Raises LookupFailed when there are no games from `since` on, ConfigError, RunError.
    """
    resolved = resolve(Document(values=run.meta.config))
    data, solver = resolved.config.data, resolved.config.solver
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    first = find_step(timeline, since) if since else 0
    return forecast(
        timeline, resolved.model, resolved.params, solver, first=first, every=every, progress=progress
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
    """Predict the games from the period at index `first` on; the model learns those seen every `every` periods."""
    forecaster = Forecaster(timeline, model, params, solver)
    model_parts, naive_parts = [], []
    with progress.task("predicting", total=len(timeline.periods) - first, unit="periods") as bar:
        for step, stop in blocks(timeline, first, every):
            probabilities = forecaster.predict(step, stop)
            model_parts.append(probabilities)
            naive_parts.append(np.tile(naive_probabilities(timeline.until(step)), (len(probabilities), 1)))
            bar.advance(stop - step, timeline.label(int(timeline.periods[stop - 1])))
    games = slice(int(timeline.game_start[first]), None)
    return Forecast(
        first=timeline.label(int(timeline.periods[first])),
        outcome=timeline.outcome[games],
        weight=timeline.weight[games],
        model=np.concatenate(model_parts),
        naive=np.concatenate(naive_parts),
        converged=forecaster.converged,
    )


def blocks(timeline: Timeline, first: int, every: int) -> list[tuple[int, int]]:
    """The periods from `first` on in pieces of `every`: the index of the first of each, and that after its last."""
    end = len(timeline.periods)
    return [(step, min(step + every, end)) for step in range(first, end, every)]


def naive_probabilities(seen: Timeline) -> Array:
    """Loss, draw and win, shape (3,): the share of draws as if one game of each outcome had been seen before."""
    drawn = float(seen.weight[seen.outcome == DRAW].sum())
    share = (drawn + 1.0) / (float(seen.weight.sum()) + 3.0)
    return np.array([(1.0 - share) / 2.0, share, (1.0 - share) / 2.0])


def known_before(timeline: Timeline, step: int, stop: int) -> Timeline:
    """The games before the period at index `step`, with all nodes before that at `stop`, which is to be predicted."""
    nodes, end = timeline.until(stop), int(timeline.game_start[step])
    return replace(nodes, game_start=np.minimum(nodes.game_start, end), **timeline.games(slice(end)))


def find_step(timeline: Timeline, since: str) -> int:
    """The index of the first period with games not before `since`. Raises ConfigError, or LookupFailed for none."""
    if not re.match(r"\d{4}(-|$)", since):
        raise ConfigError(f"{since!r} is no period", hint="give a year, for instance 1900")
    labels = [timeline.label(number) for number in timeline.periods.tolist()]
    steps = [step for step, label in enumerate(labels) if label >= since]
    if not steps:
        last = f"the last ones are of {labels[-1]}" if labels else None
        raise LookupFailed(f"there are no games from {since} on", hint=last)
    return steps[0]


@dataclass
class Forecaster:
    """A model on its way through a timeline, each fit starting from the last, or one in `near` of that step."""

    timeline: Timeline
    model: Model
    params: Params
    solver: SolverConfig
    near: dict[int, Fit] | None = field(default=None, repr=False)
    converged: bool = field(default=True, init=False)
    _last: Fit | None = field(default=None, init=False, repr=False)
    _whole: Fit | None = field(default=None, init=False, repr=False)
    _whole_from: int = field(default=0, init=False)  # index of the first period that it predicts
    _advantage: float = field(default=0.0, init=False)
    _enough: float = field(default=ESTIMATED_FROM, init=False)  # games for the next estimate of the advantage

    def __post_init__(self) -> None:
        self._traits = self.model.TRAITS
        self._loose = rough_enough(self.solver).model_copy(update={"posterior": "factorised"})

    def predict(self, step: int, stop: int) -> Array:
        """Probabilities (games, 3) of the games of the periods from `step` to before `stop`."""
        nodes = slice(int(self.timeline.node_start[step]), int(self.timeline.node_start[stop]))
        games = slice(int(self.timeline.game_start[step]), int(self.timeline.game_start[stop]))
        past = self._past(self.timeline.until(step))
        fit = self._fit_before(step, stop, past)
        draws = None if fit.draws is None else fit.draws.at(LAST)
        params = in_year({**fit.params, **past.rule}, draws)
        beliefs = expected(fit, nodes)
        white, black = (
            {name: column[ends[games] - nodes.start] for name, column in beliefs.items()}
            for ends in (self.timeline.game_white, self.timeline.game_black)
        )
        given = 0.5 * fit.elo_unit * self.timeline.offset[games]
        white["mean"], black["mean"] = white["mean"] + given, black["mean"] - given
        probabilities = by_sides(self.model.predict, params, white, black, self.timeline.sides[games])
        return np.maximum(probabilities, 0.0)  # rounding takes a vanishing chance of a draw below

    def numbers(self, step: int) -> dict[str, Any]:
        """The parameters with which the period at index `step` is predicted, those left open as numbers."""
        past = self._past(self.timeline.until(step))
        return {**self._fit_before(step, step + 1, past).params, **past.rule}

    def log_evidence(self) -> float:
        """The log-evidence of all games under the parameters as they are given, NaN where the model has none."""
        if not self._traits.has_evidence:
            return float("nan")
        if self._traits.fits_periods:
            fit = self.model.fit_before(self.timeline, self.params, self.solver, 0)
        else:
            fit = registry.fit(self.model, self.timeline, self.params, self.solver, start=self._last)
        self.converged &= fit.status.converged
        return fit.log_evidence

    def _fit_before(self, step: int, stop: int, past: "_Past") -> Fit:
        if self._traits.kind == "smoothed":
            return self._fit(known_before(self.timeline, step, stop), past.learning, step)
        if not past.lasting:
            return self._fit(self.timeline.until(stop), past.learning, step)
        if self._whole is None or step < self._whole_from:
            self._whole, self._whole_from = self._fit(self.timeline, past.learning, step), step
        return self._whole

    def _fit(self, timeline: Timeline, params: Params, step: int | None = None) -> Fit:
        """Fit a timeline, for forecasts from the period at index `step` on, or for the evidence."""
        start = self._last
        if self.near is not None and step is not None:
            start = self.near.get(step, start)
        if start is not None and _coloured(start.params) != _coloured(params.model_dump()):
            start = None
        if self._traits.fits_periods and step is not None:
            self._last = self.model.fit_before(timeline, params, self._loose, step, start)
        else:
            self._last = registry.fit(self.model, timeline, params, self._loose, start=start)
        if self.near is not None and step is not None:
            self.near[step] = self._last
        self.converged &= self._last.status.converged
        return self._last

    def _past(self, seen: Timeline) -> "_Past":
        """The parameters, with nothing left to be worked out but from the games seen."""
        params = self.params.model_copy(update=self._traits.for_predictions)
        rule: dict[str, Any] = {}
        known: dict[str, Any] = {}
        lasting = True
        if params.draws_open:
            share = float(naive_probabilities(seen)[DRAW])
            if self._traits.draws_apart:
                known["draw_probability"] = ANY_SHARE
                rule = {"draw_probability": share, "draw_margin": logistic_margin(share)}
            else:
                known["draw_probability"] = share
                lasting = False
        if params.estimates_advantage:
            self._estimate_advantage(seen, params.model_copy(update=known))
            known["white_advantage"] = self._advantage
            lasting = False
        return _Past(params.model_copy(update=known), rule, lasting)

    def _estimate_advantage(self, seen: Timeline, params: Params) -> None:
        """Take the advantage that the evidence of the games seen prefers, when they are enough."""
        games = float(seen.weight.sum())
        decided_both_ways = bool(np.any(seen.outcome == WIN) and np.any(seen.outcome == LOSS))
        if decided_both_ways and games >= self._enough:
            self._advantage = self._fit(seen, params).params["white_advantage"]
            self._enough = GROWTH * games


@dataclass(frozen=True)
class _Past:
    """Parameters known from the past: those to learn with, whether they last, and what the prediction has otherwise."""

    learning: Params
    rule: dict[str, Any]
    lasting: bool


def expected(fit: Fit, nodes: slice) -> dict[str, Array]:
    """The columns that `predict` takes, at nodes: of a filter what it believed before their games."""
    columns = {}
    for name, chain in fit.chains.items():
        mean, sd = (
            (chain.before_mean, chain.before_sd) if isinstance(chain, Filter) else (chain.mean, chain.sd)
        )
        columns["mean" if name == "skill" else name] = mean[nodes]
        columns["sd" if name == "skill" else f"{name}_sd"] = sd[nodes]
    return columns


def _coloured(params: dict[str, Any]) -> bool:
    """Whether White is told from Black, on which the layout of a fit's sites depends."""
    return bool(params.get("white_advantage"))
