"""What each term of a model is worth: the log-evidence of a run minus that without the term.

Terms are White's advantage, careers, draw margins that move, covariates by name, means of newcomers by field of people,
offsets by category, lapses, and steps between margins of victory. All other parameters stay as they are in the run,
also those that it estimated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ttt_cli.config.covariates import PREFIX as COVARIATES
from ttt_cli.config.documents import Document
from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.config.offsets import CORRELATION
from ttt_cli.config.offsets import PREFIX as OFFSETS
from ttt_cli.inference.advantage import NAME as ADVANTAGE
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import rough_enough
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved, resolve, with_overrides
from ttt_cli.timeline import build_timeline

# Values of keys without the term
_WITHOUT: Final[dict[str, dict[str, object]]] = {
    ADVANTAGE: {ADVANTAGE: 0.0},
    "growth": {"growth": 0.0, "prior_mean_drift": 0.0},  # the drift asks for growth
    "decline": {"decline": 0.0},
    "early": {"early": 0.0},
    "career_by": {"career_by": "debut"},
    "draw_margin_drift": {"draw_margin_drift": 0.0},
    "draw_margin_strength": {"draw_margin_strength": 0.0},
    "prior_mean_drift": {"prior_mean_drift": 0.0},
    LAPSE: {LAPSE: 0.0},
    CORRELATION: {CORRELATION: 0.0},
}
_OFF: Final = (None, 0.0, "debut")


@dataclass(frozen=True)
class TermWorth:
    """What a term is worth.

    - `term`: a key of the model, or `KEY.NAME` of one that has several
    - `value`: of the parameter; None where the term has several
    - `log_evidence`: without the term, nats
    - `worth`: the log-evidence with it minus that, nats
    - `converged`: whether the fit without it did
    """

    term: str
    value: float | None
    log_evidence: float
    worth: float
    converged: bool


def worth_of_terms(run: Run, *, progress: Progress = SILENT) -> list[TermWorth]:
    """Refit the games of a run without each of its terms. Raises ConfigError for a system without evidence."""
    if math.isnan(run.meta.log_evidence):
        raise ConfigError(f"{run.meta.model} has no evidence to which terms could add")
    resolved = _as_estimated(resolve(Document(values=run.meta.config)), run.meta.params)
    data = resolved.config.data
    timeline = build_timeline(run.stored_games(), data.period, data.colours)
    solver = resolved.config.solver
    if resolved.model.TRAITS.quantities:
        solver = rough_enough(solver)
    models = dict(_without_terms(resolved, run.meta.params))
    worths = []
    with progress.task("terms", total=len(models) + 1, unit="fits") as bar:
        fit = registry.fit(resolved.model, timeline, resolved.params, solver)
        bar.advance(1)
        for term, params in models.items():
            without = registry.fit(
                resolved.model, timeline, params, solver, start=fit, evidence_only=True
            )
            worths.append(
                TermWorth(
                    term,
                    _value(run.meta.params.get(term)),
                    without.log_evidence,
                    fit.log_evidence - without.log_evidence,
                    fit.status.converged and without.status.converged,
                )
            )
            bar.advance(1, term)
    return worths


def _value(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _as_estimated(resolved: Resolved, params: Mapping[str, Any]) -> Resolved:
    """The config with what the run estimated as numbers."""
    keys = [
        key for key in params if key in (ADVANTAGE, LAPSE) or key.startswith((COVARIATES, STEPS))
    ]
    return with_overrides(resolved, {key: params[key] for key in keys})


def _without_terms(resolved: Resolved, params: Mapping[str, Any]) -> Iterator[tuple[str, Params]]:
    """Each term that has an effect, and the parameters without it."""
    configured = resolved.params
    for term, values in _WITHOUT.items():
        if params.get(term) not in _OFF:
            yield term, with_overrides(resolved, values).params
    steps = configured.step_settings
    settings: dict[str, Mapping[str, object]] = {
        COVARIATES: configured.covariate_settings,
        OFFSETS: configured.offset_settings,
        STEPS: {} if isinstance(steps, str) else steps,  # numbers here, even if all were estimated
    }
    for prefix, by_name in settings.items():
        for name in by_name:
            others = {other: by_name[other] for other in by_name if other != name}
            key = prefix.removesuffix(".")
            yield prefix + name, with_overrides(resolved, {key: others}).params
    fields: list[str] = getattr(configured, "newcomers_by", [])
    for field in fields:
        others_by = [other for other in fields if other != field]
        yield f"newcomers_by.{field}", with_overrides(resolved, {"newcomers_by": others_by}).params
