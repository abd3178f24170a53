"""What the page's script works on, as plain values for JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ttt_cli.views.evidence.surface import Surface, stored_surface
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report.players import BUDGET, Carried, carried_players

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run


def report_data(run: Run, limits: Eligible | None = None, budget: int = BUDGET) -> dict[str, Any]:
    """Periods, players, the limits (None: the usual ones) and the evidence surface of a run.

    `budget`: bytes that histories may take.
    """
    carried = carried_players(run, budget)
    return {
        "run": run.name,
        "model": run.meta.model,
        "period": run.meta.period,
        **_periods(run, carried),
        "limits": asdict(limits or eligible(run)),
        "unit": run.scale.unit,
        "smoothed": run.meta.kind == "smoothed",
        "hasSd": carried.has_sd,
        "later": list(carried.later),
        "minGames": carried.min_games,
        "leftOut": carried.left_out,
        "players": carried.players,
        "surface": _surface(stored_surface(run.evidence_points())),
    }


def _periods(run: Run, carried: Carried) -> dict[str, Any]:
    """The first period's number, the labels of all, and each one's place in years as `years[0] + i * years[1]`."""
    from ttt_cli.periods import STEPS_PER_YEAR, label
    from ttt_cli.views.charts.histories import year_of

    period: Any = run.meta.period
    ((last,),) = run.query("SELECT coalesce(max(period_number), -1) FROM periods")[1]
    first = min((player[7] for player in carried.players), default=0)
    return {
        "base": first,
        "labels": [label(number, period) for number in range(first, last + 1)],
        "years": [round(year_of(first, period), 6), 1.0 / STEPS_PER_YEAR[period]],
    }


def _surface(surface: Surface | None) -> dict[str, Any] | None:
    """The surface as rows of the second parameter, from low to high; null where it was not computed."""
    if surface is None:
        return None
    x_values, y_values = surface.ticks
    values = surface.values
    return {
        "keys": list(surface.keys),
        "x": list(x_values),
        "y": list(y_values),
        "values": [[_finite(values.get((x, y))) for x in x_values] for y in y_values],
        "best": list(surface.best),
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 4)
