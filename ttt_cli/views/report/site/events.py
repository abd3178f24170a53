"""The events of a run: games of one name and place in one year, with what everybody scored there."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.runs.run import Run
from ttt_cli.views.report.site.played import Played, Strengths, predicted
from ttt_cli.views.report.site.shared import addresses, slugs

_HALVINGS: Final = 13
_FURTHEST: Final = 2400.0  # Elo points that a performance may lie from the opponents


@dataclass(frozen=True)
class Event:
    """One event; `page` is its address in the folder of events, `slug` its own part: both None without a page."""

    name: str
    year: int
    games: int
    slug: str | None
    page: str | None

    @property
    def title(self) -> str:
        """The name with the year, unless that is in it."""
        return self.name if str(self.year) in self.name else f"{self.name} {self.year}"


@dataclass(frozen=True)
class Events:
    """The events by year, then name, and what everybody scored in them.

    `of_game`, shape (games,), is the event of each game, -1 where none is known; `games` all others by event, those of
    event k from `starts[k]` to `starts[k + 1]`. Entries, one per event and player, are by event, most points first;
    those of event k from `entry_starts[k]` to `entry_starts[k + 1]`:

    | name | unit | |
    |---|---|---|
    | player | | number in the run's names |
    | played, points, expected | games | played, scored, and expected of the model |
    | performance | points of the run | the skill at which the points would be what is expected, else NaN |
    | rank | | place in the event, equal points sharing one |
    """

    all: list[Event]
    of_game: Places
    games: Places
    starts: Places
    entry_starts: Places
    player: Ids
    played: Array
    points: Array
    expected: Array
    performance: Array
    rank: Ids


def find_events(run: Run, played: Played, most: int) -> Events:
    """The events of all games; the `most` of the most games have a page."""
    of_game, events = _grouped(played, most)
    known = np.flatnonzero(of_game >= 0)
    order = known[np.argsort(of_game[known], kind="stable")]
    starts = np.searchsorted(of_game[order], np.arange(len(events) + 1))
    return Events(events, of_game, order, starts, **_entries(run, played, of_game, len(events)))


def _grouped(played: Played, most: int) -> tuple[Places, list[Event]]:
    """The event of each game, and all events by year, then name."""
    texts = played.texts
    pair = played.event.astype(np.int64) * len(texts) + played.site
    keys, place, counts = np.unique(
        np.stack([played.year.astype(np.int64), pair]), axis=1, return_inverse=True, return_counts=True
    )
    names = [_name(texts[key // len(texts)], texts[key % len(texts)]) for key in keys[1].tolist()]
    found = [(year, name) for year, name in zip(keys[0].tolist(), names, strict=True)]
    chosen = sorted({one for one in found if one[1]})
    number = {one: at for at, one in enumerate(chosen)}
    of_key = np.array([number.get(one, -1) for one in found], np.int64)
    of_game = of_key[place.ravel()]
    games = np.bincount(of_key[of_key >= 0], counts[of_key >= 0], len(chosen)).astype(np.int64)
    least = np.sort(games)[-most - 1] if len(games) > most else 0
    every = slugs([f"{year} {name}" for year, name in chosen])
    files = [slug if count > least else None for slug, count in zip(every, games.tolist(), strict=True)]
    pages = addresses(files, games, 500 + 150 * games)
    return of_game, [
        Event(name, year, *further)
        for (year, name), *further in zip(chosen, games.tolist(), files, pages, strict=True)
    ]


def _name(event: str, site: str) -> str:
    """The event with its place, unless one names the other."""
    if event and site and site.casefold() not in event.casefold():
        return site if event.casefold() in site.casefold() else f"{event}, {site}"
    return event or site


def _entries(run: Run, played: Played, of_game: Places, events: int) -> dict[str, Any]:
    games = np.flatnonzero(of_game >= 0)
    is_white = np.repeat([True, False], len(games))
    game = np.tile(games, 2)
    player = np.where(is_white, played.white[game], played.black[game])
    width = int(player.max(initial=0)) + 1
    keys, entry = np.unique(of_game[game] * np.int64(width) + player, return_inverse=True)
    chance = played.chance[game]
    weight = played.weight[game]
    won = np.where(is_white, chance[:, 2], chance[:, 0])
    score = np.where(is_white, played.outcome[game], 2 - played.outcome[game]) / 2.0

    def total(values: Array) -> Array:
        return np.bincount(entry, weight * values, len(keys)).astype(np.float64)

    count, points, expected = total(np.ones(len(game))), total(score), total(won + chance[:, 1] / 2.0)
    performance = _performances(run, played, game, is_white, entry, points / count)
    event = keys // width
    order = np.lexsort((keys % width, -points, event))
    starts = np.searchsorted(event[order], np.arange(events + 1))
    place = np.arange(len(keys))
    first = np.ones(len(keys), np.bool_)
    first[1:] = (np.diff(event[order]) != 0) | (np.diff(points[order]) != 0)
    rank = np.maximum.accumulate(np.where(first, place, 0)) - starts[event[order]] + 1
    columns = {"player": keys % width, "played": count, "points": points, "expected": expected}
    columns["performance"] = performance * run.scale.slope + run.scale.shift
    return {name: column[order] for name, column in columns.items()} | {"entry_starts": starts, "rank": rank}


def _performances(
    run: Run, played: Played, game: Places, is_white: NDArray[np.bool_], entry: Places, score: Array
) -> Array:
    """For each entry the skill, points, at which the score expected of its games is `score`; NaN for all or nothing.

    Found by halving an interval; the own skill is taken as certain, the others' as the model has them.
    """
    nodes = played.nodes
    own = np.where(is_white, played.white_node[game], played.black_node[game])
    their = np.where(is_white, played.black_node[game], played.white_node[game])
    weight = played.weight[game]
    count = np.bincount(entry, weight, len(score))
    centre = np.bincount(entry, weight * nodes["mean"][their], len(score)) / count
    reach = _FURTHEST * run.meta.elo_unit
    low, high = centre - reach, centre + reach
    white_first = np.argsort(~is_white, kind="stable")
    whites = int(np.count_nonzero(is_white))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        expected = np.empty(len(game))
        for side, rows in ((True, white_first[:whites]), (False, white_first[whites:])):
            mine = _certain({name: column[own[rows]] for name, column in nodes.items()}, middle[entry[rows]])
            others = {name: column[their[rows]] for name, column in nodes.items()}
            sides, at = (mine, others) if side else (others, mine), game[rows]
            found = predicted(run, played.year[at], *sides, played.offset[at], played.neutral[at])
            expected[rows] = found[:, 2 if side else 0] + found[:, 1] / 2.0
        below = np.bincount(entry, weight * expected, len(score)) / count < score
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where((score > 0.0) & (score < 1.0), (low + high) / 2.0, np.nan)


def _certain(strengths: Strengths, mean: Array) -> Strengths:
    return {**strengths, "mean": mean, "sd": np.zeros(len(mean))}
