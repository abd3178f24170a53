"""Dominance: how far a player is ahead of the mean of the ten best others of the same period.

Where there are fewer others it is the mean of all, five at least, so that a small field makes nobody look more dominant
than a large one. It needs no convention about eras. Its sd follows from the run's joint posterior, else as if skills
were independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.runs.run import Run

OTHERS: Final = 10
LEAST: Final = 5
_WHAT: Final = f"the lead over the mean of the {OTHERS} best others who are eligible ({LEAST} at least)"
REMARK: Final = f"dominance: {_WHAT}, sd_dominance {{}}"
JOINT: Final = "from the joint posterior"
INDEPENDENT: Final = "with skills taken as independent"


class Lead(NamedTuple):
    """A player's dominance in a period; `skills` are the player's and those of the others, `sds` theirs."""

    value: float
    skills: list[tuple[str, int]]
    sds: list[float | None]


def lead_of(number: int, place: int, players: Sequence[str], mean: Any, sd: Any) -> Lead | None:
    """The dominance of the player at a place among all who are eligible, from the highest mean on.

    None where there are not so many others.
    """
    if len(mean) <= LEAST:
        return None
    group = [place, *[other for other in range(min(OTHERS + 1, len(mean))) if other != place][:OTHERS]]
    value = float(_weights(len(group)) @ [mean[k] for k in group])
    return Lead(value, [(players[k], number) for k in group], [sd[k] for k in group])


def deviations(run: Run, leads: Sequence[Lead | None]) -> tuple[list[float | None], str]:
    """The sds of leads, and how they were found."""
    known = [lead for lead in leads if lead and None not in lead.sds]
    if run.has_joint and known:
        skills = [lead.skills for lead in known]
        found = iter(run.joint.deviations(skills, [_weights(len(group)) for group in skills]))
        return [next(found) if lead else None for lead in leads], JOINT
    return [apart(lead) for lead in leads], INDEPENDENT


def apart(lead: Lead | None) -> float | None:
    """The sd of a lead if skills were independent."""
    if lead is None or None in lead.sds:
        return None
    weights = _weights(len(lead.sds)).tolist()
    return math.hypot(*(weight * (sd or 0.0) for weight, sd in zip(weights, lead.sds, strict=True)))


def together(covariance: Array) -> float:
    """The same from the covariance matrix of its skills."""
    weights = _weights(len(covariance))
    return math.sqrt(max(float(weights @ covariance @ weights), 0.0))


def _weights(skills: int) -> Array:
    """What each skill counts in a lead."""
    return np.append(1.0, np.full(skills - 1, -1.0 / (skills - 1)))
