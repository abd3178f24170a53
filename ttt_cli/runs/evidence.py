"""Points at which the evidence was computed, as the run keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.runs.meta import canonical, to_json
from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit

_RESULT: Final = ("log_evidence", "converged", "sweeps", "remaining_error")
SELECT: Final = f"SELECT point, params, {', '.join(_RESULT)} FROM {DATABASE}.main.evidence ORDER BY rowid"
INSERT: Final = "INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True)
class EvidencePoint:
    """One fit's evidence. `asked`: the model's parameters as in the config; `params`: resolved to numbers.

    Points whose `asked` are equal are the same point: the later replaces the earlier. What is NaN or infinite here,
    since it is unknown, is NULL in the table.
    """

    asked: Mapping[str, Any]
    params: Mapping[str, Any]
    log_evidence: float
    converged: bool
    sweeps: int
    remaining_error: float

    @classmethod
    def of(cls, fit: Fit, asked: Mapping[str, Any]) -> EvidencePoint:
        """The point of a fit that was asked for with these parameters."""
        return cls(
            asked=asked,
            params=fit.params,
            log_evidence=float(fit.log_evidence),
            converged=fit.status.converged,
            sweeps=fit.status.sweeps,
            remaining_error=float(fit.status.remaining_error),
        )

    @property
    def point(self) -> str:
        """What the point is known by: `asked` in canonical JSON."""
        return canonical(self.asked)

    def to_row(self) -> tuple[Any, ...]:
        """The row of the run's table."""
        return (self.point, to_json(self.params), *self.shown())

    def shown(self) -> tuple[Any, ...]:
        """Evidence, convergence, sweeps and the error that remains; None for what is unknown."""
        found = (getattr(self, name) for name in _RESULT)
        return tuple(value if math.isfinite(value) else None for value in found)

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> EvidencePoint:
        """The inverse of `to_row`."""
        point, params, evidence, converged, sweeps, error = row
        known = (
            math.nan if evidence is None else evidence,
            converged,
            sweeps,
            math.inf if error is None else error,
        )
        return cls(json.loads(point), json.loads(params), *known)


def evidence_table(points: list[EvidencePoint]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows: every parameter a column (empty where a point lacks it), then the results."""
    keys = list(dict.fromkeys(key for point in points for key in point.params))
    rows = [(*(point.params.get(key) for key in keys), *point.shown()) for point in points]
    return (*keys, *_RESULT), rows
