"""Rating systems side by side: the same games foreseen by each, period by period, from earlier ones only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Config
from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.evaluate.compare_tune import TunedSystem, TunePlan, tune_system
from ttt_cli.evaluate.executors import run_chains
from ttt_cli.evaluate.forecast import Forecaster, blocks
from ttt_cli.evaluate.scores import find_step
from ttt_cli.fitted import Kind
from ttt_cli.models import registry
from ttt_cli.models.params import Params
from ttt_cli.models.resolve import Resolved, with_overrides
from ttt_cli.models.slices import available_cores
from ttt_cli.progress import SILENT, Bar, Progress
from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]

SMALL: Final = 20_000_000  # games times fits up to which starting processes costs more than it saves


@dataclass(frozen=True)
class System:
    """A rating system under the name it is shown by. It can be sent to another process."""

    name: str
    config: Config
    params: Params

    @classmethod
    def of(cls, name: str, resolved: Resolved) -> System:
        """A resolved config under a name."""
        return cls(name, resolved.config, resolved.params)

    @property
    def resolved(self) -> Resolved:
        """The config with its model loaded."""
        return Resolved(self.config, registry.load(self.config.model.name), self.params)


@dataclass(frozen=True)
class Entry:
    """How a system did. `system` has the parameters that were used, the tuned ones if `tuned` tells of tuning.

    `probabilities` of the scored games, shape (games, 3): loss, draw and win for White. `log_evidence` of all games,
    NaN where the system has none. `converged`: whether all fits did. `seconds` of the processor: for the forecasts,
    and for the tuning.
    """

    system: System
    kind: Kind
    probabilities: Array
    log_evidence: float
    converged: bool
    seconds: float
    tuned: TunedSystem | None = None
    tuning_seconds: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """Systems that foresaw the same games: those of `timeline` from the period at index `first` on.

    `every`: after how many periods smoothed systems were fitted again. `plan`: how they were tuned, if they were.
    """

    timeline: Timeline
    first: int
    every: int
    plan: TunePlan | None
    entries: tuple[Entry, ...]

    @property
    def scored(self) -> slice:
        """The scored games among those of the timeline."""
        return slice(int(self.timeline.game_start[self.first]), None)


@dataclass(frozen=True)
class TuneOptions:
    """How systems are to be tuned; `since`: the first period scored while tuning, None for half the games before."""

    since: str | None = None
    by: Literal["score", "evidence"] = "score"
    evaluations: int = 100


def compare(
    timeline: Timeline,
    systems: Sequence[System],
    since: str | None = None,
    every: int = 1,
    *,
    tuning: TuneOptions | None = None,
    jobs: int | None = None,
    progress: Progress = SILENT,
    on_tuned: Callable[[System, str], object] = lambda *_: None,
) -> Comparison:
    """Let systems foresee the games from the period `since` on (a label or its year; None: the later half of them).

    Smoothed systems are fitted again every `every` periods. With `tuning` every system first gets parameters that
    suit the games before the test; `on_tuned(system, begin)` is told of each at once, and of when the test begins.
    `jobs`: how many processes, None for as many as pay; results do not depend on it.
    Raises LookupFailed, ConfigError.
    """
    if not timeline.n_games:
        raise LookupFailed("there are no games to foresee")
    first = find_step(timeline, since) if since else later_half(timeline, len(timeline.periods))
    plan = _plan(timeline, first, every, tuning) if tuning else None
    chains = [contest_tasks(timeline, number, first, every, plan) for number in range(len(systems))]
    units = sum(task.units for chain in chains for task in chain)
    jobs = jobs or _jobs_that_pay(timeline, units)
    contest = Contest(timeline, tuple(systems), plan, 1 if min(jobs, len(chains)) > 1 else None)
    pieces: dict[int, list[Piece]] = {number: [] for number in range(len(systems))}
    with (
        progress.task("comparing", total=units, unit="steps") as bar,
        closing(run_chains(contest, chains, jobs)) as results,
    ):
        for piece in results:
            pieces[piece.task.system].append(piece)
            if piece.tuned:
                on_tuned(piece.tuned[0], timeline.label(int(timeline.periods[first])))
            _tell(bar, systems, piece)
    entries = tuple(_entry(systems[number], found) for number, found in pieces.items())
    return Comparison(timeline, first, every, plan, entries)


def later_half(timeline: Timeline, end: int) -> int:
    """The index of the first period before which half of the games of the periods before `end` lie."""
    half = int(timeline.game_start[end]) / 2
    return min(int(np.searchsorted(timeline.game_start[: end + 1], half)), max(end - 1, 0))


@dataclass(frozen=True)
class Task:
    """A piece of work for one system; those of a system are done in order. `units`: its share of the whole."""

    system: int
    what: Literal["tune", "foresee", "evidence"]
    step: int = 0
    stop: int = 0
    units: int = 1


@dataclass(frozen=True)
class Piece:
    """What came of a task."""

    task: Task
    seconds: float
    kind: Kind = "smoothed"
    converged: bool = True
    probabilities: Array = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    log_evidence: float = float("nan")
    tuned: tuple[System, TunedSystem] | None = None


def contest_tasks(
    timeline: Timeline, system: int, first: int, every: int, plan: TunePlan | None
) -> list[Task]:
    """All that is to be done for a system."""
    tuning = [Task(system, "tune", units=plan.evaluations)] if plan else []
    steps = [
        Task(system, "foresee", step, stop, stop - step) for step, stop in blocks(timeline, first, every)
    ]
    return [*tuning, *steps, Task(system, "evidence")]


@dataclass
class Contest:
    """Does the tasks of one system after the other; a worker for `run_chains`.

    `threads`: how many a fit may take where the config does not say; None for all there are.
    """

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
            return self._tune(item) if item.what == "tune" else self._foresee(item)
        except ConfigError as error:
            name = self.systems[item.system].name
            raise ConfigError(error.message, where=error.where or name, hint=error.hint) from error

    def _tune(self, task: Task) -> Piece:
        assert self.plan is not None
        system = self.systems[task.system]
        began = process_time()
        found = tune_system(self.timeline, self._ready(system), self.plan)
        self._tuned = System.of(system.name, with_overrides(system.resolved, found.values))
        return Piece(task, process_time() - began, tuned=(self._tuned, found))

    def _foresee(self, task: Task) -> Piece:
        if self._forecaster is None:
            ready = self._ready(self._tuned or self.systems[task.system])
            self._forecaster = Forecaster(self.timeline, ready.model, ready.params, ready.config.solver)
        forecaster = self._forecaster
        began = process_time()
        if task.what == "evidence":
            evidence = forecaster.log_evidence()
            return Piece(task, 0.0, forecaster.kind, forecaster.converged, log_evidence=evidence)
        probabilities = forecaster.foresee(task.step, task.stop)
        return Piece(task, process_time() - began, forecaster.kind, forecaster.converged, probabilities)

    def _ready(self, system: System) -> Resolved:
        resolved, solver = system.resolved, system.config.solver
        solver = solver.model_copy(update={"threads": solver.threads or self.threads})
        return replace(resolved, config=resolved.config.model_copy(update={"solver": solver}))


def _plan(timeline: Timeline, first: int, every: int, options: TuneOptions) -> TunePlan:
    since = find_step(timeline, options.since) if options.since else later_half(timeline, first)
    if first == 0 or since >= first:
        raise ConfigError(
            "there are no games before the test to tune with", hint="begin the test later with --test-from"
        )
    return TunePlan(since, first, every, options.evaluations, options.by)


def _jobs_that_pay(timeline: Timeline, units: int) -> int:
    return 1 if timeline.n_games * units < SMALL else available_cores()


def _tell(bar: Bar, systems: Sequence[System], piece: Piece) -> None:
    task = piece.task
    bar.advance(task.units, f"{systems[task.system].name} {'tuned' if task.what == 'tune' else ''}".rstrip())


def _entry(system: System, pieces: Sequence[Piece]) -> Entry:
    def of(what: str) -> Iterator[Piece]:
        return (piece for piece in pieces if piece.task.what == what)

    foreseen, (last,), tuning = list(of("foresee")), of("evidence"), next(of("tune"), None)
    used, tuned = tuning.tuned if tuning and tuning.tuned else (system, None)
    return Entry(
        system=used,
        kind=last.kind,
        probabilities=np.concatenate([piece.probabilities for piece in foreseen]),
        log_evidence=last.log_evidence,
        converged=last.converged,
        seconds=sum(piece.seconds for piece in foreseen),
        tuned=tuned,
        tuning_seconds=tuning.seconds if tuning else 0.0,
    )
