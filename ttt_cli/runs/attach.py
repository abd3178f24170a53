"""Open run files safely: read-only, checked, and only their tables.

Views and macros in a file serve other clients and are never evaluated here. SQL cannot reach any other file.
"""

from __future__ import annotations

import re
import shlex
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ttt_cli.histories import bridge_columns, chain_columns
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.runs.schema import ALIASES, DATABASE, FORMAT, HELD, LABELS, OPTIONAL, tables
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

Signature = tuple[int, ...]
RETRY_DELAYS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds, while another process writes the file
LARGEST: Final = 1e30  # of anything in points, games or Elo points
SMALLEST: Final = 1e-9  # of standard deviations, and of times that are divided by
LONGEST_NAME: Final = 100_000  # bytes
MOST_FILES: Final = 1_000_000
RANGES: Final[Mapping[Period, tuple[int, int]]] = {  # numbers of the periods of 0001-01-01 and 9999-12-31
    "year": (1, 9_999),
    "quarter": (4, 39_999),
    "month": (12, 119_999),
    "week": (-102_737, 418_985),
    "day": (-719_162, 2_932_896),
}
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
_CHECKED: Final[
    dict[Signature, tuple[tuple[str, ...], bool]]
] = {}  # chains of checked files; whether numbers were
_MOST_CHECKED: Final = 1000


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
            if seen not in _CHECKED:
                remember(seen, check_catalog(connection, path))
            chains, _ = _CHECKED[seen]
    except BaseException:
        connection.close()
        raise
    return connection, chains, seen


def remember(seen: Signature, chains: tuple[str, ...], *, sound: bool = False) -> None:
    """Mark a file as checked in this process: its catalog, and if `sound` also its numbers."""
    if len(_CHECKED) >= _MOST_CHECKED:
        _CHECKED.clear()
    _CHECKED[seen] = chains, sound


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
    if (path / "run.duckdb").is_file():
        raise RunError(
            "is a run in a folder, written by an older ttt; this version reads run files only",
            where=where,
            hint="fit the games again",
        )
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
    plain = {
        name for name, columns in tables((), whole=True).items() if found.get(name) == _created(name, columns)
    }
    if "meta" not in plain:
        raise NotARun(path)
    _check_format(connection, path, inputs="inputs" in plain)
    (size,) = connection.execute(f"SELECT sum(strlen(value)) FROM {DATABASE}.main.meta").fetchone() or (0,)
    if size > _MOST_META:
        raise _impossible(path, "meta")
    chains = ("skill", *_CHAIN_SD.findall(found.get("spans", "")))
    expected = tables(chains, whole="weight bigint" in found.get("game_rows", ""))
    for name, columns in expected.items():
        if not (name in OPTIONAL and name not in found) and found.get(name) != _created(name, columns):
            raise _strange(path, f"its table `{name}` is not one that ttt creates")
    return chains


def _created(table: str, columns: str) -> str:
    return _plain(f"CREATE TABLE {table}({columns});")


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
    if seen in _CHECKED and _CHECKED[seen][1]:
        return
    period: Period = meta.period  # type: ignore[assignment]
    held = {name for (name,) in connection.execute(HELD).fetchall()}
    queries = [
        f"SELECT '{table}', {' AND '.join(wanted)} FROM {_SORTED.get(table, f'{DATABASE}.main.{table}')}"
        for table, wanted in _conditions(period, meta, chains).items()
        if table in held
    ]
    for table, true in connection.execute(" UNION ALL ".join(queries)).fetchall():
        if true is not True:
            raise _impossible(path, table)
    remember(seen, chains, sound=True)


_KNOWN: Final = ("_step", "_growth", "_decline", "_after", "_early", "_periods")  # not NULL
# Tables that are stored in order, with the row before
_SORTED: Final = {
    "names": f"(SELECT rowid, *, lag(player) OVER () AS before FROM {DATABASE}.main.names)",
    "players": f"(SELECT *, lag(player) OVER () AS before FROM {DATABASE}.main.players)",
    "spans": f'(SELECT *, lag(player) OVER () AS before, lag("until") OVER () AS ended FROM {DATABASE}.main.spans)',
}


def _conditions(period: Period, meta: RunMeta, chains: Sequence[str]) -> dict[str, list[str]]:
    """Conditions on each table, as SQL aggregates."""
    first, last = RANGES[period]
    periods = f"{DATABASE}.main.periods"
    names, players = f"{DATABASE}.main.names", f"{DATABASE}.main.players"
    labels = f"(SELECT period FROM {periods})"
    spans, rows, inputs = (
        f"(SELECT count(*) FROM {DATABASE}.main.{name})" for name in ("spans", "game_rows", "inputs")
    )
    counts = [_within(name, 0, LARGEST) for name in ("games", "wins", "draws", "losses")]
    a_name, big = _within("strlen(player)", 0, LONGEST_NAME), 2**62
    return {
        "periods": [
            _within("period_number", first, last),
            "coalesce(max(period_number - rowid) = min(period_number - rowid), true)",
            f"coalesce(bool_and(period = {LABELS[period].replace('number', 'period_number')}), true)",
        ],
        "names": [_within("id - rowid", 0, 0), a_name, _all("before IS NULL OR player > before")],
        "players": [
            f"count(*) = {meta.players}",
            f"count(*) = (SELECT count(*) FROM {names})",
            *(_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("player", "folded", "surname")),
            _all("before IS NULL OR player > before"),
            f"coalesce((SELECT bool_and(a.player = b.player) FROM {names} a POSITIONAL JOIN {players} b), true)",
            *(_all(f'"{name}" IN {labels}') for name in ("first", "last", "peak_period")),
            _within("peak_mean", -LARGEST, LARGEST, known=False),
            _within("peak_sd", SMALLEST, LARGEST, known=False),
            *counts,
            _within("opponents", 0, meta.players),
        ],
        "spans": [
            f"count(*) = {meta.nodes}",
            "count(player) = count(*)",
            _all("before IS NULL OR player > before OR (player = before AND period_number >= ended)"),
            _all('"until" > period_number'),
            _within("period_number", first, last),
            _within('"until"', first, last, known=False),
            f"coalesce(min(period_number) >= (SELECT min(period_number) FROM {periods}), true)",
            f'coalesce(greatest(max(period_number), max("until")) <= (SELECT max(period_number) FROM {periods}), true)',
            _within("games", 0, LARGEST),
            *(
                _within(name, *_range(name), known=name.endswith(_KNOWN))
                for chain in chains
                for name in (*chain_columns(chain), *bridge_columns(chain))
            ),
            *(
                f"count(*) FILTER ({sd} IS NOT NULL AND ({sd}_rise IS NULL OR {sd}_bend IS NULL)) = 0"
                for _, sd in map(chain_columns, chains)
            ),
        ],
        "game_rows": [
            f"count(*) = {meta.games}",
            _within(
                "period_number", *(f"(SELECT {end}(period_number) FROM {periods})" for end in ("min", "max"))
            ),
            _within("date_days", *RANGES["day"]),
            _within("date_precision", 0, 2),
            _within("outcome", 0, 2),
            *(_within(f"{side}_id", 0, meta.players - 1) for side in ("white", "black")),
            _within("weight", 0, LARGEST),
            _within('"offset"', -LARGEST, LARGEST),
            _within("line", -big, big),
            _within("file_number", -(2**31), 2**31 - 1),
        ],
        "inputs": [
            f"count(*) <= {MOST_FILES}",
            *(_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("path", "kind", "digest")),
            *(_within(name, 0, big) for name in ("size", "rows", "used")),
        ],
        **{
            table: [
                *(_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("file", what)),
                _within("rows", 0, big),
                _within("file_number", 0, inputs),
                f"count(*) <= {MOST_FILES}",
            ]
            for table, what in (("dropped", "reason"), ("noticed", "what"))
        },
        "problems": [
            *(_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("file", "reason", "detail", "action")),
            _within("line", -big, big),
        ],
        "evidence": [
            f"count(*) <= {MOST_FILES}",
            *(_within(f"strlen({name})", 2, LONGEST_NAME) for name in ("point", "params")),
            _within("log_evidence", -LARGEST, LARGEST, known=False),
            _within("sweeps", 0, big),
            "count(converged) = count(*)",
            _within("remaining_error", 0, LARGEST, known=False),
        ],
        "texts": [_within("id - rowid", 0, 0), _within("strlen(text)", 0, LONGEST_NAME)],
        "spellings": [_within(f"strlen({name})", 0, LONGEST_NAME) for name in ("player", "spelling")],
        "game_texts": [
            f"count(*) IN (0, {rows})",
            *(_within(name, 0, f"(SELECT count(*) - 1 FROM {DATABASE}.main.texts)") for name in TEXT_COLUMNS),
        ],
        "neutral_games": [_within('"row"', 0, f"{rows} - 1"), 'count(DISTINCT "row") = count(*)'],
        "links": [
            f"count(*) <= {meta.games}",
            *(_within(f'"{end}"', 0, f"{spans} - 1") for end in ("first", "second")),
            'count(*) FILTER ("first" = "second") = 0',
            *(_within(name, -LARGEST, LARGEST, known=name == "q11") for name in ("q11", "q12", "q22")),
        ],
        "draws": [
            *_years(),
            *(_within(name, 0, LARGEST) for name in ("margin", "sd")),
            _within("level", -LARGEST, LARGEST),
        ],
        "newcomers": [*_years(), _within("mean", -LARGEST, LARGEST), _within("sd", 0, LARGEST)],
        "steps": [
            f"count(*) IN (0, {spans})",
            _within("variance", 0, LARGEST),
            *(_within(f"draw_margin_{name}", 0, LARGEST, known=False) for name in ("variance", "precision")),
        ],
    }


def _years() -> list[str]:
    first, last = RANGES["year"]
    return [_within('"year"', first, last), 'count(DISTINCT "year") = count(*)']


def _range(column: str) -> tuple[float, float | str]:
    """The allowed range of a column of a chain, or of its bridge."""
    if column.endswith("_most"):
        return SMALLEST, "'inf'::DOUBLE"
    if column == "sd" or column.endswith(("_sd", "sd_prior", "_periods")):
        return SMALLEST, LARGEST
    if column.endswith("_early"):
        return 0.0, LARGEST
    return -LARGEST, LARGEST


def _within(column: str, low: float | str, high: float | str, *, known: bool = True) -> str:
    """Condition that values of a column are in a range and, if `known`, not NULL. NaN exceeds every number."""
    condition = f"coalesce(min({column}) >= {low} AND max({column}) <= {high}, true)"
    return f"{condition} AND count({column}) = count(*)" if known else condition


def _all(condition: str) -> str:
    return f"coalesce(bool_and({condition}), true)"
