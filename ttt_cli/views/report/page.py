"""The page: a run as one HTML file that needs nothing else, everything in it escaped."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.periods import STEPS_PER_YEAR, label, year_of
from ttt_cli.reading.reports import position_text
from ttt_cli.runs.curves import CURVES
from ttt_cli.runs.meta import in_use
from ttt_cli.runs.run import Run
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.evidence import gain_per_game, naive_log_evidence, stored_surface
from ttt_cli.views.figures.kinds.evidence import surface_figure, surface_note
from ttt_cli.views.figures.kinds.model_curves import model_curve_figure
from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report.markup import assets, curves_frame, figure, filled, readable, short, signs
from ttt_cli.views.rows import finite
from ttt_cli.views.rows import short as short_text
from ttt_cli.views.run import curve_title, scale_note

LATE: Final = "This fit had not converged: skills may be off by more than the tolerance."
_LISTED: Final = "SELECT file, line, action, reason, detail FROM problems LIMIT 100"
_SHORTEST: Final = 3  # years of a curve


def pictures(run: Run) -> list[tuple[str, str]]:
    """Title and figure of every curve of the run, with a band of one sd."""
    return [
        (curve_title(run, name), figure(model_curve_figure(run, name), "career", height=270))
        for name in CURVES
        if len([row for row in run.curve(name) if row[0] % 1 == 0]) >= _SHORTEST
    ]


DATA_SCRIPTS: Final = ("fold.js", "periods.js", "onward.js", "data.js")
_SCRIPTS: Final = (
    *DATA_SCRIPTS, "element.js", "dom.js", "table.js", "combobox.js", "figure.js", "curves.js", "hover.js",
    "ranking.js", "downloads.js", "main.js",
)  # fmt: skip
BUDGET: Final = 4_800_000  # bytes that all histories may take in the page
_PLAYER_BYTES: Final = 78
_ROW_BYTES: Final = 17
_MARGIN_BYTES: Final = 7
_OFFSET_BYTES: Final = 6
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
SELECT player, players.games, wins, draws, losses, opponents, onward, list(period_number ORDER BY period_number),
       list(mean ORDER BY period_number), list(coalesce(sd, 0.0) ORDER BY period_number),
       list(kept.games ORDER BY period_number), {margins}
FROM ({kept}) kept JOIN players USING (player)
JOIN (SELECT player, [sd_rise, mean_growth, mean_decline_after, sd_early] AS onward FROM spans WHERE "until" IS NULL)
USING (player)
WHERE players.games >= ? GROUP BY ALL ORDER BY player
"""
_HAS: Final = """
SELECT count(sd) > 0, bool_or(mean_growth <> 0 OR mean_decline <> 0 OR sd_early <> 0) IS TRUE FROM spans
"""
_LATER: Final = """
SELECT any_value(sd_most), any_value(sd_prior), any_value(mean_prior), any_value(mean_decline),
       any_value(mean_growth_periods), any_value(sd_early_periods)
FROM spans WHERE "until" IS NULL
"""


def report_page(
    run: Run,
    limits: Eligible | None = None,
    *,
    budget: int = BUDGET,
    published: PublishedRatings | None = None,
    progress: Progress = SILENT,
) -> str:
    """A run as one HTML page that needs nothing else: style, script and data are inside.

    `limits`: who is eligible until the reader changes it (None: by default). `budget`: bytes that players' histories
    may take; of a larger run, those who played most are carried. `published`: published ratings to show, too.
    """
    with run:
        meta = run.meta
        data = report_data(run, limits, budget, progress)
        carried = {player[0] for player in data["players"]}
        data["beside"] = published and {
            "name": published.name,
            "ratings": {
                player: [
                    [number - data["base"], short(rating)]
                    for number, rating in sorted(by_period.items())
                ]
                for player, by_period in published.ratings.items()
                if player in carried
            },
        }
        notes = [] if meta.converged else [LATE]
        if data["leftOut"]:
            notes.append(
                f"To stay small, this page carries the {len(data['players']):,} players with at least "
                f"{data['minGames']:g} games; {data['leftOut']:,} others are in the run but not here."
            )
        surface = stored_surface(run.evidence_points())
        height = min(max(140, 26 * len(surface.ticks[1])), 380) + 44 if surface else 0  # pixels
        parts = {
            "title": readable(run.name),
            "about": f"{meta.describe()}; {scale_note(run)}",
            "gain": finite(gain_per_game(meta)),
            "naive": naive_log_evidence(meta.weight, meta.draw_share),
            "notes": [signs(line) for line in (*notes, *meta.notes)],
            "published": published,
            "pictures": pictures(run),
            "surface_note": surface and surface_note(surface),
            "surface": surface and figure(surface_figure(run, surface), "surface", height=height),
            "params": [(key, short_text(value)) for key, value in in_use(meta.params).items()],
            "config": json.dumps(meta.config, indent=2, ensure_ascii=False),
            "inputs": run.select("SELECT path, kind, rows, used, digest FROM inputs")[1],
            "dropped": run.select(
                "SELECT file, reason, rows FROM dropped ORDER BY rows DESC, reason"
            )[1],
            "problems": [
                (position_text(path, line), *words) for path, line, *words in run.select(_LISTED)[1]
            ],
            "found": run.select("SELECT count(*) FROM problems")[1][0][0],
            "meta": meta,
            "style": assets("style.css"),
            "data": embedded(data),
            "script": assets(*_SCRIPTS),
        }
    return filled("page.html", parts)


def report_data(
    run: Run, limits: Eligible | None = None, budget: int = BUDGET, progress: Progress = SILENT
) -> dict[str, Any]:
    """Periods, players, the limits (None: the usual ones) and the evidence surface of a run.

    `budget`: bytes that histories may take: `players` are those with `minGames` games or more, `leftOut` others.
    `years`: each period in years is `years[0] + i * years[1]`.

    Each player is a list, the last five over the periods of the history:

    | index | |
    |---|---|
    | 0 | name |
    | 1 to 5 | games, wins, draws, losses, opponents |
    | 6 | onward |
    | 7 | number of the first period |
    | 8 | periods after the first one; 0 when each follows the one before |
    | 9, 10 | means, sds (0 where the system has none: `hasSd`) |
    | 11 | games |
    | 12 | draw margins; 0 without |

    After the last period a skill follows `ttt_cli.histories.later_on`. `onward` is what of that differs by player: the
    rise of the variance in a period or, with careers, a list of that, the growth left, the periods to the decline, and
    the early haste left. `later` is what all share: the largest sd, the prior's sd and its mean, None where there is
    none, then the decline in a period, and the periods of growth and of early haste.
    """
    has_margins = "draw_margin" in run.select("SELECT * FROM skills LIMIT 0")[0]
    carried = _carried_players(run, budget, has_margins=has_margins)
    margins = "list(draw_margin ORDER BY period_number)" if has_margins else "NULL"
    rows = run.stream(_ROWS.format(kept=_KEPT, margins=margins), [carried.min_games])[1]
    ((has_sd, careers),) = run.select(_HAS)[1]
    players = []
    first_periods = []
    with progress.task("writing the page", carried.players, "players") as bar:
        for row in rows:
            history = _StoredHistory(*row)
            players.append(_packed(history, run.scale.slope, careers=careers))
            first_periods.append(history.periods[0])
            bar.advance()
    period: Any = run.meta.period
    ((last,),) = run.select("SELECT coalesce(max(period_number), -1) FROM periods")[1]
    first = min(first_periods, default=0)
    surface = stored_surface(run.evidence_points())
    points = surface.points.items() if surface else ()
    tiles = [[*values, finite(round(point.log_evidence, 4))] for values, point in points]
    return {
        "period": period,
        "base": first,
        "labels": [label(number, period) for number in range(first, last + 1)],
        "years": [round(year_of(first, period), 6), 1.0 / STEPS_PER_YEAR[period]],
        "limits": asdict(limits or eligible(run)),
        "curves": curves_frame(run),
        "smoothed": run.meta.kind == "smoothed",
        "hasSd": bool(has_sd),
        "later": _after_last_games(run),
        "minGames": carried.min_games,
        "leftOut": carried.total - len(players),
        "players": players,
        "surface": surface and {"keys": surface.keys, "points": tiles},
    }


class _Carried(NamedTuple):
    """Players whose histories a page carries: how many of the `total`, and their least number of games."""

    players: int
    total: int
    min_games: float


def _carried_players(run: Run, budget: int, *, has_margins: bool) -> _Carried:
    """As many of those with the most games as a budget of bytes allows, at least those with the most."""
    row_bytes = _ROW_BYTES
    if has_margins:
        row_bytes += _MARGIN_BYTES
    if run.meta.period != "year":
        row_bytes += _OFFSET_BYTES
    sizes = run.select(_SIZES)[1]  # games, players and rows, from many games to few
    used = np.cumsum([players * _PLAYER_BYTES + rows * row_bytes for _, players, rows in sizes])
    n_carried = max(int(np.searchsorted(used, budget, "right")), 1)
    carried = sizes[:n_carried]
    return _Carried(
        players=sum(players for _, players, _ in carried),
        total=sum(players for _, players, _ in sizes),
        min_games=float(carried[-1][0]) if carried else 0.0,
    )


def _after_last_games(run: Run) -> list[float | None]:
    """What scripts need of skills after a player's last game, on the shown scale: `later` of `report_data`."""
    scale = run.scale
    most_sd, prior_sd, prior_mean, decline, *periods = run.select(_LATER)[1][0]
    shifted = [(most_sd, 0.0), (prior_sd, 0.0), (prior_mean, scale.shift), (decline, 0.0)]
    on_scale = [
        None if value is None or not math.isfinite(value) else value * scale.slope + shift
        for value, shift in shifted
    ]
    return [*on_scale, *periods]


class _StoredHistory(NamedTuple):
    """A row of `_ROWS`: a player with the periods of the history, those with games and the first of each year.

    `onward`: rise of the variance, growth left, periods to the decline, early haste left, after the last game.
    """

    name: str
    games: float
    wins: float
    draws: float
    losses: float
    opponents: int
    onward: Sequence[float]
    periods: Sequence[int]
    means: Sequence[float]
    sds: Sequence[float]
    games_by_period: Sequence[float]
    draw_margins: Sequence[float] | None


def _packed(history: _StoredHistory, slope: float, *, careers: bool) -> list[Any]:
    """The list that scripts read of a player, as `report_data` describes it; `slope`: of the shown scale."""
    rise, growth, periods_to_decline, early_haste = history.onward
    onward = [
        float(f"{value:.4g}")
        for value in (rise * slope**2, growth * slope, periods_to_decline, early_haste)
    ]
    start = history.periods[0]
    has_gaps = history.periods[-1] - start + 1 != len(history.periods)
    record = (history.games, history.wins, history.draws, history.losses, history.opponents)
    return [
        history.name,
        *_shortened(record),
        onward if careers else onward[0],
        start,
        [number - start for number in history.periods] if has_gaps else 0,
        _shortened(history.means),
        _shortened(history.sds),
        _shortened(history.games_by_period),
        _shortened(history.draw_margins) if history.draw_margins else 0,
    ]


def _shortened(values: Sequence[float]) -> list[float | int]:
    return [short(value) for value in values]
