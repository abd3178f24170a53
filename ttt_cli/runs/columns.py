"""Games and fits as the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.covariates import points_by_term
from ttt_cli.fitted import (
    Fit,
    GroupsOfField,
    Links,
    OffsetLinks,
    SumLinks,
    by_player,
    parts_by_player,
    periods_of_histories,
    points_added,
    spans,
)
from ttt_cli.games.lineup import further_members
from ttt_cli.games.people import PeopleTable
from ttt_cli.games.table import Games, without_unused_texts
from ttt_cli.periods import period_of
from ttt_cli.reading.columns import CodedColumn, Codes, Dictionary, has_stride_0, spread
from ttt_cli.reading.reports import (
    ReadReport,
)
from ttt_cli.runs.database import insert_rows
from ttt_cli.runs.evidence_points import INSERT, EvidencePoint
from ttt_cli.runs.meta import WHERE, RunMeta
from ttt_cli.runs.schema import (
    ALIASES,
    CORRECTIONS,
    FORMAT,
    PEOPLE,
    client_views,
    table_definitions,
)
from ttt_cli.support import VERSION
from ttt_cli.support.arrays import Ids, Places
from ttt_cli.support.folding import fold_all, fold_surnames
from ttt_cli.timeline import Timeline

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Config

Columns = dict[str, NDArray[np.generic]]


class _OffsetRows(NamedTuple):
    """Offsets in the order of the rows of category_spans, and their shared parts, one a player, in the order of these.

    Both are numbers as in `CategorySkill`; of a shared part there are several, one a node, all of the same value.

    | name | shape | |
    |---|---|---|
    | offset | (rows,) | |
    | shared | (rows,) | the shared part beside each, none where offsets are independent |
    | player | (rows,) | of each offset, counted among players with offsets |
    """

    offset: Places
    shared: Places
    player: Places


NO_OFFSET_ROWS: Final = _OffsetRows(*np.empty((3, 0), np.int64))


def fill(
    connection: DuckDBPyConnection,
    games: Games,
    timeline: Timeline,
    fit: Fit,
    config: Config,
    *,
    for_clients: bool,
) -> RunMeta:
    """Create and fill all tables in an empty database, in a transaction; large ones first to need less memory.

    `for_clients`: with the views for other clients; those of teams are read here, too.
    """
    weight = games.weight[:1] if has_stride_0(games.weight) else games.weight
    whole_weights = bool((weight % 1 == 0).all())
    connection.execute(table_definitions(list(fit.chains), whole_weights=whole_weights))
    if for_clients or len(games.teams) > 1:
        connection.execute(client_views(list(fit.chains), timeline.period))
    texts = _insert_games(connection, games, timeline)
    nodes = _insert_spans(connection, games, timeline, fit)
    offsets = NO_OFFSET_ROWS
    if games.category.codes.any():
        offsets = _insert_categories(connection, games, timeline, fit)
    if games.has_sums:
        _insert_sides(connection, games)
    players = player_columns(games)
    tables: dict[str, Columns] = {
        "names": {"id": players["id"], "player": players["player"]},
        "periods": _period_columns(timeline),
        "neutral_games": {"row": np.flatnonzero(games.neutral)},
        "texts": {"id": np.arange(len(texts), dtype=np.int32), "text": np.array(texts, object)},
    }
    tables |= _columns_of_some_games(games)
    tables |= _columns_of_some_fits(timeline, fit, nodes, offsets)
    tables |= report_columns(games.report)
    if games.spellings:
        tables["spellings"] = _columns_of_rows(("player", "spelling"), games.spellings)
    for table, incoming in tables.items():
        _insert(connection, table, incoming)
    connection.execute("COMMIT; BEGIN")  # queries of committed rows take less memory
    pairs = _PAIRS_OF_SIDES if len(games.teams) > 1 else _PAIRS
    _insert(connection, "players", players, _PLAYERS.format(pairs=pairs))
    meta = describe(games, timeline, fit, config)
    insert_rows(connection, "meta", meta.to_rows())
    connection.execute(
        INSERT.format(table="evidence"), EvidencePoint.of(fit, config.model.params).to_row()
    )
    return meta


def _columns_of_some_games(games: Games) -> dict[str, Columns]:
    """The tables that few files of games fill."""
    tables: dict[str, Columns] = {}
    if games.covariates:
        tables |= covariate_columns(games)
    if games.people.fields:
        tables |= people_columns(games.people)
    if games.source.codes.any():
        tables |= source_columns(games.source)
    doubtful = np.flatnonzero(games.p_true < 1.0)
    tables["doubtful_games"] = {"row": doubtful, "p_true": games.p_true[doubtful]}
    if games.victory_margin.any():
        rows = np.flatnonzero(games.victory_margin)
        tables["victory_margins"] = {"row": rows, "margin": games.victory_margin[rows]}
    return tables


def _columns_of_some_fits(
    timeline: Timeline, fit: Fit, nodes: Places, offsets: _OffsetRows
) -> dict[str, Columns]:
    """The tables that some fits fill; `nodes` in the order of their rows."""
    tables: dict[str, Columns] = {}
    if points_by_term(fit.params):
        points = points_added(fit.params, timeline)
        rows = np.flatnonzero(points)
        tables["covariate_points"] = {"row": rows, "points": points[rows]}
    if fit.links is not None:
        tables |= _link_columns(fit.links, nodes, offsets)
    if fit.draws is not None:
        tables["draws"] = vars(fit.draws)
    if fit.newcomers is not None:
        tables["newcomers"] = vars(fit.newcomers)
    return tables


def _insert_games(connection: DuckDBPyConnection, games: Games, timeline: Timeline) -> list[str]:
    """Insert the games, and the numbers of their texts; return the texts, none if all are empty."""
    text_columns: dict[str, CodedColumn[str]] = {
        "event": games.event,
        "site": games.site,
        "round": games.round,
    }
    numbers: dict[str, Ids] = {}  # of each value of a column, its number among all texts
    texts: list[str] = []
    for name, column in text_columns.items():
        occurs = np.zeros(len(column.values), np.bool_)
        for part in games.storage.parts(1 if has_stride_0(column.codes) else len(games)):
            occurs[column.codes[part]] = True
        numbers[name] = len(texts) - 1 + np.cumsum(occurs, dtype=np.int32)
        texts += [column.values[code] for code in np.flatnonzero(occurs).tolist()]
    if not any(texts):
        texts = []
    for part in games.storage.parts(len(games)):
        days = games.date[part]
        game_rows: Columns = {
            "period_number": period_of(days, timeline.period),
            "date_days": days,
            "date_precision": games.date_precision[part],
            "white_id": games.white[part],
            "black_id": games.black[part],
            "outcome": games.outcome[part],
            "weight": games.weight[part],
            "offset": games.offset[part],
            "line": games.source_line[part],
            "file_number": games.source_file[part],
        }
        _insert(connection, "game_rows", game_rows)
        if texts:
            game_texts: Columns = {
                name: spread(numbers[name], column.codes[part])
                for name, column in text_columns.items()
            }
            _insert(connection, "game_texts", game_texts)
    return texts


def _insert_spans(
    connection: DuckDBPyConnection, games: Games, timeline: Timeline, fit: Fit
) -> Places:
    """Insert the spans of all players; return their nodes, in the order of the rows."""
    nodes = timeline.storage.zeros("by player", (timeline.n_nodes,), np.int64)
    nodes[:] = by_player(timeline)
    names = np.array(games.players, object)
    for part in parts_by_player(timeline):
        columns = spans(timeline, fit, nodes[part])
        _insert(connection, "spans", {**columns, "player": names[columns["player"]]})
        timeline.storage.release()
    return nodes


def _insert_categories(
    connection: DuckDBPyConnection, games: Games, timeline: Timeline, fit: Fit
) -> _OffsetRows:
    """Insert the categories of games, and the skills in those with offsets; return the rows of these."""
    # the category that is empty is always there
    category = without_unused_texts(
        CodedColumn(np.append(games.category.codes, 0), games.category.values)
    )
    names = np.array(category.values, object)
    _insert(connection, "categories", {"id": np.arange(len(names), dtype=np.int32), "name": names})
    _insert(connection, "game_categories", {"category": category.codes[:-1]})
    players = np.array(games.players, object)
    offsets: list[Places] = []  # in the order of the rows, as all of these
    shared: list[Places] = []
    player: list[Places] = []
    for number, name in enumerate(category.values):
        if name not in fit.categories:
            continue
        skill = fit.categories[name]
        in_category = replace(timeline.unplayed(skill.nodes), node_games=skill.games)
        nodes = by_player(in_category)
        offsets.append(skill.offset[nodes])
        player.append(timeline.node_player[skill.nodes[nodes]].astype(np.int64))
        if skill.shared is not None:
            shared.append(skill.shared[nodes])
        columns = spans(in_category, replace(fit, chains={"skill": skill.walk}), nodes)
        of_category = np.full(len(skill.nodes), number, np.int32)
        named = {**columns, "category": of_category, "player": players[columns["player"]]}
        _insert(connection, "category_spans", named)
    nothing = np.empty(0, np.int64)
    _, player_number = np.unique(np.concatenate([*player, nothing]), return_inverse=True)
    rows = _OffsetRows(
        offset=np.concatenate([*offsets, nothing]),
        shared=np.concatenate([*shared, nothing]),
        player=player_number,
    )
    if fit.links is not None and fit.links.offsets is not None:
        for table, incoming in _offset_columns(fit.links.offsets, rows.offset).items():
            _insert(connection, table, incoming)
    return rows


def _insert_sides(connection: DuckDBPyConnection, games: Games) -> None:
    """Insert teams, and the teams and orders of finish of games."""
    teams = games.teams
    members: Columns = {
        "team": teams.team_of_member.astype(np.int32),
        "player_id": teams.player,
        "share": teams.share,
    }
    _insert(connection, "team_members", members)
    sides: Columns = {
        "white_team": games.white_team,
        "black_team": games.black_team,
        "race": games.race,
    }
    _insert(connection, "game_sides", sides)


def _offset_columns(links: OffsetLinks, offsets: Places) -> dict[str, Columns]:
    """The tables of offsets in the joint posterior; `offsets` in the order of category_spans."""
    row_of_offset = np.empty(len(links.variance), np.int32)
    row_of_offset[offsets] = np.arange(len(offsets), dtype=np.int32)
    return {
        "category_links": {
            "first": row_of_offset[links.first],
            "second": row_of_offset[links.second],
            "q11": links.precision,
        },
        "category_steps": {"variance": links.variance[offsets]},
    }


def _sum_columns(links: SumLinks, nodes: Places, offsets: _OffsetRows) -> dict[str, Columns]:
    """The tables of sums; `nodes` in the order of spans."""
    sums = links.sums
    n_nodes = len(nodes)
    n_offsets = len(offsets.offset)
    n_shared = int(offsets.player.max(initial=-1)) + 1 if len(offsets.shared) else 0
    chained = np.unique(np.concatenate([offsets.offset, offsets.shared]))
    first_performance = n_nodes + len(chained)
    row = np.arange(max(first_performance, sums.variable.max(initial=-1) + 1), dtype=np.int32)
    row[first_performance:] += n_offsets + n_shared - len(chained)
    row[nodes] = np.arange(n_nodes)
    row[n_nodes + offsets.offset] = n_nodes + np.arange(n_offsets)
    if n_shared:
        row[n_nodes + offsets.shared] = n_nodes + n_offsets + offsets.player
    return {
        "sum_links": {"q11": links.precision},
        "sum_terms": {
            "link": np.repeat(np.arange(len(links.precision), dtype=np.int32), sums.length),
            "variable": row[sums.variable],
            "coefficient": sums.coefficient,
        },
    }


def _period_columns(timeline: Timeline) -> Columns:
    numbers = periods_of_histories(timeline)
    labels = [timeline.label(number) for number in numbers.tolist()]
    return {"period_number": numbers, "period": np.array(labels, object)}


# Distinct pairs of opponents
_PAIRS: Final = "SELECT DISTINCT least(white_id, black_id) AS low, greatest(white_id, black_id) AS high FROM game_rows"
_PAIRS_OF_SIDES: Final = """
SELECT DISTINCT least(white.player_id, black.player_id) AS low, greatest(white.player_id, black.player_id) AS high
FROM game_players AS white JOIN game_players AS black USING (game) WHERE black.is_black AND NOT white.is_black
"""
# Of equal highest means the first
_PLAYERS: Final = """
SELECT named.player, folded, surname, begun.period AS "first", ended.period AS "last", games, wins, draws, losses,
       best.period AS peak_period, peak.mean AS peak_mean, peak.sd AS peak_sd, coalesce(opponents, 0) AS opponents
FROM incoming AS named LEFT JOIN (
    SELECT player, min(period_number) AS first, max(period_number) AS last,
           max({{'mean': mean, 'period': -period_number, 'sd': sd}}) FILTER (games > 0 AND mean IS NOT NULL) AS peak
    FROM spans GROUP BY player) AS marks USING (player)
LEFT JOIN (
    SELECT id, count(*) AS opponents FROM (SELECT unnest([low, high]) AS id FROM ({pairs}))
    GROUP BY id) AS met USING (id)
LEFT JOIN periods AS begun ON begun.period_number = marks.first
LEFT JOIN periods AS ended ON ended.period_number = marks.last
LEFT JOIN periods AS best ON best.period_number = -peak.period
ORDER BY named.id"""


def _insert(connection: DuckDBPyConnection, table: str, incoming: Columns, sql: str = "") -> None:
    """Insert columns by their names, or rows that SQL makes of a table `incoming`; NaN becomes NULL."""
    if not len(next(iter(incoming.values()))):
        return
    values = [
        f'nullif("{name}", \'nan\') AS "{name}"' if column.dtype == np.float64 else f'"{name}"'
        for name, column in incoming.items()
    ]
    # SQL reads the variable `incoming`
    rows = sql or f"SELECT {', '.join(values)} FROM incoming"
    connection.execute(f"INSERT INTO {table} BY NAME {rows}")


def describe(games: Games, timeline: Timeline, fit: Fit, config: Config) -> RunMeta:
    """The facts that the run stores about itself."""
    return RunMeta(
        format=FORMAT,
        version=VERSION,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        model=fit.model,
        kind=fit.kind,
        period=timeline.period,
        config=config.model_dump(mode="json", exclude={"solver": set(WHERE)}),
        params=fit.params,
        log_evidence=fit.log_evidence,
        leave_one_out=fit.leave_one_out,
        elo_unit=fit.elo_unit,
        converged=fit.status.converged,
        sweeps=fit.status.sweeps,
        remaining_error=fit.status.remaining_error,
        skipped_sites=fit.status.skipped_sites,
        trace=fit.trace,
        games=len(games),
        weight=float(games.weight.sum()),
        draw_share=games.draw_share,
        nodes=timeline.n_nodes,
        players=len(games.players),
        first=timeline.label(int(timeline.periods[0])) if len(games) else "",
        last=timeline.label(int(timeline.periods[-1])) if len(games) else "",
        posterior=fit.posterior,
        notes=fit.notes,
        standard_errors=fit.standard_errors,
        explained=fit.explained,
        groups={of_field.field: _as_json(of_field) for of_field in fit.groups},
        races=len(np.unique(games.race[games.race > 0])),
    )


def _as_json(of_field: GroupsOfField) -> dict[str, Any]:
    """Newcomers' means by a field."""
    means = {
        of_group.value: [of_group.newcomers, of_group.mean, of_group.sd]
        for of_group in of_field.groups
    }
    return {"mean": of_field.mean, "sd": of_field.sd, "groups": means}


def report_columns(report: ReadReport) -> dict[str, Columns]:
    """The tables of the ingest report that have rows."""
    inputs: list[tuple[Any, ...]] = []
    traits: list[tuple[Any, ...]] = []
    dropped: list[tuple[Any, ...]] = []
    noticed: list[tuple[Any, ...]] = []
    for number, file in enumerate(report.files):
        inputs.append((file.path, file.kind, file.digest, file.size, file.rows, file.used))
        traits.append((file.chess, file.home, file.winner_first, number))
        dropped += [(file.path, reason, count, number) for reason, count in file.dropped.items()]
        noticed += [(file.path, remark, count, number) for remark, count in file.noticed.items()]
    if alias := report.aliases:
        inputs.append((alias.path, ALIASES, alias.digest, alias.size, 0, 0))
    if people := report.people:
        inputs.append((people.path, PEOPLE, people.digest, people.size, people.rows, people.used))
    if corrections := report.corrections:
        inputs.append((corrections.path, CORRECTIONS, corrections.digest, corrections.size, 0, 0))
    problems = [
        (problem.file, problem.line, problem.reason, problem.detail, problem.action)
        for problem in report.problems
    ]
    tables = {
        "inputs": _columns_of_rows(("path", "kind", "digest", "size", "rows", "used"), inputs),
        "file_traits": _columns_of_rows(("chess", "home", "winner_first", "file_number"), traits),
        "dropped": _columns_of_rows(("file", "reason", "rows", "file_number"), dropped),
        "noticed": _columns_of_rows(("file", "what", "rows", "file_number"), noticed),
        "problems": _columns_of_rows(("file", "line", "reason", "detail", "action"), problems),
    }
    return {table: columns for table, columns in tables.items() if columns}


def _columns_of_rows(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Rows as columns with these names, none without rows."""
    if not rows:
        return {}
    columns = zip(*rows, strict=True)
    return {name: np.array(column, object) for name, column in zip(names, columns, strict=True)}


def player_columns(games: Games) -> Columns:
    """Names of the players and their weighted records, by columns of the table `players`."""
    n = len(games.players)
    results = np.zeros((3, n))  # losses, draws, wins
    for part in games.storage.parts(len(games)):
        by_outcome = n * games.outcome[part].astype(np.int32)
        weight = games.weight[part]
        results += np.bincount(games.white[part] + by_outcome, weight, 3 * n).reshape(3, n)
        results += np.bincount(games.black[part] + by_outcome, weight, 3 * n).reshape(3, n)[::-1]
    if len(games.teams) > 1:
        game, is_black, player = further_members(games)
        outcome = games.outcome[game].astype(np.int32)
        by_outcome = n * np.where(is_black, 2 - outcome, outcome)
        results += np.bincount(player + by_outcome, games.weight[game], 3 * n).reshape(3, n)
    losses, draws, wins = results
    folded = fold_all(games.players)
    return {
        "id": np.arange(n, dtype=np.int32),
        "player": np.array(games.players, object),
        "folded": np.array(folded, object),
        "surname": np.array(fold_surnames(games.players, folded), object),
        "games": results.sum(axis=0),
        "losses": losses,
        "draws": draws,
        "wins": wins,
    }


def _link_columns(links: Links, nodes: Places, offsets: _OffsetRows) -> dict[str, Columns]:
    """The tables of the joint posterior but for offsets; `nodes` in the order of spans."""
    span_of_node = np.empty(len(nodes), np.int32)
    span_of_node[nodes] = np.arange(len(nodes), dtype=np.int32)
    first = span_of_node[links.first]
    second = span_of_node[links.second]
    order = np.lexsort((second, first))
    if len(links.precision) == 1:  # without draw margins
        (q11,) = links.precision
        (skill_variance,) = links.variance
        q12 = q22 = np.full(len(first), np.nan)
        margin_variance = np.full(len(nodes), np.nan)
    else:
        q11, q12, q22 = links.precision
        skill_variance, margin_variance = links.variance
    return {
        "links": {
            "first": first[order],
            "second": second[order],
            "q11": q11[order],
            "q12": q12[order],
            "q22": q22[order],
        },
        "steps": {
            "variance": skill_variance[nodes],
            "draw_margin_variance": margin_variance[nodes],
            "draw_margin_precision": links.positive[nodes],
        },
        **(_sum_columns(links.sums, nodes, offsets) if links.sums else {}),
    }


def covariate_columns(games: Games) -> dict[str, Columns]:
    """The tables of covariates that were read."""
    dictionary = Dictionary("")
    values: list[Codes] = []
    with_sides: dict[str, list[Codes]] = {"single": [], "white": [], "black": []}
    ids_with_sides: list[int] = []
    for number, covariate in enumerate(games.covariates):
        columns = {side: without_unused_texts(text) for side, text in covariate.columns.items()}
        numbers = {
            side: spread(dictionary.numbers_of(column.values), column.codes)
            for side, column in columns.items()
        }
        if not (numbers["white"].any() or numbers["black"].any()):
            values.append(numbers["single"])
            continue
        ids_with_sides.append(number)
        for side, of_side in numbers.items():
            with_sides[side].append(of_side)
    count = len(games.covariates)
    tables = {
        "covariates": {
            "id": np.arange(count, dtype=np.int32),
            "name": np.array([covariate.name for covariate in games.covariates], object),
            "category": np.array(
                [covariate.is_category for covariate in games.covariates], np.bool_
            ),
        },
        "covariate_texts": {
            "id": np.arange(len(dictionary.values), dtype=np.int32),
            "text": np.array(dictionary.values, object),
        },
    }
    if values:
        tables["game_values"] = {"value": np.concatenate(values)}
    if ids_with_sides:
        tables["game_covariates"] = {
            "covariate": np.repeat(np.array(ids_with_sides, np.int32), len(games)),
            **{side: np.concatenate(numbers) for side, numbers in with_sides.items()},
        }
    return tables


def source_columns(source: CodedColumn[str]) -> dict[str, Columns]:
    """The tables of the sources of games; the empty one is always there."""
    column = without_unused_texts(CodedColumn(np.append(source.codes, 0), source.values))
    return {
        "sources": {
            "id": np.arange(len(column.values), dtype=np.int32),
            "name": np.array(column.values, object),
        },
        "game_sources": {"source": column.codes[:-1]},
    }


def people_columns(people: PeopleTable) -> dict[str, Columns]:
    """The tables of people, by player, then field."""
    rows = [
        (player, index, text)
        for player in sorted(people.values)
        for index, text in enumerate(people.values[player])
        if text
    ]
    return {
        "people_fields": {
            "id": np.arange(len(people.fields), dtype=np.int32),
            "name": np.array(people.fields, object),
        },
        "people": {
            "player": np.array([player for player, _, _ in rows], object),
            "field": np.array([index for _, index, _ in rows], np.int32),
            "value": np.array([text for _, _, text in rows], object),
        },
    }
