"""Games and fits as the tables of a run, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Links
from ttt_cli.games.table import Games
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.reading.columns import Codes, Column
from ttt_cli.reading.reports import FileReport, InputFile, Problem, ReadReport
from ttt_cli.runs.schema import ALIASES
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.support.folding import fold_all, fold_surnames

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Columns = dict[str, NDArray[np.generic]]
_SORTED: Final = 16  # times as many pairs are sorted at once as rows are read


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text as an array of objects, shape (n,)."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def player_columns(games: Games) -> Columns:
    """Names of the players, their records and numbers of opponents, by columns of the table `players`."""
    losses, draws, wins = _record(games)
    folded = fold_all(games.players)
    return {
        "id": np.arange(len(games.players), dtype=np.int32),
        "player": texts(games.players),
        "folded": texts(folded),
        "surname": texts(fold_surnames(games.players, folded)),
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "opponents": _opponents(games),
    }


def _record(games: Games) -> Array:
    """Weighted losses, draws and wins of each player, (3, players)."""
    n = len(games.players)
    found = np.zeros((3, n))
    for part in games.room.parts(len(games)):
        block = n * games.outcome[part].astype(np.int32)
        for_white, for_black = (
            np.bincount(ids[part] + block, games.weight[part], 3 * n).reshape(3, n)
            for ids in (games.white, games.black)
        )
        found += for_white + for_black[::-1]
    return found


def _opponents(games: Games) -> Places:
    """Number of different opponents, (players,); pairs of players are sorted in groups of lower players."""
    n, room = len(games.players), games.room
    most = _SORTED * room.rows if room.rows else max(len(games), 1)

    def lower(part: slice) -> Ids:
        return np.minimum(games.white[part], games.black[part])

    count, found = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for part in room.parts(len(games)):
        count += np.bincount(lower(part), minlength=n)
    begin = np.cumsum(count) - count
    for first, last in pairwise([*np.flatnonzero(np.diff(begin // most, prepend=-1)).tolist(), n]):
        pairs: list[Places] = []
        for part in room.parts(len(games)):
            low = lower(part)
            chosen = (low >= first) & (low < last)
            high = np.maximum(games.white[part], games.black[part])[chosen]
            pairs.append(low[chosen].astype(np.int64) * n + high)
        keys = np.concatenate(pairs) if pairs else np.empty(0, np.int64)
        keys.sort()  # several times as fast as np.unique
        different = keys[np.append(np.ones(len(keys[:1]), np.bool_), keys[1:] != keys[:-1])]
        found += np.bincount(different // n, minlength=n) + np.bincount(different % n, minlength=n)
    return found


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
    first, second = place[links.first], place[links.second]
    order = np.lexsort((second, first))
    unknown = np.full(len(links.first), np.nan), np.full(len(nodes), np.nan)
    q11, q12, q22 = (*links.precision, *unknown[:1], *unknown[:1])[:3]
    skill, margin = (*links.variance, unknown[1])[:2]
    games = {"first": first, "second": second, "q11": q11, "q12": q12, "q22": q22}
    steps = {"variance": skill, "draw_margin_variance": margin, "draw_margin_precision": links.positive}
    return {
        "links": {name: column[order] for name, column in games.items()},
        "steps": {name: column[nodes] for name, column in steps.items()},
    }


def rebuild_games(connection: DuckDBPyConnection) -> Games:
    """The Games of a run, equal in every column, with their report. Raises ValueError."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    found = connection.execute(
        'SELECT date_days AS date, date_precision, white_id AS white, black_id AS black, outcome, weight, "offset",'
        " file_number AS source_file, line AS source_line FROM game_rows"
    ).fetchnumpy()
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
