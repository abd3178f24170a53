"""The parameters with which a system foresees the years before a test best, or which their evidence prefers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from pydantic import ValidationError

from ttt_cli.errors import TttError
from ttt_cli.evaluate.evidence.optimise import Vector, climb
from ttt_cli.evaluate.evidence.tunable import Coordinate, free_coordinates
from ttt_cli.evaluate.evidence.tune import Landscape
from ttt_cli.evaluate.forecast.predict import Forecaster, blocks
from ttt_cli.evaluate.forecast.scores import score
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import Params
from ttt_cli.progress import SILENT, Bar, Progress
from ttt_cli.systems.resolve import Resolved
from ttt_cli.timeline import Timeline

Criterion = Literal["score", "evidence"]

STEP: Final = 0.3  # of the first steps in each coordinate: 30 %, or 30 points
CLOSE: Final = 0.03  # step at which the search ends
INERT: Final = 1e-5  # nats per game: what moves the score by less does nothing, or rounding does it
WORST: Final = 1.0  # nats per game that a place without a value counts as worse than the start
DIGITS: Final = 6


@dataclass(frozen=True)
class TunePlan:
    """How systems are tuned on the periods before that at index `until`.

    `by` "score": the games from the period at index `since` on are foreseen, smoothed models being fitted again
    every `every` periods, with at most about `evaluations` sets of parameters. `by` "evidence": the evidence of all
    these games where the model has one and its slopes in all that is free, else the score.
    """

    since: int
    until: int
    every: int
    evaluations: int
    by: Criterion = "score"


@dataclass(frozen=True)
class TunedSystem:
    """What tuning a system found.

    `start` and `values` by parameter; `before` and `after`: with `by` "score" the mean log probability per game
    foreseen, with "evidence" the log-evidence, nats. `reached`: whether the search ended by itself.
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
    """The parameters of the system that suit the games before the test best."""
    past = timeline.until(plan.until)
    with progress.task("tuning", plan.evaluations, "fits") as bar:
        if plan.by == "evidence" and (keys := _evidence_keys(past, resolved)):
            return _by_evidence(past, resolved, keys, bar)
        return _by_score(past, resolved, plan, bar)


def _by_score(past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> TunedSystem:
    foresight = _Foresight(past, resolved, plan, bar)
    best = _Best(foresight)
    numbers = foresight.worked_out()
    best.begin(_free(past, resolved, numbers), numbers)
    reached = True
    if best.free:
        begin = np.array([one.place(numbers[one.key]) for one in best.free])
        reached = _search(best.look, begin, best.free, plan)
    return TunedSystem(
        by="score",
        start={one.key: float(numbers[one.key]) for one in best.free},
        values=best.values,
        before=-best.start,
        after=-best.cost,
        evaluations=foresight.evaluations,
        reached=reached,
    )


def _search(
    cost: Callable[[Vector], float], begin: Vector, free: tuple[Coordinate, ...], plan: TunePlan
) -> bool:
    """Search downhill without slopes (COBYQA: T. M. Ragonneau, Z. Zhang 2022); whether it ended by itself."""
    from scipy.optimize import Bounds, minimize

    low, high = np.array([one.bounds for one in free]).T
    result = minimize(
        cost,
        begin,
        method="COBYQA",
        bounds=Bounds(low, high),
        options={
            "maxfev": plan.evaluations,
            "initial_tr_radius": STEP,
            "final_tr_radius": CLOSE,
        },
    )
    return bool(result.success)


class _Best:
    """The costs of places, and the best so far; `start` is that of the system as it is configured."""

    def __init__(self, foresight: _Foresight) -> None:
        self._foresight = foresight
        self.start = self.cost = foresight.cost({})
        self.values: dict[str, float] = {}
        self.free: tuple[Coordinate, ...] = ()
        self._known: dict[frozenset[tuple[str, float]], float] = {}

    def begin(self, free: tuple[Coordinate, ...], numbers: Mapping[str, float]) -> None:
        """Free the coordinates in which a step from `numbers` changes the score while the others stay."""
        given = {one.key: _rounded(numbers[one.key]) for one in free}
        base = self._look(given)
        self.free = tuple(
            one
            for one in free
            if abs(self._look({**given, one.key: _stepped(one, given[one.key])}) - base) > INERT
        )

    def look(self, at: Vector) -> float:
        """The cost at a place."""
        pairs = zip(self.free, at.tolist(), strict=True)
        return self._look({one.key: _rounded(one.value(place)) for one, place in pairs})

    def _look(self, values: dict[str, float]) -> float:
        place = frozenset(values.items())
        if place not in self._known:
            self._known[place] = self._cost(values)
        return self._known[place]

    def _cost(self, values: dict[str, float]) -> float:
        found = self._foresight.cost(values)
        if not math.isfinite(found):
            return self.start + WORST
        if found < self.cost:
            self.cost, self.values = found, values
        return min(found, self.start + WORST)


def _stepped(one: Coordinate, value: float) -> float:
    """A value one step away, inside the bounds."""
    place = one.place(value)
    return _rounded(one.value(place + STEP if place + STEP <= one.bounds[1] else place - STEP))


class _Foresight:
    """The mean log-loss with which a system foresees the games of the years before the test."""

    def __init__(self, past: Timeline, resolved: Resolved, plan: TunePlan, bar: Bar) -> None:
        self._past, self._resolved, self._plan, self._bar = past, resolved, plan, bar
        self._near: dict[int, Fit] = {}
        scored = slice(int(past.game_start[plan.since]), None)
        self._scored = past.outcome[scored], past.weight[scored]
        self.evaluations = 0

    def cost(self, values: Mapping[str, float]) -> float:
        """Nats per game; infinite or NaN where the model takes no such values."""
        self.evaluations += 1
        try:
            params = changed(self._resolved.params, values)
            forecaster = self._forecaster(params)
            parts = [
                forecaster.foresee(step, stop)
                for step, stop in blocks(self._past, self._plan.since, self._plan.every)
            ]
        except (TttError, ValidationError):
            self._bar.advance(1, "tuning")
            return math.inf
        loss = -score(np.concatenate(parts), *self._scored).per_game
        self._bar.advance(1, f"tuning: log-loss {loss:.4f}")
        return loss

    def worked_out(self) -> dict[str, Any]:
        """The parameters as numbers, from the games before those that are scored."""
        return self._forecaster(self._resolved.params).numbers(self._plan.since)

    def _forecaster(self, params: Params) -> Forecaster:
        config, model = self._resolved.config, self._resolved.model
        return Forecaster(self._past, model, params, config.solver, near=self._near)


def _evidence_keys(past: Timeline, resolved: Resolved) -> list[str]:
    """The free parameters, when the evidence can be maximised over them all; else none."""
    tunable = resolved.model.TRAITS.tunable
    if not tunable:
        return []
    fit = resolved.model.fit(past, resolved.params, resolved.config.solver)
    keys = [one.key for one in _free(past, resolved, fit.params) if one.key != "prior_mean"]
    return keys if set(keys) <= set(tunable) else []


def _free(past: Timeline, resolved: Resolved, numbers: Mapping[str, Any]) -> tuple[Coordinate, ...]:
    """The free parameters; White's advantage only where it is known who had White."""
    free = free_coordinates(resolved.params, numbers, resolved.model.TRAITS.tunable)
    return tuple(one for one in free if past.colours or one.key != "white_advantage")


def _by_evidence(past: Timeline, resolved: Resolved, keys: Sequence[str], bar: Bar) -> TunedSystem:
    landscape = Landscape(resolved, past, keys, lambda _: None, bar)
    low, high = np.array([one.bounds for one in landscape.coordinates]).T
    top = climb(landscape.look, landscape.begin, low, high)
    return TunedSystem(
        by="evidence",
        start=landscape.configured,
        values={key: _rounded(value) for key, value in landscape.values(top.place.at).items()},
        before=top.start.height,
        after=top.place.height,
        evaluations=landscape.evaluations,
        reached=top.reached,
    )


def changed(params: Params, values: Mapping[str, float]) -> Params:
    """The parameters with other values; defaults that follow from others follow the new ones."""
    return type(params)(**{**params.model_dump(exclude_unset=True), **values})


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
