"""The evidence over a grid of parameters (TTT paper, section 4 and figure 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ttt_cli.config.axes import Axis, parse_axes
from ttt_cli.config.document import Document, dotted
from ttt_cli.config.load import override
from ttt_cli.config.schema import SolverConfig
from ttt_cli.errors import ConfigError
from ttt_cli.evaluate.executors import available_cores, run_chains
from ttt_cli.fitted import Fit
from ttt_cli.models import registry
from ttt_cli.models.params import Params
from ttt_cli.models.resolve import Resolved, numeric_params, resolve, with_overrides
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.evidence import EvidencePoint
from ttt_cli.runs.meta import canonical
from ttt_cli.runs.run import Run
from ttt_cli.timeline import Timeline, build_timeline

CHAIN = 5  # points that start from each other; shorter chains are shared out more evenly
SMALL = 2_000_000  # games times points up to which starting processes costs more than it saves


@dataclass
class _Fitter:
    """Fits one timeline at point after point, starting each from the one before."""

    timeline: Timeline
    model: str
    solver: SolverConfig
    last: Fit | None = field(default=None, repr=False)

    def step(self, params: Params, *, fresh: bool) -> EvidencePoint:
        self.last = registry.load(self.model).fit(
            self.timeline, params, self.solver, start=None if fresh else self.last
        )
        return EvidencePoint(
            asked=params.model_dump(),
            params=self.last.params,
            log_evidence=self.last.log_evidence,
            converged=self.last.status.converged,
            sweeps=self.last.status.sweeps,
            remaining_error=self.last.status.remaining_error,
        )


def grid_points(resolved: Resolved, axes: Sequence[Axis]) -> list[Params]:
    """The parameters at every point, the last axis running fastest, back and forth so that neighbours follow.

    Raises ConfigError for values that the model does not take.
    """
    points = []
    forth = True
    for outer in product(*(axis.values for axis in axes[:-1])):
        line = axes[-1].values if forth else axes[-1].values[::-1]
        forth = not forth
        for value in line:
            values: Mapping[str, Any] = dict(zip((axis.key for axis in axes), (*outer, value), strict=True))
            points.append(with_overrides(resolved, values).params)
    return points


def evaluate_points(
    timeline: Timeline, resolved: Resolved, points: Sequence[Params], *, jobs: int | None = None
) -> Iterator[EvidencePoint]:
    """Fit at every point and yield each as soon as it is there. `jobs` None: as many as pay off."""
    chains = [points[at : at + CHAIN] for at in range(0, len(points), CHAIN)]
    if jobs is None:
        jobs = 1 if timeline.n_games * len(points) < SMALL else available_cores()
    fitter = _Fitter(timeline, resolved.model.NAME, resolved.config.solver)
    yield from run_chains(fitter, chains, jobs)


def evidence_grid(
    run: Run,
    spec: str,
    overrides: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress = SILENT,
) -> tuple[tuple[str, ...], list[EvidencePoint]]:
    """The evidence of a run's games over a grid: the keys of its axes and all points.

    `spec` is `beta,tau` or the like (`ttt_cli.config.axes`), `overrides` change model and solver of the run's config
    (`model.draw_margin=200`). Points that the run holds already are not computed again; new ones are stored as they
    finish. Raises ConfigError.
    """
    resolved = _with_run_config(run, overrides)
    axes = parse_axes(spec, numeric_params(resolved))
    points = grid_points(resolved, axes)
    known = {point.point: point for point in run.evidence_points() if _good_enough(point, resolved)}
    wanted = {params_key(params): params for params in points}
    missing = [params for key, params in wanted.items() if key not in known]
    with progress.task("grid", total=len(wanted), unit="point") as bar:
        bar.advance(len(wanted) - len(missing))
        if missing:
            timeline = build_timeline(run.stored_games(), resolved.config.data.period)
            for point in evaluate_points(timeline, resolved, missing, jobs=jobs):
                run.store_evidence([point])
                known[point.point] = point
                bar.advance(1, f"log-evidence {point.log_evidence:.1f}")
    return tuple(axis.key for axis in axes), [known[key] for key in wanted]


def params_key(params: Params) -> str:
    """What a point of evidence with these parameters is known by."""
    return canonical(params.model_dump())


def _good_enough(point: EvidencePoint, resolved: Resolved) -> bool:
    """A point that failed, or was computed to a wider tolerance, is computed again."""
    return point.converged and point.remaining_error <= resolved.config.solver.tol


def _with_run_config(run: Run, overrides: Sequence[str]) -> Resolved:
    document = override(Document(values=run.meta.config), overrides)
    for path in sorted(document.overridden):
        if path[0] not in ("model", "solver") or path == ("model", "name"):
            raise ConfigError(
                f"{dotted(path)} cannot change for the games and the model of a run",
                where=document.where(path),
                hint="fit them again with `ttt fit`",
            )
    return resolve(document)
