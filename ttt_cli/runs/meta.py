"""What a run says about itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import RunError
from ttt_cli.runs.schema import DATABASE, LABELS

# Keys of the solver that are not for a file to say.
WHERE: Final = ("cluster", "memory", "scratch", "run_size")

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class RunMeta:
    """The facts of one run. `params` are the model's resolved numbers, `config` what was asked for.

    `games` and `nodes` count rows, `weight` is the weighted number of games, `draw_share` the weighted share
    of draws; `elo_unit` is how many points are one Elo point; `first` and `last` label the first and last period.
    `trace`, `posterior` and `notes` are the Fit's. `created` (UTC, ISO 8601, to the microsecond) tells one run from the
    next in the same place.
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
    notes: tuple[str, ...] = ()

    def describe(self) -> str:
        """The run in a few words, for a line on stderr."""
        to = "-" if self.first.isdigit() else " to "  # parts of years have hyphens of their own
        return (
            f"{self.model}, {self.games:,} games {self.first}{to}{self.last}, fitted {self.created[:16]} UTC"
        )

    def facts(self) -> dict[str, str]:
        """The run in a few named facts."""
        return {
            "system": self.model,
            "games": f"{self.games:,}, {self.first} to {self.last}",
            "players": f"{self.players:,}",
            "log-evidence": f"{self.log_evidence:,.2f}",
            "converged": "yes" if self.converged else "NO",
            "parameters": ", ".join(f"{name} {value}" for name, value in self.params.items()),
        }

    def to_rows(self) -> list[tuple[str, str]]:
        """Keys and values as text: words as they are, everything else as JSON."""
        return [
            (key, value if isinstance(value, str) else to_json(value)) for key, value in asdict(self).items()
        ]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str]]) -> RunMeta:
        """The inverse of `to_rows`; unknown keys are left alone, and where to work is not for a file to say.

        Raises RunError when one is missing that has no default, or is not what it should be.
        """
        stored = dict(rows)
        missing = [f.name for f in fields(cls) if f.name not in stored and f.default is MISSING]
        if missing:
            raise RunError(f"the run lacks {', '.join(missing)}", hint="fit it again")
        values = {f.name: _read(f.name, str(f.type), stored[f.name]) for f in fields(cls) if f.name in stored}
        meta = cls(**values)
        if isinstance(solver := meta.config.get("solver"), dict):
            for key in WHERE:
                solver.pop(key, None)
        if meta.period not in LABELS or meta.players < 0 or not 0 < meta.elo_unit < math.inf:
            raise _strange("period, players or elo_unit")
        try:
            datetime.fromisoformat(meta.created)
        except ValueError:
            raise _strange("created") from None
        return meta


def _read(name: str, kind: str, text: str) -> Any:
    """A value from its text. `kind`: the annotation of the field. Raises RunError."""
    if kind == "str":
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _strange(name) from None
    if kind.startswith("tuple") and isinstance(value, list):
        value = tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if not _KINDS[kind](value):
        raise _strange(name)
    return value


def _strange(name: str) -> RunError:
    return RunError(f"what the run says of itself is wrong: {name}", hint="fit it again")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "int": lambda value: _is_number(value) and isinstance(value, int),
    "float": _is_number,
    "bool": lambda value: isinstance(value, bool),
    "dict[str, Any]": lambda value: isinstance(value, dict),
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(isinstance(x, str) for x in value),
    "tuple[tuple[float, float], ...]": lambda value: (
        isinstance(value, tuple)
        and all(isinstance(x, tuple) and len(x) == 2 and all(map(_is_number, x)) for x in value)
    ),
}


def to_json(value: Any) -> str:
    """JSON in one spelling: keys as given, no blanks, numbers of numpy as numbers."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def canonical(params: Mapping[str, Any]) -> str:
    """Parameters as JSON that does not depend on the order of the keys, nor on 600 or 600.0."""
    return to_json({key: _number(params[key]) for key in sorted(params)})


def _number(value: Any) -> Any:
    value = _plain(value) if hasattr(value, "item") else value
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def read_meta(connection: DuckDBPyConnection, path: Path | None) -> RunMeta:
    """What the run that a session asks says of itself. Raises RunError where that is no sense."""
    rows = connection.execute(f"SELECT key, value FROM {DATABASE}.main.meta").fetchall()
    try:
        return RunMeta.from_rows(rows)
    except RunError as error:
        raise RunError(error.message, where=str(path) if path else None, hint=error.hint) from error
