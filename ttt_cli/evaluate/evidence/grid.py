"""The evidence over a grid of parameters (TTT paper, section 4 and figure 2)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Any, Final

from ttt_cli.cluster.chains import chain_workers, threads_each
from ttt_cli.cluster.client import cluster_asked
from ttt_cli.config.axes import Axis, parse_axes
from ttt_cli.config.document import Document, aliases
from ttt_cli.config.load import override, refuse_overrides
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import rough_enough
from ttt_cli.processes import available_cores, run_chains
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.evidence import EvidencePoint
from ttt_cli.runs.meta import canonical
from ttt_cli.runs.run import Run
from ttt_cli.runs.storing.writing import writing
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, numeric_params, resolve, with_overrides
from ttt_cli.timeline import Timeline, build_timeline

CHAIN: Final = 5  # points at most that start from each other; shorter chains are shared out more evenly
CHAINS: Final = 8  # so many at least, while there are points enough
SMALL: Final = 2_000_000  # games times points up to which starting processes costs more than it saves
MOST: Final = 100_000  # points of a grid
PAUSE: Final = 0.5  # seconds at least between two times that points are stored


@dataclass(frozen=True)
class EvidenceGrid:
    """The evidence at every combination of the axes' values, `known` of which the run held before.

    `open_ends`: by axis, whether the parameter may be lower than the axis's first value and higher than its last.
    """

    axes: tuple[Axis, ...]
    points: tuple[EvidencePoint, ...]
    known: int
    open_ends: Mapping[str, tuple[bool, bool]]

    @property
    def keys(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(axis.key for axis in self.axes)


@dataclass
class Fitter:
    """Fits one timeline at point after point, starting each from the one before; `axes` name a point in errors."""

    timeline: Timeline
    model: str
    solver: SolverConfig
    axes: tuple[str, ...] = ()
    last: Fit | None = field(default=None, repr=False)

    def step(self, params: Params, *, fresh: bool) -> EvidencePoint:
        """The evidence at one point. Raises ConfigError, naming the point, when the model cannot take it."""
        near = None if fresh or self.last is None or not self.last.status.converged else self.last
        try:
            self.last = registry.fit(
                registry.load(self.model), self.timeline, params, self.solver, start=near, evidence_only=True
            )
        except ConfigError as error:
            place = ", ".join(f"{key}={getattr(params, key):g}" for key in self.axes)
            raise ConfigError(error.message, where=f"--grid at {place}", hint=error.hint) from error
        return EvidencePoint.of(self.last, params.model_dump())


def evidence_grid(
    run: Run,
    spec: str,
    overrides: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress = SILENT,
) -> EvidenceGrid:
    """The evidence of a run's games over a grid.

    `spec` is `beta,tau` or the like (`ttt_cli.config.axes`), `overrides` change model and solver of the run's config
    (`model.draw_margin=200`). Points that the run holds already are not computed again; new ones are stored as they
    finish, also when the work is interrupted. `jobs`: how many processes; None for the cluster that the config or
    $TTT_CLUSTER names, else as many processes as pay off. Results do not depend on it. Raises ConfigError, RunError,
    WorkerLost, SetupError; RunReplaced when another run has come to its place.
    """
    asked = _ask(run, spec, overrides)
    known = len(asked.found)
    if known < len(asked.points):
        with writing(run.path):
            run.refuse_replaced()
            asked = _ask(run, spec, overrides)  # another process may have stored some of them
            known = len(asked.found)
            _compute(run, asked, jobs, progress)
    ends = {axis.key: open_ends(asked.resolved, axis) for axis in asked.axes}
    points = tuple(asked.found[params_key(params)] for params in asked.points)
    return EvidenceGrid(asked.axes, points, known, ends)


@dataclass(frozen=True)
class _Asked:
    """A grid and those of its points that are known."""

    resolved: Resolved
    axes: tuple[Axis, ...]
    points: Sequence[Params]
    found: dict[str, EvidencePoint]


def _ask(run: Run, spec: str, overrides: Sequence[str]) -> _Asked:
    symbols = aliases(registry.load(run.meta.model).Params)
    resolved = run_config(run, overrides)
    axes = parse_axes(spec, numeric_params(resolved), symbols)
    _refuse_fixed_axes(axes, overrides, symbols)
    points = grid_points(resolved, axes)
    stored = {point.point: point for point in run.evidence_points()}
    solver = _solver(resolved)
    found = {key: stored[key] for key in map(params_key, points) if good_enough(stored.get(key), solver)}
    return _Asked(resolved, axes, points, found)


def _compute(run: Run, asked: _Asked, jobs: int | None, progress: Progress) -> None:
    """Find the missing points, from their neighbours on, and keep them in the run."""
    resolved, found = asked.resolved, asked.found
    missing, known = len(asked.points) - len(found), len(found)
    if not missing:
        return
    chains = [[p for p in chain if params_key(p) not in found] for chain in make_chains(asked.points)]
    data, solver = resolved.config.data, _solver(resolved)
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    where = None if jobs else cluster_asked(solver.cluster)
    jobs = jobs or jobs_that_pay(timeline.n_games, missing)
    threads = threads_each(where, jobs, solver.threads, available_cores())
    each = solver.model_copy(update={"threads": threads, "cluster": None})
    fitter = Fitter(timeline, resolved.model.NAME, each, tuple(axis.key for axis in asked.axes))
    label = f"grid, {known:,} known" if known else "grid"
    with (
        chain_workers(where, jobs) as workers,
        progress.task(label, total=missing, unit="points") as bar,
        storing_points(run) as keep,
        closing(run_chains(fitter, chains, workers)) as results,
    ):
        for point in results:
            keep(point)
            found[point.point] = point
            bar.advance(1, f"log-evidence {point.log_evidence:.1f}")


def _solver(resolved: Resolved) -> SolverConfig:
    """How exactly points are fitted: expectation propagation as roughly as its evidence allows."""
    solver = resolved.config.solver
    return rough_enough(solver) if resolved.model.TRAITS.quantities else solver


def grid_points(resolved: Resolved, axes: Sequence[Axis]) -> list[Params]:
    """The parameters at every point, the last axis fastest, back and forth so that neighbours follow.

    Raises ConfigError for values that the model does not take, and for more than MOST points.
    """
    size = math.prod(len(axis.values) for axis in axes)
    if size > MOST:
        raise ConfigError(f"the grid has {size:,} points", hint=f"ask for at most {MOST:,}")
    fields = resolved.model.Params.model_fields
    points = []
    forth = True
    for outer in product(*(axis.values for axis in axes[:-1])):
        line = axes[-1].values if forth else axes[-1].values[::-1]
        forth = not forth
        for value in line:
            values: dict[str, Any] = dict(zip((axis.key for axis in axes), (*outer, value), strict=True))
            for key, number in values.items():
                if fields[key].annotation is int and number.is_integer():
                    values[key] = int(number)
            points.append(with_overrides(resolved, values).params)
    return points


def make_chains(points: Sequence[Params]) -> list[Sequence[Params]]:
    """Neighbouring points in pieces, by their number alone: what is known or how many work changes nothing."""
    size = min(CHAIN, max(1, len(points) // CHAINS))
    return [points[at : at + size] for at in range(0, len(points), size)]


def jobs_that_pay(games: int, points: int) -> int:
    """How many processes to use when nobody says."""
    return 1 if games * points < SMALL else available_cores()


def params_key(params: Params) -> str:
    """What a point of evidence with these parameters is known by."""
    return canonical(params.model_dump())


def good_enough(point: EvidencePoint | None, solver: SolverConfig) -> bool:
    """Whether a stored point can stand: converged to the tolerance, or not to be had in that many sweeps."""
    if point is None:
        return False
    if point.remaining_error <= solver.tol:
        return point.converged
    return not point.converged and point.sweeps >= solver.max_sweeps


def open_ends(resolved: Resolved, axis: Axis) -> tuple[bool, bool]:
    """Whether the model takes values below and above those of the axis."""

    def taken(value: float) -> bool:
        try:
            with_overrides(resolved, {axis.key: value})
        except ConfigError:
            return False
        return True

    low, high = axis.values[0], axis.values[-1]
    return taken(math.nextafter(low, -math.inf)), taken(math.nextafter(high, math.inf))


@contextmanager
def storing_points(run: Run) -> Iterator[Callable[[EvidencePoint], None]]:
    """A function that keeps points in the run: some at a time, and in the end, however that comes, the rest."""
    pending: list[EvidencePoint] = []
    stored = monotonic()

    def keep(point: EvidencePoint) -> None:
        nonlocal stored
        pending.append(point)
        if monotonic() - stored >= PAUSE:
            run.store_evidence(pending)
            pending.clear()
            stored = monotonic()

    try:
        yield keep
    finally:
        run.store_evidence(pending)
        run.merge_evidence()


def run_config(run: Run, overrides: Sequence[str]) -> Resolved:
    """The config of a run with `KEY=VALUE` overrides on top. Raises ConfigError for keys outside model and solver."""
    document = override(Document(values=run.meta.config), overrides)
    refuse_overrides(
        document,
        lambda path: path[0] in ("model", "solver") and path != ("model", "name"),
        "cannot change for the games and the model of a run",
        "fit them again with `ttt fit`",
    )
    return resolve(document)


def _refuse_fixed_axes(axes: Sequence[Axis], overrides: Sequence[str], symbols: Mapping[str, str]) -> None:
    document = override(Document(), overrides)
    fixed = {symbols.get(str(path[-1]), path[-1]): path for path in document.overridden if path[0] == "model"}
    for axis in axes:
        if axis.key in fixed:
            raise ConfigError(
                f"{axis.key} varies over the grid",
                where=document.where(fixed[axis.key]),
                hint=f"leave it out, or take {axis.key} from the grid",
            )
