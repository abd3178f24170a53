"""Which period is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.errors import LookupFailed

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_PERIOD: Final = re.compile(r"\d{4}(-(Q[1-4]|W\d\d|\d\d(-\d\d)?))?")
_WITHIN: Final = "skills_within(NULL, NULL, NULL)"


def find_period(run: Run, at: str | None, player: str | None = None) -> tuple[str, int]:
    """Label and number of the period that `at` means, among all periods or one player's; None: the last with a game.

    A player's go on to the end of the run.

    A label may be cut short or be finer than the run's: `1872` means the last month of that year in a run of months,
    `1872-06` the year in a run of years. Raises LookupFailed when there are no skills then.
    """
    table, whose, values = ("periods", "true", []) if player is None else (_WITHIN, "player = ?", [player])
    if at is None:
        at = run.meta.last if player is None else _history(run, player)[1]
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
    if not _PERIOD.fullmatch(str(at).strip()):
        known = ", ".join(dict.fromkeys([run.meta.first, run.meta.last]))
        return LookupFailed(f"{at!r} is no period", hint=f"a year, or as the run has them: {known}")
    if player is None:
        span = f"the run goes from {run.meta.first} to {run.meta.last}, by the {run.meta.period}"
        return LookupFailed(f"nobody's history covers {at}", hint=span)
    first, _ = _history(run, player)
    if first is None:
        return LookupFailed(f"{player} has no games in this run", hint="`ttt players` lists those who have")
    return LookupFailed(
        f"{player} has no skill at {at}", hint=f"the history goes from {first} on, the run to {run.meta.last}"
    )


def _history(run: Run, player: str) -> tuple[str | None, str | None]:
    """The first and the last period with games."""
    return run.query('SELECT "first", "last" FROM players WHERE player = ?', [player])[1][0]
