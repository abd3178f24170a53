"""Games and fits as the tables of a run, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit, Links, by_player, parts_by_player, periods_of_histories, spans
from ttt_cli.games.table import Games
from ttt_cli.periods import period_of
from ttt_cli.reading.columns import Column, alike, spread
from ttt_cli.reading.reports import TEXT_COLUMNS, FileReport, InputFile, Problem, ReadReport
from ttt_cli.runs.database import ALIASES, FORMAT, definitions, insert_rows
from ttt_cli.runs.meta import WHERE, RunMeta
from ttt_cli.runs.points import INSERT, EvidencePoint
from ttt_cli.support import VERSION
from ttt_cli.support.arrays import Ids, Places
from ttt_cli.support.folding import fold_all, fold_surnames
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Columns = dict[str, NDArray[np.generic]]

# Columns of Games as they are in the table game_rows, after the period
_GAMES: Final = (
    "date", "date_precision", "white", "black", "outcome", "weight", "offset", "source_line", "source_file",
)  # fmt: skip


def fill(
    connection: DuckDBPyConnection, games: Games, timeline: Timeline, fit: Fit, config: Config
) -> RunMeta:
    """Create and fill all tables in an empty database, in a transaction; large ones first to hold less meanwhile."""
    weight = games.weight[:1] if alike(games.weight) else games.weight
    connection.execute(definitions(list(fit.chains), timeline.period, whole=bool((weight % 1 == 0).all())))
    written = _insert_games(connection, games, timeline)
    nodes = timeline.room.empty("by player", (timeline.n_nodes,), np.int64)
    nodes[:] = by_player(timeline)
    names = np.array(games.players, object)
    for part in parts_by_player(timeline):
        found = spans(timeline, fit, nodes[part])
        _insert(connection, "spans", {**found, "player": names[found["player"]]})
        timeline.room.let_go()
    players = player_columns(games)
    periods = periods_of_histories(timeline)
    tables: dict[str, Columns] = {
        "names": {"id": players["id"], "player": players["player"]},
        "periods": {
            "number": periods,
            "label": np.array([*map(timeline.label, periods.tolist())], object),
        },
        "neutral_games": {"row": np.flatnonzero(games.neutral)},
        "texts": {"id": np.arange(len(written), dtype=np.int32), "text": np.array(written, object)},
    }
    if fit.links is not None:
        tables |= link_columns(fit.links, nodes)
    for table, curve in (("draws", fit.draws), ("newcomers", fit.newcomers)):
        if curve is not None:
            tables[table] = vars(curve)
    for table, rows in {**report_rows(games.report), "spellings": games.spellings}.items():
        if rows:
            named = enumerate(zip(*rows, strict=True))
            tables[table] = {f"c{i}": np.array(column, object) for i, column in named}
    for table, columns in tables.items():
        _insert(connection, table, columns)
    connection.execute("COMMIT; BEGIN")  # queries of committed rows take less memory
    _insert(connection, "players", players, _PLAYERS)
    meta = describe(games, timeline, fit, config)
    insert_rows(connection, "meta", meta.to_rows())
    connection.execute(INSERT.format(table="evidence"), EvidencePoint.of(fit, config.model.params).to_row())
    return meta


def _insert_games(connection: DuckDBPyConnection, games: Games, timeline: Timeline) -> list[str]:
    """Insert the games, and the numbers of their texts; return the texts, none if all are empty."""
    numbers: dict[str, Ids] = {}
    written: list[str] = []
    for name in TEXT_COLUMNS:
        column: Column[str] = getattr(games, name)
        present = np.zeros(len(column.values), np.bool_)
        for part in games.room.parts(1 if alike(column.codes) else len(games)):
            present[column.codes[part]] = True
        numbers[name] = len(written) - 1 + np.cumsum(present, dtype=np.int32)
        written += map(column.values.__getitem__, np.flatnonzero(present).tolist())
    if not any(written):
        written = []
    for part in games.room.parts(len(games)):
        columns = {name: getattr(games, name)[part] for name in _GAMES}
        number = period_of(columns["date"], timeline.period)
        _insert(connection, "game_rows", {"period_number": number, **columns})
        if written:
            texts: Columns = {
                name: spread(of, getattr(games, name).codes[part]) for name, of in numbers.items()
            }
            _insert(connection, "game_texts", texts)
    return written


# Of equal highest means the first
_PLAYERS: Final = """
SELECT named.player, folded, surname, begun.period, ended.period, games, wins, draws, losses,
       best.period, peak.mean, peak.sd, coalesce(opponents, 0)
FROM incoming AS named LEFT JOIN (
    SELECT player, min(period_number) AS first, max(period_number) AS last,
           max({'mean': mean, 'period': -period_number, 'sd': sd}) FILTER (games > 0 AND mean IS NOT NULL) AS peak
    FROM spans GROUP BY player) AS marks USING (player)
LEFT JOIN (
    SELECT id, count(*) AS opponents FROM (SELECT unnest([low, high]) AS id FROM (
        SELECT DISTINCT least(white_id, black_id) AS low, greatest(white_id, black_id) AS high FROM game_rows))
    GROUP BY id) AS met USING (id)
LEFT JOIN periods AS begun ON begun.period_number = marks.first
LEFT JOIN periods AS ended ON ended.period_number = marks.last
LEFT JOIN periods AS best ON best.period_number = -peak.period
ORDER BY named.id"""


def _insert(connection: DuckDBPyConnection, table: str, incoming: Columns, sql: str = "") -> None:
    """Insert columns in the order of the table, or rows that SQL makes of `incoming`; NaN becomes NULL."""
    values = [
        f"nullif(\"{name}\", 'nan')" if column.dtype == np.float64 else f'"{name}"'
        for name, column in incoming.items()
    ]
    rows = sql or f"SELECT {', '.join(values)} FROM incoming"
    connection.execute(f"INSERT INTO {table} {rows}")


def describe(games: Games, timeline: Timeline, fit: Fit, config: Config) -> RunMeta:
    """The facts that the run stores about itself."""
    of_fit = {f.name: getattr(fit, f.name) for f in fields(RunMeta) if hasattr(fit, f.name)}
    return RunMeta(
        format=FORMAT,
        version=VERSION,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        period=timeline.period,
        config=config.model_dump(mode="json", exclude={"solver": set(WHERE)}),
        games=len(games),
        weight=float(games.weight.sum()),
        draw_share=games.draw_share,
        nodes=timeline.n_nodes,
        players=len(games.players),
        first=timeline.label(int(timeline.periods[0])) if len(games) else "",
        last=timeline.label(int(timeline.periods[-1])) if len(games) else "",
        **of_fit,
        **vars(fit.status),
    )


def report_rows(report: ReadReport) -> dict[str, Sequence[tuple[Any, ...]]]:
    """Rows of the tables of the ingest report."""
    inputs: list[tuple[Any, ...]] = []
    dropped: list[tuple[Any, ...]] = []
    noticed: list[tuple[Any, ...]] = []
    for number, file in enumerate(report.files):
        inputs.append((file.path, file.kind, file.digest, file.size, file.rows, file.used))
        for counts, found in ((file.dropped, dropped), (file.noticed, noticed)):
            for what, count in counts.items():
                found.append((file.path, what, count, number))
    if alias := report.aliases:
        inputs.append((alias.path, ALIASES, alias.digest, alias.size, 0, 0))
    problems = [*map(attrgetter("file", "line", "reason", "detail", "action"), report.problems)]
    return {"inputs": inputs, "dropped": dropped, "noticed": noticed, "problems": problems}


def player_columns(games: Games) -> Columns:
    """Names of the players and their weighted records, by columns of the table `players`."""
    n = len(games.players)
    results = np.zeros((3, n))  # losses, draws, wins
    for part in games.room.parts(len(games)):
        block = n * games.outcome[part].astype(np.int32)
        for_white, for_black = (
            np.bincount(ids[part] + block, games.weight[part], 3 * n).reshape(3, n)
            for ids in (games.white, games.black)
        )
        results += for_white + for_black[::-1]
    folded = fold_all(games.players)
    return {
        "id": np.arange(n, dtype=np.int32),
        "player": np.array(games.players, object),
        "folded": np.array(folded, object),
        "surname": np.array(fold_surnames(games.players, folded), object),
        "games": results.sum(axis=0),
        **dict(zip(("losses", "draws", "wins"), results, strict=True)),
    }


def link_columns(links: Links, nodes: Places) -> dict[str, Columns]:
    """The tables `links` and `steps`; `nodes` in the order of spans."""
    place = np.empty(len(nodes), np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    first = place[links.first]
    second = place[links.second]
    order = np.lexsort((second, first))
    unknown = np.full(len(links.first), np.nan), np.full(len(nodes), np.nan)
    q11, q12, q22 = (*links.precision, *unknown[:1], *unknown[:1])[:3]
    skill, margin = (*links.variance, unknown[1])[:2]
    precision = {"q11": q11[order], "q12": q12[order], "q22": q22[order]}
    margins = {"draw_margin_variance": margin[nodes], "draw_margin_precision": links.positive[nodes]}
    return {
        "links": {"first": first[order], "second": second[order], **precision},
        "steps": {"variance": skill[nodes], **margins},
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
