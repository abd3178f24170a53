"""Skill histories as curves need them: years as numbers, and stretches with and without games apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_EPOCH: Final = {"week": 1970.0, "day": 1970.0}  # years are numbered from 0, these steps from 1970
_SKILLS: Final = """
SELECT player, period, period_number, mean, coalesce(sd, 0.0), games, {margin}
FROM skills WHERE player IN (SELECT unnest(?)) ORDER BY player, period_number
"""
_LEADERS: Final = """
SELECT player FROM (
    SELECT period_number, arg_max(player, mean) AS player
    FROM skills JOIN players USING (player)
    WHERE skills.games > 0 AND players.games >= ? GROUP BY period_number)
GROUP BY player ORDER BY count(*) DESC, player LIMIT ?
"""


@dataclass(frozen=True)
class Point:
    """A player's skill in one period: `year` is the period as a number of years, `margin` is TTT-D's.

    `sd` is 0 in a system without uncertainty.
    """

    period: str
    year: float
    mean: float
    sd: float
    games: float
    margin: float | None = None


@dataclass(frozen=True)
class History:
    """One player's points in order of time, every period from the first to the last; never empty."""

    player: str
    points: tuple[Point, ...]

    def stretches(self) -> Iterator[tuple[bool, tuple[Point, ...]]]:
        """The history in pieces that share their ends: whether games were played at both ends of every step."""
        piece: list[Point] = []
        active = False
        for earlier, later in zip(self.points, self.points[1:], strict=False):
            step = earlier.games > 0 and later.games > 0
            if piece and step != active:
                yield active, tuple(piece)
                piece = []
            active = step
            piece = piece or [earlier]
            piece.append(later)
        if piece:
            yield active, tuple(piece)


def year_of(number: int, period: str) -> float:
    """A period number (`ttt_cli.periods`) as a number of years."""
    from ttt_cli.periods import STEPS_PER_YEAR

    steps: dict[Any, float] = dict(STEPS_PER_YEAR)
    return _EPOCH.get(period, 0.0) + number / steps[period]


def histories(run: Run, players: Sequence[str]) -> list[History]:
    """The histories of players by their exact names, in the order given; those without any are left out."""
    with run:
        columns, _ = run.query("SELECT * FROM skills LIMIT 0")
        margin = "draw_margin" if "draw_margin" in columns else "NULL"
        _, rows = run.query(_SKILLS.format(margin=margin), [list(players)])
        period = run.meta.period
    points: dict[str, list[Point]] = {}
    for player, label, number, *values in rows:
        points.setdefault(player, []).append(Point(label, year_of(number, period), *values))
    return [History(player, tuple(points[player])) for player in dict.fromkeys(players) if player in points]


def leading_players(run: Run, count: int, min_games: int = 20) -> list[str]:
    """The players of the highest mean in the most periods, among those who played then and often enough."""
    return [player for (player,) in run.query(_LEADERS, [min_games, count])[1]]
