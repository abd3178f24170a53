"""Series: games of one name all through a year that are no contest, as friendlies or the rated games of a server."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.support.arrays import Mask, Places
from ttt_cli.views.history.event_names import durations
from ttt_cli.views.history.played import PlayedGames

_LONGEST: Final = 183  # days of a contest that is not examined: half a year
_LEAST_PLAYERS: Final = 20
_LEAST_OPPONENTS: Final = 2.0  # of a player, on average: those of a knockout have fewer
_LEAST_ACQUAINTED: Final = 1.0 / 3.0  # of the pairs of a player's opponents, in a contest
_EXAMINED_PLAYERS: Final = 50  # those of most opponents
_EXAMINED_OPPONENTS: Final = 40  # of each
_TO_THE_DAY: Final = 2  # precision of a date


def find_series(played: PlayedGames, games: Places, starts: Places) -> Mask:
    """Mask of the events that are series, shape (events,).

    They take more than half a year, no rounds are known, at least 20 players have two opponents or more on average,
    and fewer than a third of the pairs of opponents of a player met each other: in a league or a cup with groups
    nearly all of them did. `games`, `starts`: as in `Events`. Dates that are not known to the day do not count.
    """
    n_events = len(starts) - 1
    event = np.repeat(np.arange(n_events), np.diff(starts))
    has_rounds = np.bincount(event, played.round[games] > 0, n_events) > 0
    is_dated = played.precision[games] == _TO_THE_DAY
    lengths = durations(event[is_dated], played.days[games[is_dated]], n_events)
    series: Mask = np.zeros(n_events, np.bool_)
    for index in np.flatnonzero((lengths > _LONGEST) & ~has_rounds).tolist():
        series[index] = _is_loose(played, games[starts[index] : starts[index + 1]])
    return series


def _is_loose(played: PlayedGames, games: Places) -> bool:
    """Whether many players have opponents who seldom met each other."""
    white = played.white[games].astype(np.int64)
    black = played.black[games].astype(np.int64)
    n_names = int(max(white.max(), black.max())) + 1
    pairs = np.unique(np.minimum(white, black) * n_names + np.maximum(white, black))
    lower, higher = np.divmod(pairs, n_names)
    players, n_opponents = np.unique(np.concatenate([lower, higher]), return_counts=True)
    if len(players) < _LEAST_PLAYERS or n_opponents.mean() < _LEAST_OPPONENTS:
        return False
    n_possible = 0
    n_met = 0
    by_opponents = np.argsort(-n_opponents, kind="stable")
    for player in players[by_opponents[:_EXAMINED_PLAYERS]].tolist():
        opponents = np.concatenate([lower[higher == player], higher[lower == player]])
        opponents = opponents[:_EXAMINED_OPPONENTS]  # ascending: those with lower numbers first
        first, second = np.triu_indices(len(opponents), 1)
        n_possible += len(first)
        keys = opponents[first] * n_names + opponents[second]
        nearest = np.minimum(np.searchsorted(pairs, keys), len(pairs) - 1)
        n_met += int(np.count_nonzero(pairs[nearest] == keys))
    return n_met < _LEAST_ACQUAINTED * n_possible
