"""Evidence points of a run: its own in the table `evidence`, further ones in `NAME.ttt.points` beside the run.

The file has lines of JSON, appended and synchronised in batches. A line is an array: the basis (digest of games and
settings), then the row of the table `evidence`. Lines of another basis belong to a former run at the same path and are
ignored. Lines that are no points are skipped and counted; of a file that is too long only the end is read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ttt_cli.runs.meta import parse_integer, to_json
from ttt_cli.runs.schema import LARGEST, LONGEST_NAME
from ttt_cli.support.errors import RunError
from ttt_cli.support.replacing import real_path

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit
    from ttt_cli.runs.meta import RunMeta

Row = tuple[Any, ...]
INSERT: Final = "INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?)"
MOST_LINES: Final = 250_000  # a grid has at most 100,000 points
MOST_BYTES: Final = 128_000_000
_LONGEST_LINE: Final = 3 * LONGEST_NAME  # bytes
_MOST_SWEEPS: Final = 2**31 - 1
_RESULT: Final = ("log_evidence", "converged", "sweeps", "remaining_error")
_FLAGS: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


def canonical(params: Mapping[str, Any]) -> str:
    """Parameters as JSON, independent of the order of keys and of 600 or 600.0, without empty mappings."""
    params_in_order = {key: value for key, value in sorted(params.items()) if value != {}}
    json_with_floats = json.loads(to_json(params_in_order), parse_int=float)
    return to_json(json_with_floats)


@dataclass(frozen=True)
class EvidencePoint:
    """The evidence of one fit. `requested`: parameters as in the config; `params`: resolved to numbers.

    A later point with equal `requested` replaces an earlier one. Unknown numbers are NaN or infinite here, NULL in the
    table.
    """

    requested: Mapping[str, Any]
    params: Mapping[str, Any]
    log_evidence: float
    converged: bool
    sweeps: int
    remaining_error: float

    @classmethod
    def of(cls, fit: Fit, requested: Mapping[str, Any]) -> EvidencePoint:
        """The point of a fit with these parameters in its config."""
        status = fit.status
        evidence = float(fit.log_evidence)
        error = float(status.remaining_error)
        return cls(requested, fit.params, evidence, status.converged, status.sweeps, error)

    @property
    def point(self) -> str:
        """The key: `requested` in canonical JSON."""
        return canonical(self.requested)

    def to_row(self) -> Row:
        """Row of the table `evidence`."""
        return (self.point, to_json(self.params), *self.shown())

    def shown(self) -> Row:
        """Evidence, convergence, sweeps and remaining error; None for unknown numbers."""
        evidence = self.log_evidence if math.isfinite(self.log_evidence) else None
        error = self.remaining_error if math.isfinite(self.remaining_error) else None
        return evidence, self.converged, self.sweeps, error

    @classmethod
    def from_row(cls, row: Row) -> EvidencePoint:
        """The inverse of `to_row`. Raises ValueError for what the table cannot hold, RecursionError."""
        point, params, evidence, converged, sweeps, error = row
        requested = _mapping(point)
        resolved = _mapping(params)
        if any(isinstance(value, dict | list) for value in resolved.values()):
            raise ValueError("parameters are numbers")
        if (
            type(converged) is not bool
            or type(sweeps) is not int
            or not 0 <= sweeps <= _MOST_SWEEPS
        ):
            raise ValueError("no convergence or sweeps")
        return cls(
            requested=requested,
            params=resolved,
            log_evidence=math.nan if evidence is None else _number(evidence, -LARGEST),
            converged=converged,
            sweeps=sweeps,
            remaining_error=math.inf if error is None else _number(error, 0.0),
        )


def _mapping(text: object) -> dict[str, Any]:
    """A mapping from JSON that the table can hold. Raises ValueError, RecursionError."""
    if not isinstance(text, str) or not 2 <= len(text.encode()) <= LONGEST_NAME:
        raise ValueError("no text, or too long")
    # `to_json` writes control characters so, and nothing else; in another text it may be half of a surrogate pair,
    # which the table cannot hold.
    if "\\u" in text:
        raise ValueError("an escaped character")
    mapping = json.loads(text, parse_int=parse_integer)
    if not isinstance(mapping, dict):
        raise ValueError("parameters are a mapping")
    return mapping


def _number(value: object, low: float) -> float:
    """A number from `low` to LARGEST. Raises ValueError."""
    if type(value) not in (int, float) or not low <= value <= LARGEST:  # type: ignore[operator]
        raise ValueError("no number, or too large")
    return float(value)  # type: ignore[arg-type]


def evidence_table(points: list[EvidencePoint]) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows: a column for every parameter, then the results."""
    keys = list(dict.fromkeys(key for point in points for key in point.params))
    rows = [(*(point.params.get(key) for key in keys), *point.shown()) for point in points]
    return (*keys, *_RESULT), rows


def points_file(path: Path) -> Path:
    """Path of the points of a run."""
    file = real_path(path)
    return file.with_name(f"{file.name}.points")


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
        descriptor = os.open(
            points_file(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FLAGS, 0o666
        )
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            text = f"\n{lines}".encode()  # the last line may have been broken off
            if file.write(text) != len(text):
                raise OSError("the disk is full")
            os.fsync(descriptor)
    except OSError as error:
        raise RunError(
            f"its points cannot be written: {error.strerror or error}", where=str(path)
        ) from error


@dataclass(frozen=True)
class StoredPoints:
    """The points beside a run.

    - `rows`: rows of the table `evidence` with the basis of the run, the last of those with equal keys
    - `stale`: number of points of other games or settings
    - `bad_lines`: number of lines that are no points
    - `complete`: whether the whole file was read, not only its end
    """

    rows: tuple[Row, ...] = ()
    stale: int = 0
    bad_lines: int = 0
    complete: bool = True

    def remarks(self, path: Path) -> list[str]:
        """What of the file beside the run at `path` was not used."""
        name = points_file(path).name
        remarks = []
        if self.bad_lines:
            remarks.append(f"{name}: lines that are no points, skipped: {self.bad_lines:,}")
        if not self.complete:
            megabytes = MOST_BYTES // 1_000_000
            remarks.append(
                f"{name} is too long: only its last {MOST_LINES:,} lines, or {megabytes} MB, are used"
            )
        return remarks


def read_points(path: Path, basis: str) -> StoredPoints:
    """The points beside a run, from an ordinary file of this user. No file, or another one, has none."""
    with suppress(OSError):
        descriptor = os.open(points_file(path), os.O_RDONLY | _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            is_ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
            if stat.S_ISREG(status.st_mode) and is_ours:
                return _parsed(*_last_lines(file, status.st_size), basis)
    return StoredPoints()


def _last_lines(file: BinaryIO, size: int) -> tuple[list[bytes], bool]:
    """The last lines of a file, without blank ones, and whether they are all. Raises OSError."""
    skipped = max(size - MOST_BYTES, 0)
    file.seek(skipped)
    lines = deque[bytes](maxlen=MOST_LINES + 1)
    while line := file.readline(_LONGEST_LINE):
        if not line.isspace():
            lines.append(line)
    complete = not skipped and len(lines) <= MOST_LINES
    if not complete:
        lines.popleft()  # either its beginning is missing, or it is one line more than MOST_LINES
    return list(lines), complete


def _parsed(lines: Iterable[bytes], complete: bool, basis: str) -> StoredPoints:
    current: dict[str, Row] = {}
    stale: set[tuple[str, str]] = set()
    bad_lines = 0
    for line in lines:
        try:
            of_basis, *row = json.loads(line.decode())
            EvidencePoint.from_row(tuple(row))
            if not isinstance(of_basis, str):
                raise ValueError("no basis")
        except (ValueError, TypeError, RecursionError):
            bad_lines += 1
            continue
        if of_basis == basis:
            current[row[0]] = tuple(row)
        else:
            stale.add((of_basis, row[0]))
    return StoredPoints(tuple(current.values()), len(stale), bad_lines, complete)


def points_stat(path: Path) -> tuple[int, ...] | None:
    """Numbers that change with the file of points, or None."""
    with suppress(OSError):
        facts = points_file(path).lstat()
        return facts.st_ino, facts.st_size, facts.st_mtime_ns
    return None


def drop_stale_points(path: Path, basis: str) -> int:
    """Remove the file if all its points are of other games or settings; return their number, or 0.

    A file without points, or one that is too long to be read, is left alone.
    """
    stored = read_points(path, basis)
    if stored.rows or not stored.stale or not stored.complete:
        return 0
    with suppress(OSError):
        points_file(path).unlink()
    return stored.stale
