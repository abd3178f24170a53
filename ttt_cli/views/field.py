"""Which period is meant, and who counts in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed
from ttt_cli.steps import STEPS_PER_YEAR

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

ACTIVE_YEARS: Final = 2.0


@dataclass(frozen=True)
class Filters:
    """Who counts in a period, of the players whose first and last period surround it.

    `active`: those with a game in the period or so many years before it (None: everyone); `min_games`: in all;
    `max_sd`: the largest sd in the period, points (None: any).
    """

    active: float | None = ACTIVE_YEARS
    min_games: float = 0.0
    max_sd: float | None = None

    def words(self) -> str:
        """The filters in words: `active within 2 years, at least 10 games`; empty when everyone counts."""
        said = []
        if self.active is not None:
            years = f"active within {self.active:g} year{'' if self.active == 1 else 's'}"
            said.append(years if self.active else "with games in the period")
        if self.min_games:
            said.append(f"at least {self.min_games:g} games in all")
        if self.max_sd is not None:
            said.append(f"sd up to {self.max_sd:g}")
        return ", ".join(said)

    def rules(self) -> tuple[str, list[Any]]:
        """The SQL condition on a row of skills that does not depend on other periods, and its values."""
        conditions, values = ["true"], list[Any]()
        if self.min_games > 0:
            conditions.append("player IN (SELECT player FROM players WHERE games >= ?)")
            values.append(self.min_games)
        if self.max_sd is not None:
            conditions.append("coalesce(sd, 0) <= ?")
            values.append(self.max_sd)
        return " AND ".join(conditions), values

    def between(self, run: Run, first: int, last: int) -> tuple[str, list[Any]]:
        """A SQL query for the rows of skills from one period to another that count in theirs, and its values."""
        idle = None if self.active is None else self.active_steps(run)
        condition, values = self.rules()
        return f"SELECT * FROM skills_within(?, ?, ?) WHERE {condition}", [first, last, idle, *values]

    def active_steps(self, run: Run) -> int:
        """Periods for which a player counts as active after the last game."""
        return steps(run, self.active or 0.0)


def steps(run: Run, years: float) -> int:
    """So many years as a whole number of the run's periods."""
    return round(years * STEPS_PER_YEAR[run.meta.period])


def find_period(run: Run, at: str | None, player: str | None = None) -> tuple[str, int]:
    """Label and number of the period that `at` means, among all periods or one player's; None: the last.

    A label may be cut short or be finer than the run's: `1872` means the last month of that year in a run of months,
    `1872-06` the year in a run of years. Raises LookupFailed when there are no skills then.
    """
    table, whose, values = ("periods", "true", []) if player is None else ("skills", "player = ?", [player])
    if at is None and player is None:
        at = run.meta.last
    query = f"SELECT arg_max(period, period_number), max(period_number) FROM {table} WHERE {whose}"
    condition, wanted = _means(at.strip() if at else None)
    (label, number), *_ = run.query(f"{query} AND {condition}", [*values, *wanted])[1]
    if label is None:
        raise _nothing_then(run, at, player)
    return str(label), int(number)


def _means(at: str | None) -> tuple[str, Sequence[Any]]:
    if at is None:
        return "true", ()
    return "(period = ? OR starts_with(period, ?) OR starts_with(?, period || '-'))", (at, f"{at}-", at)


def _nothing_then(run: Run, at: str | None, player: str | None) -> LookupFailed:
    if player is None:
        span = f"the run goes from {run.meta.first} to {run.meta.last}, by the {run.meta.period}"
        return LookupFailed(f"nobody's history covers {at}", hint=span)
    (first, last), *_ = run.query('SELECT "first", "last" FROM players WHERE player = ?', [player])[1]
    if first is None:
        return LookupFailed(f"{player} has no games in this run", hint="`ttt players` lists those who have")
    return LookupFailed(f"{player} has no skill at {at}", hint=f"the history goes from {first} to {last}")
