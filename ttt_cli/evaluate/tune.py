"""Tune parameters: to the evidence of a run's games, with standard errors, or to predictions before a test."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ttt_cli.config.covariates import PREFIX
from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.config.margin_steps import steps_by_key
from ttt_cli.config.offsets import offset_params
from ttt_cli.config.schema import Config
from ttt_cli.evaluate.calibration import CalibrationSlope, calibration_slope
from ttt_cli.evaluate.forecast import Forecaster, blocks, later_half
from ttt_cli.evaluate.grid import run_config, storing_points
from ttt_cli.evaluate.optimise import coordinates, parse_keys
from ttt_cli.fitted import Fit
from ttt_cli.inference.advantage import ALMOST_NONE, AdvantagePrior
from ttt_cli.inference.advantage import NAME as ADVANTAGE
from ttt_cli.inference.covariates import EstimatePrior, typical_size
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.lapse import LapsePrior
from ttt_cli.inference.maximise import FunctionValue, Optimum, maximise
from ttt_cli.inference.outcome import draw_share
from ttt_cli.inference.params import MARGIN_STEP, Params
from ttt_cli.inference.victory import PRIOR_MEAN, StepPrior
from ttt_cli.parallel.cluster import chain_workers, cluster_asked
from ttt_cli.parallel.processes import Reporting, report, run_chains
from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import write_lock
from ttt_cli.support.arrays import Array, rounded
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.progress import SILENT, Bar, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import (
    Resolved,
    accepted,
    covariate_params,
    step_params,
    with_overrides,
)
from ttt_cli.timeline import Timeline, build_timeline

DEFAULT_KEYS: Final = "beta,tau"
DIFFERENCE: Final = 0.02  # in a coordinate: of differences for the gradient
DIGITS: Final = 7  # of the values in the tuned config
REFITS: Final = 8  # of a smoothed system, for the calibration of its predictions
_NO_ESTIMATES: Final[Mapping[str, float | None]] = MappingProxyType({})
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
    and after. `config`: the run's with the tuned values, described by `schema`. `evaluations` and `sweeps` count all
    fits. `remarks`: warnings for users.
    """

    parameters: tuple[TunedParameter, ...]
    correlations: Array
    start_log_evidence: float
    log_evidence: float
    config: Config
    schema: type[Params]
    converged: bool
    evaluations: int
    sweeps: int
    remarks: tuple[str, ...]


def tune(
    run: Run,
    keys: str = DEFAULT_KEYS,
    overrides: Sequence[str] = (),
    *,
    progress: Progress = SILENT,
) -> Tuning:
    """Maximise the log-evidence of a run's games over the parameters `keys`, from the values of its config.

    `overrides` change model and solver of the config; for a tuned parameter they set the start. Every fit is stored in
    the run as an evidence point, also after an interrupt. Parameters that are `auto` or null become numbers; those that
    are estimated (white_advantage, covariates) are tuned too, from the run's estimates on. Raises ConfigError,
    RunError; on a cluster WorkerLost and SetupError.
    """
    with write_lock(run.path):
        run.refuse_replaced()
        resolved = run_config(run, overrides)
        if not resolved.model.TRAITS.tunable:
            raise ConfigError(
                f"{resolved.model.NAME} has no evidence that can be maximised",
                hint="`ttt compare --tune` tunes any system by what it predicts",
            )
        data = resolved.config.data
        timeline = build_timeline(run.stored_games(), data.period, data.colours)
        covariates = covariate_params(resolved, timeline, keys)
        steps = step_params(resolved, timeline)
        parsed = parse_keys(keys, resolved, covariates, steps, colours=timeline.colours)
        estimates = {key: run.meta.params.get(key) for key in parsed}
        search = EvidenceSearch(timeline, parsed, estimates)
        further_keys = parsed[len(keys.split(",")) :]
        with (
            chain_workers(cluster_asked(resolved.config.solver.cluster), 1) as workers,
            progress.task("tuning", unit="fits") as bar,
            storing_points(run) as store,
        ):

            def on_report(_: Resolved, message: Any) -> None:
                if isinstance(message, EvidencePoint):
                    store(message)
                else:
                    bar.advance(*message)

            with closing(run_chains(search, [[resolved]], workers, on_report=on_report)) as tunings:
                tuning = next(tunings)
    estimated = [f"{key} is tuned, too, because the config estimates it" for key in further_keys]
    return replace(tuning, remarks=(*estimated, *tuning.remarks))


@dataclass
class EvidenceSearch:
    """Maximises the evidence in a worker and reports every point and fit.

    `estimates`: values of the run for parameters that its config estimates; None where it has none.
    """

    timeline: Timeline
    keys: Sequence[str]
    estimates: Mapping[str, float | None]

    def step(self, item: Resolved, *, fresh: bool) -> Tuning:  # noqa: ARG002
        """Search from a config."""
        objective = Objective(
            item.local(), self.timeline, self.keys, Reporting(), report, self.estimates
        )
        optimum = objective.maximise()
        start = objective.values(objective.begin)
        values = {
            key: rounded(value, DIGITS) for key, value in objective.values(optimum.point.at).items()
        }
        errors = np.sqrt(np.diag(optimum.covariance))
        tuned = with_overrides(objective.resolved, values)
        correlations = optimum.covariance / np.outer(errors, errors)
        np.fill_diagonal(correlations, np.where(np.isnan(errors), math.nan, 1.0))
        parameters = []
        ends = zip(objective.coordinates, errors.tolist(), optimum.side.tolist(), strict=True)
        for coordinate, error, side in ends:
            value = values[coordinate.key]
            parameters.append(
                TunedParameter(
                    key=coordinate.key,
                    start=round(start[coordinate.key], 6),
                    value=value,
                    standard_error=None if math.isnan(error) else error * coordinate.slope(value),
                    bound=_BOUNDS[side],
                )
            )
        remarks = [*_remarks(objective, optimum, errors)]
        if math.isfinite(optimum.point.value):
            remarks += objective.offset_remarks(tuned, objective.log_evidence(optimum.point))
            remarks += _calibration_remarks(check_calibration(self.timeline, tuned.local()))
        return Tuning(
            parameters=tuple(parameters),
            correlations=correlations,
            start_log_evidence=objective.log_evidence(optimum.start),
            log_evidence=objective.log_evidence(optimum.point),
            config=tuned.config,
            schema=type(tuned.params),
            converged=optimum.reached,
            evaluations=objective.fits,
            sweeps=objective.sweeps,
            remarks=tuple(remarks),
        )


def with_starts(
    resolved: Resolved,
    timeline: Timeline,
    keys: Sequence[str],
    estimates: Mapping[str, float | None],
) -> Resolved:
    """A config in which tuned parameters have numbers that a search can start from.

    A parameter that the config estimates starts at its value in `estimates`, by key; without one it starts with almost
    no effect, since a fit without any cannot be the start of another. A step between margins without a number would be
    estimated anew at every point of the search: it starts at its prior's mean.
    """
    numbers = {key: estimates.get(key) or ALMOST_NONE for key in keys}
    starts = {}
    if ADVANTAGE in keys and not resolved.params.given_advantage:
        starts[ADVANTAGE] = numbers[ADVANTAGE]
    if LAPSE in keys and resolved.params.estimates_lapse:
        starts[LAPSE] = numbers[LAPSE]
    for key, points in covariate_params(resolved, timeline, ",".join(keys)).items():
        if key in keys and not points:
            starts[key] = numbers[key] if points is None else ALMOST_NONE
    resolved = with_overrides(resolved, starts)
    usual_step = PRIOR_MEAN * resolved.params.performance_sd
    steps = step_params(resolved, timeline)
    open_steps = [key for key, points in steps.items() if points is None]
    return with_overrides(resolved, {key: estimates.get(key) or usual_step for key in open_steps})


class Objective:
    """Log-evidence over the coordinates of tuned parameters, with the priors of those that a fit can estimate, too.

    `bar` shows the fits, `store` receives their points. `estimates`: as for `with_starts`.

    | attribute | |
    |---|---|
    | resolved | the config, with the start of every parameter that it leaves open |
    | coordinates | of the tuned parameters, in the order of their keys |
    | configured | numbers of the tuned parameters in `resolved`, by key |
    | begin | coordinates of these numbers, within their bounds, (parameters,) |
    | fits, sweeps, failed | work so far; failed are fits without evidence |
    """

    def __init__(
        self,
        resolved: Resolved,
        timeline: Timeline,
        keys: Sequence[str],
        bar: Bar,
        store: Callable[[EvidencePoint], None] = lambda _: None,
        estimates: Mapping[str, float | None] = _NO_ESTIMATES,
    ) -> None:
        self._priors = _priors(keys, timeline)
        resolved = with_starts(resolved, timeline, keys, estimates)
        steps = step_params(resolved, timeline)
        self.resolved = resolved
        self._timeline = timeline
        self._store = store
        self._bar = bar
        self.fits = 0
        self.sweeps = 0
        self.failed = 0
        self._last: Fit | None = None
        self._covariates = covariate_params(resolved, timeline, ",".join(keys))
        lengths = resolved.params.model_dump(include={"prior_sd", "beta"})
        self.coordinates = coordinates(
            keys,
            {
                **resolved.model.TRAITS.tunable,
                **resolved.params.offset_ranges,
                **dict.fromkeys(steps, MARGIN_STEP),
            },
            float(lengths["prior_sd"]),
            float(lengths["beta"]),
            {prior.key: prior.size for prior in self._priors.added if prior.key != ADVANTAGE},
        )
        self.configured = self._numbers(keys)
        begin = []
        for coordinate in self.coordinates:
            value = max(self.configured[coordinate.key], coordinate.least)
            begin.append(coordinate.position(value))
        self.begin = np.array(begin)
        # raises for values that the first point cannot have
        with_overrides(resolved, self.values(self.begin))

    def maximise(self) -> Optimum:
        """Search from the initial coordinates."""
        low, high = np.array([coordinate.bounds for coordinate in self.coordinates]).T
        return maximise(self.at, self.begin, low, high)

    def at(self, at: Array) -> FunctionValue | None:
        """The evidence and its gradient at a point; None where the fit fails, or parameters exclude each other."""
        values = self.values(at)
        if resolved := accepted(self.resolved, values):
            fit = self._fit(resolved.params)
            if fit.status.converged and math.isfinite(fit.log_evidence):
                gradient = self._gradient(at, values, resolved.params, fit)
                gradient += self._prior_gradient(values, resolved.params)
                if np.isfinite(gradient).all():
                    return FunctionValue(at, fit.log_evidence + self.log_prior(at), gradient)
        self.failed += 1
        return None

    def _gradient(self, at: Array, values: dict[str, float], params: Params, fit: Fit) -> Array:
        """Gradient in the coordinates; by differences where the model has no exact one."""
        model = self.resolved.model
        if model.TRAITS.exact_gradient(params):
            return self._in_coordinates(model.gradient(self._timeline, params, fit), values)
        slopes = []
        for i, coordinate in enumerate(self.coordinates):
            ends = np.tile(at, (2, 1))
            ends[:, i] = np.clip(at[i] + np.array([-DIFFERENCE, DIFFERENCE]), *coordinate.bounds)
            systems = [accepted(self.resolved, self.values(end)) for end in ends]
            fits = [self._fitted(system.params, fit) for system in systems if system]
            if len(fits) < 2 or not all(end.status.converged for end in fits):
                return np.full(len(at), math.nan)
            slopes.append((fits[1].log_evidence - fits[0].log_evidence) / (ends[1, i] - ends[0, i]))
        return np.array(slopes)

    def _in_coordinates(self, by_key: Mapping[str, float], values: Mapping[str, float]) -> Array:
        """Gradient in the coordinates from that in the parameters, 0 for those it lacks."""
        gradient = []
        for coordinate in self.coordinates:
            slope = coordinate.slope(values[coordinate.key])
            gradient.append(by_key.get(coordinate.key, 0.0) * slope)
        return np.array(gradient)

    def log_evidence(self, point: FunctionValue) -> float:
        """Log-evidence at a point, without priors of parameters."""
        return point.value - self.log_prior(point.at)

    def log_prior(self, at: Array) -> float:
        """Log density of the priors of tuned parameters that a fit can estimate, too, relative to 0 of each."""
        if not (self._priors.added or self._priors.lapse or self._priors.steps):
            return 0.0
        values = self.values(at)
        beta = with_overrides(self.resolved, values).params.performance_sd
        priors = self._priors.with_performance_sd(beta)
        return math.fsum(prior.log_density(values[prior.key]) for prior in priors)

    def _prior_gradient(self, values: dict[str, float], params: Params) -> Array:
        """Gradient of `log_prior` in the coordinates."""
        total = np.zeros(len(self.coordinates))
        for prior in self._priors.with_performance_sd(params.performance_sd):
            gradient = prior.gradient(values[prior.key])
            total += self._in_coordinates(gradient, values)
        return total

    def offset_remarks(self, tuned: Resolved, log_evidence: float) -> Iterator[str]:
        """Yield what the offsets of each category gain in evidence, with the other parameters as tuned."""
        offsets = tuned.params.offset_settings
        for category in offsets:
            others = {name: setting for name, setting in offsets.items() if name != category}
            without = self._fitted(
                with_overrides(tuned, {"offsets": others}).params, None
            ).log_evidence
            gain = log_evidence - without
            if gain > 0.0:
                yield f"offsets of {category}: the log-evidence is {gain:.3f} above that without them"
            else:
                yield f"the evidence prefers no offsets of {category}: without them it is {-gain:.3f} higher"

    def values(self, at: Array) -> dict[str, float]:
        """Parameters at a point."""
        pairs = zip(self.coordinates, at.tolist(), strict=True)
        return {coordinate.key: coordinate.value(position) for coordinate, position in pairs}

    def _numbers(self, keys: Sequence[str]) -> dict[str, float]:
        """Numbers of the tuned parameters in the config.

        Where any is open (`auto` or null) all are those of a fit, which counts as one of the search.
        """
        configured = self.resolved.params.model_dump(include=set(keys))
        of_offsets = offset_params(self.resolved.params.offset_settings)
        configured |= {key: value for key, value in of_offsets.items() if key in keys}
        configured |= {key: points for key, points in self._covariates.items() if key in keys}
        of_steps = steps_by_key(self.resolved.params.step_settings)
        configured |= {key: points for key, points in of_steps.items() if key in keys}
        if configured.get("draw_probability", 0.0) is None:
            configured["draw_probability"] = draw_share(self._timeline)
        if not all(isinstance(value, float) for value in configured.values()):
            by_model = self._fit(self.resolved.params).params
            configured |= {key: by_model[key] for key in keys if by_model[key] is not None}
        return {key: float(configured[key]) for key in keys}

    def _fit(self, params: Params) -> Fit:
        fit = self._fitted(params, self._last)
        if fit.status.converged:
            self._last = fit
        if math.isfinite(fit.log_evidence):
            self._store(EvidencePoint.of(fit, params.model_dump()))
        parameters = ", ".join(
            f"{coordinate.key} {fit.params[coordinate.key]:.4g}" for coordinate in self.coordinates
        )
        self._bar.advance(1, f"log-evidence {fit.log_evidence:.2f}, {parameters}")
        return fit

    def _fitted(self, params: Params, start: Fit | None) -> Fit:
        model = self.resolved.model
        solver = self.resolved.config.solver
        fit = registry.fit(model, self._timeline, params, solver, start=start, evidence_only=True)
        self.fits += 1
        self.sweeps += fit.status.sweeps
        return fit


class Priors(NamedTuple):
    """Priors of those parameters that can be estimated by a fit, too.

    `added`: of what is added to White, the advantage and covariates, for performances of sd 1; `lapse`: of the share of
    games that chance decides, None where it is not tuned; `steps`: of steps between margins of victory, for the same
    performances.
    """

    added: Sequence[AdvantagePrior]
    lapse: LapsePrior | None
    steps: Sequence[StepPrior]

    def with_performance_sd(self, beta: float) -> list[EstimatePrior]:
        """All of them, where performances have this sd, points."""
        of_added = [replace(prior, performance_sd=beta) for prior in self.added]
        of_steps = [replace(prior, performance_sd=beta) for prior in self.steps]
        of_lapse = [self.lapse] if self.lapse else []
        return [*of_added, *of_lapse, *of_steps]


def _priors(keys: Sequence[str], timeline: Timeline) -> Priors:
    """The priors of these parameters."""
    added = [AdvantagePrior(1.0)] if ADVANTAGE in keys else []
    terms = [key.removeprefix(PREFIX) for key in keys if key.startswith(PREFIX)]
    added += [AdvantagePrior(1.0, PREFIX + term, typical_size(timeline, term)) for term in terms]
    steps = [StepPrior(1.0, key) for key in keys if key.startswith(STEPS)]
    return Priors(added, LapsePrior() if LAPSE in keys else None, steps)


def check_calibration(timeline: Timeline, system: Resolved) -> CalibrationSlope:
    """Calibration of the system's predictions of the later half of the games, with `REFITS` refits at most.

    NaN where all games are in one period.
    """
    periods = len(timeline.periods)
    first = later_half(timeline, periods)
    if first == 0:
        return CalibrationSlope(math.nan, math.nan)
    forecaster = Forecaster(timeline, system.model, system.params, system.config.solver)
    every = math.ceil((periods - first) / REFITS)
    parts = [
        forecaster.predict(block.first, block.stop) for block in blocks(timeline, first, every)
    ]
    games = slice(int(timeline.game_start[first]), None)
    white = timeline.node_player[timeline.game_white[games]]
    black = timeline.node_player[timeline.game_black[games]]
    return calibration_slope(
        np.concatenate(parts), timeline.outcome[games], timeline.weight[games], white, black
    )


def _calibration_remarks(calibration: CalibrationSlope) -> Iterator[str]:
    """What to do about miscalibrated predictions."""
    if calibration.verdict:
        slope, error = calibration
        yield (
            f"predictions of the later half of the games are {calibration.verdict}: calibration slope {slope:.3f} "
            f"+- {error:.3f}, not 1; `ttt compare CONFIG --tune --tune-by score` tunes by predictions"
        )


def _remarks(objective: Objective, optimum: Optimum, errors: Array) -> Iterator[str]:
    if not math.isfinite(optimum.point.value):
        yield "the fit did not converge at the start of the search: start elsewhere with -s, or raise solver.max_sweeps"
        return
    if not optimum.reached:
        yield "NOT CONVERGED: the search ended before the maximum of the evidence"
    if objective.failed:
        yield f"{objective.failed} of {objective.fits} fits did not converge; the search avoided them"
    for key, value in objective.values(objective.begin).items():
        if not math.isclose(value, objective.configured[key], abs_tol=1e-6):
            yield f"the search started at {key} {value:g} instead of {objective.configured[key]:g}"
    values = objective.values(optimum.point.at)
    ends = zip(objective.coordinates, optimum.side.tolist(), optimum.flat.tolist(), strict=True)
    for coordinate, side, flat in ends:
        key = coordinate.key
        if flat:
            yield f"the games do not determine {key}: the evidence does not depend on it"
        elif side:
            yield f"{key} stopped at its {_BOUNDS[side]} bound {values[key]:.4g}: no standard error"
    if np.isnan(errors[(optimum.side == 0) & ~optimum.flat]).any():
        yield "no standard errors: the evidence is not concave where the search ended, or fits there failed"
