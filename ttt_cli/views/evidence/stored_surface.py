"""The largest grid of evidence that a run holds, laid out over two parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttt_cli.runs.evidence import EvidencePoint


@dataclass(frozen=True)
class StoredSurface:
    """Log-evidence by the values of two parameters, in nats; `best` is the place of the highest, converged first."""

    keys: tuple[str, str]
    points: Mapping[tuple[float, float], float]
    best: tuple[float, float]

    @property
    def highest(self) -> float:
        """The evidence at the best place."""
        return self.points[self.best]


def stored_surface(points: Sequence[EvidencePoint]) -> StoredSurface | None:
    """The two parameters and the points over them that fill the largest grid, all else asked for being equal.

    None when no two parameters vary together. A parameter that follows from others (an `auto`) may vary with them.
    """
    keys = list(
        dict.fromkeys(key for point in points for key, value in point.asked.items() if _number(value))
    )
    best: StoredSurface | None = None
    for pair in combinations(keys, 2):
        for group in _groups(points, pair):
            surface = _surface(pair, group)
            if surface and (best is None or len(surface.points) > len(best.points)):
                best = surface
    return best


def _groups(points: Sequence[EvidencePoint], pair: tuple[str, str]) -> list[list[EvidencePoint]]:
    groups: dict[str, list[EvidencePoint]] = {}
    for point in points:
        if all(_number(point.asked.get(key)) for key in pair):
            rest = {key: value for key, value in sorted(point.asked.items()) if key not in pair}
            groups.setdefault(repr(rest), []).append(point)
    return list(groups.values())


def _surface(pair: tuple[str, str], group: Sequence[EvidencePoint]) -> StoredSurface | None:
    """A surface of the points on the grid's lines: a value that only one point has is no line."""
    places = {(float(p.asked[pair[0]]), float(p.asked[pair[1]])): p for p in group}
    lines = [[place[axis] for place in places] for axis in (0, 1)]
    kept = {
        place: point
        for place, point in places.items()
        if all(lines[axis].count(place[axis]) > 1 for axis in (0, 1))
    }
    if any(len({place[axis] for place in kept}) < 2 for axis in (0, 1)):
        return None
    values = {place: point.log_evidence for place, point in sorted(kept.items())}
    best = max(values, key=lambda place: _rank(kept[place]))
    return StoredSurface(pair, values, best)


def _rank(point: EvidencePoint) -> tuple[bool, float]:
    known = math.isfinite(point.log_evidence)
    return point.converged and known, point.log_evidence if known else -math.inf


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
