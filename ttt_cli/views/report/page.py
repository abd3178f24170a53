"""The page: its parts and what its script works on put together, everything in it escaped.

Players' histories are compact arrays; of a large run those are carried who played most.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence.surface import Surface, shares, stored_surface
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report import facts
from ttt_cli.views.run import axis_title, scale_note
from ttt_cli.views.templates import asset, embedded, filled, script

DATA_SCRIPTS: Final = ("fold.js", "periods.js", "data.js")
_SCRIPTS: Final = (
    *DATA_SCRIPTS, "element.js", "dom.js", "table.js", "combobox.js", "axes.js", "curves.js", "hover.js",
    "ranking.js", "surface.js", "downloads.js", "main.js",
)  # fmt: skip
BUDGET: Final = 4_800_000  # bytes that all histories may take in the page
_PLAYER_BYTES: Final = 78
_ROW_BYTES: Final = 17
_MARGIN_BYTES: Final = 7
_OFFSET_BYTES: Final = 6
_MOST_NUMBERED: Final = 1e15
# Of the periods without games, the first of a year is enough to draw the way between.
_KEPT: Final = """
SELECT * FROM skills
WHERE games > 0 OR period_number IN (SELECT min(period_number) FROM periods GROUP BY split_part(period, '-', 1))
"""
_SIZES: Final = f"""
SELECT players.games, count(DISTINCT player), count(*) FROM ({_KEPT}) kept JOIN players USING (player)
GROUP BY players.games ORDER BY players.games DESC
"""
_ROWS: Final = """
SELECT player, players.games, wins, draws, losses, opponents, onward, period_number, mean, coalesce(sd, 0.0),
       kept.games, {margin}
FROM ({kept}) kept JOIN players USING (player)
JOIN (SELECT player, [sd_rise, mean_growth, mean_decline_after, sd_early] AS onward FROM spans WHERE "until" IS NULL)
USING (player)
WHERE players.games >= ? ORDER BY player, period_number
"""
_HAS: Final = """
SELECT count(sd) > 0, bool_or(mean_growth <> 0 OR mean_decline <> 0 OR sd_early <> 0) IS TRUE FROM spans
"""
_LATER: Final = """
SELECT any_value(sd_most), any_value(sd_prior), any_value(mean_prior), any_value(mean_decline),
       any_value(mean_growth_periods), any_value(sd_early_periods)
FROM spans WHERE "until" IS NULL
"""


@dataclass(frozen=True)
class Carried:
    """The players in a page: those with `min_games` games or more, `left_out` others.

    Each is a list: name, games, wins, draws, losses, opponents, onward, first period number, then arrays over the
    rows: period numbers after the first (0 when each follows the other), means, sds, games, and draw margins or 0. Sds
    are 0 where the system has none (`has_sd`). After the last row a skill goes on as `ttt_cli.fitted.later_on` has it:
    `onward` is the rise of the variance in a period or, with careers, a list of that, the growth left, the periods to
    the decline, and the early haste left; `later` are the largest sd, the prior's sd and its mean, None where there is
    none, and the decline in a period and the periods of growth and of early haste.
    """

    players: list[list[Any]]
    min_games: float
    left_out: int
    has_sd: bool
    later: tuple[float | None, ...]


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
            "cards": facts.game_cards(run.meta) + facts.model_cards(run.meta),
            "notes": facts.notes(run.meta, data),
            "dotted": f" Dotted: ratings of {escape(beside.name)}, scaled." if beside else "",
            "moving": facts.moving_section(run),
            "beside": facts.beside_section(beside) if beside else "",
            "evidence": facts.evidence_section(run.meta),
            "reading": facts.data_section(run),
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


def carried_players(run: Run, budget: int = BUDGET, progress: Progress = SILENT) -> Carried:
    """As many players, by games, as `budget` bytes hold."""
    columns, _ = run.query("SELECT * FROM skills LIMIT 0")
    margin = "draw_margin" in columns
    row_bytes = _ROW_BYTES + _MARGIN_BYTES * margin + _OFFSET_BYTES * (run.meta.period != "year")
    sizes = run.query(_SIZES)[1]
    min_games = _threshold(sizes, row_bytes, budget)
    sql = _ROWS.format(kept=_KEPT, margin="draw_margin" if margin else "NULL")
    rows = run.stream(sql, [min_games])[1]
    scale = run.scale
    ((known, careers),) = run.query(_HAS)[1]
    many, players = sum(count for games, count, _ in sizes if games >= min_games), []
    with progress.task("writing the page", many, "players") as bar:
        for _, group in groupby(rows, key=itemgetter(0)):
            players.append(_packed(list(group), scale.slope, careers=careers))
            bar.advance()
    everyone = sum(count for _, count, _ in sizes)
    most, prior, centre, decline, *periods = run.query(_LATER)[1][0]
    later = (
        *(_shown(most, scale.slope), _shown(prior, scale.slope), _shown(centre, scale.slope, scale.shift)),
        *(_shown(decline, scale.slope), *periods),
    )
    return Carried(players, min_games, everyone - len(players), bool(known), later)


def _shown(value: float | None, slope: float, shift: float = 0.0) -> float | None:
    return None if value is None or not math.isfinite(value) else value * slope + shift


def _threshold(sizes: Sequence[tuple[Any, ...]], row_bytes: int, budget: int) -> float:
    """The fewest games of a player carried, given (games, players, rows) from many games to few."""
    used = 0
    least = sizes[0][0] if sizes else 0
    for games, players, rows in sizes:
        used += players * _PLAYER_BYTES + rows * row_bytes
        if used > budget:
            break
        least = games
    return float(least)


def _packed(rows: list[tuple[Any, ...]], slope: float, *, careers: bool) -> list[Any]:
    name, *record, (rise, growth, after, early), start = rows[0][:8]
    onward = [float(f"{value:.4g}") for value in (rise * slope**2, growth * slope, after, early)]
    numbers, means, sds, games, margins = list(zip(*rows, strict=True))[7:]
    offsets = [number - start for number in numbers]
    return [
        name,
        *map(short, record),
        onward if careers else onward[0],
        start,
        0 if offsets == list(range(len(rows))) else offsets,
        *(list(map(short, column)) for column in (means, sds, games)),
        0 if margins[0] is None else list(map(short, margins)),
    ]


def short(value: float) -> float | int:
    """A number to one decimal, an integer where it is one."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() and abs(rounded) < _MOST_NUMBERED else rounded
