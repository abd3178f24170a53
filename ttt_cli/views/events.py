"""Lists of events, and one event: its standings and games."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Mask, Places
from ttt_cli.support.folding import fold
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.history.event_names import NamedEvents, name_events
from ttt_cli.views.history.event_summaries import EventSummary, mean_skills, summarise_events
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.played import PlayedGames, played_games
from ttt_cli.views.rows import Rows, integral
from ttt_cli.views.run import run_line

ORDERS: Final = ("games", "strength", "date")
_WITHOUT_WINNER: Final = "without winner: games are missing here, or it is an exhibition"
FEWEST_PLAYERS: Final = 6  # of an event in the order of strength
EVENT_COLUMNS: Final[tuple[Column[EventSummary], ...]] = (
    Column("event", "", "name of the event, with the year", each(lambda event: event.name)),
    Column("from", "", "date of the first game, as far as it is known", each(lambda event: event.first)),
    Column("to", "", "date of the last game", each(lambda event: event.last), hidden=True),
    Column("games", "games", "games that are known", each(lambda event: integral(event.games))),
    Column("players", "players", "participants", each(lambda event: event.players)),
    Column(
        "strength", "points", "mean skill of the participants in the period of their games",
        each(lambda event: event.mean_skill), decimals=0,
    ),
    Column(
        "winner", "", "who had the most points; empty in exhibitions, and where games are missing",
        each(lambda event: event.winner), nullable=True,
    ),
    Column("site", "", "place of the first game", each(lambda event: event.site), hidden=True),
)  # fmt: skip


class EventData(NamedTuple):
    """The games of a run and its events, or some of these."""

    played: PlayedGames
    events: Events


class EventSelection(NamedTuple):
    """Which events are listed, and in which order.

    `pattern`: words of the name, accents and case aside. `since`, `until`: years (None: any). `by`: an order of
    `ORDERS`. `min_players`: None for `FEWEST_PLAYERS` in the order of strength, else any. `number`: the first of the
    order (None: all).
    """

    pattern: str = ""
    since: int | None = None
    until: int | None = None
    by: str = "games"
    min_players: int | None = None
    number: int | None = None

    @property
    def least_players(self) -> int:
        """The participants that an event has at least."""
        if self.min_players is not None:
            return self.min_players
        return FEWEST_PLAYERS if self.by == "strength" else 0


def event_rows(run: Run, selection: EventSelection) -> Rows:
    """The events of a selection, with `EVENT_COLUMNS`."""
    least_players = selection.least_players
    with run:
        played = played_games(run)
        named = name_events(played)
        named = named.take(np.flatnonzero(_matches(named, selection)))
        order = _in_order(played, named, selection)
        listed = named.take(order[: selection.number])
        summaries = summarise_events(find_events(played, listed), played, np.arange(len(listed)))
        few = f" of at least {least_players} players" if least_players else ""
        heading = f"{len(listed):,} of {len(order):,} events{few}, by {selection.by}"
        title = [heading, run_line(run)]
        if not all(summary.winner for summary in summaries):
            title.insert(1, _WITHOUT_WINNER)
        return build_rows(run, EVENT_COLUMNS, summaries, tuple(title))


def _matches(named: NamedEvents, selection: EventSelection) -> Mask:
    """Mask of the events whose name has all words of the pattern, in the years."""
    words = fold(selection.pattern).split() or selection.pattern.split()
    matches = np.ones(len(named), np.bool_)
    if words:
        matches &= [all(word in folded for word in words) for folded in named.folded]
    if selection.since is not None:
        matches &= named.years >= selection.since
    if selection.until is not None:
        matches &= named.years <= selection.until
    return matches


def _in_order(played: PlayedGames, named: NamedEvents, selection: EventSelection) -> Places:
    """The events of at least so many players, in the order of a selection."""
    if selection.by != "strength" and not selection.least_players:
        return np.argsort(_dates_or_games(played, named, selection.by), kind="stable")
    events = find_events(played, named)
    is_strength = selection.by == "strength"
    measure = -mean_skills(events) if is_strength else _dates_or_games(played, named, selection.by)
    large = np.flatnonzero(np.diff(events.entries.starts) >= selection.least_players)
    return large[np.argsort(measure[large], kind="stable")]


def _dates_or_games(played: PlayedGames, named: NamedEvents, by: str) -> Places:
    """The day of the first game of each event, or minus the number of games, shape (events,)."""
    if by == "games":
        return -named.n_games
    first_days = np.full(len(named), np.iinfo(np.int64).max)
    in_event = np.flatnonzero(named.of_game >= 0)
    np.minimum.at(first_days, named.of_game[in_event], played.days[in_event])
    return first_days
