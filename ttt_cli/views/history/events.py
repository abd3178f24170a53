"""The events of a run: tournaments, matches and exhibitions, and what everybody scored in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.event_sets import EXHIBITIONS, event_texts_in_sets
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.views.history.crosstables import find_completeness
from ttt_cli.views.history.event_names import NamedEvents, event_title, name_events
from ttt_cli.views.history.performances import Performances, find_performances
from ttt_cli.views.history.played import PlayedGames, Totals, game_of
from ttt_cli.views.history.series import find_series
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.history.sorting import stable_order

SERIES: Final = "series"  # the kind of events that are one
# Names, after the year, of all friendly games of a year, which are no contest
_FRIENDLY: Final = re.compile(
    r"\d+ (?:international )?(?:friendly|friendlies|casual|offhand|off hand)(?: (?:games?|match|matches))?"
)


class Event(NamedTuple):
    """One event.

    `name`: the event with its place, unless one names the other. `folded`: year and name, without accents and case.
    `kind`: the set of exhibitions it belongs to, as `simul`, or `friendly`, or `series` (`find_series`); empty for a
    contest. `possible`, `missing`, `is_complete`: as in `Completeness`.
    """

    name: str
    year: int
    folded: str
    games: int
    kind: str = ""
    possible: float = 0.0
    missing: float = 0.0
    is_complete: bool = True

    @property
    def title(self) -> str:
        """The name with the year, unless that is in it."""
        return event_title(self.name, self.year)


@dataclass(frozen=True)
class EventEntries:
    """What everybody scored in every event: by event, most points first; arrays of shape (entries,).

    | field | content |
    |---|---|
    | `player` | number in the run's names |
    | `played`, `points` | games and points |
    | `rank` | the place by points, equal points share one; 0 in an event that is not complete |
    | `starts` | (events + 1,): the first entry of each event |
    | `of_side` | (sides,): the entry of each side in `PlayedGames.side_order`, -1 for none |
    | `is_contest` | whether the event is none of exhibitions |
    | `totals` | of the sides of each entry, by event, then player |
    | `total_of_entry` | index of the entry in `totals` |
    """

    player: Ids
    played: Array
    points: Array
    rank: Places
    starts: Places
    of_side: Ids
    is_contest: Mask
    totals: Totals
    total_of_entry: Places

    @cached_property
    def expected(self) -> Array:
        """Points expected by the model, shape (entries,)."""
        return self.totals.expected[self.total_of_entry]

    @cached_property
    def skills(self) -> Array:
        """The player's skill in the event, mean over the games, on the shown scale, shape (entries,).

        The skill is that of the game's period, so it may change within an event.
        """
        totals = self.totals
        sides = totals.sides
        played = sides.played
        skill_sums = sides.sums_by_group(
            totals.group, played.nodes["mean"][sides.node], len(totals.keys)
        )
        skills: Array = (skill_sums / totals.games)[self.total_of_entry]
        return skills * played.run.scale.slope + played.run.scale.shift

    def expected_of(self, entries: Places) -> Array:
        """Points of some entries expected by the model, shape (entries,)."""
        if "expected" in vars(self):  # computed for all entries before
            return self.expected[entries]
        return self._totals_of(entries).expected

    def _totals_of(self, entries: Places) -> Totals:
        """Sums over the sides of some entries, in the order of these: total k is that of `entries[k]`.

        Every entry has a side, so that no total is without one.
        """
        # positions in `entries`, -1 for totals of other entries
        position_of_total = np.full(len(self.player), -1)
        position_of_total[self.total_of_entry[entries]] = np.arange(len(entries))
        position_of_side = position_of_total[self.totals.group]
        sides = np.flatnonzero(position_of_side >= 0)
        return self.totals.sides.take(sides).totals(position_of_side[sides])

    @cached_property
    def performances(self) -> Performances:
        """The performances, shape (entries,) each; NaN in exhibitions, and as in `find_performances`."""
        return self.performances_of(np.arange(len(self.player)))

    def performances_of(self, entries: Places) -> Performances:
        """The performances of some entries, shape (entries,) each."""
        if "performances" in vars(self):  # computed for all entries before
            mean, sd = self.performances
            return Performances(mean[entries], sd[entries])
        mean, sd = find_performances(self._totals_of(entries))
        is_contest = self.is_contest[entries]
        return Performances(np.where(is_contest, mean, np.nan), np.where(is_contest, sd, np.nan))

    def of(self, event: int) -> slice:
        """The entries of an event."""
        return rows_of(self.starts, event)


@dataclass(frozen=True)
class Events:
    """The events, in the order of `named`.

    `games`: the games that have one, by event, those of event k from `starts[k]` to before `starts[k + 1]`. Exhibitions
    have no performances.
    """

    rows: list[Event]
    named: NamedEvents
    games: Places
    starts: Places
    entries: EventEntries

    @property
    def of_game(self) -> Places:
        """The event of each game, -1 for none, shape (games,)."""
        return self.named.of_game

    def games_of(self, event: int) -> Places:
        """The games of an event."""
        return self.games[rows_of(self.starts, event)]


def find_events(played: PlayedGames, named: NamedEvents | None = None) -> Events:
    """The events of all games, or only those in `named`, which takes less time."""
    if named is None:
        named = name_events(played)
    of_game = named.of_game
    games = stable_order(of_game)[np.count_nonzero(of_game < 0) :]
    starts = np.searchsorted(of_game[games], np.arange(len(named) + 1))
    entries = _entries(played, of_game, len(named))
    completeness = find_completeness(played, of_game, entries.played, entries.starts)
    entry_is_complete = np.repeat(completeness.is_complete, np.diff(entries.starts))
    entries = replace(entries, rank=np.where(entry_is_complete, entries.rank, 0))
    has_handicaps = np.bincount(of_game[games], played.offset[games] != 0.0, len(named)) > 0
    kinds = _exhibitions(named.folded, _where_one_met_all(entries), has_handicaps)
    for event in np.flatnonzero(find_series(played, games, starts)).tolist():
        kinds[event] = kinds[event] or SERIES
    event_is_contest = np.array([not kind for kind in kinds], np.bool_)
    is_contest = np.repeat(event_is_contest, np.diff(entries.starts))
    entries = replace(entries, is_contest=is_contest)
    columns = zip(
        named.names, named.years.tolist(), named.folded, named.n_games.tolist(), kinds,
        completeness.possible.tolist(), completeness.missing.tolist(), completeness.is_complete.tolist(), strict=True,
    )  # fmt: skip
    rows = [Event(*event) for event in columns]
    return Events(rows, named, games, starts, entries)


def _where_one_met_all(entries: EventEntries) -> Mask:
    """Mask of the events of three players or more where one of them had a part in all games."""
    n_players = np.diff(entries.starts)
    if not len(n_players):
        return np.zeros(0, np.bool_)
    most = np.maximum.reduceat(entries.played, entries.starts[:-1])
    total = np.add.reduceat(entries.played, entries.starts[:-1])
    return np.asarray((n_players > 2) & (2.0 * most == total))


def _exhibitions(folded: list[str], one_met_all: Mask, has_handicaps: Mask) -> list[str]:
    """The set of exhibitions that each event belongs to by its name; empty for a contest.

    Blindfold games are an exhibition where one player met several others; odds with a known handicap are none.
    Friendly games that have no other name are no contest either.
    """
    has_words = event_texts_in_sets(folded, EXHIBITIONS)
    has_words["blindfold"] &= one_met_all
    has_words["odds"] &= ~has_handicaps
    kinds = ["friendly" if _FRIENDLY.fullmatch(name) else "" for name in folded]
    for kind in reversed(EXHIBITIONS):  # the first that applies
        for event in np.flatnonzero(has_words[kind]).tolist():
            kinds[event] = kind
    return kinds


def _entries(played: PlayedGames, of_game: Places, n_events: int) -> EventEntries:
    """What everybody scored in every event, at first with ranks in all of them, and all of them contests.

    Sums are made by event, then player (`totals`), and put in the order of entries: by event, then points, then player.
    """
    codes = played.side_order.codes
    in_event = np.flatnonzero((of_game >= 0)[game_of(codes)])
    sides = played.sides_in_order(in_event)
    n_names = int(sides.player.max(initial=0)) + 1
    totals = sides.totals(of_game[sides.game] * np.int64(n_names) + sides.player)
    event_of_total = totals.keys // n_names
    player_of_total = totals.keys % n_names
    by_points = np.argsort(-totals.points, kind="stable")
    total_of_entry = by_points[stable_order(event_of_total[by_points])]
    entry_of_total = np.empty_like(total_of_entry)
    entry_of_total[total_of_entry] = np.arange(len(total_of_entry))
    of_side = np.full(len(codes), -1, np.int32)
    of_side[in_event] = entry_of_total[totals.group]
    event = event_of_total[total_of_entry]
    points = totals.points[total_of_entry]
    starts = np.searchsorted(event, np.arange(n_events + 1))
    return EventEntries(
        player=player_of_total[total_of_entry],
        played=totals.games[total_of_entry],
        points=points,
        rank=_first_of_equals(event, points) - starts[event] + 1,
        starts=starts,
        of_side=of_side,
        is_contest=np.ones(len(event), np.bool_),
        totals=totals,
        total_of_entry=total_of_entry,
    )


def _first_of_equals(event: Places, points: Array) -> Places:
    """The first entry with the points of each in its event, (entries,); entries by event, most points first."""
    is_first = (np.diff(event, prepend=-1) != 0) | (np.diff(points, prepend=-1.0) != 0)
    return np.maximum.accumulate(np.where(is_first, np.arange(len(event)), 0))
