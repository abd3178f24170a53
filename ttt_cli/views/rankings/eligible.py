"""Who is eligible for rankings: limits on games, opponents, uncertainty and activity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run

if TYPE_CHECKING:
    from ttt_cli.views.player_filter import PlayerFilter

ACTIVE_YEARS: Final = 2.0
MIN_GAMES: Final = 20
MIN_OPPONENTS: Final = 3
SD_SHARE: Final = 0.45  # of a newcomer's sd: the games then explain four fifths of the variance
# Players who meet the default limits; in a run with fewer these limits are ignored
ENOUGH: Final = 10
FEWEST: Final = 3  # eligible players of a period that has a number one, by default
WIDER: Final = (
    "--everyone lifts all limits; --active, --min-games, --min-opponents and --max-sd set them"
)

_COUNT_WITHIN: Final = (
    "SELECT count(*) FROM players WHERE games >= ? AND opponents >= ? AND coalesce(peak_sd, 0) <= ?"
)
# The period since which a player has played enough; NULL for never
_SINCE: Final = """
(SELECT since FROM (
    SELECT player AS whose, min(period_number) AS since
    FROM (SELECT *, sum(games) OVER (PARTITION BY player ORDER BY period_number) AS played FROM spans)
    WHERE played >= {min_games} GROUP BY player)
 WHERE whose = player)
"""
_REASON: Final = """
CASE WHEN {games} < {min_games} THEN 'with fewer games' WHEN opponents < {min_opponents} THEN 'with fewer opponents'
     WHEN {sd} > {max_sd} THEN 'with a larger sd' END AS reason
"""
_REASONS_OF_RUN: Final = """
SELECT reason, count(*) FROM (
    SELECT {reason} FROM players
    JOIN (SELECT player, min(coalesce(sd, 0)) AS least FROM spans GROUP BY player) USING (player)
    WHERE "first" IS NOT NULL AND {chosen})
GROUP BY reason
"""
INACTIVE: Final = "without a game so recently"
_REASONS: Final = ("with fewer games", "with fewer opponents", "with a larger sd", INACTIVE)


@dataclass(frozen=True)
class Eligible:
    """Limits on players, and on their skill in a period.

    `active`: years since the last game, 0 for a game in the period (None: any number). `min_games`: games up to the
    period. `min_opponents`: different opponents in the whole run. `max_sd`: the largest sd in the period, on the run's
    scale (None: any). `fewest`: eligible players that a period needs to have a number one or count for peaks. `where`:
    what is to be known of players (None: nothing).
    """

    active: float | None = None
    min_games: float = 0.0
    max_sd: float | None = None
    min_opponents: int = 0
    fewest: int = 1
    where: PlayerFilter | None = None

    def words(self) -> str:
        """The limits as text: `active within 2 years, at least 10 games`; empty without limits."""
        limits = [] if self.where is None else [self.where.words]
        if self.active is not None:
            years = f"active within {self.active:g} year{'' if self.active == 1 else 's'}"
            limits.append(years if self.active else "with games in the period")
        if self.min_games:
            limits.append(f"at least {self.min_games:g} games")
        if self.min_opponents:
            limits.append(f"at least {self.min_opponents} opponents")
        if self.max_sd is not None:
            limits.append(f"uncertainty at most +-{self.max_sd:g}")
        return ", ".join(limits)

    def since(self, period_number: str) -> str:
        """The SQL condition that a player has played enough games up to a period."""
        return (
            f"{period_number} >= {_SINCE.format(min_games=self.min_games)}"
            if self.min_games
            else "true"
        )

    def rules(self) -> str:
        """The SQL condition on a row of skills, activity aside."""
        opponents = "true"
        if self.min_opponents:
            opponents = (
                f"player IN (SELECT player FROM players WHERE opponents >= {self.min_opponents})"
            )
        certain = "true" if self.max_sd is None else f"coalesce(sd, 0) <= {self.max_sd}"
        return f"{opponents} AND {self.since('period_number')} AND {certain} AND {self.chosen('period_number')}"

    def chosen(self, period_number: str) -> str:
        """The SQL condition that `player` is among those asked for in a period."""
        return "true" if self.where is None else self.where.rows(period_number=period_number)

    def skills(self, run: Run, first: int | str = "NULL", last: int | str = "NULL") -> str:
        """A SQL query for the rows of skills that are eligible in periods of a range, by default in all."""
        return (
            f"SELECT * FROM skills_within({first}, {last}, {self.idle(run)}) WHERE {self.rules()}"
        )

    def left_out(self, run: Run) -> str:
        """How many players are eligible in no period, and why (`left_out_text`)."""
        reason = self.reason("games", "least", run.scale.slope)
        chosen = "true" if self.where is None else self.where.players()
        counts = run.select(_REASONS_OF_RUN.format(reason=reason, chosen=chosen))[1]
        return left_out_text(dict(counts))

    def reason(self, games: str, sd: str, slope: float = 1.0) -> str:
        """The SQL expression of the reason why somebody is left out; NULL for the eligible."""
        max_sd = "'infinity'::DOUBLE" if self.max_sd is None else self.max_sd / slope
        return _REASON.format(
            games=games,
            sd=sd,
            max_sd=max_sd,
            min_games=self.min_games,
            min_opponents=self.min_opponents,
        )

    def idle(self, run: Run) -> int | str:
        """Number of periods after the last game in which a player still counts as active."""
        return "NULL" if self.active is None else periods_of(run, self.active)


def eligible(
    run: Run,
    *,
    active: float | None = None,
    min_games: float | None = None,
    max_sd: float | None = None,
    min_opponents: int | None = None,
    everyone: bool = False,
    where: str | None = None,
    players: Sequence[str] = (),
) -> Eligible:
    """The limits given, with defaults for the others unless `everyone`.

    The defaults except `ACTIVE_YEARS` apply only if at least `ENOUGH` players of the run meet them at their peaks.
    `where`: a condition on what is known of players (`ttt_cli.games.where`). `players`: a list of some
    (`ttt_cli.views.name_lists`). With either, one player is enough for a period to have a number one. Raises
    ConfigError for a malformed condition, LookupFailed for unknown fields and names.
    """
    arguments = {
        "active": active, "min_games": min_games, "max_sd": max_sd, "min_opponents": min_opponents,
    }  # fmt: skip
    limits: dict[str, Any] = {} if everyone else _default_limits(run)
    for name, value in arguments.items():
        if value is not None:
            limits[name] = None if value == math.inf else value
    if where is not None:
        from ttt_cli.views.player_filter import find_filter

        limits |= {"where": find_filter(run, where), "fewest": 1}
    if players:
        from ttt_cli.views.player_filter import only_players

        limits |= {"where": only_players(run, players, limits.get("where")), "fewest": 1}
    return Eligible(**limits)


def _default_limits(run: Run) -> dict[str, Any]:
    """The limits of a run that the user does not set, by the fields of `Eligible`."""
    limits: dict[str, Any] = {"active": ACTIVE_YEARS}
    newcomer_sd = run.meta.params.get("prior_sd")
    virtual_draws = run.meta.params.get("virtual_draws")
    if virtual_draws:  # of WHR: by the information of its virtual games
        newcomer_sd = 400.0 / math.log(10.0) / math.sqrt(virtual_draws / 2.0)
    # Above this sd a skill depends more on the prior than on the games.
    max_sd = None if newcomer_sd is None else round(SD_SHARE * newcomer_sd * run.scale.slope, 1)
    max_sd_in_points = math.inf if max_sd is None else max_sd / run.scale.slope
    ((count,),) = run.select(_COUNT_WITHIN, [MIN_GAMES, MIN_OPPONENTS, max_sd_in_points])[1]
    if count >= ENOUGH:
        limits |= {
            "min_games": MIN_GAMES,
            "max_sd": max_sd,
            "min_opponents": MIN_OPPONENTS,
            "fewest": FEWEST,
        }
    return limits


def left_out_text(counts: Mapping[str, int]) -> str:
    """`12 left out: 10 with fewer games, 2 with a larger sd`, by the first reason; empty when nobody is left out."""
    reasons = [f"{counts[reason]:,} {reason}" for reason in _REASONS if counts.get(reason)]
    total = sum(counts.get(reason, 0) for reason in _REASONS)
    return f"{total:,} left out: {', '.join(reasons)}" if reasons else ""


def periods_of(run: Run, years: float) -> int:
    """Years as a whole number of the run's periods."""
    return round(years * STEPS_PER_YEAR[run.meta.period])
