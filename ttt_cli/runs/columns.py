"""Games and fits as the tables of a run, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import OPEN, Links, Spans, periods_of_histories
from ttt_cli.games.table import Games
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.columns import Codes, Column
from ttt_cli.reading.reports import FileReport, InputFile, Problem, ReadReport
from ttt_cli.runs.schema import ALIASES
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.support.folding import fold_all, fold_surnames
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Columns = dict[str, NDArray[np.generic]]
_SORTED: Final = 16  # times as many pairs are sorted at once as rows are read


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text as an array of objects, shape (n,)."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Labels:
    """The labels of the periods of histories, each computed once."""

    def __init__(self, timeline: Timeline) -> None:
        self.numbers = periods_of_histories(timeline).astype(np.int32)
        self.texts = texts([timeline.label(number) for number in self.numbers.tolist()])

    def of(self, numbers: Ids) -> NDArray[np.object_]:
        """The labels of periods, same shape."""
        return self.texts[np.searchsorted(self.numbers, numbers)]


class Marks(NamedTuple):
    """First and last period with games of players; for players with a known mean, the highest mean, its sd
    and period.
    """

    player: Ids
    first: Ids
    last: Ids
    best: Ids
    peak: Ids
    mean: Array
    sd: Array

    @classmethod
    def of(cls, spans: Spans) -> Marks:
        """Marks from spans, sorted by player, then period; of equal highest means the first."""
        player, period, columns = spans.player, spans.period, spans.columns
        start = _starts(player)
        end = np.append(start[1:], len(player))[: len(start)] - 1
        peak = np.flatnonzero(spans.games > 0)
        if len(peak):
            mean, begin = columns["mean"][peak], _starts(player[peak])
            highest = np.repeat(np.fmax.reduceat(mean, begin), np.diff(np.append(begin, len(peak))))
            peak = peak[mean == highest]
            peak = peak[_starts(player[peak])]
        best = player[peak], period[peak], columns["mean"][peak], columns["sd"][peak]
        return cls(player[start], period[start], period[end], *best)


def _starts(player: Ids) -> Places:
    """Index of the first of equal players."""
    return np.flatnonzero(np.diff(player, prepend=-1))


def player_columns(games: Games, marks: Iterable[Marks], labels: Labels) -> Columns:
    """The table `players`, from `marks` of disjoint sets of players."""
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


def _record(games: Games) -> Array:
    """Weighted losses, draws and wins of each player, (3, players)."""
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
    """Number of different opponents, (players,)."""
    n, found = len(games.players), np.zeros(len(games.players), np.int64)
    for pairs in _pairs(games):
        pairs.sort()  # several times as fast as np.unique
        different = pairs[np.append(np.ones(len(pairs[:1]), np.bool_), pairs[1:] != pairs[:-1])]
        lower = different // max(n, 1)
        found += np.bincount(lower, minlength=n) + np.bincount(different - lower * n, minlength=n)
    return found


def _pairs(games: Games) -> Iterator[Places]:
    """Keys of the pairs of players of games; equal pairs are in the same part."""
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
    """The table `spans`; `names` start with that of the first player."""
    return {
        "player": names[spans.player - spans.player[:1]],
        "period_number": spans.period,
        "until": np.where(spans.until == OPEN, np.nan, spans.until),
        "games": spans.games,
        **spans.columns,
    }


def game_columns(games: Games) -> Columns:
    """The table `game_rows` without periods."""
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
    """The table `texts`, and for each column of texts the ids by code, with the codes; empty without texts."""
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
    """The tables `links` and `steps`; `nodes` in the order of spans."""
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
    return {
        name: rows[k] if k < len(rows) else np.full(rows.shape[1], np.nan) for k, name in enumerate(names)
    }


_GAMES: Final = """
SELECT date_days AS date, date_precision, white_id AS white, black_id AS black, outcome, weight, "offset",
       file_number AS source_file, line AS source_line
FROM game_rows
"""


def rebuild_games(connection: DuckDBPyConnection) -> Games:
    """The Games of a run, equal in every column, with their report. Raises ValueError."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    found = connection.execute(_GAMES).fetchnumpy()
    columns: dict[str, Any] = {name: np.ma.getdata(column) for name, column in found.items()}
    if texts_of_games := [text for (text,) in rows("SELECT text FROM texts ORDER BY id")]:
        codes = connection.execute(f"SELECT {', '.join(TEXT_COLUMNS)} FROM game_texts").fetchnumpy()
        columns |= {name: Column(np.ma.getdata(codes[name]), texts_of_games) for name in TEXT_COLUMNS}
    neutral = np.zeros(len(columns["date"]), np.bool_)
    neutral[connection.execute('SELECT "row" FROM neutral_games').fetchnumpy()["row"]] = True
    counts: dict[str, dict[int, dict[str, int]]] = {"dropped": {}, "noticed": {}}
    for table, key in (("dropped", "reason"), ("noticed", "what")):
        for number, what, n in rows(f"SELECT file_number, {key}, rows FROM {table}"):
            counts[table].setdefault(number, {})[what] = n
    files = [
        FileReport(*facts, *(counts[table].get(number, {}) for table in counts))
        for number, facts in enumerate(rows("SELECT path, kind, digest, size, rows, used FROM inputs"))
        if facts[1] != ALIASES
    ]
    aliases = rows(f"SELECT path, digest, size FROM inputs WHERE kind = '{ALIASES}'")
    return Games(
        **columns,
        neutral=neutral,
        players=tuple(player for (player,) in rows("SELECT player FROM names ORDER BY id")),
        spellings=tuple(rows("SELECT player, spelling FROM spellings")),
        report=ReadReport(
            files=tuple(files),
            problems=tuple(Problem(*row) for row in rows("FROM problems")),
            aliases=InputFile(*aliases[0]) if aliases else None,
        ),
    )
