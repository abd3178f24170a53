"""The tables of a run as arrays, with the ids and numbers that stand for names and labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.fitted import OPEN, Links, Spans, periods_of_histories
from ttt_cli.folding import fold_all, fold_surnames
from ttt_cli.games.table import Games
from ttt_cli.periods import period_of
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.column import Column
from ttt_cli.reading.growable import spread
from ttt_cli.timeline import Timeline

Columns = dict[str, NDArray[np.generic]]


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text as an array of objects, shape (n,)."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Labels:
    """How the periods of histories are written, each worked out once."""

    def __init__(self, timeline: Timeline) -> None:
        self.numbers = periods_of_histories(timeline).astype(np.int32)
        self.texts = texts([timeline.label(number) for number in self.numbers.tolist()])

    def of(self, numbers: Ids) -> NDArray[np.object_]:
        """The labels of periods, same shape."""
        return self.texts[np.searchsorted(self.numbers, numbers)]


def player_columns(games: Games, spans: Spans, labels: Labels) -> Columns:
    """One row per player, in order: names, spellings to look up, the record and the peak.

    `spans` are those of all nodes, by player. The peak is the highest mean among the periods with games, the first of
    equals. None and NaN are what players without games lack.
    """
    n = len(games.players)
    start = np.flatnonzero(np.diff(spans.player, prepend=-1))
    end = np.append(start[1:], len(spans.player))[: len(start)] - 1
    peak = _peaks(spans)

    def labelled(rows: Places) -> NDArray[np.object_]:
        found = np.full(n, None, dtype=object)
        found[spans.player[rows]] = labels.of(spans.period[rows])
        return found

    def numbers(column: str) -> Array:
        found = np.full(n, np.nan)
        found[spans.player[peak]] = spans.columns[column][peak]
        return found

    losses, draws, wins = _record(games)
    folded = fold_all(games.players)
    return {
        "player": texts(games.players),
        "folded": texts(folded),
        "surname": texts(fold_surnames(games.players, folded)),
        "first": labelled(start),
        "last": labelled(end),
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "peak_period": labelled(peak),
        "peak_mean": numbers("mean"),
        "peak_sd": numbers("sd"),
        "opponents": _opponents(games),
    }


def _peaks(spans: Spans) -> Places:
    """The row of each player's highest mean among the periods with games, the first of equals."""
    active = np.flatnonzero(spans.games > 0)
    player, mean = spans.player[active], spans.columns["mean"][active]
    start = np.flatnonzero(np.diff(player, prepend=-1))
    if not len(start):
        return active
    highest = np.repeat(np.fmax.reduceat(mean, start), np.diff(np.append(start, len(player))))
    found = np.flatnonzero(mean == highest)
    return active[found[np.flatnonzero(np.diff(player[found], prepend=-1))]]


def _record(games: Games) -> Array:
    """The weighted numbers of games that each player lost, drew and won, shape (3, players): by outcome."""
    n = len(games.players)
    alike = games.weight.strides == (0,) and len(games) > 0
    weight = None if alike else games.weight
    block = n * games.outcome.astype(np.int32)
    for_white, for_black = (
        np.bincount(ids + block, weight, 3 * n).reshape(3, n) for ids in (games.white, games.black)
    )
    return (for_white + for_black[::-1]) * (games.weight[0] if alike else 1.0)


def _opponents(games: Games) -> Places:
    """With how many different opponents each player has games, shape (players,)."""
    n = len(games.players)
    pairs = np.minimum(games.white, games.black).astype(np.int64) * n + np.maximum(games.white, games.black)
    pairs.sort()  # several times as fast as np.unique
    different = pairs[np.append(np.ones(len(pairs[:1]), np.bool_), pairs[1:] != pairs[:-1])]
    lower = different // max(n, 1)
    return np.bincount(lower, minlength=n) + np.bincount(different - lower * n, minlength=n)


def span_columns(names: NDArray[np.generic], spans: Spans) -> Columns:
    """One row per span; `names` (players,) of all players."""
    return {
        "player": names[spans.player],
        "period_number": spans.period,
        "until": np.where(spans.until == OPEN, np.nan, spans.until),
        "games": spans.games,
        **spans.columns,
    }


def game_columns(games: Games, timeline: Timeline) -> Columns:
    """The games, in order."""
    return {
        "period_number": period_of(games.date, timeline.period),
        "date_days": games.date,
        "date_precision": games.date_precision,
        "white_id": games.white,
        "black_id": games.black,
        "outcome": games.outcome,
        "weight": games.weight,
        "offset": games.offset,
        "line": games.source_line,
        "file_number": games.source_file,
    }


def text_columns(games: Games) -> dict[str, Columns]:
    """The tables `texts` and `game_texts`, both empty where nothing is written of the games."""
    written: list[str] = []
    columns: Columns = {}
    for name in TEXT_COLUMNS:
        column: Column[str] = getattr(games, name)
        present = np.zeros(len(column.values), np.bool_)
        present[column.codes] = True
        columns[name] = spread(len(written) - 1 + np.cumsum(present, dtype=np.int32), column.codes)
        written += [column.values[place] for place in np.flatnonzero(present).tolist()]
    if not any(written):
        return {}
    return {
        "texts": {"id": np.arange(len(written), dtype=np.int32), "text": texts(written)},
        "game_texts": columns,
    }


def link_columns(links: Links, nodes: Places) -> dict[str, Columns]:
    """The tables `links` and `steps`; `nodes` in the order of spans, by whose places they are called."""
    place = np.empty(len(nodes), np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    ends = {"first": place[links.first], "second": place[links.second]}
    order = np.lexsort((ends["second"], ends["first"]))
    games = ends | _named(("q11", "q12", "q22"), links.precision)
    steps = _named(("variance", "draw_margin_variance"), links.variance)
    steps["draw_margin_precision"] = links.positive
    return {
        "links": {name: column[order] for name, column in games.items()},
        "steps": {name: column[nodes] for name, column in steps.items()},
    }


def _named(names: tuple[str, ...], rows: Array) -> dict[str, Any]:
    """Rows by these names, NaN for those that lack."""
    return {
        name: rows[k] if k < len(rows) else np.full(rows.shape[1], np.nan) for k, name in enumerate(names)
    }
