"""Axes of a parameter grid from their short form on the command line."""

import math
from collections.abc import Collection, Mapping
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

    A bare `beta` or `tau` takes the ratios to `prior_sd` of the paper. `params` are the model's numeric
    parameters and their configured values; `symbols` are other spellings of them (`sigma0` -> `prior_sd`).
    Raises ConfigError.
    """
    axes: dict[str, Axis] = {}
    for part in spec.split(","):
        word, separator, steps = (piece.strip() for piece in part.partition("="))
        key = (symbols or {}).get(word, word)
        if key not in params:
            raise _unknown(spec, word, params)
        if key in axes:
            raise _error(spec, f"{key} is given twice", "one axis for each parameter")
        values = _values(spec, key, steps) if separator else _paper(spec, key, params)
        axes[key] = Axis(key, values)
    return tuple(axes.values())


def _unknown(spec: str, word: str, params: Collection[str]) -> ConfigError:
    if not word:
        return _error(spec, "an axis is missing", "for instance --grid beta,tau")
    hint = suggested(word, params, f"parameters are {', '.join(params)}", "{}")
    return _error(spec, f"unknown parameter {word}", hint)


def _paper(spec: str, key: str, params: Mapping[str, object]) -> tuple[float, ...]:
    unit = params.get("prior_sd")
    if key not in PAPER_AXES or not isinstance(unit, (int, float)):
        raise _error(spec, f"{key} needs its values", f"{key}={_EXAMPLE}")
    return tuple(_rounded(ratio * unit) for ratio in PAPER_AXES[key])


def _values(spec: str, key: str, steps: str) -> tuple[float, ...]:
    if ":" not in steps:
        return _ascending(spec, key, [_number(spec, key, text) for text in steps.split("/")])
    start_text, *rest = steps.split(":")
    if len(rest) not in {2, 3}:
        raise _error(spec, f"{key}={steps} is not a range", f"{key}={_EXAMPLE}")
    start, stop = _number(spec, key, start_text), _number(spec, key, rest[0])
    count = _count(spec, key, rest[1])
    spacing = rest[2].strip() if len(rest) == 3 else "linear"
    if spacing not in {"linear", "log"}:
        raise _error(spec, f"unknown spacing {spacing} of {key}", "spacings are linear and log")
    if spacing == "log" and min(start, stop) <= 0:
        raise _error(spec, f"log spacing of {key} needs positive ends", "start above 0, or leave :log out")
    if count == 1 and start != stop:
        raise _error(spec, f"{key} has two ends but one value", f"a single value is {key}={start_text}")
    return _ascending(spec, key, _spaced(start, stop, count, log=spacing == "log"))


def _spaced(start: float, stop: float, count: int, *, log: bool) -> list[float]:
    """Values from start to stop, both exact; those between are rounded to 12 digits."""
    if count == 1:
        return [start]
    low, high = (math.log(start), math.log(stop)) if log else (start, stop)
    ratios = [step / (count - 1) for step in range(1, count - 1)]
    inner = [low * (1 - ratio) + high * ratio for ratio in ratios]
    return [start, *(_rounded(math.exp(value) if log else value) for value in inner), stop]


def _ascending(spec: str, key: str, values: list[float]) -> tuple[float, ...]:
    if len(set(values)) < len(values):
        raise _error(spec, f"{key} has the same value twice", "spread the ends, or ask for fewer values")
    return tuple(sorted(values))


def _number(spec: str, key: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _error(spec, f"{text.strip() or 'nothing'} is not a number for {key}", f"{key}={_EXAMPLE}")
    return number


def _count(spec: str, key: str, text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if not 1 <= count <= MAX_COUNT:
        raise _error(
            spec,
            f"{text.strip() or 'nothing'} is not a count for {key}",
            f"a whole number from 1 to {MAX_COUNT}",
        )
    return count


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


def _error(spec: str, message: str, hint: str) -> ConfigError:
    return ConfigError(message, where=f"--grid {spec}", hint=hint)
