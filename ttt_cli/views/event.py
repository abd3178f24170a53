"""One event: who scored how much against whom, and its games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed, nearest
from ttt_cli.support.folding import fold, fold_all
from ttt_cli.views.columns import Column, Described, build_rows, column_names, each
from ttt_cli.views.events import EventData
from ttt_cli.views.history.crosstables import by_round, make_crosstable
from ttt_cli.views.history.event_names import NamedEvents, name_events
from ttt_cli.views.history.event_summaries import EventSummary, event_facts, summarise_events
from ttt_cli.views.history.events import find_events
from ttt_cli.views.history.performances import clean_score, performance_meaning
from ttt_cli.views.history.played import played_games
from ttt_cli.views.rows import Rows, counted, finite, integral
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import NEUTRAL, game_words

DOMINANCE: Final = 10  # times the games of the next event of the name
_LISTED: Final = 10
_OTHERS: Final = 3  # events that have the words, too
_ONESELF: Final = "*"
_NOT_MET: Final = "."
_SCORES: Final = "0=1"  # by outcome: loss, draw, win
_SIGNS: Final = "-=+"


class EventStanding(NamedTuple):
    """What a player did in an event.

    `number`: position in the table. `results`: against the players of the table in their order where nearly everybody
    met everybody, else by rounds with the opponents' numbers. `performance`, `sd`: as in `EventEntries.performances`;
    None where there is none. `clean_score`: `all won` or `all lost`. `rank`: None where games are missing. `skill`: in
    the period of the event.
    """

    number: int
    player: str
    results: str
    points: float
    expected: float
    performance: float | None
    sd: float | None
    clean_score: str | None
    games: float
    rank: int | None
    skill: float


STANDING_COLUMNS: Final[tuple[Column[EventStanding], ...]] = (
    Column("no", "", "position in the table", each(lambda row: row.number), value_type="integer"),
    Column("player", "", "name", each(lambda row: row.player)),
    Column(
        "results", "",
        "against the players 1, 2, ... of the table (1 won, = drawn, 0 lost, . not met), or by rounds with their "
        "numbers (+3 won against number 3)",
        each(lambda row: row.results), unfolded=True,
    ),
    Column("points", "points of games", "points scored", each(lambda row: row.points), decimals=1),
    Column("expected", "points of games", "points expected by the skills", each(lambda row: row.expected), decimals=1),
    Column(
        "performance", "points", "skill of a newcomer after these games alone",
        each(lambda row: row.performance), decimals=0,
    ),
    Column("sd", "points", "uncertainty of `performance`, one sd", each(lambda row: row.sd), decimals=0),
    Column(
        "clean_score", "", "`all won` or `all lost`", each(lambda row: row.clean_score), unfolded=True, nullable=True,
    ),
    Column("games", "games", "games that are known", each(lambda row: integral(row.games))),
    Column("rank", "", "place; empty where games are missing", each(lambda row: row.rank), value_type="integer"),
    Column("skill", "points", "skill in the period of the event", each(lambda row: row.skill), decimals=0),
)  # fmt: skip
GAME_COLUMNS: Final = (
    Described("round", "", "round, as written"),
    Described("date", "", "date, as far as it is known"),
    Described("white", "", "player named first"),
    Described("black", "", "player named second"),
    Described("result", "", "`1-0`, `1/2-1/2` or `0-1`"),
    Described("expected", "points of games", "White's expected score by the skills of the period"),
    Described("ground", "", "`neutral` or empty; not in chess", optional=True),
)


def standing_rows(run: Run, name: str, at: int | None = None) -> Rows:
    """The standings of the event selected by `find_event`, with `STANDING_COLUMNS`."""
    with run:
        selected = _read_event(run, name, at)
        standings = _standings(selected.data)
        has_performance = any(standing.performance is not None for standing in standings)
        title = _title(run, selected, performance_meaning(run) if has_performance else "")
        return build_rows(run, STANDING_COLUMNS, standings, title)


def event_game_rows(run: Run, name: str, at: int | None = None) -> Rows:
    """The games of the event selected by `find_event`, with `GAME_COLUMNS`, results as in `GameWords`."""
    words = game_words(run)
    with run:
        selected = _read_event(run, name, at)
        data = selected.data
        played = data.played
        rows = []
        games = np.array(by_round(played, data.events.games), np.int64)
        dates = played.dates_of(games)
        chances = played.chances_of(games)
        for number, game in enumerate(games.tolist()):
            date = dates[number]
            rows.append(
                (
                    played.texts[played.round[game]], date,
                    played.side_name(game, is_black=False), played.side_name(game, is_black=True),
                    words.result_of_game(int(played.outcome[game]), float(played.margin[game])),
                    float(chances[number, 2] + chances[number, 1] / 2.0),
                    *([] if words.is_chess else [NEUTRAL if played.neutral[game] else ""]),
                )
            )  # fmt: skip
        columns = column_names(GAME_COLUMNS[:-1] if words.is_chess else GAME_COLUMNS)
        return words.renamed(Rows(columns, rows, _title(run, selected), {"expected": 2}))


class SelectedEvent(NamedTuple):
    """An event that a text selects, and further ones that have its words, most games first.

    `called_years`: some of events that are called so, where the selected one is not.
    """

    event: int
    others: list[int]
    called_years: list[int]


class OneEvent(NamedTuple):
    """The games of a run, and of its events one alone; `others`: what is said of further ones that have its words."""

    data: EventData
    others: str


def _read_event(run: Run, name: str, at: int | None) -> OneEvent:
    """The event selected by `find_event`."""
    played = played_games(run)
    named = name_events(played)
    event, others, called_years = find_event(named, name, at)
    titles = "; ".join(_listed_events(named, others, _OTHERS))
    remarks = [f"also with these words: {titles}"] if titles else []
    if called_years:
        years = ", ".join([str(year) for year in called_years])
        remarks.insert(0, f"no event is called {name!r}, but one is in {years}")
    data = EventData(played, find_events(played, named.take(np.array([event]))))
    return OneEvent(data, "; ".join(remarks))


def find_event(named: NamedEvents, name: str, at: int | None = None) -> SelectedEvent:
    """The event of which the name has all words of a text, accents and case aside, in the year `at` if that is given.

    Of several the one that is called so, else the one with ten times the games of the next. Raises LookupFailed.
    """
    words = fold(name).split()
    words_of_events = [folded.split() for folded in named.folded]
    years = named.years.tolist()
    candidates = [
        event
        for event, (year, words_of_event) in enumerate(zip(years, words_of_events, strict=True))
        if at in (None, year) and all(word in words_of_event for word in words)
    ]
    if not candidates:
        when = "" if at is None else f" of {at}"
        hint = _similar_events(words_of_events, words)
        raise LookupFailed(f"no event {name!r}{when} in this run", hint=hint, event=name)
    called = sorted(words)
    same = [
        event
        for event in candidates
        if called in (sorted(words_of_events[event]), sorted(fold(named.names[event]).split()))
    ]
    n_games = named.n_games
    candidates.sort(key=lambda event: (-n_games[event], years[event]))
    meant = [event for event in candidates if event in same] if same else candidates
    first, *next_ones = meant
    if next_ones and n_games[first] < DOMINANCE * n_games[next_ones[0]]:
        lines = "\n  ".join(_listed_events(named, meant, _LISTED))
        raise LookupFailed(
            f"{len(meant):,} events are meant by {name!r}:\n  {lines}",
            hint="give more of the name, or --at YEAR",
        )
    called_years = [] if same else _years_called(named, words, int(named.years[first]))
    return SelectedEvent(first, [event for event in candidates if event != first], called_years)


def _years_called(named: NamedEvents, words: Sequence[str], year: int) -> list[int]:
    """The years next to `year` of events that are called by these words, a year among them aside; ascending."""
    called = sorted(word for word in words if not word.isdecimal())
    years = [
        year_of_event
        for year_of_event, name in zip(named.years.tolist(), fold_all(named.names), strict=True)
        if sorted(name.split()) == called
    ]
    return sorted(sorted(years, key=lambda of_event: abs(of_event - year))[:_OTHERS])


def _listed_events(named: NamedEvents, events: Sequence[int], most: int) -> list[str]:
    """The titles of some events with their numbers of games; beyond `most` only how many more there are."""
    listed = [
        f"{named.title(event)} ({counted(int(named.n_games[event]), 'game')})"
        for event in events[:most]
    ]
    return listed + ([f"and {len(events) - most:,} more"] if len(events) > most else [])


def _similar_events(names: Sequence[Sequence[str]], words: Sequence[str]) -> str:
    """Where to look for an event by words that no event of the year has.

    By the most similar words; by all words, in another year; by the words but one that the fewest events have.
    """
    vocabulary = {word for name in names for word in name}
    similar = [word if word in vocabulary else nearest(word, vocabulary) or word for word in words]
    if similar != list(words) and _count_with(names, similar):
        return f"did you mean `ttt event {' '.join(similar)}`?"
    selections = [list(words)]
    if not _count_with(names, words):
        selections = [
            [*words[:position], *words[position + 1 :]] for position in reversed(range(len(words)))
        ]
    counts = {
        " ".join(selection): _count_with(names, selection) for selection in selections if selection
    }
    counts = {selection: count for selection, count in counts.items() if count}
    if not counts:
        return "`ttt events` lists them"
    selection = min(counts, key=lambda text: counts[text])
    return f"`ttt events {selection}` lists {counted(counts[selection], 'event')}"


def _count_with(names: Sequence[Sequence[str]], words: Sequence[str]) -> int:
    """How many names have all words."""
    return sum(all(word in name for word in words) for name in names)


def _title(run: Run, selected: OneEvent, remark: str = "") -> tuple[str, ...]:
    data = selected.data
    (summary,) = summarise_events(data.events, data.played, np.array([0]))
    (event,) = data.events.rows
    heading = event.title if event.is_complete else f"{event.title} (no places)"
    strength = f"{counted(summary.players, 'player')} of mean skill {summary.mean_skill:.0f}"
    facts = f"{_when(summary)}; {event_facts(event)}; {strength}"
    lines = (heading, facts, remark, selected.others, run_line(run))
    return tuple(line for line in lines if line)


def _when(summary: EventSummary) -> str:
    return summary.first if summary.first == summary.last else f"{summary.first} to {summary.last}"


def _standings(data: EventData) -> list[EventStanding]:
    """The standings of the only event."""
    played = data.played
    entries = data.events.entries
    means, sds = entries.performances
    skills = entries.skills
    expected = entries.expected
    results = _results(data)
    standings = []
    for entry, player in enumerate(entries.player.tolist()):
        points = float(entries.points[entry])
        games = float(entries.played[entry])
        standings.append(
            EventStanding(
                entry + 1, played.players[player], results[entry], points,
                float(expected[entry]), finite(float(means[entry])), finite(float(sds[entry])),
                clean_score(points, games), games, int(entries.rank[entry]) or None, float(skills[entry]),
            )
        )  # fmt: skip
    return standings


def _results(data: EventData) -> list[str]:
    """The results of each player of the only event, in the order of the standings."""
    players = data.events.entries.player
    games = data.events.games
    (event,) = data.events.rows
    if event.possible:
        table = make_crosstable(data.played, players, games)
        width = max(len(results) for results in table.results.values())
        rows = []
        for player in table.players:
            cells = []
            for opponent in table.players:
                outcomes = table.results.get((player, opponent), [])
                scores = "".join([_SCORES[outcome] for outcome in outcomes]) or _NOT_MET
                cells.append((_ONESELF if player == opponent else scores).ljust(width))
            rows.append((" " if width > 1 else "").join(cells).rstrip())
        return rows
    number = {player: position for position, player in enumerate(players.tolist(), 1)}
    by_player: dict[int, list[str]] = {player: [] for player in number}
    for game in by_round(data.played, games):
        white = data.played.players_of(game, is_black=False)
        black = data.played.players_of(game, is_black=True)
        outcome = int(data.played.outcome[game])
        numbers_of_white = "/".join([str(number[player]) for player in white])
        numbers_of_black = "/".join([str(number[player]) for player in black])
        for player in white:
            by_player[player].append(f"{_SIGNS[outcome]}{numbers_of_black}")
        for player in black:
            by_player[player].append(f"{_SIGNS[2 - outcome]}{numbers_of_white}")
    return [" ".join(results) for results in by_player.values()]
