"""The tables of a run as arrays, with the ids and numbers that stand for names and labels."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Places
from ttt_cli.fitted import OPEN, Links, Spans, periods_of_histories
from ttt_cli.folding import fold_all, fold_surnames
from ttt_cli.games.table import Games
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.column import Codes, Column
from ttt_cli.timeline import Timeline

Columns = dict[str, NDArray[np.generic]]
_SORTED: Final = 16  # times as many pairs are sorted at once as rows are looked at


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


class Marks(NamedTuple):
    """Of players: the first and the last period with games; and of those who have a `best` among these, the period
    with the highest mean, the first of equals, with mean and sd there.
    """

    player: Ids
    first: Ids
    last: Ids
    best: Ids
    peak: Ids
    mean: Array
    sd: Array

    @classmethod
    def of(cls, spans: Spans) -> "Marks":
        """Of the players of spans, which are theirs by player, then period."""
        start = np.flatnonzero(np.diff(spans.player, prepend=-1))
        end, peak = np.append(start[1:], len(spans.player))[: len(start)] - 1, _peaks(spans)
        player, period, columns = spans.player, spans.period, spans.columns
        best = player[peak], period[peak], columns["mean"][peak], columns["sd"][peak]
        return cls(player[start], period[start], period[end], *best)


def player_columns(games: Games, marks: Iterable[Marks], labels: Labels) -> Columns:
    """One row per player, in order: names, spellings to look up, the record and the peak.

    `marks` are those of some players each. None and NaN are what players without games lack.
    """
    n = len(games.players)
    period = {name: np.full(n, None, dtype=object) for name in ("first", "last", "peak_period")}
    number = {name: np.full(n, np.nan) for name in ("mean", "sd")}
    for player, first, last, best, peak, mean, sd in marks:
        period["first"][player], period["last"][player] = labels.of(first), labels.of(last)
        period["peak_period"][best] = labels.of(peak)
        number["mean"][best], number["sd"][best] = mean, sd
    losses, draws, wins = _record(games)
    folded = fold_all(games.players)
    return {
        "player": texts(games.players),
        "folded": texts(folded),
        "surname": texts(fold_surnames(games.players, folded)),
        "first": period["first"],
        "last": period["last"],
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "peak_period": period["peak_period"],
        "peak_mean": number["mean"],
        "peak_sd": number["sd"],
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
    found = np.zeros((3, n))
    for part in games.room.parts(len(games)):
        weight = None if alike else games.weight[part]
        block = n * games.outcome[part].astype(np.int32)
        for_white, for_black = (
            np.bincount(ids[part] + block, weight, 3 * n).reshape(3, n) for ids in (games.white, games.black)
        )
        found += for_white + for_black[::-1]
    return found * (games.weight[0] if alike else 1.0)


def _opponents(games: Games) -> Places:
    """With how many different opponents each player has games, shape (players,)."""
    n, found = len(games.players), np.zeros(len(games.players), np.int64)
    for pairs in _pairs(games):
        pairs.sort()  # several times as fast as np.unique
        different = pairs[np.append(np.ones(len(pairs[:1]), np.bool_), pairs[1:] != pairs[:-1])]
        lower = different // max(n, 1)
        found += np.bincount(lower, minlength=n) + np.bincount(different - lower * n, minlength=n)
    return found


def _pairs(games: Games) -> Iterator[Places]:
    """A number for the players of each game, all games of the same players in one part."""
    n, room = len(games.players), games.room

    def pairs(part: slice) -> Places:
        white, black = games.white[part], games.black[part]
        return np.minimum(white, black).astype(np.int64) * n + np.maximum(white, black)

    if room.rows is None or len(games) <= room.rows:
        yield pairs(slice(None))
        return
    count = np.zeros(n, np.int64)
    for part in room.parts(len(games)):
        count += np.bincount(np.minimum(games.white[part], games.black[part]), minlength=n)
    group = (np.cumsum(count) - count) // (_SORTED * room.rows)
    for number in range(int(group[-1]) + 1):
        low, high = np.searchsorted(group, [number, number + 1])
        found = (pairs(part) for part in room.parts(len(games)))
        yield np.concatenate([some[(some >= low * n) & (some < high * n)] for some in found])


def span_columns(names: NDArray[np.generic], spans: Spans) -> Columns:
    """One row per span, by player; `names` begin with that of the first."""
    return {
        "player": names[spans.player - spans.player[:1]],
        "period_number": spans.period,
        "until": np.where(spans.until == OPEN, np.nan, spans.until),
        "games": spans.games,
        **spans.columns,
    }


def game_columns(games: Games) -> Columns:
    """All games in order, without their periods."""
    return {
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


def written_texts(games: Games) -> tuple[Columns, dict[str, tuple[Ids, Codes]]]:
    """What is written of games: the table `texts`, and of each column the numbers of texts there by the codes of games.

    Nothing of both where nothing is written.
    """
    numbers: dict[str, tuple[Ids, Codes]] = {}
    written: list[str] = []
    for name in TEXT_COLUMNS:
        column: Column[str] = getattr(games, name)
        present = np.zeros(len(column.values), np.bool_)
        for part in games.room.parts(len(column.codes) if column.codes.strides[0] else 1):
            present[column.codes[part]] = True
        numbers[name] = len(written) - 1 + np.cumsum(present, dtype=np.int32), column.codes
        written += [column.values[place] for place in np.flatnonzero(present).tolist()]
    if not any(written):
        return {}, {}
    return {"id": np.arange(len(written), dtype=np.int32), "text": texts(written)}, numbers


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
