"""Axes of a parameter grid from their short form on the command line."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ttt_cli.errors import ConfigError, suggested

MAX_COUNT: Final = 10_000
PAPER_AXES: Final[dict[str, tuple[float, ...]]] = {  # in units of prior_sd
    "beta": tuple(step / 5 for step in range(1, 11)),
    "tau": tuple(step / 20 for step in range(1, 11)),
}
_EXAMPLE: Final = "START:STOP:COUNT, START:STOP:COUNT:log, or values as in 200/400/480"


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
    axes: dict[str, Axis] = {}
    try:
        for part in spec.split(","):
            word, separator, steps = (piece.strip() for piece in part.partition("="))
            key = (symbols or {}).get(word, word)
            if not word:
                raise ConfigError("an axis is missing", hint="for instance --grid beta,tau")
            if key not in params:
                hint = suggested(word, params, f"parameters are {', '.join(params)}", "{}")
                raise ConfigError(f"unknown parameter {word}", hint=hint)
            if key in axes:
                raise ConfigError(f"{key} is given twice", hint="one axis for each parameter")
            values = _values(key, steps) if separator else _paper(key, params)
            if len(set(values)) < len(values):
                hint = "spread the ends, or ask for fewer values"
                raise ConfigError(f"{key} has the same value twice", hint=hint)
            axes[key] = Axis(key, tuple(sorted(values)))
    except ConfigError as error:
        raise ConfigError(error.message, where=f"--grid {spec}", hint=error.hint) from error
    return tuple(axes.values())


def _paper(key: str, params: Mapping[str, object]) -> list[float]:
    unit = params.get("prior_sd")
    if key not in PAPER_AXES or not isinstance(unit, (int, float)):
        raise ConfigError(f"{key} needs its values", hint=f"{key}={_EXAMPLE}")
    return [_rounded(ratio * unit) for ratio in PAPER_AXES[key]]


def _values(key: str, steps: str) -> list[float]:
    if ":" not in steps:
        return [_number(key, text) for text in steps.split("/")]
    start_text, *rest = steps.split(":")
    if len(rest) not in {2, 3}:
        raise ConfigError(f"{key}={steps} is not a range", hint=f"{key}={_EXAMPLE}")
    start, stop = _number(key, start_text), _number(key, rest[0])
    count = _count(key, rest[1])
    spacing = rest[2].strip() if len(rest) == 3 else "linear"
    if spacing not in {"linear", "log"}:
        raise ConfigError(f"unknown spacing {spacing} of {key}", hint="spacings are linear and log")
    if spacing == "log" and min(start, stop) <= 0:
        raise ConfigError(
            f"log spacing of {key} needs positive ends", hint="start above 0, or leave :log out"
        )
    if count == 1 and start != stop:
        raise ConfigError(f"{key} has two ends but one value", hint=f"a single value is {key}={start_text}")
    return _spaced(start, stop, count, log=spacing == "log")


def _spaced(start: float, stop: float, count: int, *, log: bool) -> list[float]:
    """Values from start to stop, both exact; those between are rounded to 12 digits."""
    if count == 1:
        return [start]
    low, high = (math.log(start), math.log(stop)) if log else (start, stop)
    ratios = [step / (count - 1) for step in range(1, count - 1)]
    inner = [low * (1 - ratio) + high * ratio for ratio in ratios]
    return [start, *(_rounded(math.exp(value) if log else value) for value in inner), stop]


def _number(key: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{text.strip() or 'nothing'} is not a number for {key}", hint=f"{key}={_EXAMPLE}")
    return number


def _count(key: str, text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not 1 <= count <= MAX_COUNT:
        hint = f"a whole number from 1 to {MAX_COUNT}"
        raise ConfigError(f"{text.strip() or 'nothing'} is not a count for {key}", hint=hint)
    return count


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")
