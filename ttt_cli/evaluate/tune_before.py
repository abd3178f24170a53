"""Tune systems on the games before a test: by the score of predictions, or by the evidence."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ttt_cli.config.covariates import PREFIX
from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.evaluate.forecast import Forecaster, blocks, score
from ttt_cli.evaluate.optimise import Coordinate, free_coordinates
from ttt_cli.evaluate.tune import Objective
from ttt_cli.fitted import Fit
from ttt_cli.inference.covariates import find_terms, typical_size
from ttt_cli.inference.params import Params
from ttt_cli.support.arrays import Array, rounded
from ttt_cli.support.errors import TttError
from ttt_cli.support.progress import SILENT, Bar, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import (
    Resolved,
    with_overrides,
)
from ttt_cli.timeline import Timeline

Criterion = Literal["score", "evidence"]

STEP: Final = 0.3  # of the first steps in each coordinate: 30 %, or 30 points
CLOSE: Final = 0.03  # step at which the search ends
INERT: Final = 1e-5  # nats per game: what moves the score by less does nothing, or rounding does it
WORST: Final = 1.0  # nats per game that an undefined loss counts as worse than the start
FEW_DIGITS: Final = 6  # of the values that are tried


@dataclass(frozen=True)
class TunePlan:
    """How to tune systems on the periods before index `until`.

    `by` "score": predict the games from the period at index `since` on, refitting smoothed models every `every`
    periods, for at most about `evaluations` sets of parameters. `by` "evidence": the evidence of all these games
    where the model has a gradient in every free parameter, else the score.
    """

    since: int
    until: int
    every: int
    evaluations: int
    by: Criterion = "score"


@dataclass(frozen=True)
class TunedSystem:
    """Result of tuning a system: `start` and `values` by parameter. `reached`: the search converged. `seconds`:
    processor time.

    `before` and `after`: mean log probability per predicted game for `by` "score", else the log-evidence, nats.
    """

    by: Criterion
    start: Mapping[str, float]
    values: Mapping[str, float]
    before: float
    after: float
    evaluations: int
    reached: bool
    seconds: float = field(default=0.0, compare=False)


def tune_system(
    timeline: Timeline, resolved: Resolved, plan: TunePlan, *, progress: Progress = SILENT
) -> TunedSystem:
    """Tune the system on the games before the test."""
    past = timeline.until(plan.until)
    began = process_time()
    tunable = resolved.model.TRAITS.tunable
    with progress.task("tuning", plan.evaluations, "fits") as bar:
        keys: list[str] = []
        if plan.by == "evidence" and tunable:
            fit = registry.fit(resolved.model, past, resolved.params, resolved.config.solver)
            free = _free(past, resolved, fit.params)
            # the evidence does not depend on the level of all skills
            keys = [coordinate.key for coordinate in free if coordinate.key != "prior_mean"]
        if not keys or not _has_gradient(keys, tunable):
            return replace(_by_score(past, resolved, plan, bar), seconds=process_time() - began)
        objective = Objective(resolved, past, keys, bar)
        optimum = objective.maximise()
    tuned = objective.values(optimum.point.at)
    return TunedSystem(
        by="evidence",
        start=objective.configured,
        values={key: rounded(value, FEW_DIGITS) for key, value in tuned.items()},
        before=objective.log_evidence(optimum.start),
        after=objective.log_evidence(optimum.point),
        evaluations=objective.fits,
        reached=optimum.reached,
        seconds=process_time() - began,
    )


def _has_gradient(keys: Sequence[str], tunable: Collection[str]) -> bool:
    """Whether the evidence has a gradient in all of these parameters; it has in covariates and steps of margins."""
    return all(key in tunable or key.startswith((PREFIX, STEPS)) for key in keys)


def _by_score(past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> TunedSystem:
    """Minimise the log-loss without a gradient (COBYQA: T. M. Ragonneau, Z. Zhang 2022)."""
    loss = _Loss(past, resolved, plan, bar)
    loss.at({})  # that of the config, which `at_start` and the others need
    params = loss.forecaster(resolved.params).params_before(plan.since)
    free = _without_inert(loss, _free(past, resolved, params), params)
    reached = _minimise(loss, free, params) if free else True
    start = loss.at_start
    best = loss.best
    return TunedSystem(
        by="score",
        start={coordinate.key: float(params[coordinate.key]) for coordinate in free},
        values=best.values,
        before=-start,
        after=-best.loss,
        evaluations=len(loss.losses),
        reached=reached,
    )


class _BestValues(NamedTuple):
    """Parameters that were replaced, and their log-loss, nats per game."""

    values: dict[str, float]
    loss: float


@dataclass
class _Loss:
    """The log-loss of predictions of earlier games, by parameters of a system; each is computed once.

    | name | |
    |---|---|
    | past | the games before those of the test |
    | starts | fits to start from, as in `Forecaster` |
    | losses | nats per game, by the parameters that were replaced, `()` is the config; infinite where there is none |
    """

    past: Timeline
    resolved: Resolved
    plan: TunePlan
    bar: Bar
    starts: dict[int, Fit] = field(default_factory=dict)
    losses: dict[tuple[tuple[str, float], ...], float] = field(default_factory=dict)

    def forecaster(self, params: Params) -> Forecaster:
        """Predicts the games before those of the test with some parameters."""
        resolved = self.resolved
        return Forecaster(
            self.past, resolved.model, params, resolved.config.solver, starts=self.starts
        )

    def at(self, values: dict[str, float]) -> float:
        """The loss with these parameters replaced; at most WORST above the config, which comes first."""
        key = tuple(values.items())
        if key not in self.losses:
            try:
                loss = self._compute(with_overrides(self.resolved, values).params)
                self.losses[key] = math.inf if math.isnan(loss) else loss
            except TttError:
                self.losses[key] = math.inf
                self.bar.advance(1, "tuning")
            else:
                self.bar.advance(1, f"tuning: log-loss {self.losses[key]:.4f}")
        return min(self.at_start + WORST, self.losses[key])

    def _compute(self, params: Params) -> float:
        past = self.past
        predicting = self.forecaster(params)
        parts = [
            predicting.predict(block.first, block.stop)
            for block in blocks(past, self.plan.since, self.plan.every)
        ]
        scored = slice(int(past.game_start[self.plan.since]), None)
        return -score(np.concatenate(parts), past.outcome[scored], past.weight[scored]).per_game

    @property
    def at_start(self) -> float:
        """The loss of the config itself."""
        return self.losses[()]

    @property
    def best(self) -> _BestValues:
        """The first of the least losses; that of the config comes before all others."""
        best = min(self.losses, key=lambda values: self.losses[values])
        return _BestValues(dict(best), self.losses[best])


def _without_inert(
    loss: _Loss, free: tuple[Coordinate, ...], params: Mapping[str, Any]
) -> tuple[Coordinate, ...]:
    """The parameters of which a step changes the loss."""
    initial = {coordinate.key: rounded(params[coordinate.key], FEW_DIGITS) for coordinate in free}
    moving = []
    for coordinate in free:
        position = coordinate.position(initial[coordinate.key])
        moved = position + STEP
        if moved > coordinate.bounds[1]:
            moved = position - STEP
        value = rounded(coordinate.value(moved), FEW_DIGITS)
        if abs(loss.at({**initial, coordinate.key: value}) - loss.at(initial)) > INERT:
            moving.append(coordinate)
    return tuple(moving)


def _minimise(loss: _Loss, free: tuple[Coordinate, ...], params: Mapping[str, Any]) -> bool:
    """Search for the least loss from some parameters; whether the search ended by itself."""
    from scipy.optimize import Bounds, minimize

    def loss_at(positions: Array) -> float:
        values = {}
        for coordinate, position in zip(free, positions.tolist(), strict=True):
            values[coordinate.key] = rounded(coordinate.value(position), FEW_DIGITS)
        return loss.at(values)

    begin = np.array([coordinate.position(params[coordinate.key]) for coordinate in free])
    low, high = np.array([coordinate.bounds for coordinate in free]).T
    options: Any = {
        "maxfev": loss.plan.evaluations,
        "initial_tr_radius": STEP,
        "final_tr_radius": CLOSE,
    }
    search = minimize(loss_at, begin, method="COBYQA", bounds=Bounds(low, high), options=options)
    return bool(search.success)


def _free(past: Timeline, resolved: Resolved, values: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    sizes = {term.key: typical_size(past, term.name) for term in find_terms(resolved.params, past)}
    free = free_coordinates(resolved.params, values, resolved.model.TRAITS.tunable, sizes)
    return tuple(
        coordinate for coordinate in free if past.colours or coordinate.key != "white_advantage"
    )
