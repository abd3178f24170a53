"""Rating systems side by side: the same games predicted by each, period by period, from earlier ones only."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from ttt_cli.cluster.chains import chain_workers
from ttt_cli.cluster.client import cluster_asked
from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.evaluate.forecast.compare_tune import TunePlan
from ttt_cli.evaluate.forecast.entries import Board, Entry, Lost
from ttt_cli.evaluate.forecast.evaluation import Evaluation, System, tasks_of
from ttt_cli.evaluate.forecast.predict import blocks, find_step
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.processes import available_cores, run_chains
from ttt_cli.progress import SILENT, Progress
from ttt_cli.timeline import Timeline

__all__ = ["Comparison", "Entry", "Lost", "System", "TuneOptions", "compare", "later_half"]

MOST: Final = 25_000_000  # games that all fits of a system may go through: one to two minutes of work
SHARES: Final = (1 / 52, 1 / 26, 1 / 12, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 1.0)  # of a year, after which to refit
SMALL: Final = 20_000_000  # games times fits up to which starting processes costs more than it saves


@dataclass(frozen=True)
class Comparison:
    """Systems that predicted the same games: those of `timeline` from the period at index `first` on.

    `every`: after how many periods smoothed systems were refitted. `plan`: how they were tuned, if they were.
    `lost`: the systems that have no entry. `interrupted`: whether that is because the work was ended.
    `replaced`: which parameters were replaced to afford so many fits.
    """

    timeline: Timeline
    first: int
    every: int
    plan: TunePlan | None
    entries: tuple[Entry, ...]
    lost: tuple[Lost, ...] = ()
    interrupted: bool = False
    replaced: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every system was scored, by fits that converged."""
        return not self.lost and all(entry.converged for entry in self.entries)

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
    every: int | None = None,
    *,
    tuning: TuneOptions | None = None,
    jobs: int | None = None,
    progress: Progress = SILENT,
    on_tuned: Callable[[System, str], object] = lambda *_: None,
) -> Comparison:
    """Let systems predict the games from the period `since` on (a label or its year; None: the later half of them).

    Smoothed systems are refitted every `every` periods; None: as often as can be afforded, in tuning and in the test,
    and with cheaper parameters where so many fits could not be afforded otherwise. With `tuning` every system first
    gets parameters that suit the games before the test; `on_tuned(system, begin)` is called for each at once, with
    when the test begins. `jobs`: how many processes; None for the cluster that a config or $TTT_CLUSTER names, else as
    many processes as pay. Results do not depend on it.
    A system that fails, or whose process dies, is lost, and the others go on; after KeyboardInterrupt those are lost
    that were not done. Raises LookupFailed, ConfigError, and when all are lost what ended the first.
    """
    if not timeline.n_games:
        raise LookupFailed("there are no games to predict")
    first = find_step(timeline, since) if since else later_half(timeline, len(timeline.periods))
    plan = _plan(timeline, first, every, tuning) if tuning else None
    replaced: tuple[str, ...] = ()
    if every is None:
        every = affordable_every(timeline, first)
        systems, replaced = _afforded(timeline, systems, first, every, plan)
    chains = [tasks_of(timeline, number, first, every, plan) for number in range(len(systems))]
    work = timeline.n_games * sum(task.units for chain in chains for task in chain)
    where = (
        None if jobs else cluster_asked(next(filter(None, (s.config.solver.cluster for s in systems)), None))
    )
    jobs = jobs or (1 if work < SMALL else available_cores())
    alone = where == "local:1" if where else min(jobs, len(chains)) == 1
    evaluation = Evaluation(timeline, tuple(systems), plan, None if alone else 1)
    with ExitStack() as stack:
        workers = stack.enter_context(chain_workers(where, jobs))
        board = Board(systems, chains, progress, stack)
        results = run_chains(evaluation, chains, workers, on_report=board.receive, on_lost=board.lose)
        try:
            with closing(results):
                for piece in results:
                    board.add(piece)
                    if piece.tuned:
                        on_tuned(piece.tuned[0], timeline.label(int(timeline.periods[first])))
        except KeyboardInterrupt:
            board.interrupted = True
    return Comparison(
        timeline, first, every, plan, board.entries(), board.lost(), board.interrupted, replaced
    )


def _afforded(
    timeline: Timeline, systems: Sequence[System], first: int, every: int, plan: TunePlan | None
) -> tuple[tuple[System, ...], tuple[str, ...]]:
    """The systems with parameters that can be afforded, and what was replaced."""
    fits = sum(1 for _ in blocks(timeline, first, every))
    if plan:
        fits += plan.evaluations * sum(1 for _ in blocks(timeline.until(first), plan.since, plan.every))
    found = [affordable(timeline, system, fits) for system in systems]
    return tuple(system for system, _ in found), tuple(note for _, note in found if note)


def later_half(timeline: Timeline, end: int) -> int:
    """The index of the first period before which half of the games of the periods before `end` lie."""
    half = int(timeline.game_start[end]) / 2
    return min(int(np.searchsorted(timeline.game_start[: end + 1], half)), max(end - 1, 0))


def _plan(timeline: Timeline, first: int, every: int | None, options: TuneOptions) -> TunePlan:
    since = find_step(timeline, options.since) if options.since else later_half(timeline, first)
    if first == 0 or since >= first:
        raise ConfigError(
            "there are no games before the test to tune with", hint="begin the test later with --test-from"
        )
    every = every or affordable_every(timeline.until(first), since, options.evaluations)
    return TunePlan(since, first, every, options.evaluations, options.by)


def affordable_every(timeline: Timeline, first: int, sets: int = 1) -> int:
    """After how many periods to refit: as few as let all fits go through `MOST` games, but no more than a year's."""
    seen = timeline.game_start[first:-1]
    year = STEPS_PER_YEAR[timeline.period]
    steps = sorted({1, *(max(1, round(share * year)) for share in SHARES)})
    affordable = (every for every in steps if sets * int(seen[::every].sum()) <= MOST)
    return next(affordable, steps[-1])


def affordable(timeline: Timeline, system: System, fits: int) -> tuple[System, str | None]:
    """The system with parameters with which so many fits can be afforded, and a remark on it."""
    instead = system.model.TRAITS.for_many_fits(timeline, system.params, fits)
    if not instead:
        return system, None
    changes = ", ".join(f"{key} {value}" for key, value in instead.items())
    params = system.params.model_copy(update=dict(instead))
    note = f"{system.name}: {changes}, since {fits:,} fits are made (all as configured with --every)"
    return replace(system, params=params), note
