"""Who is eligible to be ranked: one definition and one set of defaults for rankings, leaders, peaks, figures, pages."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.runs.run import Run

ACTIVE_YEARS: Final = 2.0
MIN_GAMES: Final = 20
MIN_OPPONENTS: Final = 3
SD_SHARE: Final = 0.45  # of a newcomer's sd: the games then explain four fifths of the variance
ENOUGH: Final = 10  # players who keep to the default limits; a run with fewer holds nobody to them

_ELO_SCALE: Final = 400.0 / math.log(10.0)
_KEEP_TO: Final = (
    "SELECT count(*) FROM players WHERE games >= ? AND opponents >= ? AND coalesce(peak_sd, 0) <= ?"
)
_ACTIVE: Final = """
SELECT *, many AND several AND sure AS eligible FROM (
    SELECT s.*, p.games >= ? AS many, opponents >= ? AS several, coalesce(sd, 0) <= ? AS sure
    FROM skills_within(?, ?, ?) s JOIN players p USING (player))
"""
COUNTS: Final = """
count(*) FILTER (NOT many), count(*) FILTER (many AND NOT several), count(*) FILTER (many AND several AND NOT sure)
"""
_IN_ALL: Final = f"""
SELECT {COUNTS} FROM (
    SELECT games >= ? AS many, opponents >= ? AS several,
           player IN (SELECT player FROM spans WHERE coalesce(sd, 0) <= ?) AS sure
    FROM players WHERE "first" IS NOT NULL)
"""
_REASONS: Final = (
    "with fewer games",
    "with fewer opponents",
    "with a larger sd",
    "without a game so recently",
)


@dataclass(frozen=True)
class Eligible:
    """Limits on players, and on their skill in a period.

    `active`: with a game in the period or so many years before it (None: anybody whose career has begun). In the whole
    run: `min_games`, and games with `min_opponents` different opponents. `max_sd`: the largest sd in the period, on
    the run's scale (None: any).
    """

    active: float | None = None
    min_games: float = 0.0
    max_sd: float | None = None
    min_opponents: int = 0

    def words(self) -> str:
        """The limits in words: `active within 2 years, at least 10 games`; empty where there are none."""
        words = []
        if self.active is not None:
            years = f"active within {self.active:g} year{'' if self.active == 1 else 's'}"
            words.append(years if self.active else "with games in the period")
        if self.min_games:
            words.append(f"at least {self.min_games:g} games")
        if self.min_opponents:
            words.append(f"at least {self.min_opponents} opponents")
        if self.max_sd is not None:
            words.append(f"sd up to {self.max_sd:g}")
        return ", ".join(words)

    def players(self) -> tuple[str, list[Any]]:
        """The SQL condition on a row that has a `player`, and its values: what does not depend on the period."""
        if not (self.min_games or self.min_opponents):
            return "true", []
        chosen = "SELECT player FROM players WHERE games >= ? AND opponents >= ?"
        return f"player IN ({chosen})", [self.min_games, self.min_opponents]

    def rules(self) -> tuple[str, list[Any]]:
        """The SQL condition on a row of skills, activity aside, and its values."""
        condition, values = self.players()
        if self.max_sd is None:
            return condition, values
        return f"{condition} AND coalesce(sd, 0) <= ?", [*values, self.max_sd]

    def between(self, run: Run, first: int, last: int) -> tuple[str, list[Any]]:
        """A SQL query for the rows of skills from one period to another that are eligible in theirs, and its values."""
        condition, values = self.rules()
        between = [first, last, self.idle(run)]
        return f"SELECT * FROM skills_within(?, ?, ?) WHERE {condition}", [*between, *values]

    def always(self, run: Run) -> tuple[str, list[Any]]:
        """The same for all periods of a run."""
        ((first, last),) = run.query("SELECT min(period_number), max(period_number) FROM periods")[1]
        return self.between(run, first, last)

    def active_at(self, run: Run, number: int) -> tuple[str, list[Any]]:
        """A SQL query for the rows of skills of all who are active in a period, and its values.

        Each row says whether the player is `eligible`, that is has `many` games, `several` opponents and is `sure`,
        for `COUNTS` to count.
        """
        most = math.inf if self.max_sd is None else self.max_sd
        return _ACTIVE, [self.min_games, self.min_opponents, most, number, number, self.idle(run)]

    def left_out(self, run: Run) -> str:
        """How many players are eligible in no period, and why (`reasons`)."""
        most = math.inf if self.max_sd is None else self.max_sd / run.scale.slope
        return reasons(run.query(_IN_ALL, [self.min_games, self.min_opponents, most])[1][0])

    def idle(self, run: Run) -> int | None:
        """Periods for which a player is active after one with games."""
        return None if self.active is None else steps(run, self.active)


def eligible(
    run: Run,
    *,
    active: float | None = None,
    min_games: float | None = None,
    max_sd: float | None = None,
    min_opponents: int | None = None,
    everyone: bool = False,
) -> Eligible:
    """The limits given, and for the others those that hold by default; `everyone`: none but those given.

    By default a player has a game at most `ACTIVE_YEARS` before. The other defaults hold only in a run where `ENOUGH`
    players keep to them at their peaks.
    """
    asked = {"active": active, "min_games": min_games, "max_sd": max_sd, "min_opponents": min_opponents}
    given = {key: None if value == math.inf else value for key, value in asked.items() if value is not None}
    usual = {} if everyone else {"active": ACTIVE_YEARS, **_usual(run)}
    return Eligible(**(usual | given))


def reasons(counts: Sequence[int]) -> str:
    """`12 left out: 10 with fewer games, 2 with a larger sd`, from `COUNTS` and how many are not active.

    The first reason counts; empty when nobody is left out.
    """
    given = [f"{count:,} {why}" for count, why in zip(counts, _REASONS, strict=False) if count]
    return f"{sum(counts):,} left out: {', '.join(given)}" if given else ""


def largest_sd(run: Run) -> float | None:
    """The default for `max_sd`: with more a skill says more of the prior than of the games. None without sds."""
    newcomer = newcomer_sd(run.meta.params)
    return None if newcomer is None else round(SD_SHARE * newcomer * run.scale.slope, 1)


def newcomer_sd(params: Mapping[str, Any]) -> float | None:
    """The sd of a skill before any game, points; of WHR's virtual games by their information. None: there is none."""
    virtual = params.get("virtual_draws")
    return _ELO_SCALE / math.sqrt(virtual / 2.0) if virtual else params.get("prior_sd")


def steps(run: Run, years: float) -> int:
    """So many years as a whole number of the run's periods."""
    return round(years * STEPS_PER_YEAR[run.meta.period])


def _usual(run: Run) -> dict[str, Any]:
    """The default limits but for activity, or none where too few players keep to them."""
    largest = largest_sd(run)
    most = math.inf if largest is None else largest / run.scale.slope
    ((found,),) = run.query(_KEEP_TO, [MIN_GAMES, MIN_OPPONENTS, most])[1]
    if found < ENOUGH:
        return {}
    return {"min_games": MIN_GAMES, "max_sd": largest, "min_opponents": MIN_OPPONENTS}
