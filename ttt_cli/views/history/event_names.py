"""Which games are one event, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.folding import fold_all
from ttt_cli.views.history.played import PlayedGames
from ttt_cli.views.history.sorting import distinct

_GAMES_A_SITE: Final = 3.0  # at most, of a player in an event that moves from site to site
_TRAVELLERS: Final = 0.5  # of its players, at least
_TRAVELLERS_AT_ONCE: Final = 0.2  # where it is at several sites at the same time


def event_title(name: str, year: int) -> str:
    """The name of an event with the year, unless that is in it."""
    return name if str(year) in name else f"{name} {year}"


@dataclass(frozen=True)
class NamedEvents:
    """Which games are one event, and what it is called.

    | field | shape | content |
    |---|---|---|
    | `names` | (events,) | the event with its place, unless one names the other |
    | `years` | (events,) | year |
    | `of_game` | (games,) | the event of each game, -1 for none |
    """

    names: list[str]
    years: Ids
    of_game: Places

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def n_games(self) -> Places:
        """The number of games of each event, shape (events,)."""
        return np.bincount(self.of_game[self.of_game >= 0], minlength=len(self))

    @cached_property
    def folded(self) -> list[str]:
        """Year and name of each event, without accents and case."""
        return fold_all(
            [f"{year} {name}" for year, name in zip(self.years.tolist(), self.names, strict=True)]
        )

    def title(self, event: int) -> str:
        """The name of an event with the year."""
        return event_title(self.names[event], int(self.years[event]))

    def titles_of(self, games: Places) -> list[str]:
        """The events of some games; empty for none."""
        events = self.of_game[games].tolist()
        return [self.title(event) if event >= 0 else "" for event in events]

    def take(self, events: Places) -> NamedEvents:
        """Some of the events, in this order; games of the others have none."""
        new_numbers = np.full(len(self) + 1, -1)  # by event; the last one is for games without any
        new_numbers[events] = np.arange(len(events))
        names = [self.names[event] for event in events.tolist()]
        return NamedEvents(names, self.years[events], new_numbers[self.of_game])


def name_events(played: PlayedGames) -> NamedEvents:
    """The events by year, then name: games with the same year and the same texts of event and site.

    The site does not count in events that move from site to site, as a world cup or a league.
    """
    texts = played.texts
    n_texts = len(texts)
    # an event in one number, year and text; a key is an event and a site in one number
    event_codes = played.year.astype(np.int64) * n_texts + played.event
    keys, key_of_game = distinct(event_codes * n_texts + played.site)
    event_of_key = keys // n_texts  # keys are sorted, so that those of an event are neighbours
    _, n_sites = np.unique(event_of_key, return_counts=True)
    has_several_sites = np.repeat(n_sites > 1, n_sites)  # (keys,)
    games = np.flatnonzero(has_several_sites[key_of_game])
    moves = np.isin(event_of_key, _moving_events(played, games, event_codes[games]))
    site_of_key = np.where(moves, 0, keys % n_texts)  # text 0 is empty
    named = []
    for year_and_event, site_text in zip(event_of_key.tolist(), site_of_key.tolist(), strict=True):
        year, event_text = divmod(year_and_event, n_texts)
        named.append((year, event_name(texts[event_text], texts[site_text])))
    events = sorted({(year, name) for year, name in named if name})
    number = {event: index for index, event in enumerate(events)}
    of_key = np.array([number.get(event, -1) for event in named], np.int64)
    years = np.array([year for year, _ in events], np.int32)
    return NamedEvents([name for _, name in events], years, of_key[key_of_game])


def event_name(event: str, site: str) -> str:
    """The event with its place, unless one names the other."""
    if event and site and site.casefold() not in event.casefold():
        return site if event.casefold() in site.casefold() else f"{event}, {site}"
    return event or site


def _moving_events(played: PlayedGames, games: Places, event_codes: Places) -> Places:
    """The codes of the events (year and text) of some games that move from site to site.

    At least half of its players with several games played at several sites, or a fifth if it is at several sites at the
    same time, as in groups; and hardly more than a few games at each. `event_codes`, shape (games,): of these games.
    """
    n_texts = len(played.texts)
    events, event_of_game = np.unique(event_codes, return_inverse=True)
    has_text = events % n_texts > 0
    several = _entries_with_several_games(played, games, event_of_game)

    def by_event(values: Places | Mask) -> Places:
        """Sums over these entries of each event."""
        return np.bincount(several.event, values, len(events))

    n_players = by_event(np.ones(len(several.event), np.bool_))
    n_travellers = by_event(several.n_sites > 1)
    at_once = _is_at_once(event_of_game, played.site[games], played.days[games])
    least_travellers = np.where(at_once, _TRAVELLERS_AT_ONCE, _TRAVELLERS)
    enough_travel = n_travellers >= least_travellers * n_players
    few_games_a_site = by_event(several.n_games) <= _GAMES_A_SITE * by_event(several.n_sites)
    moving: Places = events[has_text & (n_travellers > 0) & enough_travel & few_games_a_site]
    return moving


class _PlayersOfEvents(NamedTuple):
    """Players in events, one entry for each player of each event.

    | field | shape | content |
    |---|---|---|
    | `event` | (entries,) | number of the event |
    | `n_games` | (entries,) | games of the player there |
    | `n_sites` | (entries,) | sites at which they were |
    """

    event: Places
    n_games: Places
    n_sites: Places


def _entries_with_several_games(
    played: PlayedGames, games: Places, event_of_game: Places
) -> _PlayersOfEvents:
    """The entries of players with several games in an event; `event_of_game`, (games,): of these games."""
    players = np.concatenate([played.white[games], played.black[games]])
    n_players = int(players.max(initial=0)) + 1
    entries, entry_of_side, n_games = np.unique(
        np.tile(event_of_game, 2) * np.int64(n_players) + players,
        return_inverse=True,
        return_counts=True,
    )
    n_texts = len(played.texts)
    visits = np.unique(entry_of_side * np.int64(n_texts) + np.tile(played.site[games], 2))
    n_sites = np.bincount(visits // n_texts, minlength=len(entries))
    several = n_games > 1
    return _PlayersOfEvents(entries[several] // n_players, n_games[several], n_sites[several])


def _is_at_once(event: Places, site: Ids, days: Ids) -> Mask:
    """Mask of the events that are at several sites at the same time, shape (events,).

    There the durations of the sites add up to more than that of the event. `event`, `site`, `days`, shape (games,): of
    each game.
    """
    site_keys = event * (int(site.max(initial=0)) + 1) + site
    sites, site_of_game = np.unique(site_keys, return_inverse=True)
    event_of_site = sites // (int(site.max(initial=0)) + 1)
    n_events = int(event.max(initial=-1)) + 1
    time_of_sites = np.bincount(event_of_site, durations(site_of_game, days, len(sites)), n_events)
    return np.asarray(time_of_sites > durations(event, days, n_events))


def durations(group: Places, days: Ids, n_groups: int) -> Places:
    """Days from the first to the last game of each group, shape (groups,); `group`, `days`, shape (games,)."""
    first = np.full(n_groups, np.iinfo(np.int64).max)
    last = np.full(n_groups, np.iinfo(np.int64).min)
    np.minimum.at(first, group, days)
    np.maximum.at(last, group, days)
    durations: Places = last - first
    return durations
