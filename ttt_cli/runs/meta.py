"""The facts that a run stores about itself, and its evidence points.

Further points are in `NAME.ttt.points` beside the run, lines of JSON, appended and synchronised one by one. A line is
an array: the basis (digest of games and settings), then the row of the table `evidence`. Lines of another basis belong
to a former run at the same path and are ignored, as are broken lines.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit

Row = tuple[Any, ...]
WHERE: Final = ("cluster", "memory", "scratch")  # keys of the solver that no file decides
SMALL: Final = 1e-6  # bound of elo_unit and of its inverse
_DIGITS: Final = 18
_RESULT: Final = ("log_evidence", "converged", "sweeps", "remaining_error")
INSERT: Final = "INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?)"
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# Parameters without effect at 0, and those that depend on them
SWITCHES: Final[dict[str, tuple[str, ...]]] = {
    "growth": ("growth_years",),
    "decline": ("decline_after",),
    "early": ("early_years",),
    "draw_margin_drift": (),
    "draw_margin_strength": (),
    "prior_mean_drift": (),
}


@dataclass(frozen=True)
class RunMeta:
    """The facts of one run; `config` as given, `params` resolved to numbers.

    `games` and `nodes` count rows, `weight` weighted games, `draw_share` is weighted; `elo_unit`: points per Elo
    point; `first`, `last`: labels of periods; `trace`, `posterior`, `notes` as in Fit; `created` (UTC, ISO 8601)
    identifies the run.
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
        """The run in one line."""
        to = "-" if self.first.isdigit() else " to "  # parts of years have hyphens of their own
        games = f"{self.games:,} games {self.first}{to}{self.last}"
        return f"{self.label}, {games}, fitted {self.created[:16]} UTC"

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
            elif fact.default is MISSING:
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
        value = json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    if kind in _TYPES:
        return value if type(value) in _TYPES[kind] else None
    pairs = "float" in kind  # a tuple of pairs of numbers, or of texts
    if not isinstance(value, list) or {*map(type, value)} - {list if pairs else str}:
        return None
    if pairs and ({*map(len, value)} - {2} or {*map(type, chain.from_iterable(value))} - _TYPES["float"]):
        return None
    return tuple(map(tuple, value) if pairs else value)


_TYPES: Final[dict[str, set[type]]] = {
    "int": {int},
    "float": {int, float},
    "bool": {bool},
    "dict[str, Any]": {dict},
}


def _integer(text: str) -> int:
    """Parse an integer of at most 18 digits. Raises ValueError."""
    if len(text) > _DIGITS:
        raise ValueError("too many digits")
    return int(text)


def to_json(value: Any) -> str:
    """Compact JSON, numpy numbers included."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=lambda array: array.tolist())


def canonical(params: Mapping[str, Any]) -> str:
    """Parameters as JSON, independent of the order of keys and of 600 or 600.0."""
    return to_json(json.loads(to_json(dict(sorted(params.items()))), parse_int=float))


@dataclass(frozen=True)
class EvidencePoint:
    """The evidence of one fit. `asked`: parameters as in the config; `params`: resolved to numbers.

    A later point with equal `asked` replaces an earlier one. Unknown numbers are NaN or infinite here, NULL in the
    table.
    """

    asked: Mapping[str, Any]
    params: Mapping[str, Any]
    log_evidence: float
    converged: bool
    sweeps: int
    remaining_error: float

    @classmethod
    def of(cls, fit: Fit, asked: Mapping[str, Any]) -> EvidencePoint:
        """The point of a fit with these parameters in its config."""
        status = fit.status
        evidence = float(fit.log_evidence)
        error = float(fit.status.remaining_error)
        return cls(asked, fit.params, evidence, status.converged, status.sweeps, error)

    @property
    def point(self) -> str:
        """The key: `asked` in canonical JSON."""
        return canonical(self.asked)

    def to_row(self) -> tuple[Any, ...]:
        """Row of the table `evidence`."""
        return (self.point, to_json(self.params), *self.shown())

    def shown(self) -> tuple[Any, ...]:
        """Evidence, convergence, sweeps and remaining error; None for unknown numbers."""
        evidence = self.log_evidence if math.isfinite(self.log_evidence) else None
        error = self.remaining_error if math.isfinite(self.remaining_error) else None
        return evidence, self.converged, self.sweeps, error

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> EvidencePoint:
        """The inverse of `to_row`. Raises ValueError, TypeError."""
        point, params, evidence, converged, sweeps, error = row
        asked, resolved = (json.loads(text, parse_int=_integer) for text in (point, params))
        if not isinstance(asked, dict) or not isinstance(resolved, dict):
            raise TypeError("parameters are a mapping")
        if any(isinstance(value, dict | list) for value in resolved.values()):
            raise TypeError("parameters are numbers")
        evidence = math.nan if evidence is None else evidence
        error = math.inf if error is None else error
        return cls(asked, resolved, float(evidence), bool(converged), int(sweeps), float(error))


def evidence_table(points: list[EvidencePoint]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows: a column for every parameter, then the results."""
    keys = list(dict.fromkeys(key for point in points for key in point.params))
    rows = [(*(point.params.get(key) for key in keys), *point.shown()) for point in points]
    return (*keys, *_RESULT), rows


def points_file(path: Path) -> Path:
    """Path of the points of a run."""
    place = real_place(path)
    return place.with_name(f"{place.name}.points")


def basis_of(meta: RunMeta, digests: Sequence[str]) -> str:
    """Digest of the games and settings for which points are valid."""
    inputs = list(digests) or [meta.created]  # of games from memory nothing else is known
    settings = [meta.version, meta.model, meta.kind, meta.period, meta.games, meta.weight, inputs]
    settings += [meta.config.get("data"), meta.config.get("solver")]
    return hashlib.sha256(to_json(settings).encode()).hexdigest()[:32]


def store_points(path: Path, basis: str, rows: Iterable[Row]) -> None:
    """Append points. Raises RunError when they cannot be written."""
    lines = "".join(f"{json.dumps([basis, *row])}\n" for row in rows)
    try:
        descriptor = os.open(points_file(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FLAGS, 0o666)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            text = f"\n{lines}".encode()  # the last line may have been broken off
            if file.write(text) != len(text):
                raise OSError("the disk is full")
            os.fsync(descriptor)
    except OSError as error:
        raise RunError(f"its points cannot be written: {error.strerror or error}", where=str(path)) from error


def read_points(path: Path, basis: str) -> list[Row]:
    """The rows of a basis."""
    return [row for found, row in _lines(path) if found == basis]


def points_stat(path: Path) -> tuple[int, ...] | None:
    """Numbers that change with the file of points, or None."""
    with suppress(OSError):
        facts = points_file(path).lstat()
        return facts.st_ino, facts.st_size, facts.st_mtime_ns
    return None


def drop_stale_points(path: Path, basis: str) -> int:
    """Remove the file unless it has a point of this basis; return the number of other points."""
    others: set[tuple[str, Any]] = set()
    for found, row in _lines(path):
        if found == basis:
            return 0
        others.add((found, row[0]))
    with suppress(OSError):
        points_file(path).unlink()
    return len(others)


def _lines(path: Path) -> Iterator[tuple[str, Row]]:
    """Basis and row of each valid line of an ordinary file of this user."""
    with suppress(OSError):
        descriptor = os.open(points_file(path), os.O_RDONLY | _FLAGS)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
                return
            for line in file:
                with suppress(ValueError, TypeError, RecursionError):
                    basis, *row = json.loads(line)
                    EvidencePoint.from_row(tuple(row))
                    yield basis, tuple(row)


def in_use(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a model that have an effect: without null ones and those switched off."""
    idle = {
        key for switch, others in SWITCHES.items() if params.get(switch) == 0 for key in (switch, *others)
    }
    return {key: value for key, value in params.items() if value is not None and key not in idle}
