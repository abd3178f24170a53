"""Conditions of a game that is predicted: values of covariates, as in `--with home=1`."""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ttt_cli.config.covariates import points_by_term
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import COVARIATES_WITH_SIDES
from ttt_cli.support.errors import LookupFailed, suggested

_VALUES: Final = "SELECT DISTINCT text FROM covariate_texts WHERE id IN ({numbers})"
_NUMBERS_OF_SIDES: Final = (
    "SELECT unnest([single, white, black]) FROM game_covariates WHERE covariate = {covariate}"
)
_NUMBERS_OF_GAMES: Final = "SELECT value FROM game_values LIMIT {games} OFFSET {first}"
_HAS_SIDES: Final = (
    "SELECT count(*) > 0 FROM game_covariates WHERE covariate = ? AND (white > 0 OR black > 0)"
)
_NAMES: Final = "SELECT name, id FROM covariates"


class Conditions(NamedTuple):
    """What conditions add, points: to the strength of A, and to White's advantage."""

    of_a: float = 0.0
    advantage: float = 0.0


def find_conditions(run: Run, written: Sequence[str]) -> Conditions:
    """The points of `NAME=VALUE`, the difference of A and B or the category of the game, or `NAME=VALUE:VALUE` of both.

    Raises LookupFailed for a covariate or a value that the model of the run does not have.
    """
    if not written:
        return Conditions()
    points = points_by_term(run.meta.params)
    ids: dict[str, int] = dict(run.select(_NAMES)[1])
    names = list(dict.fromkeys(term.partition(".")[0] for term in points))
    of_a = 0.0
    advantage = 0.0
    for text in written:
        name, equals, value = (part.strip() for part in text.partition("="))
        if name not in names:
            hint = (
                suggested(name, names, f"its covariates are {', '.join(names)}")
                if names
                else "it has none"
            )
            raise LookupFailed(f"the model of {run.name} has no covariate {name!r}", hint=hint)
        if not (equals and value):
            raise LookupFailed(
                f"--with {text}: the value of {name} is missing", hint=f"--with {name}=1"
            )
        if name in points:
            of_a += points[name] * _difference(name, value)
            continue
        of_sides = bool(run.select(_HAS_SIDES, [ids[name]])[1][0][0])
        values = _values(run, ids[name])
        if not of_sides:
            advantage += _points_of(name, value, values, points)
            continue
        of_first, colon, of_second = (part.strip() for part in value.partition(":"))
        if not colon:
            hint = f"--with {name}=A:B, for instance {value}:{value}"
            raise LookupFailed(f"{name} is a category of both players", hint=hint)
        of_a += _points_of(name, of_first, values, points) - _points_of(
            name, of_second, values, points
        )
    return Conditions(of_a, advantage)


def _values(run: Run, covariate: int) -> list[str]:
    """The values of a covariate in the games of a run."""
    stored_with_sides = {number for (number,) in run.select(COVARIATES_WITH_SIDES)[1]}
    if covariate in stored_with_sides:
        numbers = _NUMBERS_OF_SIDES.format(covariate=covariate)
    else:
        before = [number for number in range(covariate) if number not in stored_with_sides]
        games = run.meta.games
        numbers = _NUMBERS_OF_GAMES.format(games=games, first=len(before) * games)
    return [value for (value,) in run.select(_VALUES.format(numbers=numbers))[1] if value]


def _difference(name: str, value: str) -> float:
    """The number in `3`, or the difference in `5:2`. Raises LookupFailed."""
    first, _, second = value.partition(":")
    try:
        difference = float(first) - float(second or 0.0)
    except ValueError:
        difference = math.nan
    if not math.isfinite(difference):
        raise LookupFailed(
            f"{name} is a number, and {value!r} is none",
            hint=f"--with {name}=1, or A:B as {name}=3:2",
        )
    return difference


def _points_of(name: str, value: str, values: Sequence[str], points: dict[str, Any]) -> float:
    """Points of a category, 0 of one that the model gives none. Raises LookupFailed for one that no game has."""
    if value not in values:
        hint = suggested(value, values, f"values are {', '.join(sorted(values))}")
        raise LookupFailed(f"no game of {name} has the value {value!r}", hint=hint)
    return float(points.get(f"{name}.{value}", 0.0))
