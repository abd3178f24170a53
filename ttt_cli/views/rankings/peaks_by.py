"""Peaks by other measures than the mean: what a skill surpasses with high probability, and dominance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.dominance import LEAST, OTHERS, REMARK, Lead, deviations, lead_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.top import LOWER, ranked, titled
from ttt_cli.views.rows import Rows

_SAFEST: Final = """
SELECT player, peak.period, peak.lower, peak.mean, peak.sd, players.games FROM (
    SELECT player, arg_max(struct_pack(period, mean, sd, lower := {order}), ({order}, -period_number)) AS peak
    FROM nodes WHERE {condition} GROUP BY player) JOIN players USING (player)
ORDER BY peak.lower DESC, player LIMIT ?
"""
_BEST: Final = """
WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY period_number ORDER BY mean DESC, player) AS place
                FROM ({rows})),
     best AS (SELECT period_number, list(struct_pack(player, mean, sd) ORDER BY place) AS top, sum(mean) AS total,
                     count(*) AS many, min(mean) AS least
              FROM ranked WHERE place <= {others} + 1 GROUP BY period_number HAVING many >= {fewest})
"""
_LEADS: Final = f"""{_BEST},
     leads AS (SELECT *, mean - if(place > many, total - least, total - mean) / (many - 1) AS lead
               FROM ranked JOIN best USING (period_number) WHERE games > 0 AND many > {{fewest}})
SELECT player, period_number, top, mean, sd, period, players.games FROM leads JOIN players USING (player)
QUALIFY row_number() OVER (PARTITION BY player ORDER BY lead DESC, period_number) = 1
ORDER BY lead DESC, player LIMIT ?
"""
_OF_PLAYERS: Final = f"""{_BEST}
SELECT skills.player, period_number, top, skills.mean, skills.sd, skills.period, skills.games
FROM skills JOIN best USING (period_number) WHERE skills.player IN (SELECT unnest(?)) AND (games > 0 OR {{idle}})
ORDER BY skills.player, period_number
"""


class LeadAt(NamedTuple):
    """A player's dominance in a period, and the games there; `sd` is None in a system without sds."""

    player: str
    number: int
    period: str
    lead: float
    sd: float | None
    games: float


def safest_peaks(run: Run, limits: Eligible, number: int | None) -> Rows:
    """As `peaks`, by what a skill is with high probability, and with that: `lower`, the mean less two sds."""
    condition, values = limits.rules()
    with run:
        _, found = run.query(_SAFEST.format(condition=condition, order=LOWER), [*values, number])
        title = titled(run, replace(limits, active=None), "The highest peaks by mean - 2 sd")
    return ranked(("player", "period", "lower", "mean", "sd", "games"), found, title)


def most_dominant(run: Run, limits: Eligible, number: int | None) -> Rows:
    """The `number` largest leads that players had in a period with games: the rows of `peaks`, by dominance.

    Their columns are `rank,player,period,dominance,sd_dominance,mean,sd,games`.
    """
    eligible, values = limits.always(run)
    with run:
        query = _LEADS.format(rows=eligible, others=OTHERS, fewest=LEAST)
        found = run.query(query, [*values, number])[1]
        leads = [lead for row in found if (lead := _lead(*row[:5]))]
        sds, how = deviations(run, leads)
        title = titled(run, limits, "The most dominant", REMARK.format(how))
    rows = (
        (player, period, lead.value, deviation, mean, sd, games)
        for (player, *_, mean, sd, period, games), lead, deviation in zip(found, leads, sds, strict=True)
    )
    return ranked(("player", "period", "dominance", "sd_dominance", "mean", "sd", "games"), rows, title)


def leads_of(
    run: Run, limits: Eligible, players: Sequence[str], idle: str = "true"
) -> tuple[list[LeadAt], str]:
    """The leads of players in the periods of their careers, by player, then period, and how sds were found.

    The others are eligible; the players themselves need not be. `idle`: a SQL condition on periods without games.
    """
    eligible, values = limits.always(run)
    with run:
        query = _OF_PLAYERS.format(rows=eligible, others=OTHERS, fewest=LEAST, idle=idle)
        rows = run.query(query, [*values, list(players)])[1]
        leads = [_lead(*row[:5]) for row in rows]
        sds, how = deviations(run, leads)
    return [
        LeadAt(player, number, period, lead.value, sd, games)
        for (player, number, *_, period, games), lead, sd in zip(rows, leads, sds, strict=True)
        if lead
    ], how


def _lead(player: str, number: int, top: list[dict[str, Any]], mean: float, sd: float | None) -> Lead | None:
    """The lead of one who may be of the `top`, or not."""
    field = [{"player": player, "mean": mean, "sd": sd}, *(one for one in top if one["player"] != player)]
    return lead_of(number, 0, *([one[key] for one in field] for key in ("player", "mean", "sd")))
