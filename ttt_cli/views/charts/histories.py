"""Skill histories as curves need them: years as numbers, and stretches with and without games apart."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ttt_cli.periods import label as label_of
from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import number_ones

MANY_DAYS: Final = 1000  # in a run: of more, curves do not need each
_SKILLS: Final = """
SELECT player, period, period_number, mean, coalesce(sd, 0.0), games, {margin}
FROM skills WHERE player IN (SELECT unnest(?)) AND (games > 0 OR {drawn}) ORDER BY player, period_number
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
    """One player's points in order of time, from the first to the last period; never empty.

    All periods are there, but where a run has many days, of those without games only the first of each month.
    """

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


def drawn_when_idle(run: Run) -> str:
    """The SQL condition on a row of skills for being drawn without games, too: of many days the first of a month."""
    ((periods,),) = run.query("SELECT count(*) FROM periods")[1]
    if run.meta.period != "day" or periods <= MANY_DAYS:
        return "true"
    return "day(DATE '1970-01-01' + period_number) = 1"


def histories(run: Run, players: Sequence[str]) -> list[History]:
    """The histories of players by their exact names, in the order given; those without any are left out."""
    with run:
        columns, _ = run.query("SELECT * FROM skills LIMIT 0")
        margin = "draw_margin" if "draw_margin" in columns else "NULL"
        _, rows = run.query(_SKILLS.format(margin=margin, drawn=drawn_when_idle(run)), [list(players)])
        period = run.meta.period
    points: dict[str, list[Point]] = {}
    for player, label, number, *values in rows:
        points.setdefault(player, []).append(Point(label, year_of(number, period), *values))
    return [History(player, tuple(points[player])) for player in dict.fromkeys(players) if player in points]


def of_ratings(
    ratings: Mapping[str, Mapping[int, float]], players: Sequence[str], period: Any
) -> list[History]:
    """Ratings by player and period's number as histories of those players who have any."""
    return [
        History(
            player,
            tuple(
                Point(label_of(number, period), year_of(number, period), value, 0.0, 1.0)
                for number, value in sorted(ratings[player].items())
            ),
        )
        for player in players
        if player in ratings
    ]


def leading_players(run: Run, count: int, limits: Eligible) -> list[str]:
    """The players who are the number one in the most periods."""
    led = Counter(player for _, _, player, *_ in number_ones(run, limits))
    return sorted(led, key=lambda player: (-led[player], player))[:count]
