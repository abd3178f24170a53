"""The tables of all kinds of records."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.views.columns import build_rows
from ttt_cli.views.history.streaks import ORDER_OF_GAMES
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.records import KINDS
from ttt_cli.views.records.of_events import (
    LEAST_GAMES,
    LEAST_PLAYERS,
    performances,
    strongest_events,
)
from ttt_cli.views.records.of_games import most_games, rivalries, upsets
from ttt_cli.views.records.of_skills import gains, peaks, reigns, uncrowned
from ttt_cli.views.records.record import (
    CLEAN_SCORE,
    EVENT,
    FIRST,
    GAMES,
    LAST,
    OPPONENT,
    PLAYER,
    POINTS,
    RANK,
    SD,
    RecordKind,
    RecordSource,
    figure,
)
from ttt_cli.views.records.streaks import unbeaten, wins
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line

RECORDS: Final[dict[str, RecordKind]] = {
    "performances": RecordKind(
        performances, "The best performances", f"at least {LEAST_GAMES} games in an event that is no exhibition",
        (RANK, PLAYER, figure("performance", "points", "skill of a newcomer after these games alone", 0), SD,
         CLEAN_SCORE, POINTS, GAMES, EVENT, FIRST, LAST),
    ),
    "events": RecordKind(
        strongest_events, "The strongest events", f"at least {LEAST_PLAYERS} players",
        (RANK, EVENT, figure("strength", "points", "mean skill of the participants then", 0), PLAYER, GAMES, FIRST,
         LAST), limited="not",
    ),
    "unbeaten": RecordKind(
        unbeaten, "The longest series without a loss", ORDER_OF_GAMES,
        (RANK, PLAYER, figure("games", "games", "games of the series"), POINTS, FIRST, LAST),
    ),
    "wins": RecordKind(
        wins, "The longest series of wins", ORDER_OF_GAMES,
        (RANK, PLAYER, figure("games", "games", "games of the series"), FIRST, LAST),
    ),
    "upsets": RecordKind(
        upsets, "The least expected wins", "both players are eligible",
        (RANK, PLAYER, OPPONENT, figure("expected", "score", "expected score of the winner", 3), FIRST, EVENT),
    ),
    "gains": RecordKind(
        gains, "The largest gains of skill within a year", "the best year of each player, eligible at both ends",
        (RANK, PLAYER, figure("gain", "points", "change of the mean", 0), FIRST, LAST), limited="periods",
    ),
    "reigns": RecordKind(
        reigns, "The longest times as number one", "",
        (RANK, PLAYER, figure("years", "years", "length"), FIRST, LAST), limited="periods",
    ),
    "peaks": RecordKind(
        peaks, "The highest peaks", "periods with games",
        (RANK, PLAYER, figure("mean", "points", "skill in that period", 0), SD, FIRST), limited="periods",
    ),
    "uncrowned": RecordKind(
        uncrowned, "The highest peaks of players who were never number one", "periods with games",
        (RANK, PLAYER, figure("mean", "points", "skill in that period", 0), SD, FIRST), limited="periods",
    ),
    "rivalries": RecordKind(
        rivalries, "The pairs with most games", "both players are eligible",
        (RANK, PLAYER, OPPONENT, figure("games", "games", "games between them"), POINTS, FIRST, LAST),
    ),
    "games": RecordKind(
        most_games, "Most games", "",
        (RANK, PLAYER, figure("games", "games", "games of the player"), POINTS, FIRST, LAST),
    ),
}  # fmt: skip


def record_rows(
    run: Run,
    kind: str,
    limits: Eligible,
    *,
    since: int | None = None,
    until: int | None = None,
    number: int | None = 20,
) -> Rows:
    """The `number` records of a kind, the best first; its columns are those in `RECORDS`.

    `since`, `until`: years. Raises ConfigError for another kind.
    """
    if kind not in RECORDS:
        raise ConfigError(
            f"no kind of records {kind!r}",
            hint=suggested(kind, KINDS, f"kinds are {', '.join(KINDS)}"),
        )
    of_kind = RECORDS[kind]
    with run:
        source = RecordSource(run, limits, since, until, number)
        return build_rows(run, of_kind.columns, of_kind.find(source), _title(source, of_kind))


def title_of_kind(source: RecordSource, kind: RecordKind) -> str:
    """What the records of a kind are, and the years that count."""
    if source.since is None and source.until is None:
        return kind.heading
    return f"{kind.heading}, {source.since or ''}-{source.until or ''}"


def who_counts(source: RecordSource, kind: RecordKind) -> str:
    """Who is eligible for the records of a kind, and what counts; empty without limits."""
    limits = {
        "games": replace(source.limits, active=None, max_sd=None).words(),
        "periods": source.limits.words(),
        "not": "",
    }[kind.limited]
    counted = [words for words in (limits, kind.counted) if words]
    return f"eligible: {'; '.join(counted)}" if counted else ""


def _title(source: RecordSource, kind: RecordKind) -> tuple[str, ...]:
    lines = [title_of_kind(source, kind), who_counts(source, kind), run_line(source.run)]
    return tuple(line for line in lines if line)
