"""The evidence over a grid of parameters: one that was asked for, or the largest that a run holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from ttt_cli.errors import ConfigError
from ttt_cli.inference.switches import in_use
from ttt_cli.views.evidence.report import DECIMALS, SCORED, has_evidence, known
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.evaluate.evidence.grid import EvidenceGrid
    from ttt_cli.progress import Progress
    from ttt_cli.runs.evidence import EvidencePoint
    from ttt_cli.runs.run import Run

Place = tuple[float, ...]
# dark to bright in equal steps of lightness (after viridis)
STEPS: Final = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip


@dataclass(frozen=True)
class Surface:
    """The evidence over a grid: `points` by their values on the axes, in order.

    `edges` says in which directions the grid might go on for more: `beta above 600`.
    """

    keys: tuple[str, ...]
    points: Mapping[Place, EvidencePoint]
    edges: tuple[str, ...] = ()

    @cached_property
    def ticks(self) -> tuple[tuple[float, ...], ...]:
        """The values, by axis."""
        return tuple(tuple(sorted({place[axis] for place in self.points})) for axis in range(len(self.keys)))

    @cached_property
    def best(self) -> Place:
        """The place of the highest evidence among the converged points, or among all when none has converged."""

        def rank(place: Place) -> tuple[bool, float]:
            point = self.points[place]
            finite = math.isfinite(point.log_evidence)
            return point.converged and finite, point.log_evidence if finite else -math.inf

        return max(self.points, key=rank)

    @property
    def best_words(self) -> str:
        """The best place in words: `beta 480, tau 60`."""
        return ", ".join(f"{key} {value:g}" for key, value in zip(self.keys, self.best, strict=True))

    @property
    def missed(self) -> int:
        """How many points did not converge."""
        return sum(not point.converged for point in self.points.values())

    @property
    def remarks(self) -> Iterator[str]:
        """What to know of the best point, and of those that did not converge."""
        if self.edges:
            yield "the best point lies on the edge of the grid"
            yield f"hint: try {', '.join(self.edges)}"
        if self.missed:
            yield f"{self.missed:,} of {len(self.points):,} points did not converge"

    @property
    def values(self) -> dict[Place, float]:
        """The log-evidence by place, nats."""
        return {place: point.log_evidence for place, point in self.points.items()}

    def drops(self) -> dict[Place, float]:
        """By how much the evidence is lower than at the best, nats; infinite where it is no number."""
        highest = self.points[self.best].log_evidence
        return {
            place: math.inf if math.isnan(value) else highest - value for place, value in self.values.items()
        }


def computed_surface(
    run: Run, grid: str, overrides: Sequence[str], jobs: int | None, progress: Progress
) -> Surface:
    """The surface over a grid that is asked for in words, of the run that stands there when its turn has come.

    Raises ConfigError for systems without evidence, and as `evidence_grid` does.
    """
    from ttt_cli.evaluate.evidence.grid import evidence_grid
    from ttt_cli.runs.asked import RunReplaced
    from ttt_cli.runs.run import open_run

    if not has_evidence(run.meta):
        raise ConfigError(f"{run.meta.model} has no evidence to make a surface of", hint=SCORED)
    try:
        found = evidence_grid(run, grid, overrides, jobs=jobs, progress=progress)
    except RunReplaced:  # by the process that was waited for
        found = evidence_grid(open_run(run.path), grid, overrides, jobs=jobs, progress=progress)
    return evidence_surface(found)


def evidence_surface(grid: EvidenceGrid) -> Surface:
    """Lay the points of a grid out along its axes."""
    points = dict(sorted((tuple(point.params[key] for key in grid.keys), point) for point in grid.points))
    surface = Surface(grid.keys, points)
    return Surface(grid.keys, points, tuple(_edges(grid, surface.best)))


def surface_rows(surface: Surface) -> Rows:
    """One row per point: the axes, `log_evidence,converged,sweeps,best`, then the parameters that do not vary.

    `best` is true in one row.
    """
    points, best = surface.points, surface.best
    used = dict.fromkeys(key for point in points.values() for key in in_use(point.params))
    others = [key for key in used if key not in surface.keys]
    fixed = {key for key in others if len({point.params.get(key) for point in points.values()}) == 1}
    rows = [
        (
            *(*place, known(point.log_evidence), point.converged, point.sweeps, place == best),
            *(point.params.get(key) for key in others),
        )
        for place, point in points.items()
    ]
    columns = (*surface.keys, "log_evidence", "converged", "sweeps", "best", *others)
    title = ", ".join(f"{key} {_short(points[best].params[key])}" for key in others if key in fixed)
    return Rows(columns, rows, (title,) if title else (), DECIMALS, frozenset(fixed))


def stored_surface(points: Sequence[EvidencePoint]) -> Surface | None:
    """The two parameters and the points over them that fill the largest grid, all else asked for being equal.

    None when no two parameters vary together. A parameter that follows from others (an `auto`) may vary with them.
    """
    keys = dict.fromkeys(key for point in points for key, value in point.asked.items() if _is_number(value))
    found = (
        Surface(pair, kept)
        for pair in combinations(keys, 2)
        for group in _groups(points, pair)
        if (kept := _on_lines(pair, group))
    )
    return max(found, key=lambda surface: len(surface.points), default=None)


def _groups(points: Sequence[EvidencePoint], pair: tuple[str, str]) -> list[list[EvidencePoint]]:
    groups: dict[str, list[EvidencePoint]] = {}
    for point in points:
        if all(_is_number(point.asked.get(key)) for key in pair):
            rest = {key: value for key, value in sorted(point.asked.items()) if key not in pair}
            groups.setdefault(repr(rest), []).append(point)
    return list(groups.values())


def _on_lines(pair: tuple[str, str], group: Sequence[EvidencePoint]) -> dict[Place, EvidencePoint]:
    """The points on the lines of a grid: a value that only one point has is no line. Empty when there is no grid."""
    places: dict[Place, EvidencePoint] = {
        (float(p.asked[pair[0]]), float(p.asked[pair[1]])): p for p in group
    }
    lines = [[place[axis] for place in places] for axis in (0, 1)]
    kept = {
        place: point
        for place, point in sorted(places.items())
        if all(lines[axis].count(place[axis]) > 1 for axis in (0, 1))
    }
    return {} if any(len({place[axis] for place in kept}) < 2 for axis in (0, 1)) else kept


def _edges(grid: EvidenceGrid, best: Place) -> Iterator[str]:
    for axis, value in zip(grid.axes, best, strict=True):
        lower, higher = grid.open_ends[axis.key]
        if len(axis.values) > 1 and lower and value == axis.values[0]:
            yield f"{axis.key} below {value:g}"
        if len(axis.values) > 1 and higher and value == axis.values[-1]:
            yield f"{axis.key} above {value:g}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_geometric(ticks: Sequence[float]) -> bool:
    """Whether steps are more alike by their ratios than by their differences: such an axis is logarithmic."""
    if ticks[0] <= 0.0 or len(ticks) < 3:
        return False
    steps, ratios = [b - a for a, b in pairwise(ticks)], [math.log(b / a) for a, b in pairwise(ticks)]
    return max(ratios) / min(ratios) < max(steps) / min(steps)


def edges(ticks: Sequence[float], *, log: bool) -> dict[float, tuple[float, float]]:
    """Where the tile of each value begins and ends: halfway to its neighbours, on the outer sides as far again."""
    forth, back = (math.log, math.exp) if log else (float, float)
    places = [forth(value) for value in ticks]
    if len(places) == 1:
        return {ticks[0]: (back(places[0] - 0.5), back(places[0] + 0.5))}
    half = [(b - a) / 2.0 for a, b in pairwise(places)]
    before, after = [half[0], *half], [*half, half[-1]]
    return {
        value: (back(place - a), back(place + b))
        for value, place, a, b in zip(ticks, places, before, after, strict=True)
    }


def shares(ticks: Sequence[float]) -> list[tuple[float, float, float]]:
    """Where the tile of each value begins, its point lies and the tile ends, from 0 to 1 along the axis."""
    log = is_geometric(ticks)
    forth = math.log if log else float
    found = [(forth(low), forth(at), forth(high)) for at, (low, high) in edges(ticks, log=log).items()]
    start, length = found[0][0], found[-1][2] - found[0][0]
    return [tuple(round((place - start) / length, 5) for place in one) for one in found]  # type: ignore[misc]
