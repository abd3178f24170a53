"""Who met whom in an event, and whether all of its games are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.views.history.played import PlayedGames
from ttt_cli.views.history.sorting import distinct

ALL_PLAY_ALL: Final = 0.7  # of all pairs have met where everybody was to meet everybody
# Games of everybody in a complete event where not everybody met everybody
_FEWEST_ROUNDS: Final = 3


class Round(NamedTuple):
    """The position of a game in its event: the numbers of the round, 2.1 before 10.1 and none last, and the date."""

    numbers: list[float]
    days: int


@dataclass(frozen=True)
class Completeness:
    """How many games of each event are known; arrays of shape (events,).

    | field | content |
    |---|---|
    | `possible` | games if all pairs met as often as most did, where nearly all met; else 0 |
    | `missing` | so many of them are unknown |
    | `is_complete` | whether points decide on places: no game is missing, or all have the same number of games |
    """

    possible: Array
    missing: Array
    is_complete: Mask


@dataclass(frozen=True)
class Crosstable:
    """Who met whom in an event.

    `players`: numbers in the run's names, most points first. `results`: of a player against an opponent, by both: 0
    lost, 1 drawn, 2 won, in the order of rounds and dates.
    """

    players: list[int]
    results: dict[tuple[int, int], list[int]]


def by_round(played: PlayedGames, games: Places) -> list[int]:
    """Games of an event in the order of rounds, then dates."""
    return sorted(games.tolist(), key=lambda game: round_of(played, game))


def round_of(played: PlayedGames, game: int) -> Round:
    """The position of a game in its event."""
    parts = played.texts[played.round[game]].replace("/", ".").split(".")
    numbers = [float(part) for part in parts if part.strip().isdecimal()]
    return Round(numbers or [math.inf], int(played.days[game]))


def make_crosstable(played: PlayedGames, players: Ids, games: Places) -> Crosstable:
    """The crosstable of an event; `players`: its players in the order of the standings."""
    results: dict[tuple[int, int], list[int]] = {}
    for game in by_round(played, games):
        white = int(played.white[game])
        black = int(played.black[game])
        outcome = int(played.outcome[game])
        results.setdefault((white, black), []).append(outcome)
        results.setdefault((black, white), []).append(2 - outcome)
    return Crosstable(players.tolist(), results)


def find_completeness(
    played: PlayedGames, of_game: Places, games: Array, starts: Places
) -> Completeness:
    """How many games of each event are known.

    `of_game`, shape (games,): events of games, -1 for none. `games`, shape (entries,): games of the players of each
    event. `starts`, shape (events + 1,): first entry of each.
    """
    n_events = len(starts) - 1
    n_players = np.diff(starts)
    known_games = np.bincount(of_game[of_game >= 0], played.weight[of_game >= 0], n_events)
    event, met = _games_of_pairs(played, of_game)
    usual = _most_frequent(event, met, n_events)
    pairs = n_players * (n_players - 1) / 2.0
    pairs_met = np.bincount(event, minlength=n_events)
    below = np.bincount(event, np.maximum(usual[event] - met, 0.0), n_events)
    missing = usual * (pairs - pairs_met) + below
    all_play_all = pairs_met >= ALL_PLAY_ALL * pairs
    if played.teams is not None:  # with teams it is not players who meet
        in_teams = of_game[played.teams.is_sum & (of_game >= 0)]
        all_play_all &= np.bincount(in_teams, minlength=n_events) == 0
    missing = np.where(all_play_all, missing, 0.0)
    most = np.maximum.reduceat(games, starts[:-1]) if n_events else np.zeros(0)
    fewest = np.minimum.reduceat(games, starts[:-1]) if n_events else np.zeros(0)
    equally_many = (most == fewest) & (fewest >= _FEWEST_ROUNDS)
    return Completeness(
        possible=np.where(all_play_all, known_games + missing, 0.0),
        missing=missing,
        is_complete=np.where(all_play_all, missing == 0.0, equally_many),
    )


class GamesOfPairs(NamedTuple):
    """The event of every pair that met in one, and its games there; arrays of shape (pairs,)."""

    event: Places
    games: Array


def _games_of_pairs(played: PlayedGames, of_game: Places) -> GamesOfPairs:
    in_event = np.flatnonzero(of_game >= 0)
    first = np.minimum(played.white, played.black)[in_event].astype(np.int64)
    second = np.maximum(played.white, played.black)[in_event].astype(np.int64)
    n_players = int(second.max(initial=0)) + 1
    pairs, pair_of_game = distinct((of_game[in_event] * n_players + first) * n_players + second)
    games: Array = np.bincount(pair_of_game, played.weight[in_event], len(pairs)).astype(np.float64)
    return GamesOfPairs(pairs // n_players**2, games)


def _most_frequent(event: Places, games: Array, n_events: int) -> Array:
    """The number of games that most pairs of each event have; the larger one of two that are equally frequent."""
    rows = np.lexsort((games, event))
    event = event[rows]
    games = games[rows]
    is_new = (np.diff(event, prepend=-1) != 0) | (np.diff(games, prepend=-1.0) != 0)
    firsts = np.flatnonzero(is_new)
    count = np.diff([*firsts, len(rows)])
    order = np.lexsort((games[firsts], count, event[firsts]))
    usual = np.zeros(n_events)
    # assigned in order: the last of each event is the most frequent
    usual[event[firsts][order]] = games[firsts][order]
    return usual
