"""Dominance: the lead of a player over the best others, in rankings, over careers and of all time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeGuard

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array
from ttt_cli.views.rankings.eligible import Eligible

OTHERS: Final = 10
LEAST_OTHERS: Final = 5
_WHAT: Final = (
    f"the lead over the mean of the {OTHERS} best others who are eligible ({LEAST_OTHERS} at least)"
)
DOMINANCE_REMARK: Final = f"dominance: {_WHAT}, sd_dominance {{}}"
JOINT_SD: Final = "from the joint posterior"
INDEPENDENT_SD: Final = "with skills taken as independent"
# The best OTHERS + 1 of each period, or all if there are fewer: `many`. Each of these is compared with the others of
# them, an eligible player behind them with all but the last: either way with `many` - 1. Somebody who is not eligible
# may be compared with all, so LEAST_OTHERS of them are enough; the eligible need one more.
_BEST: Final = """
WITH ranked AS (SELECT *, row_number() OVER (PARTITION BY period_number ORDER BY mean DESC, player) AS place
                FROM ({rows})),
     best AS (SELECT period_number, list(struct_pack(player, mean, sd) ORDER BY place) AS top, sum(mean) AS total,
                     count(*) AS many, min(mean) AS least
              FROM ranked WHERE place <= {others} + 1 GROUP BY period_number HAVING many >= {fewest})
"""
_LARGEST_LEADS: Final = f"""{_BEST},
     leads AS (SELECT *, mean - if(place > many, total - least, total - mean) / (many - 1) AS lead
               FROM ranked JOIN best USING (period_number) WHERE games > 0 AND many > {{fewest}})
SELECT player, period_number, period, players.games, mean, sd, top FROM leads JOIN players USING (player)
QUALIFY row_number() OVER (PARTITION BY player ORDER BY lead DESC, period_number) = 1
ORDER BY lead DESC, player LIMIT ?
"""
_LEADS_OF_PLAYERS: Final = f"""{_BEST}
SELECT player, period_number, period, games, mean, sd, top FROM skills JOIN best USING (period_number)
WHERE player IN (SELECT unnest(?)) AND (games > 0 OR {{idle}}) AND {{since}} ORDER BY player, period_number
"""


class Lead(NamedTuple):
    """A player's dominance in a period.

    `skills`: player and period number of the player, then of the others; `sds`: those of these skills.
    """

    value: float
    skills: list[tuple[str, int]]
    sds: list[float | None]


class LeadSds(NamedTuple):
    """The sd of each lead (None without sds), and how they were computed."""

    sds: list[float | None]
    method: str


class LeadInPeriod(NamedTuple):
    """A player's dominance in a period, with the skill there; sds are None in a system without them."""

    player: str
    period_number: int
    period: str
    games: float  # in the period; from `largest_leads` in all periods
    mean: float
    mean_sd: float | None
    lead: float
    sd: float | None


class Leads(NamedTuple):
    """Leads, and how their sds were computed."""

    leads: list[LeadInPeriod]
    method: str


class LeadsWithoutSds(NamedTuple):
    """Leads before their sds are computed; both lists are in the same order."""

    in_periods: list[LeadInPeriod]  # the rows to be shown
    leads: list[Lead]  # the skills that each lead is made of

    @property
    def groups(self) -> list[list[tuple[str, int]]]:
        """The skills of each lead."""
        return [lead.skills for lead in self.leads]

    def with_sds(self, sds: LeadSds) -> Leads:
        """These leads with their sds."""
        in_periods = [
            in_period._replace(sd=sd)
            for in_period, sd in zip(self.in_periods, sds.sds, strict=True)
        ]
        return Leads(in_periods, sds.method)


def lead_of(
    period_number: int,
    players: Sequence[str],
    means: Sequence[float] | Array,
    sds: Sequence[float | None],
    *,
    index: int,
) -> Lead | None:
    """The dominance of the player at an index among all eligible players of a period, by descending mean.

    None if there are too few others.
    """
    if len(means) <= LEAST_OTHERS:
        return None
    best = [rival for rival in range(min(OTHERS + 1, len(means))) if rival != index][:OTHERS]
    group = [index, *best]
    value = float(_weights(len(group)) @ [means[member] for member in group])
    skills = [(players[member], period_number) for member in group]
    return Lead(value, skills, [sds[member] for member in group])


def lead_sds(run: Run, leads: Sequence[Lead | None]) -> LeadSds:
    """The sds of leads, from the joint posterior if the run has one."""
    groups = [lead.skills for lead in leads if _has_sds(lead)]
    if not (run.has_joint and groups):
        return lead_sds_from(leads)
    sds = iter(run.joint.shown_sds(groups, [_weights(len(group)) for group in groups]))
    return LeadSds([next(sds) if _has_sds(lead) else None for lead in leads], JOINT_SD)


def _has_sds(lead: Lead | None) -> TypeGuard[Lead]:
    """Whether there is a lead, of skills that have sds."""
    return lead is not None and None not in lead.sds


def lead_sds_from(
    leads: Sequence[Lead | None], covariances: Sequence[Array] | None = None
) -> LeadSds:
    """The sds of leads from covariance matrices of their skills (None: independent)."""
    sds: list[float | None] = []
    for index, lead in enumerate(leads):
        if not _has_sds(lead):
            sds.append(None)
        elif covariances is None:
            variances = np.square(np.array(lead.sds, np.float64))
            sds.append(_lead_sd(np.diag(variances)))
        else:
            sds.append(_lead_sd(covariances[index]))
    return LeadSds(sds, INDEPENDENT_SD if covariances is None else JOINT_SD)


def _lead_sd(covariance: Array) -> float:
    """The sd of a lead from the covariance matrix of its skills."""
    weights = _weights(len(covariance))
    return math.sqrt(max(float(weights @ covariance @ weights), 0.0))


def _weights(skills: int) -> Array:
    """The weights of skills in a lead: 1 for the first, minus the mean of the others."""
    return np.append(1.0, np.full(skills - 1, -1.0 / (skills - 1)))


def largest_leads(run: Run, limits: Eligible, number: int | None) -> LeadsWithoutSds:
    """The `number` largest leads that players had in a period with games; `games` are those in all."""
    return _find_leads(run, limits, _LARGEST_LEADS, [number])


def leads_of(run: Run, limits: Eligible, players: Sequence[str], idle: str = "true") -> Leads:
    """The leads of players in the periods of their careers over others who are eligible.

    `idle`: the SQL condition that a period without games is included.
    """
    since = limits.since("period_number")
    with run:
        leads = _find_leads(run, limits, _LEADS_OF_PLAYERS, [list(players)], idle=idle, since=since)
        return leads.with_sds(lead_sds(run, leads.leads))


def _find_leads(
    run: Run, limits: Eligible, query: str, values: list[Any], **parts: str
) -> LeadsWithoutSds:
    query = query.format(rows=limits.skills(run), others=OTHERS, fewest=LEAST_OTHERS, **parts)
    in_periods = []
    leads = []
    for player, period_number, period, games, mean, sd, top in run.select(query, values)[1]:
        group = [(player, mean, sd)]
        for rival in top:
            if rival["player"] != player:
                group.append((rival["player"], rival["mean"], rival["sd"]))
        players, means, sds = zip(*group, strict=True)
        lead = lead_of(period_number, players, means, sds, index=0)
        if lead:
            leads.append(lead)
            in_periods.append(
                LeadInPeriod(player, period_number, period, games, mean, sd, lead.value, sd=None)
            )
    return LeadsWithoutSds(in_periods, leads)
