"""A player's games, opponents, events and series of games, and the player in one period."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.history.crosstables import round_of
from ttt_cli.views.history.event_names import name_events
from ttt_cli.views.history.event_summaries import summarise_events
from ttt_cli.views.history.events import find_events
from ttt_cli.views.history.performances import clean_score
from ttt_cli.views.history.played import PlayedGames, Sides, played_games
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.history.streaks import ORDER_OF_GAMES, STREAKS, longest_streaks
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.period import find_field
from ttt_cli.views.rows import Rows, counted, finite, integral
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import game_words

_DECIMALS: Final = {
    "expected": 2, "points": 1, "performance": 0, "sd": 0, "opponent_mean": 0, "mean": 1, "score": 3,
}  # fmt: skip
_EACH_KIND: Final = 5  # series of a kind that are listed
_PLAYER: Final = Described("player", "", "name")
_POINTS: Final = Described("points", "points of games", "points scored")
_EXPECTED: Final = Described("expected", "points of games", "points expected by the skills")
_FROM: Final = Described("from", "", "date of the first game, as far as it is known")
_TO: Final = Described("to", "", "date of the last game")
GAME_COLUMNS: Final = (
    _PLAYER,
    Described("date", "", "date of the game, as far as it is known"),
    Described("opponent", "", "name of the other side"),
    Described("colour", "", "the player's side, or `neutral`"),
    Described("result", "", "`1-0`, `1/2-1/2` or `0-1`, the player's points first"),
    Described("expected", "points of games", "the player's expected score"),
    Described("event", "", "event, empty for none"),
    Described("round", "", "round, as written"),
    Described("opponent_mean", "points", "skill of the opponent in the period"),
    Described("weight", "games", "the game counts as so many"),
)
_RECORD: Final = (
    Described("games", "games", "games of the player"),
    Described("wins", "games", "games won"),
    Described("draws", "games", "games drawn"),
    Described("losses", "games", "games lost"),
)
OPPONENT_COLUMNS: Final = (
    _PLAYER, Described("opponent", "", "name"), *_RECORD, _POINTS, _EXPECTED, _FROM, _TO,
)  # fmt: skip
EVENT_COLUMNS: Final = (
    _PLAYER,
    Described("event", "", "name of the event, with the year"),
    Described("games", "games", "games of the player that are known"),
    _POINTS,
    _EXPECTED,
    Described("performance", "points", "skill of a newcomer after these games alone"),
    Described("sd", "points", "uncertainty of `performance`, one sd"),
    Described("clean_score", "", "`all won` or `all lost`", nullable=True),
    Described("rank", "", "place; empty where games are missing", value_type="integer"),
    Described("players", "players", "participants"),
    _FROM,
    _TO,
)
STREAK_COLUMNS: Final = (
    _PLAYER,
    Described("series", "", "what the games are: unbeaten, wins, without a win, losses"),
    Described("games", "games", "games of the series"),
    _POINTS,
    _FROM,
    _TO,
)
AT_COLUMNS: Final = (
    _PLAYER,
    Described("period", "", "the period"),
    Described("mean", "points", "skill in the period"),
    Described("sd", "points", "uncertainty of the skill, one sd"),
    Described("rank", "", "place among the eligible players", value_type="integer"),
    Described("field", "players", "eligible players in the period"),
    Described("games", "games", "games in the period"),
    *[replace(column, optional=True) for column in (*_RECORD[1:], _POINTS, _EXPECTED)],
)
_LAST: Final = """
SELECT "last", period_number FROM players JOIN periods ON periods.period = players."last" WHERE player = ?
"""
_SKILL: Final = "SELECT mean, sd, games FROM skills_within({0}, {0}, NULL) WHERE player = ?"


@dataclass(frozen=True)
class PlayerBook:
    """The games of one player: all games of the run, the player's number, and the games that count, in order."""

    run: Run
    played: PlayedGames
    player: int
    sides: Sides

    @property
    def name(self) -> str:
        """The player's name."""
        return self.played.players[self.player]

    def title(self, what: str) -> tuple[str, ...]:
        """The title of a table."""
        return (f"{self.name}: {what} in {self.games}", run_line(self.run))

    @property
    def games(self) -> str:
        """The number of games, with the noun."""
        total = float(self.sides.weight.sum())
        return f"{total:,.10g} game{'' if total == 1.0 else 's'}"

    def dates(self, rows: Any) -> list[str]:
        """The dates of some of the games."""
        return self.played.dates_of(self.sides.game[rows])


def open_player_book(
    run: Run, player: str, since: int | None = None, until: int | None = None
) -> PlayerBook:
    """The games of a player, named as in the run, in some years (None: all). Raises LookupFailed without any."""
    with run:
        played = played_games(run)
        number = played.players.index(player)
        sides = played.of(number)
    first = -np.inf if since is None else since
    last = np.inf if until is None else until
    sides = sides.take(np.flatnonzero((sides.year >= first) & (sides.year <= last)))
    if not len(sides.game):
        raise LookupFailed(f"{player} has no games in these years")
    return PlayerBook(run, played, number, sides)


def book_rows(
    run: Run, player: str, table: str, since: int | None = None, until: int | None = None
) -> Rows:
    """A table of a player's games: `games`, `opponents`, `events` or `streaks`. Raises LookupFailed without games."""
    book = open_player_book(run, player, since, until)
    with run:
        return BOOK_TABLES[table](book)


def game_rows(book: PlayerBook) -> Rows:
    """Every game with what was expected of the player, `GAME_COLUMNS`; expected by skills taken as independent.

    Columns and results as in `GameWords`.
    """
    played = book.played
    named_events = name_events(played)
    sides = book.sides.take(_by_round(book, named_events.of_game))
    dates = played.dates_of(sides.game)
    words = game_words(book.run)
    scale = book.run.scale
    opponent_means = played.nodes["mean"][sides.opponent_node] * scale.slope + scale.shift
    event_titles = named_events.titles_of(sides.game)
    rows = []
    columns = zip(
        dates, sides.is_second.tolist(), sides.colour.tolist(), sides.outcome.tolist(),
        sides.expected.tolist(), sides.game.tolist(), event_titles, opponent_means.tolist(), sides.weight.tolist(),
        strict=True,
    )  # fmt: skip
    for (
        date,
        is_second,
        colour,
        outcome,
        expected,
        game,
        event_title,
        opponent_mean,
        weight,
    ) in columns:
        opponent = played.side_name(game, is_black=not is_second)
        rows.append(
            (
                book.name, date, opponent, words.labels[colour],
                words.result_of_side(outcome, played.margin[game]), expected, event_title,
                played.texts[played.round[game]], opponent_mean, integral(weight),
            )
        )  # fmt: skip
    hidden = {"player"} | ({"weight"} if (sides.weight == 1.0).all() else set())
    title = (
        f"{book.name}: {book.games}",
        run_line(book.run),
        "result and expected score are the player's",
    )
    names = column_names(GAME_COLUMNS)
    return words.renamed(Rows(names, rows, title, _DECIMALS, frozenset(hidden)))


def _by_round(book: PlayerBook, event_of_game: Places) -> list[int]:
    """The order of the games by date, those of an event on one date by round, else as in the files."""
    first_positions: dict[tuple[str, int], int] = {}  # by date and event
    keys = []
    games = book.sides.game.tolist()
    for position, (game, date) in enumerate(zip(games, book.dates(slice(None)), strict=True)):
        event = int(event_of_game[game])
        if event < 0:
            keys.append((position, [0.0]))
        else:
            first = first_positions.setdefault((date, event), position)
            keys.append((first, round_of(book.played, game).numbers))
    return sorted(range(len(keys)), key=lambda position: keys[position])


def opponent_rows(book: PlayerBook) -> Rows:
    """Score and expected score against every opponent, most games first, `OPPONENT_COLUMNS`."""
    sides = book.sides
    totals = sides.totals(sides.opponent)
    first = np.full(len(totals.keys), len(sides.game))
    np.minimum.at(first, totals.group, np.arange(len(sides.game)))
    last = np.zeros(len(totals.keys), np.int64)
    np.maximum.at(last, totals.group, np.arange(len(sides.game)))
    order = np.lexsort((totals.keys, -totals.games))
    rows = []
    for index, first_date, last_date in zip(
        order, book.dates(first[order]), book.dates(last[order]), strict=True
    ):
        opponent = book.played.players[totals.keys[index]]
        counts = (totals.games, totals.won, totals.drawn, totals.lost)
        rows.append(
            (
                book.name, opponent, *(integral(float(count[index])) for count in counts),
                float(totals.points[index]), float(totals.expected[index]), first_date, last_date,
            )
        )  # fmt: skip
    title = book.title(f"{counted(len(rows), 'opponent')}")
    decimals = {**_DECIMALS, "expected": 1}
    return Rows(column_names(OPPONENT_COLUMNS), rows, title, decimals, frozenset({"player"}))


def event_rows(book: PlayerBook) -> Rows:
    """Every event with score, expected score and performance, by date, `EVENT_COLUMNS`."""
    played = book.played
    named = name_events(played)
    of_player = np.unique(named.of_game[book.sides.game])
    events = find_events(played, named.take(of_player[of_player >= 0]))
    entry_of_side = events.entries.of_side[rows_of(played.side_order.starts, book.player)]
    all_games = played.of(book.player).game
    is_counted = np.isin(all_games, book.sides.game)
    entries = np.unique(entry_of_side[is_counted & (entry_of_side >= 0)]).astype(np.int64)
    in_event = np.searchsorted(events.entries.starts, entries, side="right") - 1
    summaries = summarise_events(events, played, in_event)
    mean, sd = events.entries.performances_of(entries)
    expected = events.entries.expected_of(entries)
    rows = []
    for index, (entry, summary) in enumerate(zip(entries.tolist(), summaries, strict=True)):
        rows.append(
            (
                book.name, summary.name, integral(float(events.entries.played[entry])),
                float(events.entries.points[entry]), float(expected[index]), finite(float(mean[index])),
                finite(float(sd[index])),
                clean_score(float(events.entries.points[entry]), float(events.entries.played[entry])),
                int(events.entries.rank[entry]) or None, summary.players, summary.first, summary.last,
            )
        )  # fmt: skip
    rows.sort(key=lambda row: (row[10], row[1]))
    title = book.title(f"{counted(len(rows), 'event')}")
    hidden = frozenset({"player", "to"})
    decimals = {**_DECIMALS, "expected": 1}
    columns = column_names(EVENT_COLUMNS)
    return Rows(columns, rows, title, decimals, hidden, frozenset({"clean_score"}))


def streak_rows(book: PlayerBook) -> Rows:
    """The longest series of games unbeaten, of wins, without a win and of losses, `STREAK_COLUMNS`."""
    rows = []
    for kind in STREAKS:
        for streak in longest_streaks(book.sides, kind, _EACH_KIND):
            first, last = book.dates(np.array([streak.first, streak.last]))
            rows.append((book.name, kind, integral(streak.games), streak.points, first, last))
    title = (*book.title("the longest series"), ORDER_OF_GAMES)
    return Rows(column_names(STREAK_COLUMNS), rows, title, _DECIMALS, frozenset({"player"}))


def player_at(run: Run, player: str, at: str, limits: Eligible) -> Rows:
    """A player in one period, with `AT_COLUMNS`: the score only where there were games. Raises LookupFailed."""
    with run:
        period, number = run.find_period(at, player)
        ((mean, sd, games),) = run.select(_SKILL.format(number), [player])[1]
        rank = None
        field_size = 0
        try:
            field = find_field(run, period, limits)
        except LookupFailed:
            pass
        else:
            field_size = len(field.players)
            rank = [*field.players].index(player) + 1 if player in field.players else None
        facts: dict[str, Any] = {
            "player": player, "period": period, "mean": mean, "sd": sd, "rank": rank, "field": field_size,
            "games": games,
        }  # fmt: skip
        if games:
            facts |= _score(run, player, number)
        ((last, last_number),) = run.select(_LAST, [player])[1]
        remarks = []
        if number > last_number:
            remarks = [
                f"the last game is of {last}: this is what the model expects without further ones"
            ]
    title = (f"{player} in {period}", *remarks, run_line(run))
    return Rows(tuple(facts), [tuple(facts.values())], title, _DECIMALS, single=True)


def _score(run: Run, player: str, number: int) -> dict[str, float]:
    """Points and expected points of a player in a period."""
    played = played_games(run)
    sides = played.of(played.players.index(player))
    sides = sides.take(np.flatnonzero(played.nodes["period_number"][sides.node] == number))
    totals = sides.totals(np.zeros(len(sides.game), np.int64))
    counts = {
        "wins": totals.won,
        "draws": totals.drawn,
        "losses": totals.lost,
        "points": totals.points,
    }
    score: dict[str, float] = {name: integral(float(values[0])) for name, values in counts.items()}
    return {**score, "expected": float(totals.expected[0])}


BOOK_TABLES: Final[dict[str, Callable[[PlayerBook], Rows]]] = {
    "games": game_rows, "opponents": opponent_rows, "events": event_rows, "streaks": streak_rows,
}  # fmt: skip
