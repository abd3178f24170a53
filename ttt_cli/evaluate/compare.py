"""Compare rating systems: each predicts the same games, period by period, from earlier games only."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ttt_cli.config.documents import Document, override, refuse_overrides
from ttt_cli.config.load import read_document, shipped_configs
from ttt_cli.config.schema import DataConfig, yaml_on_one_line
from ttt_cli.evaluate.calibration import (
    CalibrationBin,
    CalibrationSlope,
    PairedDifference,
    calibrate,
    calibration_slope,
    paired_difference,
)
from ttt_cli.evaluate.forecast import (
    Forecaster,
    GameScores,
    PeriodBlock,
    Scores,
    blocks,
    find_period_index,
    later_half,
    score_games,
)
from ttt_cli.evaluate.tune_before import Criterion, TunedSystem, TunePlan, tune_system
from ttt_cli.fitted import Kind
from ttt_cli.games.read import read_games
from ttt_cli.games.table import DRAW, WIN
from ttt_cli.inference.filters import games_so_far
from ttt_cli.parallel.cluster import chain_workers, cluster_asked, threads_each
from ttt_cli.parallel.processes import (
    Reporting,
    available_cores,
    end_if_unwanted,
    report,
    run_chains,
)
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Mask
from ttt_cli.support.errors import ConfigError, LookupFailed, TttError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems.resolve import Resolved, names_home, resolve, with_overrides
from ttt_cli.timeline import Timeline, build_timeline

By = Literal["decade", "experience"]

# Classes of experience by the least number of earlier games
EXPERIENCE: Final = {
    "0": 0,
    "1-9": 1,
    "10-29": 10,
    "30-99": 30,
    "100+": 100,
}
# Games that all fits of a system may go through: one to two minutes of work
MOST_GAMES: Final = 25_000_000
# Shares of a year after which to refit
SHARES: Final = (
    1 / 52,
    1 / 26,
    1 / 12,
    1 / 6,
    1 / 4,
    1 / 3,
    1 / 2,
    1.0,
)
SCORE_BINS: Final = 10  # of an expected score
# Games times fits up to which starting processes costs more than it saves
SMALL: Final = 20_000_000


class Standing(NamedTuple):
    """Scores of a system over some games.

    - `calibration`: slope of the logistic recalibration of its predictions
    - `behind`: mean log-loss less that of the best system; None for the best
    """

    entry: SystemResult
    scores: Scores
    calibration: CalibrationSlope
    behind: PairedDifference | None


@dataclass(frozen=True)
class Comparison:
    """Systems that predicted the same games: those of `timeline` from the period at index `first` on.

    `every`: smoothed systems are refitted after this many periods. `plan`: how systems were tuned, if they were.
    `lost`: systems without a result. `interrupted`: the user stopped the comparison. `replaced`: parameters that were
    replaced by cheaper ones to limit the cost of many fits.
    """

    timeline: Timeline
    first: int
    every: int
    plan: TunePlan | None
    entries: tuple[SystemResult, ...]
    lost: tuple[Lost, ...] = ()
    interrupted: bool = False
    replaced: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every system was scored and converged."""
        return not self.lost and all(entry.converged for entry in self.entries)

    @property
    def scored(self) -> slice:
        """Slice of the scored games."""
        return slice(int(self.timeline.game_start[self.first]), None)

    def overall(self) -> list[Standing]:
        """Scores over all games; the system with the least log-loss is first. Empty where all systems were lost."""
        return self._over(slice(None)) if self.entries else []

    def by(self, by: By) -> list[tuple[str, list[Standing]]]:
        """Scores by group; the best system is that over all games."""
        return [
            (name, self._over(member)) for name, member in groups(self.timeline, self.first, by)
        ]

    def calibration_bins(self) -> list[tuple[SystemResult, tuple[CalibrationBin, ...]]]:
        """Expected and actual scores in bins, by system."""
        white_score = self.timeline.outcome[self.scored] / 2.0
        weight = self.timeline.weight[self.scored]
        calibrations = []
        for entry, _ in self._ordered:
            expected = entry.probabilities[:, WIN] + 0.5 * entry.probabilities[:, DRAW]
            calibrations.append((entry, calibrate(expected, white_score, weight, SCORE_BINS)))
        return calibrations

    @cached_property
    def _ordered(self) -> list[tuple[SystemResult, GameScores]]:
        outcome = self.timeline.outcome[self.scored]
        weight = self.timeline.weight[self.scored]
        scored = [(entry, score_games(entry.probabilities, outcome)) for entry in self.entries]
        return sorted(scored, key=lambda pair: float(weight @ pair[1].loss))

    def _over(self, member: Mask | slice) -> list[Standing]:
        weight = self.timeline.weight[self.scored][member]
        outcome = self.timeline.outcome[self.scored][member]
        white = self.timeline.node_player[self.timeline.game_white[self.scored][member]]
        black = self.timeline.node_player[self.timeline.game_black[self.scored][member]]
        _, best = self._ordered[0]
        standings = []
        for entry, scores in self._ordered:
            behind = None
            if scores is not best:
                with np.errstate(invalid="ignore"):
                    difference = scores.loss[member] - best.loss[member]
                behind = paired_difference(difference, weight, white, black)
            total = GameScores._make(column[member] for column in scores).total(weight)
            calibration = calibration_slope(
                entry.probabilities[member], outcome, weight, white, black
            )
            standings.append(Standing(entry, total, calibration, behind))
        return standings


def groups(timeline: Timeline, first: int, by: By) -> list[tuple[str, Mask]]:
    """Games from the period at index `first` on by decade or experience, without empty groups: name and members."""
    if by == "decade":
        years = [int(timeline.label(number)[:4]) for number in timeline.periods[first:].tolist()]
        decade = np.repeat(np.array(years) // 10 * 10, np.diff(timeline.game_start[first:]))
        return [(f"{start}s", decade == start) for start in np.unique(decade).tolist()]
    scored = slice(int(timeline.game_start[first]), None)
    earlier = games_so_far(timeline) - timeline.node_games
    least = np.minimum(earlier[timeline.game_white[scored]], earlier[timeline.game_black[scored]])
    group = np.searchsorted(list(EXPERIENCE.values()), least, side="right") - 1
    return [(name, group == number) for number, name in enumerate(EXPERIENCE) if number in group]


@dataclass(frozen=True)
class TuneOptions:
    """How to tune systems. `since`: the first period scored meanwhile; None: the later half of the earlier games."""

    since: str | None = None
    by: Criterion = "score"
    evaluations: int = 100


def compare(
    timeline: Timeline,
    systems: Sequence[Resolved],
    since: str | None = None,
    every: int | None = None,
    *,
    tuning: TuneOptions | None = None,
    jobs: int | None = None,
    progress: Progress = SILENT,
    on_tuned: Callable[[Resolved, str], object] = lambda *_: None,
) -> Comparison:
    """Predict the games from the period `since` on (None: the later half of the games) with each system.

    Smoothed systems are refitted every `every` periods; None: as often as `MOST_GAMES` allows, cheaper parameters where
    fits cost too much. With `tuning`, each is tuned on earlier games first; then `on_tuned(system, first_period)` is
    called. `jobs`: number of processes; None: the cluster of a config or of $TTT_CLUSTER, else as many as pay. Systems
    that fail, or are interrupted, are in `lost`. Raises LookupFailed, ConfigError, and the first error if all are lost.
    """
    if not timeline.n_games:
        raise LookupFailed("there are no games to predict")
    first = (
        find_period_index(timeline, since) if since else later_half(timeline, len(timeline.periods))
    )
    plan = _plan(timeline, first, every, tuning) if tuning else None
    replaced: tuple[str, ...] = ()
    if every is None:
        every = affordable_every(timeline, first)
        fits = len(blocks(timeline, first, every))
        if plan:
            fits += plan.evaluations * len(blocks(timeline.until(first), plan.since, plan.every))
        cheaper = [affordable(timeline, system, fits) for system in systems]
        systems = [choice.system for choice in cheaper]
        replaced = tuple(choice.note for choice in cheaper if choice.note)
    period_blocks = tuple(blocks(timeline, first, every))
    units = len(timeline.periods) - first + 1 + (plan.evaluations if plan else 0)
    work = timeline.n_games * units * len(systems)
    cluster = None if jobs else _cluster_of(systems)
    jobs = jobs or (1 if work < SMALL else available_cores())
    threads = threads_each(cluster, min(jobs, len(systems)), None, available_cores())
    evaluation = Evaluation(timeline, tuple(systems), period_blocks, plan, threads)

    def report_tuned(number: int, tuned: TunedSystem) -> None:
        first_period = timeline.label(int(timeline.periods[first]))
        on_tuned(with_overrides(systems[number], tuned.values), first_period)

    evaluated = _evaluate(evaluation, units, cluster, jobs, progress, report_tuned)
    lost = tuple(
        Lost(system, *reason_of(evaluated.errors.get(number)))
        for number, system in enumerate(systems)
        if number not in evaluated.results
    )
    entries = tuple(evaluated.results[number] for number in sorted(evaluated.results))
    return Comparison(timeline, first, every, plan, entries, lost, evaluated.interrupted, replaced)


class _Evaluated(NamedTuple):
    """Results of systems, errors of those that failed, by number, and whether the user interrupted the others."""

    results: dict[int, SystemResult]
    errors: dict[int, Exception]
    interrupted: bool


def _evaluate(
    evaluation: Evaluation,
    units: int,
    cluster: str | None,
    jobs: int,
    progress: Progress,
    on_tuned: Callable[[int, TunedSystem], object],
) -> _Evaluated:
    """Evaluate all systems, each in a chain of its own; a bar of so many `units` for each.

    Raises KeyboardInterrupt before any result, and the first error if all systems fail.
    """
    systems = evaluation.systems
    width = max(len(system.name) for system in systems)
    interrupted = False
    results: dict[int, SystemResult] = {}
    errors: dict[int, Exception] = {}
    with ExitStack() as stack:
        workers = stack.enter_context(chain_workers(cluster, jobs))
        tasks = (progress.task(f"{system.name:{width}}", units, "steps") for system in systems)
        bars = [stack.enter_context(task) for task in tasks]

        def on_report(number: int, message: Any) -> None:
            if isinstance(message, TunedSystem):
                on_tuned(number, message)
            else:
                bars[number].advance(*message)

        def on_lost(number: int, error: Exception) -> None:
            errors[number] = error
            bars[number].advance(0, "lost")

        chains = [[number] for number in range(len(systems))]
        try:
            evaluated = run_chains(
                evaluation, chains, workers, on_report=on_report, on_lost=on_lost
            )
            with closing(evaluated):
                results.update(evaluated)
        except KeyboardInterrupt:
            interrupted = True
    if not results:
        raise KeyboardInterrupt if interrupted or not errors else errors[min(errors)]
    return _Evaluated(results, errors, interrupted)


def _cluster_of(systems: Sequence[Resolved]) -> str | None:
    """Address of the cluster of the first config that names one, or of $TTT_CLUSTER."""
    named = [system.config.solver.cluster for system in systems if system.config.solver.cluster]
    return cluster_asked(named[0] if named else None)


def _plan(timeline: Timeline, first: int, every: int | None, options: TuneOptions) -> TunePlan:
    since = (
        find_period_index(timeline, options.since) if options.since else later_half(timeline, first)
    )
    if first == 0 or since >= first:
        raise ConfigError(
            "there are no games before the test to tune with",
            hint="start the test later with --from",
        )
    every = every or affordable_every(timeline.until(first), since, options.evaluations)
    return TunePlan(since, first, every, options.evaluations, options.by)


def affordable_every(timeline: Timeline, first: int, sets: int = 1) -> int:
    """Periods between refits: the fewest that keep all fits within `MOST_GAMES` games, but at most one year."""
    seen = timeline.game_start[first:-1]
    year = STEPS_PER_YEAR[timeline.period]
    choices = sorted({1, *(max(1, round(share * year)) for share in SHARES)})
    affordable = (every for every in choices if sets * int(seen[::every].sum()) <= MOST_GAMES)
    return next(affordable, choices[-1])


class AffordableSystem(NamedTuple):
    """A system with parameters cheap enough for many fits, and a note if they were replaced."""

    system: Resolved
    note: str | None


def affordable(timeline: Timeline, system: Resolved, fits: int) -> AffordableSystem:
    """The system with parameters cheap enough for this many fits."""
    cheaper = system.model.TRAITS.for_many_fits(timeline, system.params, fits)
    if not cheaper:
        return AffordableSystem(system, None)
    changes = ", ".join(f"{key} {value}" for key, value in cheaper.items())
    params = system.params.model_copy(update=dict(cheaper))
    note = (
        f"{system.name}: {changes}, since {fits:,} fits are made (all as configured with --every)"
    )
    return AffordableSystem(replace(system, params=params), note)


class TuningProgress(Reporting):
    """Progress of tuning, at most so many `units`."""

    def __init__(self, units: float) -> None:
        self.left = units

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report the units that remain at most."""
        super().advance(min(amount, self.left), note)
        self.left -= min(amount, self.left)


@dataclass
class Evaluation:
    """Tune and score systems in a worker. `threads` applies where the config sets none."""

    timeline: Timeline
    systems: tuple[Resolved, ...]
    blocks: tuple[PeriodBlock, ...]
    plan: TunePlan | None
    threads: int

    def step(self, item: int, *, fresh: bool) -> tuple[int, SystemResult]:  # noqa: ARG002
        """Tune and score one system. Raises ConfigError, naming the system, when the games do not suit it."""
        try:
            return item, self._score(self.systems[item])
        except ConfigError as error:
            where = error.where or self.systems[item].name
            raise ConfigError(error.message, where=where, hint=error.hint) from error

    def _score(self, system: Resolved) -> SystemResult:
        tuned = None
        if self.plan:
            progress = TuningProgress(self.plan.evaluations)
            tuned = tune_system(
                self.timeline, system.local(self.threads), self.plan, progress=progress
            )
            report(tuned)
            progress.advance(progress.left, "tuned")
        used = with_overrides(system, tuned.values) if tuned else system
        ready = used.local(self.threads)
        forecaster = Forecaster(self.timeline, ready.model, ready.params, ready.config.solver)
        parts = []
        began = process_time()
        for block in self.blocks:
            end_if_unwanted()
            parts.append(forecaster.predict(block.first, block.stop))
            report((block.stop - block.first, ""))
        seconds = process_time() - began
        evidence = math.nan
        note = None
        try:
            evidence = forecaster.log_evidence()
        except Exception as error:
            note = f"no log-evidence: {reason_of(error)[0]}"
        report((1, ""))
        return SystemResult(
            system=used,
            kind=used.model.TRAITS.kind,
            probabilities=np.concatenate(parts),
            log_evidence=evidence,
            converged=forecaster.converged,
            seconds=seconds,
            tuned=tuned,
            note=note,
        )


@dataclass(frozen=True)
class SystemResult:
    """The result of a system. `system` has the parameters that were used: the tuned ones if `tuned` is set.

    `probabilities` of the scored games, shape (games, 3): loss, draw and win for White. `log_evidence` of all games,
    NaN where there is none; `note` gives the reason. `converged`: all fits did. `seconds`: processor time of the
    forecasts.
    """

    system: Resolved
    kind: Kind
    probabilities: Array
    log_evidence: float
    converged: bool
    seconds: float
    tuned: TunedSystem | None = None
    note: str | None = None


@dataclass(frozen=True)
class Lost:
    """A system that could not be scored, the reason, and a hint."""

    system: Resolved
    reason: str
    hint: str | None = None


def reason_of(error: Exception | None) -> tuple[str, str | None]:
    """The reason why a system stopped, and a hint."""
    match error:
        case None:
            return "interrupted before it was done", None
        case TttError():
            return error.message, error.hint
        case _:
            first_line = str(error).partition("\n")[0]
            return f"unexpected {type(error).__name__}: {first_line}", None


ALL: Final = "all"
_OF_A_RUN: Final = (("data", "period"), ("data", "colours"))


def read_systems(configs: Sequence[str], overrides: Sequence[str] = ()) -> list[Resolved]:
    """Systems of configs, by path or shipped name; `all` means every shipped config.

    Each is named after its file, or by the whole path where file names are not unique. `overrides`: `KEY=VALUE` of
    the sections data and solver, for all systems. Raises ConfigError for other keys and for repeated configs.
    """
    hint = "write it into a config of its own: ttt config show NAME > mine.yaml"
    common = override(Document(), overrides)
    refuse_overrides(
        common,
        allowed=lambda path: path[0] in ("data", "solver"),
        why="is not common to all systems",
        hint=hint,
    )
    chosen = [
        name for config in configs for name in (shipped_configs() if config == ALL else [config])
    ]
    twice = next((name for name, count in Counter(chosen).items() if count > 1), None)
    if twice is not None:
        raise ConfigError("is compared with itself", where=twice, hint="name every config once")
    stems = Counter(Path(name).stem for name in chosen)
    resolved = {name: resolve(read_document(name, overrides)) for name in chosen}
    systems = []
    for config, system in resolved.items():
        stem = Path(config).stem
        systems.append(replace(system, name=stem if stems[stem] == 1 else config))
    return systems


class GamesToPredict(NamedTuple):
    """Games laid out in time, and whether the side named first plays at `home`."""

    timeline: Timeline
    home: bool


def games_of_run(run: Run, overrides: Sequence[str] = ()) -> GamesToPredict:
    """A run's games; period and colours may be overridden. Raises RunError, ConfigError."""
    document = override(Document(values=run.meta.config), overrides)
    why = "cannot change for games that a run holds"
    hint = "read them again with --games"
    refuse_overrides(
        document,
        allowed=lambda path: path[0] != "data" or path in _OF_A_RUN,
        why=why,
        hint=hint,
    )
    data = resolve(document).config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    return GamesToPredict(timeline, names_home(data))


def games_of_files(
    files: Sequence[str], systems: Sequence[Resolved], *, progress: Progress = SILENT
) -> GamesToPredict:
    """Games of files by the systems' common data section. Raises ConfigError when sections differ, DataError.

    Configs that leave the names of the sides to the files agree with one that names them, as a tuned config does.
    """
    data = systems[0].config.data
    left_to_files = DataConfig().sides
    names = [system.config.data.sides for system in systems]
    data = data.model_copy(
        update={"sides": next((sides for sides in names if sides != left_to_files), left_to_files)}
    )
    for key, value in data:
        for system in systems:
            other = dict(system.config.data)[key]
            if other == value or (key == "sides" and other == left_to_files):
                continue
            raise ConfigError(
                f"{systems[0].name} and {system.name} differ in data.{key}, but are to predict the same games",
                hint=f"set it for all, as -s {shlex.quote(f'data.{key}={yaml_on_one_line(value)}')}",
            )
    games = read_games(files, data, progress=progress)
    timeline = build_timeline(games, data.period, data.colours)
    return GamesToPredict(timeline, games.report.home or names_home(data))
