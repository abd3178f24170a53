"""The page: its parts and what its script works on put together, everything in it escaped."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from typing import Any, Final

from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence.surface import Surface, shares, stored_surface
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report.facts import (
    beside_section,
    data_section,
    evidence_section,
    game_cards,
    model_cards,
    moving_section,
    notes,
)
from ttt_cli.views.report.players import BUDGET, Carried, carried_players, short
from ttt_cli.views.run import axis_title, scale_note
from ttt_cli.views.templates import asset, embedded, filled, script

DATA_SCRIPTS: Final = ("fold.js", "periods.js", "data.js")
_SCRIPTS: Final = (
    *DATA_SCRIPTS, "element.js", "dom.js", "table.js", "combobox.js", "axes.js", "curves.js", "hover.js",
    "ranking.js", "surface.js", "downloads.js", "main.js",
)  # fmt: skip


def report_page(
    run: Run,
    limits: Eligible | None = None,
    *,
    budget: int = BUDGET,
    beside: Beside | None = None,
    progress: Progress = SILENT,
) -> str:
    """A run as one HTML page that needs nothing else: style, script and data are inside.

    `limits`: who is eligible until the reader changes it (None: by default). `budget`: bytes that players' histories
    may take; of a larger run, those who played most are carried. `beside`: published ratings to show, too.
    """
    with run:
        data = report_data(run, limits, budget, progress)
        data["beside"] = _beside(beside, data)
        parts = {
            "title": escape(f"{run.name}: skill histories"),
            "about": escape(f"{run.meta.describe()}; {scale_note(run)}"),
            "cards": game_cards(run.meta) + model_cards(run.meta),
            "notes": notes(run.meta, data),
            "dotted": f" Dotted: ratings of {escape(beside.name)}, scaled." if beside else "",
            "moving": moving_section(run),
            "beside": beside_section(beside) if beside else "",
            "evidence": evidence_section(run.meta),
            "reading": data_section(run),
            "period": escape(run.meta.period),
            "style": asset("style.css"),
            "data": embedded(data),
            "script": script(_SCRIPTS),
        }
    return filled("page.html", parts)


def report_data(
    run: Run, limits: Eligible | None = None, budget: int = BUDGET, progress: Progress = SILENT
) -> dict[str, Any]:
    """Periods, players, the limits (None: the usual ones) and the evidence surface of a run.

    `budget`: bytes that histories may take.
    """
    carried = carried_players(run, budget, progress)
    return {
        "run": run.name,
        "model": run.meta.model,
        "period": run.meta.period,
        **_periods(run, carried),
        "limits": asdict(limits or eligible(run)),
        "unit": run.scale.unit,
        "unitTitle": axis_title(run.scale),
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
    from ttt_cli.periods import STEPS_PER_YEAR, label, year_of

    period: Any = run.meta.period
    ((last,),) = run.query("SELECT coalesce(max(period_number), -1) FROM periods")[1]
    first = min((player[7] for player in carried.players), default=0)
    return {
        "base": first,
        "labels": [label(number, period) for number in range(first, last + 1)],
        "years": [round(year_of(first, period), 6), 1.0 / STEPS_PER_YEAR[period]],
    }


def _beside(beside: Beside | None, data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Published ratings of the players who are carried: pairs of a period's place and a rating, by name."""
    if beside is None:
        return None
    carried, base = {player[0] for player in data["players"]}, data["base"]
    ratings = {
        player: [[number - base, short(value)] for number, value in sorted(some.items())]
        for player, some in beside.ratings.items()
        if player in carried
    }
    return {"name": beside.name, "ratings": ratings}


def _surface(surface: Surface | None) -> dict[str, Any] | None:
    """The surface as rows of the second parameter, from low to high; null where it was not computed.

    `sides`: for every value of both parameters where its tile begins, its point lies and the tile ends.
    """
    if surface is None:
        return None
    x_values, y_values = surface.ticks
    values = surface.values
    return {
        "keys": list(surface.keys),
        "x": list(x_values),
        "y": list(y_values),
        "sides": [shares(x_values), shares(y_values)],
        "values": [[_finite(values.get((x, y))) for x in x_values] for y in y_values],
        "best": list(surface.best),
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 4)
