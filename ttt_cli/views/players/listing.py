"""Who is in a run."""

from typing import Any, Final

from ttt_cli.folding import fold
from ttt_cli.runs.run import Run
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line

_SELECT: Final = 'SELECT player, "first", "last", games, peak_mean, peak_sd, peak_period FROM players'
_DECIMALS: Final = {"peak_mean": 1, "peak_sd": 1}


def players_rows(
    run: Run,
    pattern: str = "",
    *,
    since: int | None = None,
    until: int | None = None,
    min_games: float = 0.0,
    number: int | None = None,
) -> Rows:
    """Players by number of games: `player,first,last,games,peak_mean,peak_sd,peak_period`.

    `pattern`: words that are parts of the name, accents, case and order aside. `since`, `until`: years between which
    the player's first to last period lies at least in part. `number` None: all.
    """
    conditions, values = ["games >= ?"], list[Any]([min_games])
    for word in fold(pattern).split():
        conditions.append("contains(folded, ?)")
        values.append(word)
    if pattern.strip() and not fold(pattern):
        conditions.append("false")
    if since is not None:
        conditions.append('CAST(substr("last", 1, 4) AS INTEGER) >= ?')
        values.append(since)
    if until is not None:
        conditions.append('CAST(substr("first", 1, 4) AS INTEGER) <= ?')
        values.append(until)
    limit = "" if number is None else f" LIMIT {number:d}"
    where = " AND ".join(conditions)
    (count,), *_ = run.query(f"SELECT count(*) FROM players WHERE {where}", values)[1]
    shown = count if number is None else min(count, number)
    sql = f"{_SELECT} WHERE {where} ORDER BY games DESC, player{limit}"
    columns, rows = run.stream(sql, values)
    title = (f"{shown:,} of {run.meta.players:,} players", run_line(run))
    return Rows(columns, rows, title, _DECIMALS)
