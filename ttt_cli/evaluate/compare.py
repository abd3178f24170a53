"""Compare rating systems: each predicts the same games, period by period, from earlier games only.

A system that misjudges a player does so in all of the player's games, so two games are dependent when they share a
player (dyadic clustering: M. Fafchamps, F. Gubert, The formation of risk sharing networks, J. Dev. Econ. 83, 2007).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ttt_cli.cluster import chain_workers, cluster_asked, threads_each
from ttt_cli.config.load import Document, override, read_document, refuse_overrides, shipped_configs
from ttt_cli.config.schema import DataConfig
from ttt_cli.evaluate.forecast import (
    CalibrationBin,
    Forecaster,
    GameScores,
    Scores,
    blocks,
    calibrate,
    find_step,
    score_games,
)
from ttt_cli.evaluate.tune import Criterion, TunedSystem, TunePlan, tune_system
from ttt_cli.fitted import Kind
from ttt_cli.games.read import read_games
from ttt_cli.games.table import DRAW, WIN
from ttt_cli.inference.filters import games_so_far
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.support.errors import ConfigError, LookupFailed, TttError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems.resolve import Resolved, resolve, with_overrides
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.work import Reporting, available_cores, end_if_unwanted, report, run_chains

By = Literal["decade", "experience"]

EXPERIENCE: Final = {"0": 0, "1-9": 1, "10-29": 10, "30-99": 30, "100+": 100}  # earlier games from which on
MOST: Final = 25_000_000  # games that all fits of a system may go through: one to two minutes of work
SHARES: Final = (1 / 52, 1 / 26, 1 / 12, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 1.0)  # of a year, after which to refit
SCORE_BINS: Final = 10  # of an expected score
SMALL: Final = 20_000_000  # games times fits up to which starting processes costs more than it saves


class PairedDifference(NamedTuple):
    """Weighted mean difference and its standard error; NaN where undefined."""

    mean: float
    standard_error: float


def paired_difference(difference: Array, weight: Array, white: Ids, black: Ids) -> PairedDifference:
    """Mean of differences per game, shape (games,), games > 0, clustered by the players `white` and `black`.

    The variance of the sum adds all pairs of games with a common player: over players, the square of the sum of
    deviations, minus that over pairs of players, which is counted twice; at least that of independent games.
    """
    total = float(weight.sum())
    mean = float(weight @ difference) / total
    if not math.isfinite(mean) or len(difference) == 1:
        return PairedDifference(mean, math.nan)
    deviation = weight * (difference - mean)
    players = int(max(white.max(), black.max())) + 1
    of_player = np.bincount(white, deviation, players) + np.bincount(black, deviation, players)
    pair = np.minimum(white, black).astype(np.int64) * players + np.maximum(white, black)
    of_pair = np.bincount(np.unique(pair, return_inverse=True)[1], deviation)
    variance = max(of_player @ of_player - of_pair @ of_pair, deviation @ deviation)
    return PairedDifference(mean, math.sqrt(variance) / total)


class Standing(NamedTuple):
    """Scores of a system over some games, and its mean log-loss less that of the best system; None for the best."""

    entry: SystemResult
    scores: Scores
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
        """Scores over all games; the system with the least log-loss is first."""
        return self._over(slice(None))

    def by(self, by: By) -> list[tuple[str, list[Standing]]]:
        """Scores by group; the best system is that over all games."""
        return [(name, self._over(member)) for name, member in groups(self.timeline, self.first, by)]

    def calibration(self) -> list[tuple[SystemResult, tuple[CalibrationBin, ...]]]:
        """Expected and actual scores in bins, by system."""
        made = self.timeline.outcome[self.scored] / 2.0
        weight = self.timeline.weight[self.scored]
        found = []
        for entry, _ in self._ordered:
            expected = entry.probabilities[:, WIN] + 0.5 * entry.probabilities[:, DRAW]
            found.append((entry, calibrate(expected, made, weight, SCORE_BINS)))
        return found

    @cached_property
    def _ordered(self) -> list[tuple[SystemResult, GameScores]]:
        outcome = self.timeline.outcome[self.scored]
        weight = self.timeline.weight[self.scored]
        found = [(entry, score_games(entry.probabilities, outcome)) for entry in self.entries]
        return sorted(found, key=lambda pair: float(weight @ pair[1].loss))

    def _over(self, member: Mask | slice) -> list[Standing]:
        weight = self.timeline.weight[self.scored][member]
        white, black = (
            self.timeline.node_player[nodes[self.scored][member]]
            for nodes in (self.timeline.game_white, self.timeline.game_black)
        )
        (_, best) = self._ordered[0]
        standings = []
        for entry, scores in self._ordered:
            behind = None
            if scores is not best:
                with np.errstate(invalid="ignore"):
                    difference = scores.loss[member] - best.loss[member]
                behind = paired_difference(difference, weight, white, black)
            total = GameScores._make(column[member] for column in scores).total(weight)
            standings.append(Standing(entry, total, behind))
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

    Smoothed systems are refitted every `every` periods; None: as often as MOST allows, with cheaper parameters where
    fits cost too much. With `tuning`, each is tuned on earlier games first; then `on_tuned(system, first_period)` is
    called. `jobs`: number of processes; None: the cluster of a config or of $TTT_CLUSTER, else as many as pay. Systems
    that fail, or are interrupted, are in `lost`. Raises LookupFailed, ConfigError, and the first error if all are lost.
    """
    if not timeline.n_games:
        raise LookupFailed("there are no games to predict")
    first = find_step(timeline, since) if since else later_half(timeline, len(timeline.periods))
    plan = _plan(timeline, first, every, tuning) if tuning else None
    replaced: tuple[str, ...] = ()
    if every is None:
        every = affordable_every(timeline, first)
        fits = len(blocks(timeline, first, every))
        if plan:
            fits += plan.evaluations * len(blocks(timeline.until(first), plan.since, plan.every))
        afforded = [affordable(timeline, system, fits) for system in systems]
        systems = [one for one, _ in afforded]
        replaced = tuple(note for _, note in afforded if note)
    steps = tuple(blocks(timeline, first, every))
    units = len(timeline.periods) - first + 1 + (plan.evaluations if plan else 0)
    work = timeline.n_games * units * len(systems)
    where = (
        None if jobs else cluster_asked(next(filter(None, (s.config.solver.cluster for s in systems)), None))
    )
    jobs = jobs or (1 if work < SMALL else available_cores())
    threads = threads_each(where, min(jobs, len(systems)), None, available_cores())
    evaluation = Evaluation(timeline, tuple(systems), steps, plan, threads)
    width = max(len(system.name) for system in systems)
    interrupted = False
    found: dict[int, SystemResult] = {}
    errors: dict[int, Exception] = {}
    with ExitStack() as stack:
        workers = stack.enter_context(chain_workers(where, jobs))
        tasks = (progress.task(f"{system.name:{width}}", units, "steps") for system in systems)
        bars = [stack.enter_context(task) for task in tasks]

        def hear(number: int, message: Any) -> None:
            if isinstance(message, TunedSystem):
                on_tuned(
                    with_overrides(systems[number], message.values),
                    timeline.label(int(timeline.periods[first])),
                )
            else:
                bars[number].advance(*message)

        def lose(number: int, error: Exception) -> None:
            errors[number] = error
            bars[number].advance(0, "lost")

        chains = [[number] for number in range(len(systems))]
        try:
            with closing(run_chains(evaluation, chains, workers, on_report=hear, on_lost=lose)) as results:
                found.update(results)
        except KeyboardInterrupt:
            interrupted = True
    if not found:
        raise KeyboardInterrupt if interrupted or not errors else errors[min(errors)]
    lost = tuple(
        Lost(system, *reason_of(errors.get(number)))
        for number, system in enumerate(systems)
        if number not in found
    )
    entries = tuple(found[number] for number in sorted(found))
    return Comparison(timeline, first, every, plan, entries, lost, interrupted, replaced)


def later_half(timeline: Timeline, end: int) -> int:
    """Index of the period that halves the games of the periods before `end`."""
    half = int(timeline.game_start[end]) / 2
    return min(int(np.searchsorted(timeline.game_start[: end + 1], half)), max(end - 1, 0))


def _plan(timeline: Timeline, first: int, every: int | None, options: TuneOptions) -> TunePlan:
    since = find_step(timeline, options.since) if options.since else later_half(timeline, first)
    if first == 0 or since >= first:
        raise ConfigError(
            "there are no games before the test to tune with", hint="start the test later with --from"
        )
    every = every or affordable_every(timeline.until(first), since, options.evaluations)
    return TunePlan(since, first, every, options.evaluations, options.by)


def affordable_every(timeline: Timeline, first: int, sets: int = 1) -> int:
    """Periods between refits: the fewest that keep all fits within `MOST` games, but at most one year."""
    seen = timeline.game_start[first:-1]
    year = STEPS_PER_YEAR[timeline.period]
    steps = sorted({1, *(max(1, round(share * year)) for share in SHARES)})
    affordable = (every for every in steps if sets * int(seen[::every].sum()) <= MOST)
    return next(affordable, steps[-1])


def affordable(timeline: Timeline, system: Resolved, fits: int) -> tuple[Resolved, str | None]:
    """The system with parameters cheap enough for this many fits, and a note if they were replaced."""
    instead = system.model.TRAITS.for_many_fits(timeline, system.params, fits)
    if not instead:
        return system, None
    changes = ", ".join(f"{key} {value}" for key, value in instead.items())
    params = system.params.model_copy(update=dict(instead))
    note = f"{system.name}: {changes}, since {fits:,} fits are made (all as configured with --every)"
    return replace(system, params=params), note


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
    steps: tuple[tuple[int, int], ...]
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
            tuned = tune_system(self.timeline, system.local(self.threads), self.plan, progress=progress)
            report(tuned)
            progress.advance(progress.left, "tuned")
        used = with_overrides(system, tuned.values) if tuned else system
        ready = used.local(self.threads)
        forecaster = Forecaster(self.timeline, ready.model, ready.params, ready.config.solver)
        parts = []
        began = process_time()
        for step, stop in self.steps:
            end_if_unwanted()
            parts.append(forecaster.predict(step, stop))
            report((stop - step, ""))
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
    refuse_overrides(common, lambda path: path[0] in ("data", "solver"), "is not common to all systems", hint)
    chosen = [name for config in configs for name in (shipped_configs() if config == ALL else [config])]
    twice = next((name for name, count in Counter(chosen).items() if count > 1), None)
    if twice is not None:
        raise ConfigError("is compared with itself", where=twice, hint="name every config once")
    stems = Counter(Path(name).stem for name in chosen)
    resolved = {name: resolve(read_document(name, overrides)) for name in chosen}
    names = (stem if stems[stem := Path(name).stem] == 1 else name for name in chosen)
    return [replace(one, name=name) for name, one in zip(names, resolved.values(), strict=True)]


def timeline_of_run(run: Run, overrides: Sequence[str] = ()) -> Timeline:
    """Timeline of a run's games; period and colours may be overridden. Raises RunError, ConfigError."""
    document = override(Document(values=run.meta.config), overrides)
    why = "cannot change for games that a run holds"
    hint = "read them again with --games"
    refuse_overrides(document, lambda path: path[0] != "data" or path in _OF_A_RUN, why, hint)
    data = resolve(document).config.data
    return build_timeline(run.stored_games(), data.period, data.colours)


def timeline_of_files(
    files: Sequence[str], systems: Sequence[Resolved], *, progress: Progress = SILENT
) -> Timeline:
    """Timeline of files by the systems' common data section. Raises ConfigError when sections differ, DataError."""
    data = systems[0].config.data
    for key, other in product(DataConfig.model_fields, systems[1:]):
        if getattr(data, key) != getattr(other.config.data, key):
            raise ConfigError(
                f"{systems[0].name} and {other.name} differ in data.{key}, but are to predict the same games",
                hint=f"set it for all with -s data.{key}=...",
            )
    return build_timeline(read_games(files, data, progress=progress), data.period, data.colours)
