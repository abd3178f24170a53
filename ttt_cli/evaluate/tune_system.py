"""Tune a rating system on the years before a test, by prediction or by evidence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Result of tuning a system: `start` and `values` by parameter. `reached`: the search converged.

    `before` and `after`: mean log probability per predicted game for `by` "score", else the log-evidence, nats.
    """

    by: Criterion
    start: Mapping[str, float]
    values: Mapping[str, float]
    before: float
    after: float
    evaluations: int
    reached: bool


def tune_system(
    timeline: Timeline, resolved: Resolved, plan: TunePlan, *, progress: Progress = SILENT
) -> TunedSystem:
    """Tune the system on the games before the test."""
    past = timeline.until(plan.until)
    with progress.task("tuning", plan.evaluations, "fits") as bar:
        if plan.by == "evidence" and (keys := _evidence_keys(past, resolved)):
            return _by_evidence(past, resolved, keys, bar)
        return _by_score(past, resolved, plan, bar)


def _by_score(past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> TunedSystem:
    """Minimise the log-loss without a gradient (COBYQA: T. M. Ragonneau, Z. Zhang 2022)."""
    from scipy.optimize import Bounds, minimize

    loss = _Loss(past, resolved, plan, bar)
    numbers = loss.worked_out()
    free = loss.sensitive(_free(past, resolved, numbers), numbers)
    reached = True
    if free:

        def function(at: Array) -> float:
            pairs = zip(free, at.tolist(), strict=True)
            return loss.at({one.key: _rounded(one.value(place)) for one, place in pairs})

        begin = np.array([one.place(numbers[one.key]) for one in free])
        low, high = np.array([one.bounds for one in free]).T
        options: Any = {"maxfev": plan.evaluations, "initial_tr_radius": STEP, "final_tr_radius": CLOSE}
        found = minimize(function, begin, method="COBYQA", bounds=Bounds(low, high), options=options)
        reached = bool(found.success)
    return TunedSystem(
        by="score",
        start={one.key: float(numbers[one.key]) for one in free},
        values=loss.values,
        before=-loss.start,
        after=-loss.least,
        evaluations=loss.evaluations,
        reached=reached,
    )


class _Loss:
    """Mean log-loss, nats per game, of games before the test: as configured (`start`), and the `least` so far."""

    def __init__(self, past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> None:
        self._past, self._resolved, self._plan, self._bar = past, resolved, plan, bar
        self._near: dict[int, Fit] = {}
        scored = slice(int(past.game_start[plan.since]), None)
        self._scored = past.outcome[scored], past.weight[scored]
        self._known: dict[frozenset[tuple[str, float]], float] = {}
        self.evaluations = 0
        self.values: dict[str, float] = {}
        self.start = self.least = self._measured({})

    def at(self, values: dict[str, float]) -> float:
        """Loss with these parameters, at most WORST above the start."""
        key = frozenset(values.items())
        if key not in self._known:
            found = self._measured(values)
            if found < self.least:
                self.least, self.values = found, values
            worst = self.start + WORST
            self._known[key] = min(found, worst) if math.isfinite(found) else worst
        return self._known[key]

    def sensitive(self, free: tuple[Coordinate, ...], numbers: Mapping[str, float]) -> tuple[Coordinate, ...]:
        """Coordinates in which a step from `numbers` changes the loss."""
        given = {one.key: _rounded(numbers[one.key]) for one in free}
        base = self.at(given)

        def stepped(one: Coordinate) -> float:
            place = one.place(given[one.key])
            return _rounded(one.value(place + STEP if place + STEP <= one.bounds[1] else place - STEP))

        return tuple(one for one in free if abs(self.at({**given, one.key: stepped(one)}) - base) > INERT)

    def worked_out(self) -> dict[str, Any]:
        """Resolved parameters from the games before the scored ones."""
        return self._forecaster(self._resolved.params).numbers(self._plan.since)

    def _measured(self, values: Mapping[str, float]) -> float:
        """Loss; infinite or NaN where the model rejects the values."""
        self.evaluations += 1
        try:
            forecaster = self._forecaster(with_overrides(self._resolved, values).params)
            steps = blocks(self._past, self._plan.since, self._plan.every)
            parts = [forecaster.predict(step, stop) for step, stop in steps]
        except TttError:
            self._bar.advance(1, "tuning")
            return math.inf
        loss = -score(np.concatenate(parts), *self._scored).per_game
        self._bar.advance(1, f"tuning: log-loss {loss:.4f}")
        return loss

    def _forecaster(self, params: Params) -> Forecaster:
        config, model = self._resolved.config, self._resolved.model
        return Forecaster(self._past, model, params, config.solver, near=self._near)


def _evidence_keys(past: Timeline, resolved: Resolved) -> list[str]:
    """Free parameters if the evidence has a gradient in all of them; else none."""
    tunable = resolved.model.TRAITS.tunable
    if not tunable:
        return []
    fit = registry.fit(resolved.model, past, resolved.params, resolved.config.solver)
    keys = [one.key for one in _free(past, resolved, fit.params) if one.key != "prior_mean"]
    return keys if set(keys) <= set(tunable) else []


def _free(past: Timeline, resolved: Resolved, numbers: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    """Free parameters; White's advantage only where the games record colours."""
    free = free_coordinates(resolved.params, numbers, resolved.model.TRAITS.tunable)
    return tuple(one for one in free if past.colours or one.key != "white_advantage")


def _by_evidence(past: Timeline, resolved: Resolved, keys: Sequence[str], bar: Bar) -> TunedSystem:
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
