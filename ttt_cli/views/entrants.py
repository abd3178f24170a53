"""Several players, each in a period, with their skills taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.periods import as_text
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.normal import normal_cdf_of_all
from ttt_cli.views.name_lists import find_players
from ttt_cli.views.rows import Rows

PEAK: Final = "peak"
_LAST_COMMON: Final = """
SELECT max(period_number) FROM (
    SELECT period_number FROM skills WHERE player IN (SELECT unnest($1)) GROUP BY period_number HAVING count(*) = $2)
"""
# Its result is a dict
_SKILL: Final = "SELECT skill FROM skills_within({0}, {0}, NULL) AS skill WHERE player = ?"


class Entrant(NamedTuple):
    """A player in a period: its label and number, and the row of skills there, on the shown scale."""

    player: str
    period: str
    number: int
    skill: dict[str, Any]


class Entrants(NamedTuple):
    """Players, each in a period; `notes` say how names and periods were chosen."""

    players: list[Entrant]
    notes: tuple[str, ...]

    @property
    def means(self) -> Array:
        """The mean of every skill, on the shown scale, shape (players,)."""
        return np.array([entrant.skill["mean"] for entrant in self.players], np.float64)

    @property
    def has_sds(self) -> bool:
        """Whether all skills have an uncertainty."""
        return all(entrant.skill["sd"] is not None for entrant in self.players)


class EntrantRows(NamedTuple):
    """A table of entrants, and remarks on how names and periods were chosen."""

    rows: Rows
    notes: tuple[str, ...]


def find_entrants(
    run: Run, texts: Sequence[str], at: str | int | None, fewest: int = 2
) -> Entrants:
    """The players in a list (`find_players`), all in the period `at`, or `peak`: each at the peak.

    By default their last common period, else each at the peak. Raises LookupFailed, also for fewer than `fewest`.
    """
    players, notes = find_players(run, texts)
    if len(players) < fewest:
        named = ", ".join(players) or "nobody"
        raise LookupFailed(f"{fewest} players or more are needed, not {len(players)} ({named})")
    reason = ""
    if at is None:
        ((last,),) = run.select(_LAST_COMMON, [players, len(players)])[1]
        at = (
            PEAK
            if last is None
            else run.select("SELECT period FROM periods WHERE period_number = ?", [last])[1][0][0]
        )
        reason = (
            "each at the peak, for they share no period"
            if last is None
            else f"in {at}, their last common period"
        )
    entrants = entrants_in(run, players, at).players
    return Entrants(entrants, (*notes, reason) if reason else notes)


def entrants_in(run: Run, players: Sequence[str], at: str | int) -> Entrants:
    """Players, named as in the run, in a period, or each at the `peak`. Raises LookupFailed."""
    return Entrants([_entrant(run, player, at) for player in players], ())


def _entrant(run: Run, player: str, at: str | int) -> Entrant:
    """A player in a period, by label or `peak`."""
    if as_text(at, "a period").lower() == PEAK:
        ((at,),) = run.select("SELECT peak_period FROM players WHERE player = ?", [player])[1]
    period, number = run.find_period(at, player)
    ((skill,),) = run.select(_SKILL.format(number), [player])[1]
    return Entrant(player, period, number, skill)


def covariance_of(run: Run, entrants: Entrants) -> Array:
    """The covariance matrix of their skills, points^2; independent without a joint posterior, 0 without sds."""
    if not entrants.has_sds:
        return np.zeros((len(entrants.players), len(entrants.players)))
    if run.has_joint:
        return run.joint.covariance(
            [(entrant.player, entrant.number) for entrant in entrants.players]
        )
    sds = np.array([entrant.skill["sd"] for entrant in entrants.players]) / run.scale.slope
    return np.diag(sds**2)


def stronger_than(run: Run, entrants: Entrants) -> Array:
    """The probability that the player of the row is stronger than that of the column; NaN on the diagonal.

    NaN everywhere in systems without sds.
    """
    n_players = len(entrants.players)
    if not entrants.has_sds:
        return np.full((n_players, n_players), np.nan)
    covariance = covariance_of(run, entrants) * run.scale.slope**2
    variances = np.diag(covariance)
    difference_sd = np.sqrt(
        np.maximum(variances[:, np.newaxis] + variances - 2.0 * covariance, 0.0)
    )
    means = entrants.means
    lead = means[:, np.newaxis] - means
    with np.errstate(divide="ignore", invalid="ignore"):
        probability: Array = normal_cdf_of_all(lead / difference_sd)
    np.fill_diagonal(probability, np.nan)
    return probability
