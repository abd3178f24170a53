"""Open run files safely: read-only, checked, and only their tables.

Views and macros in a file serve other clients and are never evaluated here. SQL cannot reach any other file.
"""

from __future__ import annotations

import re
import shlex
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.histories import chain_columns
from ttt_cli.reading.reports import TEXT_COLUMNS
from ttt_cli.runs.schema import ALIASES, DATABASE, FORMAT, HELD, LABELS, OPTIONAL, created, tables
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

Signature = tuple[int, ...]
RETRY_DELAYS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds, while another process writes the file
MOST_FILES: Final = 1_000_000
_SETTINGS: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "2GB",
    "max_temp_directory_size": "20GB",
}
_MAGIC: Final = (8, b"DUCK")  # offset and first bytes of every DuckDB file
_DAMAGED: Final = ("corrupt", "could not read")
_HELD: Final = ("could not set lock", "file handle conflict", "being used by another process")
_MOST_META: Final = 16_000_000  # bytes of settings and trace
_CHAIN_SD: Final = re.compile(r"\b([a-z]+(?:_[a-z]+)*)_sd double")
_SHOWN: Final = 3  # files of games that are named
_LONGEST: Final = 300  # bytes of their names together
# By file checked in this process: its chains, and whether its numbers were checked, too
CHECKED: Final[dict[Signature, tuple[tuple[str, ...], bool]]] = {}


class NotARun(RunError):
    """A file that another program wrote."""

    def __init__(self, path: Path) -> None:
        hint = "make a run from games with `ttt fit FILE`, or name one with -r NAME.ttt"
        super().__init__("not a run of ttt", where=str(path), hint=hint)


def connect(path: Path, also: Sequence[Path] = ()) -> tuple[DuckDBPyConnection, tuple[str, ...], Signature]:
    """Database in memory with the run attached as `schema.DATABASE`; its chains, the skill first; its signature.

    SQL may write the files `also`. Raises RunError.
    """
    import duckdb

    check_name(path)
    check_file(path)
    place = real_place(path)
    allowed = [
        f"{file}{end}"
        for file in (place, *map(real_place, also))
        for end in ("", ".wal", ".wal.checkpoint", ".wal.recovery")
    ]
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": f"{place}.tmp"})
    try:
        connection.execute("SET allowed_paths = ?", [allowed])
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        with translated(path):
            seen = signature(path)
            _attach(connection, path)
            if seen not in CHECKED:
                CHECKED[seen] = check_catalog(connection, path), False
            chains, _ = CHECKED[seen]
    except BaseException:
        connection.close()
        raise
    return connection, chains, seen


def signature(path: Path) -> Signature:
    """Numbers that change when a file, or its log, is replaced or written to."""
    place = real_place(path)
    facts = [file.stat() for file in (place, log_of(place)) if file.exists()]
    return tuple(n for s in facts for n in (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))


def log_of(place: Path) -> Path:
    """The write-ahead log of a database."""
    return place.with_name(f"{place.name}.wal")


def quoted(path: Path) -> str:
    """A path in SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def check_name(path: Path) -> None:
    """Raise RunError unless the name is UTF-8, as the database needs."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        where = str(path).encode("utf-8", "backslashreplace").decode()
        raise RunError("the name of a run must be UTF-8", where=where, hint="give it another name") from error


def check_file(path: Path) -> None:
    """Raise RunError unless the path is a DuckDB database."""
    where = str(path)
    if path.is_dir():
        raise RunError(
            "is a folder, not a run", where=where, hint="name a file NAME.ttt written by `ttt fit`"
        )
    try:
        is_database = looks_like_database(path)
    except FileNotFoundError:
        named = path.with_name(f"{path.name}.ttt")
        hint = f"did you mean {named}?" if named.exists() else "make one with `ttt fit FILE`"
        raise RunError("no such run", where=where, hint=hint) from None
    except OSError as error:
        raise RunError(error.strerror or str(error), where=where) from error
    if not is_database:
        raise NotARun(path)


def looks_like_database(path: Path) -> bool:
    """Whether an ordinary file starts like a DuckDB database. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a FIFO would wait for its writer
        return False
    offset, magic = _MAGIC
    with path.open("rb") as file:
        return file.read(offset + len(magic))[offset:] == magic


@contextmanager
def translated(path: Path | None, written: Path | None = None) -> Iterator[None]:
    """Turn errors of the database into RunErrors about `path`, or the file `written` from it."""
    import duckdb

    try:
        yield
    except (duckdb.Error, OverflowError) as error:
        text = str(error)
        if path and any(word in text.lower() for word in _DAMAGED):
            raise _unreadable(path, text, "read") from error
        where = written or path
        raise RunError(first_line(text), where=str(where) if where else None) from error


def first_line(text: str) -> str:
    """The first line of a message, without a final full stop."""
    return text.strip().partition("\n")[0].rstrip(".")


def _attach(connection: DuckDBPyConnection, path: Path) -> None:
    import duckdb

    for delay in (*RETRY_DELAYS, None):
        try:
            connection.execute(f"ATTACH {quoted(real_place(path))} AS {DATABASE} (READ_ONLY, TYPE duckdb)")
            return
        except duckdb.Error as error:
            check_file(path)  # gone by now?
            text = str(error)
            if not any(word in text.lower() for word in _HELD):
                raise _unreadable(path, text) from error
            if delay is None:
                hint = "wait for it to end, or fit into another file with -o"
                raise RunError(
                    "another process has this run open for writing", where=str(path), hint=hint
                ) from error
            time.sleep(delay)


def _unreadable(path: Path, text: str, how: str = "opened") -> RunError:
    if "newer version of duckdb" in text.lower():
        return RunError(
            "written by a newer version", where=str(path), hint="upgrade ttt and duckdb, or fit it again"
        )
    hint = "the file may be damaged; fit it again"
    if (log := path.with_name(f"{path.name}.wal")).exists():
        hint = f"{log} belongs to another database or is incomplete: move it away; the run is complete without it"
    return RunError(f"cannot be {how}: {first_line(text)}", where=str(path), hint=hint)


def check_catalog(connection: DuckDBPyConnection, path: Path) -> tuple[str, ...]:
    """The chains of the attached run, the skill first.

    Raises RunError unless it has our format and every table exactly our columns, without defaults or generated
    columns.
    """
    query = f"SELECT table_name, sql FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
    found = {name: _plain(sql or "") for name, sql in connection.execute(query).fetchall()}
    chains = ("skill", *_CHAIN_SD.findall(found.get("spans", "")))
    expected = tables(chains, whole="weight bigint" in found.get("game_rows", ""))
    ours = {name for name, columns in expected.items() if found.get(name) == _plain(created(name, columns))}
    if "meta" not in ours:
        raise NotARun(path)
    _check_format(connection, path, inputs="inputs" in ours)
    (size,) = connection.execute(f"SELECT sum(strlen(value)) FROM {DATABASE}.main.meta").fetchone() or (0,)
    if size > _MOST_META:
        raise _impossible(path, "meta")
    if wrong := [
        name for name in expected if name not in ours and not (name in OPTIONAL and name not in found)
    ]:
        raise _strange(path, f"its table `{wrong[0]}` is not one that ttt creates")
    return chains


def _plain(sql: str) -> str:
    """SQL in one spelling: lower case, without quotes and extra blanks."""
    return " ".join(sql.replace('"', "").lower().split())


def _strange(path: Path, message: str) -> RunError:
    hint = "another program changed the file, so it is not used; fit the games again"
    return RunError(message, where=str(path), hint=hint)


def _impossible(path: Path, table: str) -> RunError:
    return _strange(path, f"its table `{table}` holds impossible values")


def _check_format(connection: DuckDBPyConnection, path: Path, *, inputs: bool) -> None:
    """Raise RunError for a run of another format. Tables `meta` and `inputs` are the same in every format."""
    query = f"SELECT max(value) FILTER (key = 'format' AND strlen(value) < 10) FROM {DATABASE}.main.meta"
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
        files = _files(connection) if inputs else ""
        raise RunError(
            f"written by an older ttt, in format {version}; this one opens format {FORMAT}",
            where=str(path),
            hint=f"fit the games again: `ttt fit {files or 'FILE...'} -o {shlex.quote(str(path))}`;"
            " its config is in its table meta, key config",
        )


def _files(connection: DuckDBPyConnection) -> str:
    """The files of games and the alias file as arguments of `ttt fit`; empty if they are too many to be shown."""
    rows = f"SELECT left(path, {_LONGEST}), kind = '{ALIASES}' FROM {DATABASE}.main.inputs LIMIT {_SHOWN + 1}"
    found = connection.execute(rows).fetchall()
    words = [word for path, alias in found for word in (["--aliases", path] if alias else [path])]
    text = shlex.join(words) if all(words) else ""
    return text if len(found) <= _SHOWN and len(text.encode()) < _LONGEST else ""


def check_numbers(
    connection: DuckDBPyConnection, path: Path, meta: RunMeta, chains: tuple[str, ...], seen: Signature
) -> None:
    """Raise RunError when values of the attached run are impossible in any run."""
    if CHECKED.get(seen, (chains, False))[1]:
        return
    period: Period = meta.period  # type: ignore[assignment]
    held = {name for (name,) in connection.execute(HELD).fetchall()}
    of_rows, of_tables = _relations(period, meta, chains)
    queries = []
    for table, columns in tables(chains, period, whole=True).items():
        if table in held and table != "meta":
            conditions = [
                f"coalesce(bool_and({of_rows.get(table, 'true')}), true)",
                of_tables.get(table, "true"),
            ]
            for column in columns:  # NaN exceeds every number
                name = f'"{column.name}"'
                value = f"strlen({name})" if column.type.startswith("VARCHAR") else name
                least, most = f"min({value}) >= '{column.low}'", f"max({value}) <= '{column.high}'"
                conditions.append(f"coalesce({least} AND {most}, true)")
                if column.known:
                    conditions.append(f"count({value}) = count(*)")
            source = f"{DATABASE}.main.{table}"
            if table in _BEFORE:
                source = f"(SELECT rowid, *, {_BEFORE[table]} FROM {source})"
            queries.append(f"SELECT '{table}', {' AND '.join(conditions)} FROM {source}")
    for table, true in connection.execute(" UNION ALL ".join(queries)).fetchall():
        if true is not True:
            raise _impossible(path, table)
    CHECKED[seen] = chains, True


# Values in the row before, of tables that are stored in order
_BEFORE: Final = {
    "names": "lag(player) OVER () AS before",
    "players": "lag(player) OVER () AS before",
    "spans": 'lag(player) OVER () AS before, lag("until") OVER () AS ended',
}


def _relations(period: Period, meta: RunMeta, chains: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Conditions on every row of tables, and on whole tables; those on rows hold where they are NULL."""
    run = f"{DATABASE}.main"
    earliest, latest = (f"(SELECT {end}(period_number) FROM {run}.periods)" for end in ("min", "max"))
    spans, games, inputs, texts = (
        f"(SELECT count(*) FROM {run}.{table})" for table in ("spans", "game_rows", "inputs", "texts")
    )
    labels = f"(SELECT period FROM {run}.periods)"
    in_order = "(before IS NULL OR player > before)"
    bridged = [
        f"({sd} IS NULL OR ({sd}_rise IS NOT NULL AND {sd}_bend IS NOT NULL))"
        for _, sd in map(chain_columns, chains)
    ]
    of_rows = {
        "periods": f"period_number - rowid = {earliest} AND"
        f" period = {LABELS[period].replace('number', 'period_number')}",
        "names": f"id = rowid AND {in_order}",
        "players": f'{in_order} AND "first" IN {labels} AND "last" IN {labels} AND peak_period IN {labels}'
        f" AND opponents <= {meta.players}",
        "spans": "(before IS NULL OR player > before OR coalesce(player = before AND period_number >= ended, false))"
        f' AND "until" > period_number AND period_number >= {earliest}'
        f' AND greatest(period_number, "until") <= {latest} AND {" AND ".join(bridged)}',
        "game_rows": f"period_number BETWEEN {earliest} AND {latest}"
        f" AND greatest(white_id, black_id) < {meta.players}",
        "dropped": f"file_number < {inputs}",
        "noticed": f"file_number < {inputs}",
        "texts": "id = rowid",
        "game_texts": f"greatest({', '.join(TEXT_COLUMNS)}) < {texts}",
        "neutral_games": f'"row" < {games}',
        "links": f'greatest("first", "second") < {spans} AND "first" <> "second"',
    }
    of_tables = {
        "players": f"count(*) = {meta.players} AND count(*) = (SELECT count(*) FROM {run}.names)"
        " AND coalesce((SELECT bool_and(a.player = b.player)"
        f" FROM {run}.names a POSITIONAL JOIN {run}.players b), true)",
        "spans": f"count(*) = {meta.nodes}",
        "game_rows": f"count(*) = {meta.games}",
        **dict.fromkeys(("inputs", "dropped", "noticed", "evidence"), f"count(*) <= {MOST_FILES}"),
        "game_texts": f"count(*) IN (0, {games})",
        "steps": f"count(*) IN (0, {spans})",
        "links": f"count(*) <= {meta.games}",
        "neutral_games": 'count(DISTINCT "row") = count(*)',
        **dict.fromkeys(("draws", "newcomers"), 'count(DISTINCT "year") = count(*)'),
    }
    return of_rows, of_tables
