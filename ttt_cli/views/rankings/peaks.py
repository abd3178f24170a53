"""Rankings of all time: the highest peaks, the most dominant, and the best consecutive years."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ttt_cli.runs.run import Run
from ttt_cli.views.columns import build_rows
from ttt_cli.views.rankings.columns import BEST_YEARS_COLUMNS, PEAK_COLUMNS
from ttt_cli.views.rankings.eligible import Eligible, periods_of
from ttt_cli.views.rankings.rows import BestYears, Peak
from ttt_cli.views.rankings.title import title_lines
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import CAUTION

if TYPE_CHECKING:
    from ttt_cli.views.rankings.dominance import Leads

_CAUTION: Final = CAUTION.format("them")
_PEAKS: Final = """
SELECT player, peak.period, peak.lower, peak.mean, peak.sd, players.games, peak.games FROM (
    SELECT player, arg_max(struct_pack(period, mean, sd, lower, games), ({by}, -period_number)) AS peak
    FROM (SELECT *, mean - 2.0 * coalesce(sd, 0.0) AS lower FROM nodes) WHERE {condition} GROUP BY player)
JOIN players USING (player) ORDER BY peak.{by} DESC, player LIMIT ?
"""
_GAMES: Final = "SELECT player, period, games FROM nodes WHERE player IN (SELECT unnest(?))"
_BEST_YEARS: Final = """
SELECT player, begin, period, mean, sd, games FROM (
    SELECT player, period, first(period) OVER years AS begin, first(period_number) OVER years AS period_number,
           avg(mean) OVER years AS mean, avg(sd) OVER years AS sd, sum(games) OVER years AS games,
           count(*) OVER years AS length, bool_and(is_chosen) OVER years AS are_chosen
    FROM (SELECT *, {chosen} AS is_chosen FROM skills) AS skills
    WINDOW years AS (PARTITION BY player ORDER BY skills.period_number ROWS {span} - 1 PRECEDING))
WHERE length = {span} AND are_chosen AND {rules}
QUALIFY row_number() OVER (PARTITION BY player ORDER BY mean DESC, period) = 1 ORDER BY mean DESC, player LIMIT ?
"""


def find_peaks(
    run: Run,
    limits: Eligible,
    number: int | None,
    by: str = "mean",
    *,
    least_games: float = 0.0,
    within: str = "true",
) -> list[Peak]:
    """The `number` highest skills that players had in a period with games, by `mean`, or `lower`: mean less two sds.

    `least_games`: only periods with at least so many games of the player. `within`: the SQL condition on periods.
    """
    enough = f"GROUP BY period_number HAVING count(*) >= {limits.fewest}"
    counting = f"period_number IN (SELECT period_number FROM ({limits.skills(run)}) {enough})"
    condition = f"{limits.rules()} AND {counting} AND games >= {least_games} AND {within}"
    query = _PEAKS.format(by=by, condition=condition)
    return [Peak(rank, *row) for rank, row in enumerate(run.select(query, [number])[1], 1)]


def peaks(
    run: Run, limits: Eligible, number: int | None, by: str = "mean", least_games: float = 0.0
) -> Rows:
    """The table of `find_peaks`, with `PEAK_COLUMNS`."""
    heading = "The highest peaks by mean - 2 sd" if by == "lower" else "The highest peaks"
    if least_games:
        heading += f", in {run.meta.period}s with at least {least_games:g} games"
    with run:
        highest = find_peaks(run, limits, number, by, least_games=least_games)
        return build_rows(
            run, PEAK_COLUMNS, highest, title_lines(run, limits, heading, _CAUTION), by
        )


def most_dominant(run: Run, limits: Eligible, number: int | None) -> Rows:
    """The `number` largest leads that players had in a period with games, with `PEAK_COLUMNS`."""
    from ttt_cli.views.rankings.dominance import largest_leads, lead_sds

    with run:
        leads = largest_leads(run, limits, number)
        return dominant_rows(run, limits, leads.with_sds(lead_sds(run, leads.leads)))


def dominant_rows(run: Run, limits: Eligible, leads: Leads) -> Rows:
    """The table of the largest leads, with `PEAK_COLUMNS`."""
    from ttt_cli.views.rankings.dominance import DOMINANCE_REMARK

    title = title_lines(run, limits, "The most dominant", DOMINANCE_REMARK.format(leads.method))
    games_by_period = run.select(_GAMES, [[lead.player for lead in leads.leads]])[1]
    period_games = {(player, period): games for player, period, games in games_by_period}
    dominant = [
        Peak(
            rank, lead.player, lead.period, None, lead.mean, lead.mean_sd, lead.games,
            period_games[lead.player, lead.period], dominance=lead.lead, sd_dominance=lead.sd,
        )
        for rank, lead in enumerate(leads.leads, 1)
    ]  # fmt: skip
    rows = build_rows(run, PEAK_COLUMNS, dominant, title, "dominance")
    return replace(rows, hidden=rows.hidden | {"period_games"})  # for which a terminal has no room


def best_years(run: Run, limits: Eligible, years: int, number: int | None) -> Rows:
    """The `number` highest means over consecutive years, with `BEST_YEARS_COLUMNS`.

    Years without games count with their interpolated skill. `sd` is the mean of the periods' sds, to which `max_sd`
    applies; `games` are those in the years.
    """
    with run:
        chosen = limits.chosen("period_number")
        query = _BEST_YEARS.format(span=periods_of(run, years), rules=limits.rules(), chosen=chosen)
        best = [BestYears(rank, *row) for rank, row in enumerate(run.select(query, [number])[1], 1)]
        heading = f"The highest means over {years} consecutive years"
        title = title_lines(run, replace(limits, active=None), heading, _CAUTION)
        return build_rows(run, BEST_YEARS_COLUMNS, best, title)
