"""Whether a file attached to a session is a run, whoever made it: its format, catalog and ranges of numbers.

Nothing but the catalog and tables that are known to be plain is looked at: no view, macro or default is evaluated.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.errors import RunError
from ttt_cli.quantities import TEXT_COLUMNS, chain_columns
from ttt_cli.runs.connection import NotARun
from ttt_cli.runs.schema import ALIASES, DATABASE, FORMAT, HELD, LABELS, MAY_LACK, definitions, tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

LARGEST: Final = 1e100  # of anything in points, games or Elo points
LONGEST_NAME: Final = 100_000  # bytes
RANGES: Final[Mapping[Period, tuple[int, int]]] = {  # numbers of the periods of 0001-01-01 and 9999-12-31
    "year": (1, 9_999),
    "quarter": (4, 39_999),
    "month": (12, 119_999),
    "week": (-102_737, 418_985),
    "day": (-719_162, 2_932_896),
}
_MOST_META: Final = 16_000_000  # bytes of settings and trace
_OF_RUN: Final = f"WHERE database_name = '{DATABASE}'"
_OBJECTS: Final = f"""
SELECT 'table', table_name, sql FROM duckdb_tables() {_OF_RUN}
UNION ALL SELECT 'view', view_name, sql FROM duckdb_views() {_OF_RUN} AND NOT internal
UNION ALL SELECT 'macro', function_name, macro_definition FROM duckdb_functions() {_OF_RUN}
UNION ALL SELECT 'index', index_name, sql FROM duckdb_indexes() {_OF_RUN}
UNION ALL SELECT 'sequence', sequence_name, sql FROM duckdb_sequences() {_OF_RUN}
UNION ALL SELECT 'type', type_name, NULL FROM duckdb_types() {_OF_RUN} AND NOT internal
UNION ALL SELECT 'schema', schema_name, sql FROM duckdb_schemas() {_OF_RUN} AND NOT internal
UNION ALL SELECT 'trigger', trigger_name, sql FROM duckdb_triggers() {_OF_RUN}
"""
_VIEWS: Final = frozenset(
    {
        ("view", "games"),
        ("view", "nodes"),
        ("view", "skills"),
        ("macro", "skills_of"),
        ("macro", "skills_within"),
    }
)
_WORD: Final = re.compile(r"\w+")
# Words that DuckDB puts into our SQL; 1.5 wrote true as 't'.
_RENDERED: Final = frozenset({"main", "inner", "list_value", "array_extract", "t"})
_CHAIN_SD: Final = re.compile(r"\b([a-z]+(?:_[a-z]+)*)_sd double")
_SHOWN: Final = 3  # files of games that are named
_LONGEST: Final = 300  # bytes of their names together


def check_catalog(connection: DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """The chains of the run attached to a session, the skill first.

    Raises RunError when it is no run, of another version, or holds anything that `ttt` does not put into a run.
    """
    objects = {(kind, name): sql or "" for kind, name, sql in connection.execute(_OBJECTS).fetchall()}
    found = {name: _plain(sql) for (kind, name), sql in objects.items() if kind == "table"}
    plain = {
        name for name, columns in tables((), whole=True).items() if found.get(name) == _created(name, columns)
    }
    if "meta" not in plain:
        raise NotARun(path)
    check_format(connection, path, inputs="inputs" in plain)
    (size,) = connection.execute(f"SELECT sum(strlen(value)) FROM {DATABASE}.main.meta").fetchone() or (0,)
    if size > _MOST_META:
        raise _strange(path, "its table `meta` holds what cannot be")
    chains = ("skill", *_CHAIN_SD.findall(found.get("spans", "")))
    whole = "weight bigint" in found.get("game_rows", "")
    expected = tables(chains, whole=whole)
    for name, columns in expected.items():
        if not (name in MAY_LACK and name not in found) and found.get(name) != _created(name, columns):
            raise _strange(path, f"its table `{name}` is not one that ttt makes")
    ours = _RENDERED.union(_words(definitions(chains, "year", whole=whole)), *map(_words, LABELS.values()))
    for (kind, name), sql in objects.items():
        if (kind == "table" and name in expected) or ((kind, name) in _VIEWS and _words(sql) <= ours):
            continue
        raise _strange(path, f"it holds a {kind} `{name}` that ttt does not make")
    return chains


def check_numbers(connection: DuckDBPyConnection, path: Path, meta: RunMeta, chains: Sequence[str]) -> None:
    """Raise RunError when numbers or labels of the run attached to a session cannot be true of any run."""
    period: Period = meta.period  # type: ignore[assignment]
    held = {name for (name,) in connection.execute(HELD).fetchall()}
    queries = [
        f"SELECT '{table}', {' AND '.join(wanted)} FROM {DATABASE}.main.{table}"
        for table, wanted in _conditions(period, meta, chains).items()
        if table in held
    ]
    for table, true in connection.execute(" UNION ALL ".join(queries)).fetchall():
        if true is not True:
            raise _strange(path, f"its table `{table}` holds what cannot be")


def _conditions(period: Period, meta: RunMeta, chains: Sequence[str]) -> dict[str, list[str]]:
    """What is true of the rows of each table, as SQL that aggregates."""
    players = meta.players
    first, last = RANGES[period]
    periods = f"{DATABASE}.main.periods"
    labels = f"(SELECT period FROM {periods})"
    spans = f"(SELECT count(*) FROM {DATABASE}.main.spans)"
    return {
        "periods": [
            _within("period_number", first, last),
            "count(DISTINCT period_number) = count(*)",
            "coalesce(max(period_number) - min(period_number) + 1, 0) = count(*)",
            f"coalesce(bool_and(period = {LABELS[period].replace('number', 'period_number')}), true)",
        ],
        "names": [_within("id - rowid", 0, 0), _within("strlen(player)", 0, LONGEST_NAME)],
        "players": [
            f"count(*) = {players}",
            _within("strlen(player)", 0, LONGEST_NAME),
            *(f'coalesce(bool_and("{name}" IN {labels}), true)' for name in ("first", "last", "peak_period")),
            *(_within(name, -LARGEST, LARGEST, known=False) for name in ("peak_mean", "peak_sd")),
        ],
        "spans": [
            f"count(*) = {meta.nodes}",
            _within("period_number", first, last),
            _within('"until"', first, last, known=False),
            f"coalesce(min(period_number) >= (SELECT min(period_number) FROM {periods}), true)",
            f'coalesce(greatest(max(period_number), max("until")) <= (SELECT max(period_number) FROM {periods}), true)',
            _within("games", 0, LARGEST),
            *(
                _within(name, least, LARGEST, known=False)
                for chain in chains
                for name, least in zip(chain_columns(chain), (-LARGEST, 0.0), strict=True)
            ),
        ],
        "game_rows": [
            f"count(*) = {meta.games}",
            _within("period_number", first, last),
            _within("date_days", *RANGES["day"]),
            _within("date_precision", 0, 2),
            _within("outcome", 0, 2),
            *(_within(f"{side}_id", 0, players - 1) for side in ("white", "black")),
            _within("weight", 0, LARGEST),
            _within('"offset"', -LARGEST, LARGEST),
            _within("line", -(2**63), 2**63 - 1),
            _within("file_number", -(2**31), 2**31 - 1),
        ],
        "texts": [_within("id - rowid", 0, 0), _within("strlen(text)", 0, LONGEST_NAME)],
        "spellings": [_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("player", "spelling")],
        "game_texts": [
            f"count(*) IN (0, (SELECT count(*) FROM {DATABASE}.main.game_rows))",
            *(_within(name, 0, f"(SELECT count(*) - 1 FROM {DATABASE}.main.texts)") for name in TEXT_COLUMNS),
        ],
        "neutral_games": [_within('"row"', 0, f"(SELECT count(*) - 1 FROM {DATABASE}.main.game_rows)")],
        "links": [
            'coalesce(min(least("first", "second")) >= 0, true)',
            f'coalesce(max(greatest("first", "second")) < {spans}, true)',
            *(f'count("{end}") = count(*)' for end in ("first", "second")),
            'count(*) FILTER ("first" = "second") = 0',
            *(_within(name, -LARGEST, LARGEST, known=name == "q11") for name in ("q11", "q12", "q22")),
        ],
        "draws": [
            _within('"year"', -LARGEST, LARGEST),
            'count(DISTINCT "year") = count(*)',
            *(_within(name, 0, LARGEST) for name in ("margin", "sd")),
            _within("level", -LARGEST, LARGEST),
        ],
        "newcomers": [
            _within('"year"', -LARGEST, LARGEST),
            'count(DISTINCT "year") = count(*)',
            *(_within(name, least, LARGEST) for name, least in (("mean", -LARGEST), ("sd", 0))),
        ],
        "steps": [
            f"count(*) IN (0, {spans})",
            _within("variance", 0, LARGEST),
            *(_within(f"draw_margin_{name}", 0, LARGEST, known=False) for name in ("variance", "precision")),
        ],
    }


def _within(column: str, low: float, high: float | str, *, known: bool = True) -> str:
    """Whether a column's values, which are `known` everywhere, lie in a range; NaN is above all."""
    condition = f"coalesce(min({column}) >= {low!r} AND max({column}) <= {high}, true)"
    return f"{condition} AND count({column}) = count(*)" if known else condition


def _words(sql: str) -> set[str]:
    return set(_WORD.findall(sql.lower()))


def _created(table: str, columns: str) -> str:
    return _plain(f"CREATE TABLE {table}({columns});")


def _plain(sql: str) -> str:
    """SQL in one spelling: small letters, without quotes and further blanks."""
    return " ".join(sql.replace('"', "").lower().split())


def _strange(path: Path, message: str) -> RunError:
    hint = "it was changed, or made to do harm, and is not used; fit the games again"
    return RunError(f"{message}", where=str(path), hint=hint)


def check_format(connection: DuckDBPyConnection, path: Path, *, inputs: bool) -> None:
    """Raise RunError when the run attached to a session has another format, with what to do.

    Its table `meta` is known to be plain, and `inputs` where the flag says so: both are the same in every format.
    """
    query = f"SELECT max(value) FILTER (key = 'format' AND strlen(value) < 10) FROM {DATABASE}.main.meta"
    (version,) = connection.execute(query).fetchone() or ("",)
    if not (version or "").isdigit():
        raise NotARun(path)
    if int(version) > FORMAT:
        raise RunError(
            f"written by a newer ttt, in format {version}; this one knows formats to {FORMAT}",
            where=str(path),
            hint="upgrade ttt, or fit the games again",
        )
    if int(version) < FORMAT:
        files = _files(connection) if inputs else ""
        raise RunError(
            f"written by an older ttt, in format {version}; this one opens format {FORMAT}",
            where=str(path),
            hint=f"fit the games again: `ttt fit {files or 'FILE...'} -o {shlex.quote(str(path))}`;"
            " how it was fitted stands in its table meta, key config",
        )


def _files(connection: DuckDBPyConnection) -> str:
    """The files of games and the alias file as arguments of `ttt fit`, empty where they are too many to be shown."""
    rows = f"SELECT left(path, {_LONGEST}), kind = '{ALIASES}' FROM {DATABASE}.main.inputs LIMIT {_SHOWN + 1}"
    found = connection.execute(rows).fetchall()
    words = [word for path, alias in found for word in (["--aliases", path] if alias else [path])]
    text = shlex.join(words) if all(words) else ""
    return text if len(found) <= _SHOWN and len(text.encode()) < _LONGEST else ""
