"""Find the parameters that maximise the evidence of a run's games, with standard errors."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ttt_cli.cluster import chain_workers, cluster_asked
from ttt_cli.config.schema import Config
from ttt_cli.evaluate.grid import run_config, storing_points
from ttt_cli.evaluate.optimise import FunctionValue, Optimum, coordinates, maximise, parse_keys
from ttt_cli.fitted import Fit
from ttt_cli.inference.outcome import draw_share
from ttt_cli.inference.params import ESTIMATE, Params
from ttt_cli.inference.solver import NONE
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import writing
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.progress import SILENT, Bar, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, with_overrides
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.work import Reporting, report, run_chains

SCALES: Final = "prior_sd", "beta"  # the lengths in which coordinates are measured
DEFAULT_KEYS: Final = "beta,tau"
STEP: Final = 0.02  # in a coordinate: of differences for the gradient
VAGUE: Final = 1.0  # standard error of a logarithm from which a parameter counts as hardly determined
DIGITS: Final = 7  # of the values in the tuned config
_BOUNDS: Final[dict[int, Literal["lower", "upper"] | None]] = {-1: "lower", 0: None, 1: "upper"}


@dataclass(frozen=True)
class TunedParameter:
    """A tuned parameter. `standard_error` is None without curvature; `bound`: the bound where it stopped."""

    key: str
    start: float
    value: float
    standard_error: float | None
    bound: Literal["lower", "upper"] | None


@dataclass(frozen=True)
class Tuning:
    """Result of tuning.

    `correlations`: shape (parameters, parameters), NaN where unknown. `start_log_evidence` and `log_evidence`: before
    and after. `distance` to the maximum of the evidence, standard errors, where the curvature gives it. `config`: the
    run's with the tuned values, described by `schema`. `evaluations` and `sweeps` count all fits. `remarks`: warnings
    for users.
    """

    parameters: tuple[TunedParameter, ...]
    correlations: Array
    start_log_evidence: float
    log_evidence: float
    config: Config
    schema: type[Params]
    converged: bool
    distance: float | None
    evaluations: int
    sweeps: int
    remarks: tuple[str, ...]


def tune(
    run: Run, keys: str = DEFAULT_KEYS, overrides: Sequence[str] = (), *, progress: Progress = SILENT
) -> Tuning:
    """Maximise the log-evidence of a run's games over the parameters `keys` (`beta,tau`), from the values of its
    config.

    `overrides` change model and solver of the config (`solver.tol=0.001`); for a tuned parameter they set the start.
    Every fit is stored in the run as an evidence point, also after an interrupt. Parameters that are `auto` or null
    become numbers; an estimated white_advantage is tuned too.

    Raises ConfigError for parameters and models that cannot be tuned, RunError; on a cluster WorkerLost and
    SetupError.
    """
    with writing(run.path):
        run.refuse_replaced()
        resolved = run_config(run, overrides)
        if not resolved.model.TRAITS.tunable:
            raise ConfigError(
                f"{resolved.model.NAME} has no evidence that can be maximised",
                hint="`ttt compare --tune` tunes any system by what it predicts",
            )
        data = resolved.config.data
        timeline = build_timeline(run.stored_games(), data.period, data.colours)
        search = Search(timeline, parse_keys(keys, resolved, colours=timeline.colours))
        with (
            chain_workers(cluster_asked(resolved.config.solver.cluster), 1) as workers,
            progress.task("tuning", unit="fits") as bar,
            storing_points(run) as keep,
        ):

            def hear(_: None, message: Any) -> None:
                if isinstance(message, EvidencePoint):
                    keep(message)
                elif isinstance(message, tuple):
                    bar.advance(*message)

            with closing(run_chains(search, [[resolved]], workers, on_report=hear)) as found:
                return next(found)


class Counts(NamedTuple):
    """Cost of an objective: fits, sweeps, and fits without evidence."""

    evaluations: int = 0
    sweeps: int = 0
    failed: int = 0


@dataclass(frozen=True)
class _Known:
    """A computed value (None: undefined), and the counts of the objective after it."""

    at: bytes
    point: FunctionValue | None
    counts: Counts


@dataclass
class Search:
    """Maximises the evidence in a worker, reports every point and fit, and reuses `known` points."""

    timeline: Timeline
    keys: Sequence[str]
    known: dict[bytes, _Known] = field(default_factory=dict)

    def step(self, item: Resolved, *, fresh: bool) -> Tuning:  # noqa: ARG002
        """Search from a config."""
        solver = item.config.solver.model_copy(update={"cluster": None})
        here = replace(item, config=item.config.model_copy(update={"solver": solver}))
        objective = Objective(here, self.timeline, self.keys, report, Reporting())

        def at(place: Array) -> FunctionValue | None:
            known = self.known.get(place.tobytes())
            if known is None:
                point = objective.at(place)
                known = _Known(place.tobytes(), point, objective.counts)
                report(known)
            objective.counts = known.counts
            return known.point

        low, high = np.array([one.bounds for one in objective.coordinates]).T
        return _describe(objective, maximise(at, objective.begin, low, high))

    def recall(self, messages: Sequence[Any]) -> None:
        """Reuse points that a lost search had reported."""
        self.known = {one.at: one for one in messages if isinstance(one, _Known)}


class Objective:
    """Log-evidence over the coordinates of tuned parameters, and its cost. `keep` receives points, `bar` shows them.

    `configured`: parameters of the config. `begin`: the initial coordinates.
    """

    def __init__(
        self,
        resolved: Resolved,
        timeline: Timeline,
        keys: Sequence[str],
        keep: Callable[[EvidencePoint], None],
        bar: Bar,
    ) -> None:
        if "white_advantage" in keys and getattr(resolved.params, "white_advantage", None) in (0.0, ESTIMATE):
            resolved = with_overrides(resolved, {"white_advantage": NONE})
        self.resolved, self._timeline, self._keep, self._bar = resolved, timeline, keep, bar
        self.counts = Counts()
        self._near: Fit | None = None
        lengths = (float(getattr(resolved.params, key)) for key in SCALES)
        self.coordinates = coordinates(keys, resolved.model.TRAITS.tunable, *lengths)
        self.configured = self._numbers(keys)
        begin = (one.place(max(self.configured[one.key], one.least)) for one in self.coordinates)
        self.begin = np.array(list(begin))
        with_overrides(resolved, self.values(self.begin))  # what the first point cannot be, is refused

    def at(self, at: Array) -> FunctionValue | None:
        """The evidence and its gradient at a point; None where the fit does not converge, or where parameters exclude
        each other, such as a drift of newcomers' mean without growth.
        """
        values = self.values(at)
        if params := self._params(values):
            fit = self._fit(params)
            if fit.status.converged and math.isfinite(fit.log_evidence):
                gradient = self._gradient(at, values, params, fit)
                if np.isfinite(gradient).all():
                    return FunctionValue(at, fit.log_evidence, gradient)
        self.counts = self.counts._replace(failed=self.counts.failed + 1)
        return None

    def _gradient(self, at: Array, values: dict[str, float], params: Params, fit: Fit) -> Array:
        """Gradient in the coordinates; by differences where the model has no exact one."""
        model = self.resolved.model
        if model.TRAITS.exact_gradient(params):
            found = model.gradient(self._timeline, params, fit)
            return np.array([found[one.key] * one.slope(values[one.key]) for one in self.coordinates])
        slopes = []
        for i, one in enumerate(self.coordinates):
            low, high = one.bounds
            ends = np.tile(at, (2, 1))
            ends[:, i] = max(at[i] - STEP, low), min(at[i] + STEP, high)
            there = [self._params(self.values(end)) for end in ends]
            fits = [self._fitted(one_params, fit) for one_params in there if one_params]
            if len(fits) < 2 or not all(end.status.converged for end in fits):
                return np.full(len(at), math.nan)
            slopes.append((fits[1].log_evidence - fits[0].log_evidence) / (ends[1, i] - ends[0, i]))
        return np.array(slopes)

    def _params(self, values: dict[str, float]) -> Params | None:
        """All parameters with these values; None where they exclude each other."""
        try:
            return with_overrides(self.resolved, values).params
        except ConfigError:
            return None

    def values(self, at: Array) -> dict[str, float]:
        """Parameters at a point."""
        return {one.key: one.value(float(place)) for one, place in zip(self.coordinates, at, strict=True)}

    def _numbers(self, keys: Sequence[str]) -> dict[str, float]:
        """Configured parameters; `auto` and null are resolved by the model."""
        given = {key: getattr(self.resolved.params, key) for key in keys}
        if given.get("draw_probability", 0.0) is None:
            given["draw_probability"] = draw_share(self._timeline)
        if not all(isinstance(value, float) for value in given.values()):
            worked_out = self._fit(self.resolved.params).params
            given = {key: worked_out[key] if worked_out[key] is not None else given[key] for key in keys}
        return {key: float(value) for key, value in given.items()}

    def _fit(self, params: Params) -> Fit:
        fit = self._fitted(params, self._near)
        if fit.status.converged:
            self._near = fit
        if math.isfinite(fit.log_evidence):
            self._keep(EvidencePoint.of(fit, params.model_dump()))
        words = ", ".join(f"{one.key} {fit.params[one.key]:.4g}" for one in self.coordinates)
        self._bar.advance(1, f"log-evidence {fit.log_evidence:.2f}, {words}")
        return fit

    def _fitted(self, params: Params, near: Fit | None) -> Fit:
        model, solver = self.resolved.model, self.resolved.config.solver
        fit = registry.fit(model, self._timeline, params, solver, start=near, evidence_only=True)
        evaluations, sweeps, failed = self.counts
        self.counts = Counts(evaluations + 1, sweeps + fit.status.sweeps, failed)
        return fit


def _describe(objective: Objective, optimum: Optimum) -> Tuning:
    start = objective.values(objective.begin)
    values = {key: float(f"{value:.{DIGITS}g}") for key, value in objective.values(optimum.point.at).items()}
    errors = np.sqrt(np.diag(optimum.covariance))
    tuned = with_overrides(objective.resolved, values)
    correlations = optimum.covariance / np.outer(errors, errors)
    np.fill_diagonal(correlations, np.where(np.isnan(errors), math.nan, 1.0))
    return Tuning(
        parameters=tuple(
            TunedParameter(
                key=one.key,
                start=round(start[one.key], 6),
                value=values[one.key],
                standard_error=None if math.isnan(error) else float(error * one.slope(values[one.key])),
                bound=_BOUNDS[side],
            )
            for one, error, side in zip(objective.coordinates, errors, optimum.side.tolist(), strict=True)
        ),
        correlations=correlations,
        start_log_evidence=optimum.start.value,
        log_evidence=optimum.point.value,
        config=tuned.config,
        schema=type(tuned.params),
        converged=optimum.reached,
        distance=optimum.distance,
        evaluations=objective.counts.evaluations,
        sweeps=objective.counts.sweeps,
        remarks=tuple(_remarks(objective, optimum, errors)),
    )


def _remarks(objective: Objective, optimum: Optimum, errors: Array) -> Iterator[str]:
    if not math.isfinite(optimum.point.value):
        yield "the fit did not converge at the start of the search: start elsewhere with -s, or raise solver.max_sweeps"
        return
    if not optimum.reached:
        yield "NOT CONVERGED: the search ended before the maximum of the evidence"
    evaluations, _, failed = objective.counts
    if failed:
        yield f"{failed} of {evaluations} fits did not converge; the search avoided them"
    for key, value in objective.values(objective.begin).items():
        if not math.isclose(value, objective.configured[key], abs_tol=1e-6):
            yield f"the search started at {key} {value:g} instead of {objective.configured[key]:g}"
    values = objective.values(optimum.point.at)
    for one, side, flat, error in zip(
        objective.coordinates, optimum.side.tolist(), optimum.flat.tolist(), errors, strict=True
    ):
        if flat:
            yield f"the games do not determine {one.key}: the evidence does not depend on it"
        elif side:
            yield f"{one.key} stopped at its {_BOUNDS[side]} bound {values[one.key]:.4g}: no standard error"
        elif one.form == "log" and error > VAGUE:
            yield f"the games hardly determine {one.key}: its standard error is larger than itself"
    if np.isnan(errors[(optimum.side == 0) & ~optimum.flat]).any():
        yield "no standard errors: the evidence is not concave where the search ended, or fits there failed"
