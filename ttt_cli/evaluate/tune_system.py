"""Tune a rating system on the years before a test, by prediction or by evidence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, Final, Literal

import numpy as np

from ttt_cli.evaluate.forecast import Forecaster, blocks, score
from ttt_cli.evaluate.optimise import Coordinate, free_coordinates, maximise
from ttt_cli.evaluate.tune import Objective
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import Params
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import TttError
from ttt_cli.support.progress import SILENT, Bar, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, with_overrides
from ttt_cli.timeline import Timeline

Criterion = Literal["score", "evidence"]

STEP: Final = 0.3  # of the first steps in each coordinate: 30 %, or 30 points
CLOSE: Final = 0.03  # step at which the search ends
INERT: Final = 1e-5  # nats per game: what moves the score by less does nothing, or rounding does it
WORST: Final = 1.0  # nats per game that an undefined loss counts as worse than the start
DIGITS: Final = 6


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
    past, began = timeline.until(plan.until), process_time()
    with progress.task("tuning", plan.evaluations, "fits") as bar:
        tuned = _by_evidence(past, resolved, bar) if plan.by == "evidence" else None
        tuned = tuned or _by_score(past, resolved, plan, bar)
        return replace(tuned, seconds=process_time() - began)


def _by_score(past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> TunedSystem:
    """Minimise the log-loss without a gradient (COBYQA: T. M. Ragonneau, Z. Zhang 2022)."""
    from scipy.optimize import Bounds, minimize

    near: dict[int, Fit] = {}
    scored = slice(int(past.game_start[plan.since]), None)
    losses: dict[
        tuple[tuple[str, float], ...], float
    ] = {}  # nats per game, by what was replaced in the config

    def forecaster(params: Params) -> Forecaster:
        return Forecaster(past, resolved.model, params, resolved.config.solver, near=near)

    def loss(values: dict[str, float]) -> float:
        """Loss with these parameters; infinite or NaN where the model rejects them."""
        if (key := tuple(values.items())) not in losses:
            try:
                predicting = forecaster(with_overrides(resolved, values).params)
                steps = blocks(past, plan.since, plan.every)
                found = np.concatenate([predicting.predict(step, stop) for step, stop in steps])
            except TttError:
                losses[key] = math.inf
                bar.advance(1, "tuning")
            else:
                losses[key] = -score(found, past.outcome[scored], past.weight[scored]).per_game
                bar.advance(1, f"tuning: log-loss {losses[key]:.4f}")
        return losses[key]

    start = loss({})
    numbers = forecaster(resolved.params).numbers(plan.since)
    free, reached = _free(past, resolved, numbers), True
    given = {one.key: _rounded(numbers[one.key]) for one in free}

    def bounded(values: dict[str, float]) -> float:
        found = loss(values)
        return min(found, start + WORST) if math.isfinite(found) else start + WORST

    def has_effect(one: Coordinate) -> bool:
        """Whether a step changes the loss."""
        place = one.place(given[one.key])
        step = _rounded(one.value(place + STEP if place + STEP <= one.bounds[1] else place - STEP))
        return abs(bounded({**given, one.key: step}) - bounded(given)) > INERT

    if free := tuple(filter(has_effect, free)):

        def function(at: Array) -> float:
            pairs = zip(free, at.tolist(), strict=True)
            return bounded({one.key: _rounded(one.value(place)) for one, place in pairs})

        begin = np.array([one.place(numbers[one.key]) for one in free])
        low, high = np.array([one.bounds for one in free]).T
        options: Any = {"maxfev": plan.evaluations, "initial_tr_radius": STEP, "final_tr_radius": CLOSE}
        found = minimize(function, begin, method="COBYQA", bounds=Bounds(low, high), options=options)
        reached = bool(found.success)
    least = min(losses, key=lambda key: losses[key] if losses[key] < start else start)
    return TunedSystem(
        by="score",
        start={one.key: float(numbers[one.key]) for one in free},
        values=dict(least) if losses[least] < start else {},
        before=-start,
        after=-min(start, losses[least]),
        evaluations=len(losses),
        reached=reached,
    )


def _free(past: Timeline, resolved: Resolved, numbers: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    """Free parameters; White's advantage only where the games record colours."""
    free = free_coordinates(resolved.params, numbers, resolved.model.TRAITS.tunable)
    return tuple(one for one in free if past.colours or one.key != "white_advantage")


def _by_evidence(past: Timeline, resolved: Resolved, bar: Bar) -> TunedSystem | None:
    """Maximise the evidence; None unless it has a gradient in all free parameters."""
    if not (tunable := resolved.model.TRAITS.tunable):
        return None
    fit = registry.fit(resolved.model, past, resolved.params, resolved.config.solver)
    keys = [one.key for one in _free(past, resolved, fit.params) if one.key != "prior_mean"]
    if not keys or not set(keys) <= set(tunable):
        return None
    objective = Objective(resolved, past, keys, lambda _: None, bar)
    low, high = np.array([one.bounds for one in objective.coordinates]).T
    optimum = maximise(objective.at, objective.begin, low, high)
    return TunedSystem(
        by="evidence",
        start=objective.configured,
        values={key: _rounded(value) for key, value in objective.values(optimum.point.at).items()},
        before=optimum.start.value,
        after=optimum.point.value,
        evaluations=objective.counts.evaluations,
        reached=optimum.reached,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
