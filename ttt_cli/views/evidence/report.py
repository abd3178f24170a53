"""How well a run's parameters explain its games, and where on a grid they explain them best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.views.ingest.summary import shown_notes
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.evaluate.evidence.grid import EvidenceGrid
    from ttt_cli.runs.evidence import EvidencePoint
    from ttt_cli.runs.meta import RunMeta

Place = tuple[float, ...]

_DECIMALS: Final = {
    "log_evidence": 3,
    "naive_log_evidence": 3,
    "gain_per_game": 5,
    "leave_one_out": 3,
    "leave_one_out_per_game": 5,
    "draw_share": 4,
}


SCORED: Final = "it is judged by what it predicts: `ttt evidence --scores`, `ttt compare`"


def naive_log_evidence(games: float, draw_share: float) -> float:
    """log-evidence, in nats, of the model that always predicts the observed share of draws, the rest halved.

    TTT paper, section 4: this is the exact sum of log probabilities. For the paper's 3,505,366 games with
    30.3 % draws it is -3,843,663; the paper prints -4,228,005 and speaks of leakage in its approximate
    inference. `games` may be weighted; 0 without games.
    """
    drawn = games * draw_share
    decided = games - drawn
    return (drawn * math.log(draw_share) if drawn else 0.0) + (
        decided * math.log((1.0 - draw_share) / 2.0) if decided else 0.0
    )


def evidence_report(meta: RunMeta) -> Rows:
    """The report of one run: one row of the games, the evidence, how inference ended, the parameters.

    Evidence in nats; `gain_per_game` is over the naive model. Parameters without a value are left out; the evidence
    of a system that has none is empty, and the title says so.
    """
    naive = naive_log_evidence(meta.weight, meta.draw_share)
    facts: dict[str, Any] = {
        "model": meta.model,
        "games": meta.weight if meta.weight != meta.games else meta.games,
        "players": meta.players,
        "first": meta.first,
        "last": meta.last,
        "draw_share": meta.draw_share,
        "log_evidence": _known(meta.log_evidence),
        "naive_log_evidence": naive,
        "gain_per_game": _known((meta.log_evidence - naive) / meta.weight if meta.weight else 0.0),
        "leave_one_out": _known(meta.leave_one_out),
        "leave_one_out_per_game": _known(meta.leave_one_out / meta.weight if meta.weight else 0.0),
        "converged": meta.converged,
        "sweeps": meta.sweeps,
        "remaining_error": _known(meta.remaining_error),
    }
    facts.update((key, value) for key, value in meta.params.items() if value is not None)
    lacks = () if has_evidence(meta) else (f"{meta.model} has no evidence; {SCORED}",)
    title = (meta.describe(), *lacks, *shown_notes(meta.notes))
    return Rows(tuple(facts), [tuple(facts.values())], title, _DECIMALS, single=True)


def has_evidence(meta: RunMeta) -> bool:
    """Whether the run's system says how probable the games are."""
    return not math.isnan(meta.log_evidence)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Surface:
    """The evidence over a grid: `points` by their values on the axes, in order; `ticks` are these values, by axis.

    `best` is the place of the highest evidence among the converged points, or among all when none has
    converged. `edges` says in which directions the grid might go on for more: `beta above 600`.
    """

    keys: tuple[str, ...]
    ticks: tuple[tuple[float, ...], ...]
    points: Mapping[Place, EvidencePoint]
    best: Place
    edges: tuple[str, ...]

    @property
    def best_words(self) -> str:
        """The best place in words: `beta 480, tau 60`."""
        return ", ".join(f"{key} {value:g}" for key, value in zip(self.keys, self.best, strict=True))

    def drop(self, place: Place) -> float:
        """By how much the evidence at a place is lower than at the best, nats; infinite where it is no number."""
        drop = self.points[self.best].log_evidence - self.points[place].log_evidence
        return math.inf if math.isnan(drop) else drop


def evidence_surface(grid: EvidenceGrid) -> Surface:
    """Lay the points of a grid out along its axes."""
    keys = grid.keys
    points = dict(sorted((tuple(point.params[key] for key in keys), point) for point in grid.points))
    best = max(points, key=lambda place: _rank(points[place]))
    return Surface(
        keys=keys,
        ticks=tuple(tuple(sorted({place[axis] for place in points})) for axis in range(len(keys))),
        points=points,
        best=best,
        edges=tuple(_edges(grid, best)),
    )


def surface_rows(surface: Surface) -> Rows:
    """One row per point: the axes, `log_evidence,converged,sweeps,best`, then the parameters that do not vary.

    `best` is true in one row.
    """
    points = surface.points
    others = [
        key
        for key in next(iter(points.values())).params
        if key not in surface.keys and any(point.params.get(key) is not None for point in points.values())
    ]
    fixed = {key for key in others if len({point.params.get(key) for point in points.values()}) == 1}
    rows = [
        (
            *place,
            *(_known(point.log_evidence), point.converged, point.sweeps, place == surface.best),
            *(point.params.get(key) for key in others),
        )
        for place, point in points.items()
    ]
    columns = (*surface.keys, "log_evidence", "converged", "sweeps", "best", *others)
    title = ", ".join(f"{key} {_short(points[surface.best].params[key])}" for key in others if key in fixed)
    return Rows(columns, rows, (title,) if title else (), _DECIMALS, frozenset(fixed))


def _rank(point: EvidencePoint) -> tuple[bool, float]:
    known = not math.isnan(point.log_evidence)
    return point.converged and known, point.log_evidence if known else -math.inf


def _edges(grid: EvidenceGrid, best: Sequence[float]) -> list[str]:
    found = []
    for axis, value in zip(grid.axes, best, strict=True):
        lower, higher = grid.open_ends[axis.key]
        if len(axis.values) > 1 and lower and value == axis.values[0]:
            found.append(f"{axis.key} below {value:g}")
        if len(axis.values) > 1 and higher and value == axis.values[-1]:
            found.append(f"{axis.key} above {value:g}")
    return found


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
