"""From a config document to a model with its parameters, every default filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, get_args

from pydantic import BaseModel

from ttt_cli.config.document import Document, aliases
from ttt_cli.config.schema import Config, DataConfig, ModelConfig, ScaleConfig, SolverConfig
from ttt_cli.config.validate import Problem, as_error, check, shown, unknown_key, validate
from ttt_cli.errors import ConfigError
from ttt_cli.inference.params import Params
from ttt_cli.systems.registry import Model, load

SCHEMAS: Final[dict[str, type[BaseModel]]] = {
    "data": DataConfig, "solver": SolverConfig, "scale": ScaleConfig,
}  # fmt: skip


@dataclass(frozen=True)
class Resolved:
    """A config that can be run: `config` holds every key, `params` the model's own; it can be pickled."""

    config: Config
    params: Params

    @property
    def model(self) -> Model:
        """The system."""
        return load(self.config.model.name)


R = TypeVar("R", bound=Resolved)


def resolve(document: Document) -> Resolved:
    """The config of a document. Raises ConfigError with all its problems, the first in front."""
    sections = {key: {} if value is None else value for key, value in document.values.items()}
    given = sections.get("model", {})
    model = _model(document, given)
    written = {key: value for key, value in given.items() if key != "name"}
    params, wrong = check(model.Params, written, document, ("model",), siblings=("name",))
    problems = _unknown_sections(document, model.Params) + wrong
    found: dict[str, Any] = {}
    for key, schema in SCHEMAS.items():
        found[key], wrong = check(schema, sections.get(key, {}), document, (key,))
        problems += wrong
    if problems or params is None:
        raise as_error(problems)
    if found["data"].colours == "unknown" and params.estimates_advantage:
        raise _no_colours(document)
    return Resolved(Config(model=_model_config(model, params), **found), params)


def with_overrides(resolved: R, overrides: Mapping[str, object]) -> R:
    """The same with other model parameters, which defaults follow, e.g. `{"beta": 600}`. Raises ConfigError."""
    values = resolved.params.model_dump(exclude_unset=True)
    document = Document()
    for key, value in overrides.items():
        values.pop(key, None)
        values[key] = value
        document = document.assign(("model", key), value, f"{key}={value}")
    params = validate(resolved.model.Params, values, document, ("model",))
    config = resolved.config.model_copy(update={"model": _model_config(resolved.model, params)})
    return replace(resolved, config=config, params=params)


def numeric_params(resolved: Resolved) -> dict[str, Any]:
    """The model's parameters that can be numbers, and their configured values: what a grid may vary."""
    fields = type(resolved.params).model_fields
    return {
        name: getattr(resolved.params, name) for name, info in fields.items() if _is_numeric(info.annotation)
    }


def _model(document: Document, section: object) -> Model:
    if not isinstance(section, dict):
        hint = f"did you mean model.name={section}?" if isinstance(section, str) else "for instance name: ttt"
        message = f"model must be a map of its name and parameters, not {shown(section)}"
        raise ConfigError(message, where=document.where(("model",)), hint=hint)
    named, problems = check(ModelConfig, section, document, ("model",))
    if named is None:
        raise as_error(problems)
    try:
        return load(named.name)
    except ConfigError as error:
        where = document.where(("model", "name"))
        raise ConfigError(error.message, where=where, hint=error.hint) from error


def _model_config(model: Model, params: Params) -> ModelConfig:
    return ModelConfig(name=model.NAME, **params.model_dump())


def _unknown_sections(document: Document, params: type[Params]) -> list[Problem]:
    """Problems of the keys at the top that are no sections; a key that lives in one section is suggested."""
    sections = list(Config.model_fields)
    known = {name: name for name in sections}
    for section, schema in {"model": params, **SCHEMAS}.items():
        for key in (*schema.model_fields, *aliases(schema)):
            known.setdefault(key, f"{section}.{key}")
    known.setdefault("name", "model.name")
    return [unknown_key((key,), known, document) for key in document.values if key not in sections]


def _no_colours(document: Document) -> ConfigError:
    written = document.values["model"]
    key = next(key for key in ("white_advantage", "gamma") if key in written)
    return ConfigError(
        f"model.{key} cannot be estimated from games whose colours are unknown",
        where=document.where(("model", key)),
        hint="give it in points, or set data.colours: known",
    )


def _is_numeric(annotation: Any) -> bool:
    return annotation in (float, int) or any(map(_is_numeric, get_args(annotation)))
