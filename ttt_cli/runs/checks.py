"""Whether a file is a run that ttt wrote: its format, its tables, and the values in them.

Views and macros in a file serve other clients and are never evaluated here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ttt_cli.histories import chain_columns
from ttt_cli.runs.schema import (
    ADDED,
    DATABASE,
    FORMAT,
    LABELS,
    OPTIONAL,
    RUN,
    TABLES,
    TableColumn,
    create_table,
    tables,
)
from ttt_cli.support.errors import RunError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

Signature = tuple[int, ...]
# By name: the first and the last period, and the last row of each table
Limits = Mapping[float | str, int]
MOST_FILES: Final = 1_000_000
_MOST_META: Final = 16_000_000  # bytes of settings and trace
_NEARLY: Final = 1.0 - 1e-9  # for numbers that rounding separates
# Chains besides the skill, named as their sds: `draw` in "sd double, draw double, draw_sd double" of the table `spans`
_CHAIN_SD: Final = re.compile(r"\b([a-z]+(?:_[a-z]+)*)_sd double")


class Catalog(NamedTuple):
    """What a run stores: the chains of its spans, the skill first, and the names of its tables."""

    chains: tuple[str, ...]
    tables: frozenset[str]


# By file checked in this process: its catalog, and whether its numbers were checked, too
CHECKED: Final[dict[Signature, tuple[Catalog, bool]]] = {}


class NotARun(RunError):
    """A file that another program wrote."""

    def __init__(self, path: Path) -> None:
        hint = "make a run from games with `ttt fit FILE`, or name one with -r NAME.ttt"
        super().__init__("not a run of ttt", where=str(path), hint=hint)


def check_catalog(connection: DuckDBPyConnection, path: Path) -> Catalog:
    """The catalog of the attached run. Raises RunError unless it has our format and exactly our tables."""
    query = f"SELECT table_name, sql FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
    stored = {name: _normalised(sql or "") for name, sql in connection.execute(query).fetchall()}
    chains = ("skill", *_CHAIN_SD.findall(stored.get("spans", "")))
    expected = tables(chains, whole_weights="weight bigint" in stored.get("game_rows", ""))
    differing = [
        table
        for table, columns in expected.items()
        if stored.get(table) != _normalised(create_table(table, columns))
    ]
    if "meta" in differing:
        raise NotARun(path)
    _check_format(connection, path)
    (size,) = connection.execute(f"SELECT sum(strlen(value)) FROM {RUN}.meta").fetchone() or (0,)
    if size > _MOST_META:
        raise _tampered(path, "its table `meta` holds impossible values")
    missing_in_older = {table for group in ADDED if group.isdisjoint(stored) for table in group}
    foreign = [table for table in differing if table not in missing_in_older]
    foreign += _views_in_place_of_tables(connection)
    if foreign:
        raise _tampered(path, f"its table `{foreign[0]}` is not one that ttt creates")
    return Catalog(chains, frozenset(stored))


def _views_in_place_of_tables(connection: DuckDBPyConnection) -> list[str]:
    query = f"SELECT view_name FROM duckdb_views() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
    return [name for (name,) in connection.execute(query).fetchall() if name in TABLES]


def _normalised(sql: str) -> str:
    """SQL in one spelling: lower case, without quotes and extra blanks."""
    return " ".join(sql.replace('"', "").lower().split())


def _tampered(path: Path, message: str) -> RunError:
    hint = "another program changed the file, so it is not used; fit the games again"
    return RunError(message, where=str(path), hint=hint)


def _check_format(connection: DuckDBPyConnection, path: Path) -> None:
    """Raise RunError for a run of another format; the table `meta` is the same in all."""
    query = f"SELECT max(value) FILTER (key = 'format' AND strlen(value) < 10) FROM {RUN}.meta"
    (version,) = connection.execute(query).fetchone() or ("",)
    if not (version and version.isascii() and version.isdigit()):
        raise NotARun(path)
    if int(version) > FORMAT:
        raise RunError(
            f"written by a newer ttt, in format {version}; this one knows formats to {FORMAT}",
            where=str(path),
            hint="upgrade ttt, or fit the games again",
        )
    if int(version) < FORMAT:
        raise RunError(
            f"written by an older ttt, in format {version}; this one opens format {FORMAT}",
            where=str(path),
            hint=f"fit the games again: `ttt fit FILE... -o {shlex.quote(str(path))}`; its files are in its table"
            " inputs, its config in its table meta",
        )


def check_numbers(
    connection: DuckDBPyConnection,
    path: Path,
    meta: RunMeta,
    catalog: Catalog,
    signature: Signature,
) -> None:
    """Raise RunError when values of the attached run are impossible in any run."""
    _, checked = CHECKED.get(signature, (catalog, False))
    if checked:
        return
    period: Period = meta.period  # type: ignore[assignment]
    stored = {
        table: columns
        for table, columns in tables(catalog.chains, period, whole_weights=True).items()
        if table in catalog.tables and table != "meta"
    }
    limits = _limits(connection, stored)
    label = LABELS[period].replace("number", "period_number")
    bridged = " AND ".join(_bridge_rule(chain) for chain in catalog.chains)
    for table, columns in stored.items():
        if limits[table] < 0 and table in OPTIONAL:
            continue
        rule = _RULES.get(table, "true").format(label=label, bridged=bridged, meta=meta)
        if not _obeys(connection, table, columns, rule, limits):
            raise _tampered(path, f"its table `{table}` holds impossible values")
    CHECKED[signature] = catalog, True


def _limits(connection: DuckDBPyConnection, stored: Mapping[str, Sequence[TableColumn]]) -> Limits:
    """The limits of columns that refer to periods and to rows of tables."""
    limits = [
        f"SELECT 'first', coalesce(min(period_number), 0) FROM {RUN}.periods",
        f"SELECT 'last', coalesce(max(period_number), -1) FROM {RUN}.periods",
        *(f"SELECT '{table}', count(*) - 1 FROM {RUN}.{table}" for table in stored),
    ]
    return dict(connection.execute(" UNION ALL ".join(limits)).fetchall())


def _bridge_rule(chain: str) -> str:
    """The SQL condition that the columns of a chain agree with each other."""
    _, sd = chain_columns(chain)
    has_bridge = f"({sd} IS NULL OR ({sd}_rise IS NOT NULL AND {sd}_bend IS NOT NULL))"
    return f"{has_bridge} AND {sd}_most >= {sd} * {_NEARLY}"


def _obeys(
    connection: DuckDBPyConnection,
    table: str,
    columns: Sequence[TableColumn],
    rule: str,
    limits: Limits,
) -> bool:
    """Whether a table obeys a rule, and its values are in the ranges of their columns."""
    values = [
        f'strlen("{column.name}")' if column.type.startswith("VARCHAR") else f'"{column.name}"'
        for column in columns
    ]
    facts = ", ".join(f"count({value}), min({value}), max({value})" for value in values)
    query = f"SELECT {rule}, {facts} FROM {_ORDERED.get(table, f'{RUN}.{table}')}"
    rule_holds, *facts_found = connection.execute(query).fetchone() or ()
    for column, count, least, most in zip(
        columns, facts_found[::3], facts_found[1::3], facts_found[2::3], strict=True
    ):
        if column.required and count <= limits[table]:
            return False
        low = limits.get(column.low, column.low)
        high = limits.get(column.high, column.high)
        if count and not (
            low <= least and most <= high
        ):  # NaN exceeds every number in SQL, and is none here
            return False
    return rule_holds is not False


# Tables that are stored in order, with values of the row before
_ORDERED: Final = {
    "names": f"(SELECT rowid, *, lag(player) OVER () AS before FROM {RUN}.names)",
    "players": f"(SELECT *, lag(player) OVER () AS before FROM {RUN}.players)",
    "spans": f'(SELECT *, lag(player) OVER () AS before, lag("until") OVER () AS ended FROM {RUN}.spans)',
    "category_spans": f"""(SELECT *, lag(player) OVER () AS before, lag("until") OVER () AS ended,
        lag(category) OVER () AS category_before FROM {RUN}.category_spans)""",
    "sum_terms": f"(SELECT *, lag(link) OVER () AS before FROM {RUN}.sum_terms)",
}
_LABELS: Final = f"(SELECT period FROM {RUN}.periods)"
# Conditions on whole tables beside the ranges of their columns. NULL, also in a row, counts as true.
_OF_PLAYERS: Final = f"""((SELECT count(*) FROM {RUN}.spans) + (SELECT count(*) FROM {RUN}.category_spans)
    + (SELECT count(DISTINCT player) FROM {RUN}.category_spans WHERE {{meta.has_shared_offsets}}))"""
_RULES: Final = {
    "periods": f"""bool_and(period_number - rowid = (SELECT min(period_number) FROM {RUN}.periods)
        AND period = {{label}})""",
    "names": "bool_and(id = rowid AND (before IS NULL OR player > before))",
    "players": f"""count(*) = {{meta.players}} AND count(*) = (SELECT count(*) FROM {RUN}.names)
        AND (SELECT bool_and(a.player = b.player) FROM {RUN}.names a POSITIONAL JOIN {RUN}.players b)
        AND bool_and("first" IN {_LABELS} AND "last" IN {_LABELS} AND peak_period IN {_LABELS}
            AND (before IS NULL OR player > before))""",
    "spans": """count(*) = {meta.nodes} AND bool_and("until" > period_number AND {bridged}
        AND (before IS NULL OR player > before OR coalesce(player = before AND period_number >= ended, false)))""",
    "game_rows": "count(*) = {meta.games}",
    "links": 'count(*) <= {meta.games} AND bool_and("first" <> "second")',
    "steps": "count(*) = {meta.nodes}",
    "texts": "bool_and(id = rowid)",
    "game_texts": "count(*) = {meta.games}",
    **dict.fromkeys(
        ("neutral_games", "victory_margins", "covariate_points", "doubtful_games"),
        'count(DISTINCT "row") = count(*)',
    ),
    **dict.fromkeys(
        ("covariates", "covariate_texts", "people_fields", "categories", "sources"),
        "bool_and(id = rowid)",
    ),
    "people": f"""bool_and(player IN (SELECT player FROM {RUN}.names))
        AND count(DISTINCT (player, field)) = count(*)""",
    **dict.fromkeys(("game_categories", "game_sources"), "count(*) = {meta.games}"),
    "game_sides": f"""count(*) = {{meta.games}}
        AND max(greatest(white_team, black_team)) <= (SELECT coalesce(max(team), 0) FROM {RUN}.team_members)""",
    "team_members": "min(team) > 0 AND max(team) = count(DISTINCT team) AND min(share) > 0",
    "category_links": 'count(*) <= {meta.games} AND bool_and("first" <> "second")',
    "category_steps": f"count(*) = (SELECT count(*) FROM {RUN}.category_spans)",
    "sum_links": "count(*) <= 3 * {meta.games}",
    # Every link has terms, and every performance has one
    "sum_terms": f"""count(DISTINCT link) = (SELECT count(*) FROM {RUN}.sum_links)
        AND bool_and(before IS NULL OR link >= before)
        AND count(DISTINCT variable) FILTER (variable >= {_OF_PLAYERS})
            = greatest(max(variable) + 1 - {_OF_PLAYERS}, 0)""",
    "category_spans": """bool_and("until" > period_number AND {bridged}
        AND (before IS NULL OR category > category_before OR (category = category_before
        AND (player > before OR coalesce(player = before AND period_number >= ended, false)))))""",
    "game_covariates": "count(*) = {meta.games} * count(DISTINCT covariate)",
    "game_values": f"""count(*) + (SELECT count(*) FROM {RUN}.game_covariates)
        = {{meta.games}} * (SELECT count(*) FROM {RUN}.covariates)""",
    "file_traits": "count(DISTINCT file_number) = count(*)",
    **dict.fromkeys(("draws", "newcomers"), 'count(DISTINCT "year") = count(*)'),
    **dict.fromkeys(("inputs", "dropped", "noticed", "evidence"), f"count(*) <= {MOST_FILES}"),
}
