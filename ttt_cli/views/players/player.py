"""Who is in a run, and one player's history: rows, the facts above them, its shape, and what lies behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ttt_cli.folding import fold
from ttt_cli.runs.run import Run
from ttt_cli.runs.scale import POINTS
from ttt_cli.views.players.record import (
    best_period,
    games_of,
    record_rows,
    record_table,
    record_words,
    tally,
    upset_rows,
)
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line, side_names
from ttt_cli.views.text_charts import chart, sparkline

SHOWN_UPSETS: Final = 5
_DECIMALS: Final = dict.fromkeys(("mean", "sd", "draw_margin", "draw_margin_sd", "peak_mean", "peak_sd"), 1)
_SKILLS: Final = "SELECT * EXCLUDE (period_number) FROM skills WHERE player = ? ORDER BY period_number"
_SELECT: Final = 'SELECT player, "first", "last", games, peak_mean, peak_sd, peak_period FROM players'


@dataclass(frozen=True)
class PlayerView:
    """A player's rows, ready for the console; `note` names others who might have been meant, or is empty."""

    player: str
    rows: Rows
    note: str


@dataclass(frozen=True)
class PlayerGames:
    """What lies behind a history: record and upsets in full, and shorter for the eye."""

    record: Rows
    upsets: Rows
    short_record: Rows
    short_upsets: Rows


def player_view(run: Run, name: str, *, width: int = 60, ascii_only: bool = False) -> PlayerView:
    """The history of the player whom `name` means: `player,period,mean,sd,games` and further columns.

    `width` bounds the sparkline; `ascii_only` keeps the title to ASCII. Raises LookupFailed.
    """
    with run:
        found = run.find_player(name)
        columns, rows = run.query(_SKILLS, [found.player])
        keys, records = run.query("SELECT * FROM players WHERE player = ?", [found.player])
    facts = dict(zip(keys, records[0], strict=True))
    means = [row[columns.index("mean")] for row in rows]
    shape = shape_line(means, unit=run.scale.unit, width=width, ascii_only=ascii_only)
    head = found.player, facts_line(facts, ascii_only=ascii_only), run_line(run)
    table = Rows(columns, rows, (*head, *([shape] if shape else [])), _DECIMALS, frozenset({"player"}))
    return PlayerView(found.player, table, found.note)


def player_games(run: Run, player: str) -> PlayerGames:
    """What the games of a player, named as in the run, come to."""
    games = games_of(run, player)
    sums = tally(games)
    lines = [f"{player}: {record_words(sums) or 'no games'}"]
    best = best_period(games)
    if best is not None:
        period, won = best
        share = f"{won.points:g} of {won.games:g}, {won.points - won.expected:+.1f} on expectation"
        lines.append(f"opponents' mean {sums.opponents_mean:.0f}; best {run.meta.period} {period}: {share}")
    title, sides = tuple(lines), side_names(run)
    upsets = upset_rows(player, games, ("Wins against the odds",), sides)
    short = list(upsets.rows)[:SHOWN_UPSETS]
    return PlayerGames(
        record_rows(player, games, title, sides),
        upsets,
        record_table(player, games, title, sides),
        replace(upsets, rows=short, hidden=upsets.hidden | {"file", "line"}),
    )


def player_chart(rows: Rows, *, width: int, ascii_only: bool = False) -> list[str]:
    """The history as a line with its band of one sd, in lines of text; empty when there is no room for it."""
    period, mean, sd = (rows.columns.index(key) for key in ("period", "mean", "sd"))
    history = list(rows.rows)
    if not history:
        return []
    ends = history[0][period], history[-1][period]
    means, sds = [row[mean] for row in history], [row[sd] or 0.0 for row in history]
    return chart(means, sds, ends, width=width, ascii_only=ascii_only)


def facts_line(facts: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Years, record and peak, from a row of the run's `players`."""
    dash, plus_minus = ("-", "+-") if ascii_only else ("–", "±")
    if facts["first"] is None:
        return "no games"
    years = facts["first"] if facts["first"] == facts["last"] else f"{facts['first']}{dash}{facts['last']}"
    games = "1 game" if facts["games"] == 1 else f"{facts['games']:.10g} games"
    record = f"+{facts['wins']:.10g} ={facts['draws']:.10g} -{facts['losses']:.10g}"
    certainty = "" if facts["peak_sd"] is None else f" {plus_minus} {facts['peak_sd']:.0f}"
    peak = f"peak {facts['peak_mean']:.0f}{certainty} in {facts['peak_period']}"
    return f"{years}, {games} ({record}), {peak}"


def shape_line(means: list[float], *, unit: str = POINTS, width: int = 60, ascii_only: bool = False) -> str:
    """The sparkline between the lowest and the highest mean, with their unit; empty for fewer than two periods."""
    if len(means) < 2:
        return ""
    shape = sparkline(means, width=width, ascii_only=ascii_only)
    return f"{'skill' if unit == POINTS else 'rating'} {min(means):.0f} {shape} {max(means):.0f} {unit}"


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
    where = " AND ".join(conditions)
    (count,), *_ = run.query(f"SELECT count(*) FROM players WHERE {where}", values)[1]
    shown = count if number is None else min(count, number)
    sql = f"{_SELECT} WHERE {where} ORDER BY games DESC, player LIMIT ?"
    columns, rows = run.stream(sql, [*values, number])
    title = (f"{shown:,} of {run.meta.players:,} players", run_line(run))
    return Rows(columns, rows, title, _DECIMALS)
