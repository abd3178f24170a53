"""How well a run's parameters explain its games, and where on a grid they explain them best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.runs.evidence import EvidencePoint
    from ttt_cli.runs.meta import RunMeta


def naive_log_evidence(games: float, draw_share: float) -> float:
    """log-evidence of the model that always predicts the observed share of draws, the rest halved.

    TTT paper, section 4. `games` may be weighted; 0 without games.
    """
    drawn = games * draw_share
    decided = games - drawn
    return (drawn * math.log(draw_share) if drawn else 0.0) + (
        decided * math.log((1.0 - draw_share) / 2.0) if decided else 0.0
    )


def evidence_report(meta: RunMeta) -> Rows:
    """The report of one run: one row, evidence first, then how inference ended, then the parameters."""
    naive = naive_log_evidence(meta.weight, meta.draw_share)
    facts: dict[str, Any] = {
        "model": meta.model,
        "games": meta.weight if meta.weight != meta.games else meta.games,
        "players": meta.players,
        "first": meta.first,
        "last": meta.last,
        "draw_share": meta.draw_share,
        "log_evidence": meta.log_evidence,
        "naive_log_evidence": naive,
        "gain_per_game": (meta.log_evidence - naive) / meta.weight if meta.weight else 0.0,
        "converged": meta.converged,
        "sweeps": meta.sweeps,
        "remaining_error": meta.remaining_error,
    }
    facts.update((key, value) for key, value in meta.params.items() if value is not None)
    return Rows(tuple(facts), [tuple(facts.values())], single=True)


@dataclass(frozen=True)
class Surface:
    """The evidence over a grid: `rows` has one row per point in order of the axes, `best` is the index of the best.

    `gain[i][j]` is the log-evidence at `ticks[0][i]`, `ticks[1][j]`, relative to the best (0 there), None where
    no point is; only for two axes.
    """

    keys: tuple[str, ...]
    ticks: tuple[tuple[float, ...], ...]
    rows: Rows
    gain: tuple[tuple[float | None, ...], ...]
    best: tuple[float, ...]


def evidence_surface(keys: Sequence[str], points: Sequence[EvidencePoint]) -> Surface:
    """Lay the points of a grid out along its axes. Raises ValueError without points.

    Columns are the axes, then `log_evidence,converged,sweeps,best`; `best` is true for one row.
    """
    placed = {tuple(point.params[key] for key in keys): point for point in points}
    top = max(placed, key=lambda place: placed[place].log_evidence)
    ticks = tuple(tuple(sorted({place[i] for place in placed})) for i in range(len(keys)))
    rows = [
        (*place, point.log_evidence, point.converged, point.sweeps, place == top)
        for place, point in sorted(placed.items())
    ]
    columns = (*keys, "log_evidence", "converged", "sweeps", "best")
    return Surface(
        tuple(keys), ticks, Rows(columns, rows, decimals={"log_evidence": 3}), _gain(ticks, placed, top), top
    )


def _gain(
    ticks: tuple[tuple[float, ...], ...], placed: dict[tuple[Any, ...], EvidencePoint], top: tuple[Any, ...]
) -> tuple[tuple[float | None, ...], ...]:
    if len(ticks) != 2:
        return ()
    highest = placed[top].log_evidence
    return tuple(
        tuple(placed[a, b].log_evidence - highest if (a, b) in placed else None for b in ticks[1])
        for a in ticks[0]
    )
