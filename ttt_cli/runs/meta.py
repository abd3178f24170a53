"""The facts that a run stores about itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from ttt_cli.config.offsets import CORRELATION
from ttt_cli.config.offsets import PREFIX as OFFSETS
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.errors import RunError

WHERE: Final = ("cluster", "memory", "scratch")  # keys of the solver that no file decides
SMALL: Final = 1e-6  # bound of elo_unit and of its inverse
_DIGITS: Final = 18
# Parameters without effect at 0, and those that depend on them
SWITCHES: Final[dict[str, tuple[str, ...]]] = {
    "growth": ("growth_years",),
    "decline": ("decline_after",),
    "early": ("early_years",),
    "draw_margin_drift": (),
    "draw_margin_strength": (),
    "prior_mean_drift": (),
    "lapse": ("lapse_draws",),
    CORRELATION: (),
    "career_by": ("career_age",),
}
_OFF: Final = (0, "debut")  # values of a switch


@dataclass(frozen=True)
class RunMeta:
    """The facts of one run; `config` as given, `params` resolved to numbers.

    `games` and `nodes` count rows, `races` orders of finish, each of which is several games; `weight`: weighted games,
    `draw_share` is weighted; `elo_unit`: points per Elo point; `first`, `last`: labels of periods; `trace`,
    `posterior`, `standard_errors`, `explained`, `notes` as in Fit; `groups`: newcomers by field of people: `mean`,
    `sd` and `groups`, these by value (number, mean and sd);
    `created` (UTC, ISO 8601) identifies the run.
    """

    format: int
    version: str
    created: str
    model: str
    kind: str
    period: str
    config: dict[str, Any]
    params: dict[str, Any]
    log_evidence: float
    leave_one_out: float
    elo_unit: float
    converged: bool
    sweeps: int
    remaining_error: float
    skipped_sites: int
    trace: tuple[tuple[float, float], ...]
    games: int
    weight: float
    draw_share: float
    nodes: int
    players: int
    first: str
    last: str
    posterior: str = ""
    standard_errors: dict[str, Any] = field(default_factory=dict)
    explained: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    races: int = 0

    def describe(self) -> str:
        """The run in one line."""
        return f"{self.label}, {self.extent}, fitted {self.created[:16]} UTC"

    @property
    def extent(self) -> str:
        """The number of games, and the first and the last period."""
        noun = "game" if self.games == 1 else "games"
        if self.first == self.last:
            return f"{self.games:,} {noun} {self.first}"
        to = "-" if self.first.isdigit() else " to "  # parts of years have hyphens of their own
        return f"{self.games:,} {noun} {self.first}{to}{self.last}"

    @property
    def newcomers_mean(self) -> float | None:
        """The mean of a newcomer's skill, points; None in systems without one."""
        mean = self.params.get("prior_mean")
        return float(mean) if isinstance(mean, int | float) else None

    @property
    def offset_sds(self) -> dict[str, float]:
        """Sds of the offsets of players in categories, points, by category."""
        suffix = ".sd"
        return {
            key.removeprefix(OFFSETS).removesuffix(suffix): float(sd)
            for key, sd in self.params.items()
            if key.startswith(OFFSETS) and key.endswith(suffix) and isinstance(sd, int | float)
        }

    @property
    def has_shared_offsets(self) -> bool:
        """Whether the offsets of a player in several categories are correlated."""
        correlation = self.params.get(CORRELATION)
        is_positive = isinstance(correlation, int | float) and correlation > 0.0
        return is_positive and len(self.offset_sds) > 1

    @property
    def label(self) -> str:
        """The shipped config that the model resembles: `ttt-career` for a `ttt` with careers."""
        careers = self.params.get("growth") or self.params.get("decline")
        return f"{self.model}-career" if careers else self.model

    def to_rows(self) -> list[tuple[str, str]]:
        """Keys and values as text; values other than strings as JSON."""
        values = asdict(self).items()
        return [(key, value if isinstance(value, str) else to_json(value)) for key, value in values]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str]], where: str | None = None) -> RunMeta:
        """The inverse of `to_rows`, without unknown keys and the keys WHERE. Raises RunError."""
        stored = dict(rows)
        values = dict[str, Any]()
        wrong = list[str]()
        for fact in fields(cls):
            if fact.name in stored:
                values[fact.name] = _read(str(fact.type), stored[fact.name])
                if values[fact.name] is None:
                    wrong.append(fact.name)
            elif fact.default is MISSING and fact.default_factory is MISSING:
                raise RunError(f"the run has no {fact.name}", where=where, hint="fit it again")
        if not wrong:
            meta = cls(**values)
            if meta.period not in STEPS_PER_YEAR or min(meta.players, meta.games, meta.nodes) < 0:
                wrong.append("period, players, games or nodes")
            if not SMALL < meta.elo_unit < 1 / SMALL:
                wrong.append("elo_unit")
            try:
                datetime.fromisoformat(meta.created)
            except ValueError:
                wrong.append("created")
        if wrong:
            message = f"its table `meta` has an impossible value: {wrong[0]}"
            raise RunError(message, where=where, hint="fit it again")
        if isinstance(solver := meta.config.get("solver"), dict):
            for key in WHERE:
                solver.pop(key, None)
        return meta


def _read(kind: str, text: str) -> Any:
    """A value from its text, None for one that is not of its `kind`: the annotation of the field."""
    if kind == "str":
        return text
    try:
        value = json.loads(text, parse_int=parse_integer)
    except (ValueError, RecursionError):
        return None
    if kind in _TYPES:
        return value if type(value) in _TYPES[kind] else None
    if not isinstance(value, list):
        return None
    if "float" in kind:
        return (
            tuple(tuple(pair) for pair in value) if all(_is_pair(pair) for pair in value) else None
        )
    return tuple(value) if all(type(text) is str for text in value) else None


def _is_pair(value: Any) -> bool:
    """Whether a value is a list of two numbers."""
    return (
        type(value) is list
        and len(value) == 2
        and all(type(number) in _TYPES["float"] for number in value)
    )


_TYPES: Final[dict[str, set[type]]] = {
    "int": {int},
    "float": {int, float},
    "bool": {bool},
    "dict[str, Any]": {dict},
}


def parse_integer(text: str) -> int:
    """Parse an integer of at most 18 digits. Raises ValueError."""
    if len(text) > _DIGITS:
        raise ValueError("too many digits")
    return int(text)


def to_json(value: Any) -> str:
    """Compact JSON, numpy numbers included."""
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), default=lambda array: array.tolist()
    )


def in_use(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a model that have an effect: without null and empty ones and those switched off."""
    idle: set[str] = set()
    for switch, dependent in SWITCHES.items():
        if params.get(switch) in _OFF:
            idle |= {switch, *dependent}
    return {key: value for key, value in params.items() if _is_given(value) and key not in idle}


def _is_given(value: Any) -> bool:
    """Whether a parameter has a value: neither None nor an empty mapping or list."""
    return bool(value) if isinstance(value, dict | list) else value is not None
