"""How far one player was ahead of another, period by period."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.normal import normal_cdf
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line
from ttt_cli.views.versus import TAKEN

_EXACT: Final = 1e-3  # of solutions: sds are exact to less than a pixel
_COMMON_PERIODS: Final = """
SELECT period, period_number, a.mean, b.mean, a.mean - b.mean AS lead, sqrt(a.sd * a.sd + b.sd * b.sd) AS sd,
       a.games, b.games
FROM skills a JOIN skills b USING (period, period_number)
WHERE a.player = ? AND b.player = ? AND (least(a.games, b.games) > 0 OR {drawn}) ORDER BY period_number
"""
LEAD_COLUMNS: Final = (
    Described("period", "", "the period"),
    Described("player_a", "", "name of the first player"),
    Described("player_b", "", "name of the second player"),
    Described("mean_a", "points", "skill of the first"),
    Described("mean_b", "points", "skill of the second"),
    Described("lead", "points", "`mean_a` minus `mean_b`"),
    Described("sd_lead", "points", "uncertainty of the lead, one sd"),
    Described("stronger", "probability", "that the first is stronger"),
    Described("ahead", "", "name of the one who is ahead"),
    Described("games_a", "games", "games of the first in the period"),
    Described("games_b", "games", "games of the second in the period"),
)
_DECIMALS: Final = {"mean_a": 0, "mean_b": 0, "lead": 0, "sd_lead": 0, "stronger": 3}


class LeadPoint(NamedTuple):
    """The lead of one player over another in a period, and its sd (None in a system without)."""

    period: str
    number: int
    mean_a: float
    mean_b: float
    lead: float
    sd: float | None
    games_a: float
    games_b: float

    @property
    def stronger(self) -> float | None:
        """The probability that the first player is stronger."""
        return None if self.sd is None else normal_cdf(self.lead / self.sd)


class LeadHistory(NamedTuple):
    """The leads in all common periods, and how their sds were computed (a key of `TAKEN`; None without sds)."""

    points: list[LeadPoint]
    method: str | None


def lead_history(run: Run, a: str, b: str, idle: str = "true") -> LeadHistory:
    """The lead of A over B, named as in the run, in all common periods. Raises LookupFailed without one.

    `idle`: the SQL condition that a period in which one of them had no games is included.
    """
    rows = run.select(_COMMON_PERIODS.format(drawn=idle), [a, b])[1]
    if not rows:
        hint = "`ttt versus` compares skills of different times"
        raise LookupFailed(f"{a} and {b} have no {run.meta.period} in common", hint=hint)
    points = [LeadPoint(*row) for row in rows]
    if any(point.sd is None for point in points):
        return LeadHistory([point._replace(sd=None) for point in points], None)
    if not run.has_joint:
        return LeadHistory(points, "independent")
    pairs = [[(a, point.number), (b, point.number)] for point in points]
    sds = run.joint.shown_sds(pairs, [np.array([1.0, -1.0])] * len(pairs), _EXACT)
    return LeadHistory(
        [point._replace(sd=sd) for point, sd in zip(points, sds, strict=True)], "joint"
    )


def lead_rows(run: Run, a: str, b: str, since: int | None = None, until: int | None = None) -> Rows:
    """Who was ahead in each common period of some years, and with which probability. Raises LookupFailed."""
    with run:
        first = run.find_player(a).player
        second = run.find_player(b).player
        if first == second:
            raise LookupFailed(f"{a!r} and {b!r} both match {first}", hint="give more of the names")
        points, method = lead_history(run, first, second)
    low = -10_000 if since is None else since
    high = 10_000 if until is None else until
    points = [point for point in points if low <= int(point.period[:4]) <= high]
    if not points:
        raise LookupFailed(
            f"{first} and {second} have no {run.meta.period} in common in these years"
        )
    rows = [
        (
            point.period, first, second, point.mean_a, point.mean_b, point.lead, point.sd, point.stronger,
            first if point.lead >= 0.0 else second, point.games_a, point.games_b,
        )
        for point in points
    ]  # fmt: skip
    title = [
        f"{first} against {second}, {run.meta.period} by {run.meta.period}",
        *changes_of_lead(points, first, second),
    ]
    if method:
        title.append(TAKEN[method])
    return Rows(
        column_names(LEAD_COLUMNS),
        rows,
        (*title, run_line(run)),
        _DECIMALS,
        frozenset({"player_a", "player_b", "games_a", "games_b"}),
    )


def changes_of_lead(points: list[LeadPoint], first: str, second: str) -> list[str]:
    """Who was ahead from when on: a line at the start, and one for each time that one overtook the other."""
    lines = []
    before = None
    for point in points:
        ahead = first if point.lead >= 0.0 else second
        if ahead != before:
            chance = point.stronger
            certainty = ""
            if chance is not None:
                certainty = f" (with probability {chance if ahead == first else 1.0 - chance:.2f})"
            verb = "is ahead from" if before is None else f"overtakes {before} in"
            lines.append(f"{ahead} {verb} {point.period}{certainty}")
        before = ahead
    return lines
