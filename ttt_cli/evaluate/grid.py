"""A grid of parameters: its axes as written on the command line, and the log-evidence at every point."""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.config.covariates import PREFIX
from ttt_cli.config.documents import Document, KeyPath, override, refuse_overrides
from ttt_cli.config.schema import SolverConfig, aliases
from ttt_cli.fitted import Fit
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import rough_enough
from ttt_cli.parallel.cluster import chain_workers, cluster_asked, threads_each
from ttt_cli.parallel.processes import available_cores, run_chains
from ttt_cli.runs.evidence_points import EvidencePoint, canonical
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import write_lock
from ttt_cli.support.arrays import rounded
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import (
    Resolved,
    configured_numbers,
    covariate_params,
    numeric_params,
    resolve,
    with_overrides,
)
from ttt_cli.timeline import Timeline, build_timeline

MAX_COUNT: Final = 10_000
DIGITS: Final = 12  # of the values of an axis
PAPER_AXES: Final[dict[str, tuple[float, ...]]] = {  # in units of prior_sd
    "beta": tuple(step / 5 for step in range(1, 11)),
    "tau": tuple(step / 20 for step in range(1, 11)),
}
SPACINGS: Final[dict[str, Any]] = {"": np.linspace, "linear": np.linspace, "log": np.geomspace}


@dataclass(frozen=True)
class Axis:
    """One parameter of a grid and its values, ascending."""

    key: str
    values: tuple[float, ...]


def parse_axes(
    spec: str, params: Mapping[str, object], symbols: Mapping[str, str] | None = None
) -> tuple[Axis, ...]:
    """The axes of `beta,tau`, `beta=200:800:7,tau=20:200:7:log` or `beta=200/400/480`.

    A bare `beta` or `tau` takes the ratios to `prior_sd` of the paper. `params` are the model's numeric parameters,
    `symbols` other spellings of them (`sigma0` -> `prior_sd`). Raises ConfigError.
    """

    def refused(message: str, hint: str) -> ConfigError:
        return ConfigError(message, where=f"--grid {spec}", hint=hint)

    axes: dict[str, Axis] = {}
    unit = params.get("prior_sd")
    for part in spec.split(","):
        word, equals, steps = (piece.strip() for piece in part.partition("="))
        key = (symbols or {}).get(word, word)
        if key not in params:
            hint = suggested(word, params, f"parameters are {', '.join(params)}", "{}")
            raise refused(f"unknown parameter {word!r}", hint)
        if key in axes:
            raise refused(f"{key} is given twice", "one axis for each parameter")
        try:
            if equals or key not in PAPER_AXES or not isinstance(unit, (int, float)):
                values = _values(steps)
            else:
                values = [rounded(ratio * unit, DIGITS) for ratio in PAPER_AXES[key]]
        except (ValueError, KeyError) as error:
            hint = f"{key}=200/400/480 or {key}=START:STOP:COUNT, with :log where the ends are positive"
            raise refused(f"{part.strip()} is not a list or a range of numbers", hint) from error
        axes[key] = Axis(key, tuple(sorted(values)))
    return tuple(axes.values())


def _values(steps: str) -> list[float]:
    """Values of `200/400/480` or `START:STOP:COUNT[:SPACING]`. Raises ValueError and KeyError."""
    if ":" not in steps:
        values = [float(text) for text in steps.split("/")]
    else:
        first, last, number, *spacing = (part.strip() for part in steps.split(":"))
        start = float(first)
        stop = float(last)
        count = int(number)
        spaced = SPACINGS[":".join(spacing)]
        counted = 1 < count <= MAX_COUNT or (count == 1 and start == stop)
        spaced_out = np.isfinite([start, stop]).all() and (
            spaced is np.linspace or min(start, stop) > 0.0
        )
        if not (counted and spaced_out):
            raise ValueError(steps)
        values = [rounded(value, DIGITS) for value in spaced(start, stop, count).tolist()]
        values[0] = start
        values[-1] = stop
    if len(set(values)) < len(values) or not np.isfinite(values).all():
        raise ValueError(steps)
    return values


# Points at most that start from each other; shorter chains are shared out more evenly
CHAIN: Final = 5
CHAINS: Final = 8  # so many at least, while there are points enough
# Games times points up to which starting processes costs more than it saves
SMALL: Final = 2_000_000
MOST_POINTS: Final = 100_000  # points of a grid
PAUSE: Final = 0.5  # seconds at least between two times that points are stored


@dataclass(frozen=True)
class EvidenceGrid:
    """Evidence at every combination of the values of `keys`; `stored`: number of points that were already stored."""

    keys: tuple[str, ...]
    points: tuple[EvidencePoint, ...]
    stored: int


@dataclass
class Fitter:
    """Fits one timeline at successive points, each started from the one before; `axes` name a point in errors."""

    timeline: Timeline
    model: str
    solver: SolverConfig
    axes: tuple[str, ...] = ()
    last: Fit | None = field(default=None, repr=False)

    def step(self, params: Params, *, fresh: bool) -> EvidencePoint:
        """Evidence at one point. Raises ConfigError, naming the point, when the model rejects it."""
        start = self.last
        if fresh or start is None or not start.status.converged:
            start = None
        model = registry.load(self.model)
        try:
            self.last = registry.fit(
                model, self.timeline, params, self.solver, start=start, evidence_only=True
            )
        except ConfigError as error:
            values = configured_numbers(params)
            point = ", ".join(f"{key}={values[key]:g}" for key in self.axes)
            raise ConfigError(error.message, where=f"--grid at {point}", hint=error.hint) from error
        return EvidencePoint.of(self.last, params.model_dump())


def evidence_grid(
    run: Run,
    spec: str,
    overrides: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress = SILENT,
) -> EvidenceGrid:
    """Compute the evidence of a run's games over a grid `spec` such as `beta,tau` (`parse_axes`).

    `overrides` change model and solver of the run's config. Stored points are reused; new ones are stored as they
    finish, also after an interrupt. `jobs`: number of processes; None: the cluster of the config or of $TTT_CLUSTER,
    else as many as pay. Raises ConfigError, RunError, WorkerLost, SetupError; RunReplaced for another run in its place.
    """
    resolved = run_config(run, overrides)
    axes = _axes_of(run, resolved, spec, overrides)
    points = grid_points(resolved, axes)
    keys = tuple(axis.key for axis in axes)
    solver = resolved.config.solver
    if resolved.model.TRAITS.quantities:
        solver = rough_enough(solver)  # the tolerance that the evidence needs
    by_key = _stored_points(run, points, solver)
    n_stored = len(by_key)
    if n_stored < len(points):
        with write_lock(run.path):
            run.refuse_replaced()
            by_key = _stored_points(run, points, solver)  # perhaps more, by another process
            n_stored = len(by_key)
            missing = _Missing(
                chains=[
                    [params for params in chain if params_key(params) not in by_key]
                    for chain in make_chains(points)
                ],
                n_points=len(points) - n_stored,
                label=f"grid, {n_stored:,} known" if n_stored else "grid",
            )
            computed = _compute_points(run, resolved, solver, keys, missing, jobs, progress)
            with closing(computed):
                by_key |= {point.point: point for point in computed}
    return EvidenceGrid(keys, tuple(by_key[params_key(params)] for params in points), n_stored)


def _axes_of(run: Run, resolved: Resolved, spec: str, overrides: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of a grid. Raises ConfigError, also for one of a parameter that `overrides` set."""
    symbols = aliases(resolved.model.Params)
    data = resolved.config.data
    covariates: dict[str, float | None] = {}
    if data.covariates or PREFIX in spec:
        covariates = covariate_params(
            resolved, build_timeline(run.stored_games(), data.period, data.colours), spec
        )
    axes = parse_axes(spec, {**numeric_params(resolved), **covariates}, symbols)
    document = override(Document(), overrides)
    fixed = {_axis_of(path, symbols): path for path in document.overridden if path[0] == "model"}
    for axis in axes:
        if axis.key in fixed:
            raise ConfigError(
                f"{axis.key} varies over the grid",
                where=document.where(fixed[axis.key]),
                hint=f"leave it out, or take {axis.key} from the grid",
            )
    return axes


def _stored_points(
    run: Run, points: Sequence[Params], solver: SolverConfig
) -> dict[str, EvidencePoint]:
    """The points of a grid that are stored already, as exactly as `solver` wants, by their keys."""
    stored = {point.point: point for point in run.evidence_points()}
    keys = [params_key(params) for params in points]
    return {key: stored[key] for key in keys if good_enough(stored.get(key), solver)}


class _Missing(NamedTuple):
    """Points to compute, in chains, how many these are, and what the progress is called."""

    chains: list[list[Params]]
    n_points: int
    label: str


def _compute_points(
    run: Run,
    resolved: Resolved,
    solver: SolverConfig,
    axes: tuple[str, ...],
    missing: _Missing,
    jobs: int | None,
    progress: Progress,
) -> Generator[EvidencePoint]:
    """Compute, store and yield points one by one, in other processes where that pays."""
    data = resolved.config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    cluster = None if jobs else cluster_asked(solver.cluster)
    pays = timeline.n_games * missing.n_points >= SMALL
    jobs = jobs or (available_cores() if pays else 1)
    threads = threads_each(cluster, jobs, solver.threads, available_cores())
    local_solver = solver.model_copy(update={"threads": threads, "cluster": None})
    fitter = Fitter(timeline, resolved.model.NAME, local_solver, axes)
    with ExitStack() as stack:
        workers = stack.enter_context(chain_workers(cluster, jobs))
        bar = stack.enter_context(
            progress.task(missing.label, total=missing.n_points, unit="points")
        )
        store = stack.enter_context(storing_points(run))
        for point in stack.enter_context(closing(run_chains(fitter, missing.chains, workers))):
            store(point)
            yield point
            bar.advance(1, f"log-evidence {point.log_evidence:.1f}")


def _axis_of(path: KeyPath, symbols: Mapping[str, str]) -> str:
    """The axis that would vary a key of the config."""
    _, key, *inner = map(str, path)
    return ".".join([symbols.get(key, key), *inner])


def grid_points(resolved: Resolved, axes: Sequence[Axis]) -> list[Params]:
    """Parameters at every point, neighbours in succession. Raises ConfigError for rejected values and too many."""
    size = math.prod(len(axis.values) for axis in axes)
    if size > MOST_POINTS:
        raise ConfigError(f"the grid has {size:,} points", hint=f"ask for at most {MOST_POINTS:,}")
    *outer_axes, inner_axis = axes
    points = []
    for number, outer_values in enumerate(product(*(axis.values for axis in outer_axes))):
        # to and fro along the last axis, so that the fit of one point is a good start for the next
        goes_back = number % 2 == 1
        for inner_value in inner_axis.values[::-1] if goes_back else inner_axis.values:
            point = dict(zip((axis.key for axis in outer_axes), outer_values, strict=True))
            point[inner_axis.key] = inner_value
            points.append(with_overrides(resolved, _with_integers(resolved, point)).params)
    return points


def _with_integers(resolved: Resolved, point: Mapping[str, float]) -> dict[str, float | int]:
    """A point with whole numbers as integers where the model's parameter is one."""
    fields = resolved.model.Params.model_fields
    return {
        key: int(value)
        if key in fields and fields[key].annotation is int and value.is_integer()
        else value
        for key, value in point.items()
    }


def make_chains(points: Sequence[Params]) -> list[Sequence[Params]]:
    """Neighbouring points in chains; they depend on the number of points only."""
    size = min(CHAIN, max(1, len(points) // CHAINS))
    return [points[at : at + size] for at in range(0, len(points), size)]


def params_key(params: Params) -> str:
    """Key of an evidence point."""
    return canonical(params.model_dump())


def good_enough(point: EvidencePoint | None, solver: SolverConfig) -> bool:
    """Whether a stored point can be reused: it converged to the tolerance, or used as many sweeps as allowed."""
    if point is None:
        return False
    is_exact = point.converged and point.remaining_error <= solver.tol
    is_exhausted = not point.converged and point.sweeps >= solver.max_sweeps
    return is_exact or (is_exhausted and point.remaining_error > solver.tol)


@contextmanager
def storing_points(run: Run) -> Iterator[Callable[[EvidencePoint], None]]:
    """Yield a function that stores points in the run in batches; the last batch is stored also after errors."""
    pending: list[EvidencePoint] = []
    last_time = monotonic()

    def store(point: EvidencePoint) -> None:
        nonlocal last_time
        pending.append(point)
        if monotonic() - last_time >= PAUSE:
            run.store_evidence(pending)
            pending.clear()
            last_time = monotonic()

    try:
        yield store
    finally:
        run.store_evidence(pending)


def run_config(run: Run, overrides: Sequence[str]) -> Resolved:
    """Config of a run with `KEY=VALUE` overrides. Raises ConfigError for keys outside model and solver."""
    document = override(Document(values=run.meta.config), overrides)
    refuse_overrides(
        document,
        allowed=lambda path: path[0] in ("model", "solver") and path != ("model", "name"),
        why="cannot change for the games and the model of a run",
        hint="fit them again with `ttt fit`",
    )
    return resolve(document)
