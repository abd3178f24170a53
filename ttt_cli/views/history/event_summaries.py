"""What a list of events says of each: when and where it was, how strong, and who won."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttt_cli.support.arrays import Array, Places
from ttt_cli.views.history.events import Event, Events
from ttt_cli.views.history.played import PlayedGames
from ttt_cli.views.rows import counted


class EventSummary(NamedTuple):
    """An event as it is listed.

    `name`: with the year. `site`: of the first game. `first`, `last`: dates of the first and last game, as far as they
    are known. `games`: by weight. `mean_skill`: mean of the participants' skills then, on the shown scale. `winner`:
    who had the most points, several after semicolons; empty in exhibitions, and where games are missing.
    """

    name: str
    site: str
    first: str
    last: str
    games: float
    players: int
    mean_skill: float
    winner: str


def mean_skills(events: Events) -> Array:
    """The mean skill of the participants of every event, shape (events,)."""
    starts = events.entries.starts
    return np.add.reduceat(events.entries.skills, starts[:-1]) / np.diff(starts)


def summarise_events(events: Events, played: PlayedGames, indices: Places) -> list[EventSummary]:
    """Summaries of some events."""
    skills = mean_skills(events) if len(indices) else np.empty(0)
    first_games = []
    last_games = []
    for index in indices:
        games = events.games_of(index)
        days = played.days[games]
        first_games.append(games[days.argmin()])
        last_games.append(games[days.argmax()])
    first_dates = played.dates_of(np.array(first_games, np.int64))
    last_dates = played.dates_of(np.array(last_games, np.int64))
    summaries = []
    for index, first, last, game in zip(
        indices.tolist(), first_dates, last_dates, first_games, strict=True
    ):
        entries = events.entries.of(index)
        summaries.append(
            EventSummary(
                events.rows[index].title, played.texts[played.site[game]], first, last,
                games=float(played.weight[events.games_of(index)].sum()), players=entries.stop - entries.start,
                mean_skill=float(skills[index]), winner="; ".join(winners(events, played, index)),
            )
        )  # fmt: skip
    return summaries


def winners(events: Events, played: PlayedGames, index: int) -> list[str]:
    """Who had the most points in an event; nobody in exhibitions, and where no places are known."""
    is_exhibition = bool(events.rows[index].kind)
    if is_exhibition:
        return []
    entries = events.entries
    rows = entries.of(index)
    first = np.flatnonzero(entries.rank[rows] == 1) + rows.start
    return [played.players[player] for player in entries.player[first].tolist()]


def event_facts(event: Event) -> str:
    """How many games of an event are known, and what follows from that."""
    games = counted(event.games, "game")
    if event.missing:
        games = f"{event.games:,} of {event.games + event.missing:,.10g} possible games known: no places"
    elif not event.is_complete:
        games += "; not all players have equally many games here: no places"
    return games + (f"; {event.kind}: no performance" if event.kind else "")
