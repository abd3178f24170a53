"""Lists of events, and one event: its standings and games."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Mask
from ttt_cli.support.folding import fold
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.history.event_summaries import EventSummary, mean_skills, summarise_events
from ttt_cli.views.history.events import Events, find_events
from ttt_cli.views.history.played import PlayedGames, played_games
from ttt_cli.views.rows import Rows, integral
from ttt_cli.views.run import run_line

ORDERS: Final = ("games", "strength", "date")
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
        each(lambda event: event.winner),
    ),
    Column("site", "", "place of the first game", each(lambda event: event.site), hidden=True),
)  # fmt: skip


class EventData(NamedTuple):
    """The games and events of a run."""

    played: PlayedGames
    events: Events


def read_events(run: Run) -> EventData:
    """The games and events of a run."""
    played = played_games(run)
    return EventData(played, find_events(played))


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
        played, events = read_events(run)
        matching = np.flatnonzero(
            _matches(events, selection) & (np.diff(events.entries.starts) >= least_players)
        )
        measure = -np.diff(events.starts).astype(np.float64)
        if selection.by == "strength":
            measure = -mean_skills(events)
        elif selection.by == "date":
            measure = np.array(
                [played.days[events.games_of(event)].min() for event in range(len(events.rows))]
            )
        order = matching[np.argsort(measure[matching], kind="stable")][: selection.number]
        summaries = summarise_events(events, played, order)
        few = f" of at least {least_players} players" if least_players else ""
        heading = f"{len(order):,} of {len(matching):,} events{few}, by {selection.by}"
        return build_rows(run, EVENT_COLUMNS, summaries, (heading, run_line(run)))


def _matches(events: Events, selection: EventSelection) -> Mask:
    """Mask of the events whose name has all words of the pattern, in the years."""
    words = fold(selection.pattern).split() or selection.pattern.split()
    matches = np.ones(len(events.rows), np.bool_)
    if words:
        matches &= [all(word in event.folded for word in words) for event in events.rows]
    years = np.array([event.year for event in events.rows], np.int64)
    if selection.since is not None:
        matches &= years >= selection.since
    if selection.until is not None:
        matches &= years <= selection.until
    return matches
