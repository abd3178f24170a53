"""Resolve a config document to a model with its parameters, defaults filled in."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from ttt_cli.config.covariates import PREFIX
from ttt_cli.config.documents import Document
from ttt_cli.config.load import read_document
from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.config.margin_steps import steps_by_key, with_steps
from ttt_cli.config.offsets import PREFIX as OFFSETS
from ttt_cli.config.offsets import offset_params, with_offsets
from ttt_cli.config.schema import (
    Config,
    DataConfig,
    ModelConfig,
    ScaleConfig,
    SolverConfig,
    aliases,
)
from ttt_cli.config.validation import check, joined, unknown_key, validate, value_text
from ttt_cli.inference.covariates import find_terms, with_points
from ttt_cli.inference.params import AUTO, ESTIMATE, Params
from ttt_cli.inference.victory import find_steps
from ttt_cli.reading.reports import ReadReport
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems.registry import Model, load
from ttt_cli.timeline import Timeline, is_computed

SCHEMAS: Final[dict[str, type[BaseModel]]] = {
    "data": DataConfig, "solver": SolverConfig, "scale": ScaleConfig,
}  # fmt: skip


@dataclass(frozen=True)
class Resolved:
    """Runnable config: `config` has every key, `params` the model's own; picklable.

    `name`: display name in comparisons. `unnamed`: the document, if it names no model (`for_games`).
    """

    config: Config
    params: Params
    name: str = ""
    unnamed: Document | None = None

    @property
    def model(self) -> Model:
        """The system's module."""
        return load(self.config.model.name)

    def local(self, threads: int | None = None) -> "Resolved":
        """The same without a cluster; `threads` applies where the config sets none."""
        solver = self.config.solver
        solver = solver.model_copy(update={"threads": solver.threads or threads, "cluster": None})
        return replace(self, config=self.config.model_copy(update={"solver": solver}))


def resolve(document: Document) -> Resolved:
    """Resolve a document. Raises ConfigError with all its problems."""
    sections = {key: {} if value is None else value for key, value in document.values.items()}
    model_section = sections.get("model", {})
    if not isinstance(model_section, dict):
        hint = "for instance name: ttt"
        if isinstance(model_section, str):
            hint = f"did you mean model.name={model_section}?"
        message = f"model must be a map of its name and parameters, not {value_text(model_section)}"
        raise ConfigError(message, where=document.where(("model",)), hint=hint)
    try:
        model = load(validate(ModelConfig, model_section, document, ("model",)).name)
    except ConfigError as error:
        where = error.where or document.where(("model", "name"))
        raise ConfigError(error.message, where=where, hint=error.hint) from error
    written = {key: value for key, value in model_section.items() if key != "name"}
    if "gamma" in written:
        raise ConfigError(
            "model.gamma has two meanings: White's advantage, and elsewhere the drift of skill",
            where=document.where(("model", "gamma")),
            hint="White's advantage is model.white_advantage, the drift in a year model.tau",
        )
    if "margin_steps" in written and "margin_steps" not in model.Params.model_fields:
        raise ConfigError(
            f"{model.NAME} has no margins of victory (model.margin_steps)",
            where=document.where(("model", "margin_steps")),
            hint="model.name: ttt has them",
        )
    if "offsets" in written and "offsets" not in model.Params.model_fields:
        raise ConfigError(
            f"{model.NAME} has no skills in categories of games (model.offsets)",
            where=document.where(("model", "offsets")),
            hint="model.name: ttt has them",
        )
    params, wrong = check(model.Params, written, document, ("model",), siblings=("name",))
    suggestions = {section: section for section in Config.model_fields}
    for section, schema in {"model": model.Params, **SCHEMAS}.items():
        for key in ("name", *schema.model_fields, *aliases(schema)):
            suggestions.setdefault(key, f"{section}.{key}")
    unknown = [key for key in document.values if key not in Config.model_fields]
    problems = [unknown_key((key,), suggestions, document) for key in unknown] + wrong
    checked: dict[str, Any] = {}
    for section, schema in SCHEMAS.items():
        checked[section], wrong = check(schema, sections.get(section, {}), document, (section,))
        problems += wrong
    if problems or params is None:
        raise joined(problems)
    if checked["data"].colours == "unknown" and params.estimates_advantage:
        raise ConfigError(
            "model.white_advantage cannot be estimated from games whose colours are unknown",
            where=document.where(("model", "white_advantage")),
            hint="give it in points, or set data.colours: known",
        )
    return Resolved(Config(model=_model_config(model, params), **checked), params)


CHESS: Final = "ttt-career"  # the shipped config of chess games when no model is named
WHITE_AND_BLACK: Final = ["white", "black"]
HOME_AND_AWAY: Final = ["home", "away"]
FIRST_AND_SECOND: Final = ["first", "second"]


def for_games(resolved: Resolved, report: ReadReport, *, has_sums: bool) -> Resolved:
    """Config for the games read: the model if none is named, the names of the sides, and White's advantage for `auto`.

    Without a named model: `ttt-career` for chess files, else `ttt`, and `ttt` for teams and orders of finish
    (`has_sums`), which careers with moving draws do not take. Sides are called home and away if the files do so;
    then an advantage that is `auto` is estimated. In other files that are not of chess they are first and second.
    """
    if not has_sums:
        resolved = _default_model(resolved, report)
    data = resolved.config.data
    if data.sides == WHITE_AND_BLACK and (report.home or not report.chess):
        sides = HOME_AND_AWAY if report.home else FIRST_AND_SECOND
        data = data.model_copy(update={"sides": [*sides]})
        resolved = replace(resolved, config=resolved.config.model_copy(update={"data": data}))
    return for_sides(resolved, home=names_home(data))


def names_home(data: DataConfig) -> bool:
    """Whether the side named first plays at home."""
    return [side.casefold() for side in data.sides] == HOME_AND_AWAY


def for_sides(resolved: Resolved, *, home: bool) -> Resolved:
    """The config with an `auto` White's advantage replaced: `estimate` if the side named first is at `home`, else 0."""
    params = resolved.params
    if getattr(params, "white_advantage", None) != AUTO:
        return resolved
    estimated = home and params.has_evidence and resolved.config.data.colours != "unknown"
    return with_overrides(resolved, {"white_advantage": ESTIMATE if estimated else 0.0})


def _default_model(resolved: Resolved, report: ReadReport) -> Resolved:
    """Config with the model for the games read if none is named."""
    document = resolved.unnamed
    if document is None or not report.files or not report.chess:
        return resolved
    base = read_document(CHESS)
    if resolved.config.data.colours == "unknown":
        base = base.assign(("model", "white_advantage"), 0.0, CHESS)
    for section, values in document.values.items():
        for key, value in (values or {}).items():
            path = (
                section,
                aliases(resolved.model.Params).get(key, key) if section == "model" else key,
            )
            base = base.assign(path, value, document.where((section, key)) or "")
    return resolve(base)


def with_overrides(resolved: Resolved, overrides: Mapping[str, object]) -> Resolved:
    """Replace model parameters, e.g. `{"beta": 600}`; defaults follow. Raises ConfigError.

    A key `covariates.NAME`, or `covariates.NAME.VALUE` of a category, replaces the points per unit of a covariate, a
    key `offsets.NAME.sd` or `.tau` that of a category of games, a key `margin_steps.N` that of a margin of victory.
    """
    values = resolved.params.model_dump(exclude_unset=True)
    document = Document()
    overrides = _with_inner_keys(resolved.params, overrides)
    for key, value in overrides.items():
        values.pop(key, None)
        values[key] = value
        document = document.assign(("model", key), value, f"{key}={value}")
    params = validate(resolved.model.Params, values, document, ("model",))
    config = resolved.config.model_copy(update={"model": _model_config(resolved.model, params)})
    return replace(resolved, config=config, params=params)


def _with_inner_keys(params: Params, overrides: Mapping[str, object]) -> dict[str, object]:
    """The overrides with those of covariates in one key, and those of offsets and of margins in others."""
    common: dict[str, object] = {}
    points: dict[str, object] = {}
    of_offsets: dict[str, object] = {}
    of_steps: dict[str, object] = {}
    for key, value in overrides.items():
        if key.startswith(PREFIX):
            points[key.removeprefix(PREFIX)] = value
        elif key.startswith(OFFSETS):
            of_offsets[key] = value
        elif key.startswith(STEPS):
            of_steps[key] = value
        else:
            common[key] = value
    if points:
        common["covariates"] = with_points(params.covariate_settings, points)
    if of_offsets:
        common["offsets"] = with_offsets(params.offset_settings, of_offsets)
    if of_steps:
        common["margin_steps"] = with_steps(params.step_settings, of_steps)
    return common


def accepted(resolved: Resolved, overrides: Mapping[str, object]) -> Resolved | None:
    """As `with_overrides`; None where the model rejects the values."""
    try:
        return with_overrides(resolved, overrides)
    except ConfigError:
        return None


def number_bounds(schema: type[Params], *kinds: str) -> dict[str, tuple[float, float]]:
    """Bounds of the parameters that take numbers, of JSON's kinds `number` or `integer`."""
    bounds = {}
    for key, described in schema.model_json_schema(by_alias=False)["properties"].items():
        options: Sequence[dict[str, Any]] = described.get("anyOf", [described])
        for option in options:
            if option.get("type") in kinds:
                low = option.get("minimum", option.get("exclusiveMinimum", -math.inf))
                high = option.get("maximum", option.get("exclusiveMaximum", math.inf))
                bounds[key] = (float(low), float(high))
    return bounds


def numeric_params(resolved: Resolved) -> dict[str, Any]:
    """Numeric model parameters and their configured values: what a grid may vary."""
    numeric = number_bounds(type(resolved.params), "number", "integer")
    of_offsets = offset_params(resolved.params.offset_settings)
    steps = steps_by_key(resolved.params.step_settings)
    of_steps = {key: None if isinstance(points, str) else points for key, points in steps.items()}
    return {**resolved.params.model_dump(include=set(numeric)), **of_offsets, **of_steps}


def covariate_params(
    resolved: Resolved, timeline: Timeline, spec: str = ""
) -> dict[str, float | None]:
    """Points per unit of all covariates of the games, by key: `covariates.NAME`, of a category `covariates.NAME.VALUE`.

    Computed ones are among them where they are configured or in the `spec` of keys. None where they are estimated; no
    keys in systems without covariates. The reference of a category has none unless it is configured. Raises ConfigError
    for configured covariates that the games do not have.
    """
    if "covariates" not in type(resolved.params).model_fields:
        return {}
    configured = {term.key: term.points for term in find_terms(resolved.params, timeline)}
    references = [f"{covariate.name}.{covariate.reference}" for covariate in timeline.covariates]
    terms = [
        term
        for covariate in timeline.covariates
        for term in covariate.terms
        if term not in references
    ]
    named = re.findall(rf"{re.escape(PREFIX)}(\w+)", spec)
    terms += [name for name in named if is_computed(name) and name not in terms]
    return {**{PREFIX + term: 0.0 for term in terms}, **configured}


def step_params(resolved: Resolved, timeline: Timeline) -> dict[str, float | None]:
    """Steps between margins of victory by key, None where they are estimated. Raises ConfigError for those of none."""
    return {step.key: step.points for step in find_steps(resolved.params.step_settings, timeline)}


def configured_numbers(params: Params) -> dict[str, Any]:
    """Parameters as configured; those of offsets, covariates and margins of victory by key."""
    values = params.model_dump(exclude={"covariates", "offsets", "newcomers_by", "margin_steps"})
    values |= offset_params(params.offset_settings)
    values |= steps_by_key(params.step_settings)
    for name, setting in params.covariate_settings.items():
        if isinstance(setting, dict):
            values |= {f"{PREFIX}{name}.{value}": points for value, points in setting.items()}
        else:
            values[PREFIX + name] = setting
    return values


def _model_config(model: Model, params: Params) -> ModelConfig:
    return ModelConfig(name=model.NAME, **params.model_dump())
