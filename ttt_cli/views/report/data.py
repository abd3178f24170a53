"""What the page's script works on, as plain values for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ttt_cli.views.field import ACTIVE_YEARS
from ttt_cli.views.report.players import BUDGET, Carried, carried_players
from ttt_cli.views.settled import settled_sd
from ttt_cli.views.stored_surface import StoredSurface, stored_surface

if TYPE_CHECKING:
    from ttt_cli.runs.meta import RunMeta
    from ttt_cli.runs.run import Run


def report_data(run: Run, budget: int = BUDGET) -> dict[str, Any]:
    """Periods, players and the evidence surface of a run. `budget`: bytes that histories may take."""
    carried = carried_players(run, budget)
    return {
        "run": run.name,
        "model": run.meta.model,
        "period": run.meta.period,
        **_periods(run.meta, carried),
        "activeYears": ACTIVE_YEARS,
        "maxSd": settled_sd(run),
        "unit": run.scale.unit,
        "hasSd": carried.has_sd,
        "minGames": carried.min_games,
        "leftOut": carried.left_out,
        "players": carried.players,
        "surface": _surface(stored_surface(run.evidence_points())),
    }


def _periods(meta: RunMeta, carried: Carried) -> dict[str, Any]:
    """The first period's number, the labels of all, and each one's place in years as `years[0] + i * years[1]`."""
    from ttt_cli.periods import STEPS_PER_YEAR, label
    from ttt_cli.views.charts.histories import year_of

    period: Any = meta.period
    first = min((player[5] for player in carried.players), default=0)
    last = max((_last(player) for player in carried.players), default=-1)
    return {
        "base": first,
        "labels": [label(number, period) for number in range(first, last + 1)],
        "years": [round(year_of(first, period), 6), 1.0 / STEPS_PER_YEAR[period]],
    }


def _last(player: list[Any]) -> int:
    start, offsets, means = player[5:8]
    return int(start + (offsets[-1] if offsets else len(means) - 1))


def _surface(surface: StoredSurface | None) -> dict[str, Any] | None:
    """The surface as rows of the second parameter, from low to high; null where it was not computed."""
    if surface is None:
        return None
    x_values = sorted({x for x, _ in surface.points})
    y_values = sorted({y for _, y in surface.points})
    return {
        "keys": list(surface.keys),
        "x": x_values,
        "y": y_values,
        "values": [[_finite(surface.points.get((x, y))) for x in x_values] for y in y_values],
        "best": list(surface.best),
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 4)
