"""What is done for every system of a comparison: tuned, asked for forecasts, then for its evidence."""

from dataclasses import dataclass, field, replace
from time import process_time
from typing import Literal

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.errors import ConfigError
from ttt_cli.evaluate.forecast.compare_tune import TunedSystem, TunePlan, tune_system
from ttt_cli.evaluate.forecast.predict import Forecaster, blocks
from ttt_cli.processes import Reporting
from ttt_cli.systems.resolve import Resolved, with_overrides
from ttt_cli.timeline import Timeline


@dataclass(frozen=True)
class System(Resolved):
    """A rating system under the name it is shown by."""

    name: str

    @classmethod
    def of(cls, name: str, resolved: Resolved) -> "System":
        """A resolved config under a name."""
        return cls(resolved.config, resolved.params, name)


@dataclass(frozen=True)
class Task:
    """A piece of work for one system; those of a system are done in order. `units`: its share of the whole."""

    system: int
    what: Literal["tune", "predict", "evidence"]
    step: int = 0
    stop: int = 0
    units: int = 1


@dataclass(frozen=True)
class Piece:
    """What came of a task."""

    task: Task
    seconds: float
    converged: bool = True
    probabilities: Array = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    log_evidence: float = float("nan")
    tuned: tuple[System, TunedSystem] | None = None


def tasks_of(timeline: Timeline, system: int, first: int, every: int, plan: TunePlan | None) -> list[Task]:
    """All that is to be done for a system."""
    tuning = [Task(system, "tune", units=plan.evaluations)] if plan else []
    steps = [
        Task(system, "predict", step, stop, stop - step) for step, stop in blocks(timeline, first, every)
    ]
    return [*tuning, *steps, Task(system, "evidence")]


@dataclass
class Evaluation:
    """Does the tasks of one system after the other, reporting each set tried; `threads` where configs do not say."""

    timeline: Timeline
    systems: tuple[System, ...]
    plan: TunePlan | None
    threads: int | None = None
    _tuned: System | None = field(default=None, init=False, repr=False)
    _forecaster: Forecaster | None = field(default=None, init=False, repr=False)

    def step(self, item: Task, *, fresh: bool) -> Piece:
        """Do one task. Raises ConfigError, naming the system, when it cannot take the games."""
        if fresh:
            self._tuned = self._forecaster = None
        try:
            return self._tune(item) if item.what == "tune" else self._predict(item)
        except ConfigError as error:
            name = self.systems[item.system].name
            raise ConfigError(error.message, where=error.where or name, hint=error.hint) from error

    def redo(self, item: Task, result: Piece, *, fresh: bool) -> None:
        """Come to where a task that is done had led to, without tuning again."""
        if result.tuned:
            self._tuned = result.tuned[0]
        else:
            self.step(item, fresh=fresh)

    def _tune(self, task: Task) -> Piece:
        assert self.plan is not None
        system = self.systems[task.system]
        began = process_time()
        found = tune_system(self.timeline, self._ready(system), self.plan, progress=Reporting())
        self._tuned = with_overrides(system, found.values)
        return Piece(task, process_time() - began, tuned=(self._tuned, found))

    def _predict(self, task: Task) -> Piece:
        if self._forecaster is None:
            ready = self._ready(self._tuned or self.systems[task.system])
            self._forecaster = Forecaster(self.timeline, ready.model, ready.params, ready.config.solver)
        forecaster = self._forecaster
        began = process_time()
        if task.what == "evidence":
            evidence = forecaster.log_evidence()
            return Piece(task, 0.0, forecaster.converged, log_evidence=evidence)
        probabilities = forecaster.predict(task.step, task.stop)
        return Piece(task, process_time() - began, forecaster.converged, probabilities)

    def _ready(self, system: System) -> System:
        solver = system.config.solver
        solver = solver.model_copy(update={"threads": solver.threads or self.threads, "cluster": None})
        return replace(system, config=system.config.model_copy(update={"solver": solver}))
