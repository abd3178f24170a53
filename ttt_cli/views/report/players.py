"""Players' histories as the page carries them: compact arrays, and of a large run those who played most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

BUDGET: Final = 4_800_000  # bytes that all histories may take in the page
_PLAYER_BYTES: Final = 70
_ROW_BYTES: Final = 17
_MARGIN_BYTES: Final = 7
_OFFSET_BYTES: Final = 6
_MOST_NUMBERED: Final = 1e15
# Of the periods without games, the first of a year is enough to draw the way between.
_KEPT: Final = """
SELECT * FROM skills
WHERE games > 0 OR period_number IN (SELECT min(period_number) FROM periods GROUP BY split_part(period, '-', 1))
"""
_SIZES: Final = f"""
SELECT players.games, count(DISTINCT player), count(*) FROM ({_KEPT}) kept JOIN players USING (player)
GROUP BY players.games ORDER BY players.games DESC
"""
_ROWS: Final = """
SELECT player, players.games, wins, draws, losses, period_number, mean, coalesce(sd, 0.0), kept.games, {margin}
FROM ({kept}) kept JOIN players USING (player) WHERE players.games >= ?
ORDER BY player, period_number
"""


@dataclass(frozen=True)
class Carried:
    """The players in a page: those with `min_games` games or more, `left_out` others.

    Each is a list: name, games, wins, draws, losses, first period number, then arrays over the rows: period
    numbers after the first (0 when each follows the other), means, sds, games, and draw margins or 0. Sds are 0 where
    the system has none (`has_sd`).
    """

    players: list[list[Any]]
    min_games: float
    left_out: int
    has_sd: bool = True


def carried_players(run: Run, budget: int = BUDGET) -> Carried:
    """As many players, by games, as `budget` bytes hold."""
    columns, _ = run.query("SELECT * FROM skills LIMIT 0")
    margin = "draw_margin" in columns
    row_bytes = _ROW_BYTES + _MARGIN_BYTES * margin + _OFFSET_BYTES * (run.meta.period != "year")
    sizes = run.query(_SIZES)[1]
    min_games = _threshold(sizes, row_bytes, budget)
    sql = _ROWS.format(kept=_KEPT, margin="draw_margin" if margin else "NULL")
    rows = run.stream(sql, [min_games])[1]
    players = [_packed(list(group)) for group in _by_player(rows)]
    everyone = sum(count for _, count, _ in sizes)
    ((known,),) = run.query("SELECT count(sd) > 0 FROM spans")[1]
    return Carried(players, min_games, everyone - len(players), bool(known))


def _threshold(sizes: Sequence[tuple[Any, ...]], row_bytes: int, budget: int) -> float:
    """The fewest games of a player carried, given (games, players, rows) from many games to few."""
    used = 0
    least = sizes[0][0] if sizes else 0
    for games, players, rows in sizes:
        used += players * _PLAYER_BYTES + rows * row_bytes
        if used > budget:
            break
        least = games
    return float(least)


def _by_player(rows: Iterator[tuple[Any, ...]]) -> Iterator[Iterator[tuple[Any, ...]]]:
    return (group for _, group in groupby(rows, key=itemgetter(0)))


def _packed(rows: list[tuple[Any, ...]]) -> list[Any]:
    first = rows[0]
    start = first[5]
    offsets = [row[5] - start for row in rows]
    return [
        first[0],
        *(short(value) for value in first[1:5]),
        start,
        0 if offsets == list(range(len(rows))) else offsets,
        [short(row[6]) for row in rows],
        [short(row[7]) for row in rows],
        [short(row[8]) for row in rows],
        0 if first[9] is None else [short(row[9]) for row in rows],
    ]


def short(value: float) -> float | int:
    """A number to one decimal, an integer where it is one."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() and abs(rounded) < _MOST_NUMBERED else rounded
