"""The games of a run as a site shows them: dates, what was expected of each, and the events they belong to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Mask, Places
from ttt_cli.folding import fold_all
from ttt_cli.inference.gaussian import in_year
from ttt_cli.inference.outcome import by_sides
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import DATABASE
from ttt_cli.timeline import KNOWN, NEUTRAL
from ttt_cli.views.report.site.lines import addresses, slugs

_GAMES: Final = f"""
SELECT period_number, date_days AS days, date_precision AS "precision", white_id AS white, black_id AS black, outcome,
       CAST(weight AS DOUBLE) AS weight, "offset", rowid IN (SELECT "row" FROM neutral_games) AS neutral
FROM {DATABASE}.main.game_rows ORDER BY rowid
"""
_NODES: Final = f"""
SELECT id, s.* EXCLUDE (player, "until", games)
FROM {DATABASE}.main.spans s JOIN {DATABASE}.main.names n USING (player) ORDER BY id, period_number
"""
_YEARS: Final = f"""
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year FROM periods
WHERE period_number >= (SELECT min(period_number) FROM {DATABASE}.main.game_rows) ORDER BY period_number
"""
_SHOWN: Final = np.array([4, 7, 10])  # letters of a date, by its precision
_UNKNOWN: Final = frozenset({"", "?", "??", "-", "--", "???", "????", "unknown", "n/a", "none"})
Strengths = dict[str, Array]
_HALVINGS: Final = 13
_FURTHEST: Final = 2400.0  # Elo points that a performance may lie from the opponents


@dataclass(frozen=True)
class Played:
    """All games, in the run's order; arrays of shape (games,).

    | name | unit | |
    |---|---|---|
    | year | | of the game's period |
    | days, precision | days since 1970-01-01 | as in the table of games |
    | white, black | | players, numbers in the run's names |
    | outcome, weight | | White's: 0 loss, 1 draw, 2 win; so many equal games |
    | offset | Elo points | added to White's strength |
    | neutral | | whether nobody had White's advantage |
    | chance | probability, shape (games, 3) | of White's loss, draw and win, by the skills of the game's period |
    | white_node, black_node | | rows of `nodes` |
    | event, round | | numbers of `texts`, 0 where nothing is known; `site` likewise |
    | nodes | points | mean and sd of every player in every period with games, and the model's further columns |
    """

    year: Ids
    days: Ids
    precision: Ids
    white: Ids
    black: Ids
    outcome: Ids
    weight: Array
    offset: Array
    neutral: Mask
    chance: Array
    white_node: Places
    black_node: Places
    nodes: Strengths
    event: Ids
    site: Ids
    round: Ids
    texts: list[str]

    @cached_property
    def dates(self) -> list[str]:
        """The dates as far as they are known: `1858`, `1858-06`, `1858-06-15`."""
        days, place = np.unique(self.days, return_inverse=True)
        texts = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        ends = _SHOWN[self.precision].tolist()
        return [texts[at][:end] for at, end in zip(place.tolist(), ends, strict=True)]

    @cached_property
    def by_player(self) -> tuple[Places, Places]:
        """The games of all players, one player's after the other's, and where each player's begin: twice as many."""
        player = np.concatenate([self.white, self.black])
        game = np.tile(np.arange(len(self.white)), 2)
        order = np.lexsort((game, player))
        return game[order], np.searchsorted(player[order], np.arange(int(player.max(initial=-1)) + 2))


def played_games(run: Run) -> Played:
    """The games of a run, the chances of each from the model."""
    games: dict[str, Any] = run.arrays(_GAMES)
    nodes = run.arrays(_NODES)
    period = games.pop("period_number")
    keys = nodes.pop("id") * np.int64(1 << 32) + (nodes["period_number"] - _LOWEST)
    white, black = (
        np.searchsorted(keys, games[side] * np.int64(1 << 32) + (period - _LOWEST))
        for side in ("white", "black")
    )
    year = run.arrays(_YEARS)["year"][period - period.min()] if len(period) else period
    sides = _rows(nodes, white), _rows(nodes, black)
    return Played(
        **games,
        year=year,
        chance=predicted(run, year, *sides, games["offset"], games["neutral"]),
        white_node=white,
        black_node=black,
        nodes=nodes,
        **_texts(run, len(period)),
    )


_LOWEST: Final = -(1 << 30)


def predicted(
    run: Run,
    year: Ids,
    white: Strengths,
    black: Strengths,
    offset: Array | float = 0.0,
    neutral: Mask | bool = False,
) -> Array:
    """What the model says of games of these strengths, points: of White's loss, draw and win, shape (games, 3).

    `year`, shape (games,): where draw margins move, they are those of the year. `offset` and `neutral` as in `Played`.
    """
    from ttt_cli.systems.registry import load

    model, found = load(run.meta.model), np.empty((len(year), 3))
    every, sides = slice(None), np.broadcast_to(np.where(neutral, NEUTRAL, KNOWN), len(year))
    half = 0.5 * run.meta.elo_unit * offset
    white, black = {**white, "mean": white["mean"] + half}, {**black, "mean": black["mean"] - half}
    parts = (
        [(year_, year == year_) for year_ in np.unique(year).tolist()] if run.draws_in(0) else [(0, every)]
    )
    for at, rows in parts:
        params = dict(in_year(run.meta.params, run.draws_in(at)))
        found[rows] = by_sides(model.predict, params, _rows(white, rows), _rows(black, rows), sides[rows])
    return found


def _rows(strengths: Strengths, rows: Any) -> Strengths:
    return {name: column[rows] for name, column in strengths.items()}


def _texts(run: Run, games: int) -> dict[str, Any]:
    """What is written of the games, and the texts themselves: the first is empty, and stands for nothing known."""
    if not run.has_texts:
        return {name: np.zeros(games, np.int32) for name in TEXT_COLUMNS} | {"texts": [""]}
    written = [text for (text,) in run.query(f"SELECT text FROM {DATABASE}.main.texts ORDER BY id")[1]]
    known = np.array([text.strip().casefold() not in _UNKNOWN for text in written])
    number = np.where(known, np.arange(1, len(written) + 1), 0)
    columns = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM {DATABASE}.main.game_texts")
    return {name: number[codes] for name, codes in columns.items()} | {"texts": ["", *written]}


@dataclass(frozen=True)
class Event:
    """One event; `page` is its address in the folder of events, `slug` its own part: both None without a page.

    `folded`: year and name.
    """

    name: str
    year: int
    folded: str
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
    called = [f"{year} {name}" for year, name in chosen]
    files = [
        slug if count > least else None for slug, count in zip(slugs(called), games.tolist(), strict=True)
    ]
    pages = addresses(files, games, 500 + 150 * games)
    return of_game, [
        Event(name, year, *further)
        for (year, name), *further in zip(chosen, fold_all(called), games.tolist(), files, pages, strict=True)
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
