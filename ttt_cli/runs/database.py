"""The DuckDB file of a run: its tables and views, and how it is opened safely: read-only, checked, only its tables.

Version 5 of the format; every change of meaning raises the version. Views and macros in a file serve other clients and
are never evaluated here. SQL cannot reach any other file.
"""

from __future__ import annotations

import math
import re
import shlex
import stat
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from datetime import date
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ttt_cli.histories import bridge_columns, chain_columns, sql_later_on
from ttt_cli.periods import STEPS_PER_YEAR, number_of
from ttt_cli.reading.reports import TEXT_COLUMNS
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import real_place
from ttt_cli.support.opening import check_special

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttt_cli.config.schema import Period
    from ttt_cli.runs.meta import RunMeta

FORMAT: Final = 5
DATABASE: Final = "run"  # the name of the attached database of a run
_RUN: Final = f"{DATABASE}.main"
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

LARGEST: Final = 1e30  # of anything in points, games or Elo points
SMALLEST: Final = 1e-9  # of standard deviations, and of times that are divided by
LONGEST_NAME: Final = 100_000  # bytes
_WHOLE: Final = 2**62
_NEARLY: Final = 1.0 - 1e-9  # for numbers that rounding separates
# How the period with a `number` is written in SQL; `ttt_cli.periods.label` in Python.
LABELS: Final[Mapping[Period, str]] = MappingProxyType(
    {
        "year": "printf('%04d', number)",
        "quarter": "printf('%04d-Q%d', number // 4, number % 4 + 1)",
        "month": "printf('%04d-%02d', number // 12, number % 12 + 1)",
        "week": "strftime(DATE '1970-01-01' + (7 * number - 3), '%G-W%V')",
        "day": "CAST(DATE '1970-01-01' + number AS VARCHAR)",
    }
)
RANGES: Final[Mapping[Period, tuple[int, int]]] = {  # numbers of the periods of 0001-01-01 and 9999-12-31
    period: (number_of(date.min, period), number_of(date.max, period)) for period in LABELS
}
Limits = Mapping[float | str, int]  # by name: the first and the last period, and the last row of each table
# SQL type of each kind of column, and the range of its values, or of the bytes of texts: numbers, or names of limits
_KINDS: Final[Mapping[str, tuple[str, float | str, float | str]]] = {
    "TEXT": ("VARCHAR", 0, LONGEST_NAME),
    "KEY": ("VARCHAR PRIMARY KEY", 2, LONGEST_NAME),
    "JSON": ("VARCHAR NOT NULL", 2, LONGEST_NAME),
    "ID": ("INTEGER", 0, 2**31 - 1),
    "PLAYER": ("INTEGER", 0, "names"),
    "SPAN": ("INTEGER", 0, "spans"),
    "GAME": ("BIGINT", 0, "game_rows"),
    "INPUT": ("INTEGER", 0, "inputs"),
    "WORD": ("INTEGER", 0, "texts"),
    "FILE": ("INTEGER", -(2**31), 2**31 - 1),
    "YEAR": ("INTEGER", *RANGES["year"]),
    "DAY": ("INTEGER", *RANGES["day"]),
    "PERIOD": ("INTEGER", "first", "last"),
    "CALENDAR": ("INTEGER", 0, 0),  # the range of all periods of the run's length
    "CODE": ("TINYINT", 0, 2),
    "FLAG": ("BOOLEAN", False, True),
    "COUNT": ("BIGINT", 0, _WHOLE),
    "LINE": ("BIGINT", -_WHOLE, _WHOLE),
    "GAMES": ("DOUBLE", 0, LARGEST),  # or COUNT, if all weights are whole numbers
    "NUMBER": ("DOUBLE", -LARGEST, LARGEST),
    "AMOUNT": ("DOUBLE", 0, LARGEST),
    "SD": ("DOUBLE", SMALLEST, LARGEST),
    "BOUND": ("DOUBLE", SMALLEST, math.inf),
    "SHORT": ("FLOAT", -LARGEST, LARGEST),
}
# Kinds of the columns of a chain (`chain_columns`, `bridge_columns`)
_CHAIN: Final = ("NUMBER?", "SD?")
_BRIDGE: Final = (
    *("NUMBER", "NUMBER?", "NUMBER?", "NUMBER?", "BOUND?", "SD?"),
    *("NUMBER", "SD", "NUMBER", "NUMBER", "AMOUNT", "SD"),
)
# Columns with their kinds; ?: may be NULL
_TABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "meta": "key KEY, value JSON",
        "names": "id ID, player TEXT",
        "periods": "period_number CALENDAR, period TEXT",
        "players": """player TEXT, folded TEXT, surname TEXT, first TEXT?, last TEXT?, games GAMES, wins GAMES,
            draws GAMES, losses GAMES, peak_period TEXT?, peak_mean NUMBER?, peak_sd SD?, opponents PLAYER""",
        "spans": "player TEXT, period_number PERIOD, until PERIOD?, games GAMES, {numbers}",
        "game_rows": """period_number PERIOD, date_days DAY, date_precision CODE, white_id PLAYER, black_id PLAYER,
            outcome CODE, weight GAMES, offset NUMBER, line LINE, file_number FILE""",
        "inputs": "path TEXT, kind TEXT, digest TEXT, size COUNT, rows COUNT, used COUNT",
        "dropped": "file TEXT, reason TEXT, rows COUNT, file_number INPUT",
        "noticed": "file TEXT, what TEXT, rows COUNT, file_number INPUT",
        "problems": "file TEXT, line LINE, reason TEXT, detail TEXT, action TEXT",
        "evidence": """point KEY, params JSON, log_evidence NUMBER?, converged FLAG, sweeps ID,
            remaining_error AMOUNT?""",
        # Of a joint posterior, by the rows of spans
        "links": "first SPAN, second SPAN, q11 SHORT, q12 SHORT?, q22 SHORT?",
        "steps": "variance AMOUNT, draw_margin_variance AMOUNT?, draw_margin_precision AMOUNT?",
        # Draw margins that move, and the mean of newcomers, by calendar year
        "draws": "year YEAR, margin AMOUNT, sd AMOUNT, level NUMBER",
        "newcomers": "year YEAR, mean NUMBER, sd AMOUNT",
        # What is written of games, by the rows of game_rows, empty where nothing is known
        "game_texts": "event WORD, site WORD, round WORD",
        "texts": "id ID, text TEXT",
        "spellings": "player TEXT, spelling TEXT",
        "neutral_games": "row GAME",  # the rows of game_rows, counted from 0, of games on neutral ground
    }
)
# Missing in runs of earlier versions, each group as a whole; a session has them without rows
_ADDED: Final = (
    frozenset({"links", "steps"}),
    frozenset({"game_texts", "texts"}),
    frozenset({"spellings"}),
    frozenset({"draws"}),
    frozenset({"newcomers"}),
    frozenset({"neutral_games"}),
)
OPTIONAL: Final = frozenset().union(*_ADDED)
_PIECE: Final = 1000  # periods of a span that are made at once: a list takes the memory of its longest rows
# The line of a game is its place without the record (`reading.reports.LINES`), in words that older versions know.
_VIEWS: Final = """
CREATE OR REPLACE VIEW games AS
SELECT periods.period, period_number,
       substr(CAST(DATE '1970-01-01' + date_days AS VARCHAR), 1, [4, 7, 10][date_precision + 1]) AS date,
       date_days, date_precision, white.player AS white, black.player AS black,
       {results}[outcome + 1] AS result, weight, "offset", inputs.path AS file,
       line % (CAST(1000 AS BIGINT) * 1000 * 1000 * 10) AS line, coalesce(of_event.text, '') AS event,
       coalesce(of_site.text, '') AS site, coalesce(of_round.text, '') AS round, file_number,
       white_id, black_id, neutral_games."row" IS NOT NULL AS neutral
FROM {game_rows} AS game_rows JOIN {periods} AS periods USING (period_number)
JOIN {names} AS white ON white.id = white_id JOIN {names} AS black ON black.id = black_id
LEFT JOIN {inputs} AS inputs ON inputs.rowid = file_number
LEFT JOIN {neutral_games} AS neutral_games ON neutral_games."row" = game_rows.rowid
LEFT JOIN {game_texts} AS game_texts ON game_texts.rowid = game_rows.rowid
LEFT JOIN {texts} AS of_event ON of_event.id = game_texts.event
LEFT JOIN {texts} AS of_site ON of_site.id = game_texts.site
LEFT JOIN {texts} AS of_round ON of_round.id = game_texts.round
ORDER BY game_rows.rowid;
CREATE OR REPLACE MACRO skills_of(low, high, last, idle) AS TABLE
SELECT player, {label} AS period, number AS period_number, {skill},
       CASE WHEN ahead = 0 THEN games ELSE 0 END AS games{further}
FROM (SELECT *, number - period_number AS ahead FROM (
    SELECT *, CAST(unnest(range(piece, least(piece + {piece}, beyond))) AS INTEGER) AS number FROM (
        SELECT *, unnest(range(greatest(period_number, low), beyond, {piece})) AS piece
        FROM (SELECT *, least("end", high + 1, period_number + idle + 1) AS beyond
            FROM (SELECT *, coalesce("until", last + 1, period_number + 1) AS "end" FROM {spans})
            WHERE period_number <= coalesce(high, period_number) AND "end" > coalesce(low, period_number)
            AND coalesce(period_number + idle >= low, true)))));
CREATE OR REPLACE MACRO skills_within(low, high, idle) AS TABLE
FROM skills_of(low, high, (SELECT max(period_number) FROM {spans}), idle);
CREATE OR REPLACE VIEW skills AS FROM skills_of(NULL, NULL, NULL, NULL);
CREATE OR REPLACE VIEW nodes AS FROM skills_of(NULL, NULL, NULL, 0);
"""

# The tables as people and scripts get them. Rows come as stored, which DuckDB promises for queries of one table, or as
# the view orders them: players by name, skills by player and period, games by date and as read.
PUBLIC: Final[dict[str, str]] = {
    "skills": "SELECT * EXCLUDE (period_number) FROM skills",
    "players": "SELECT * EXCLUDE (folded, surname) FROM players",
    "games": f"SELECT period, date, white, black, result, weight, file, line, {', '.join(TEXT_COLUMNS)}, neutral "
    "FROM games",
}
ALIASES: Final = "aliases"  # the kind of input that is the alias file, no file of games


class Column(NamedTuple):
    """A column of a table: its SQL type, the range of its values (`_KINDS`), and whether none is NULL."""

    name: str
    type: str
    low: float | str
    high: float | str
    known: bool


def tables(chains: Sequence[str], period: Period = "year", *, whole: bool) -> dict[str, list[Column]]:
    """Columns of each table; `chains` with the skill first; `whole`: all weights are whole numbers."""
    numbers: list[str] = []
    for names, kinds in ((chain_columns, _CHAIN), (bridge_columns, _BRIDGE)):
        for chain in chains:
            numbers += map(" ".join, zip(names(chain), kinds, strict=True))
    found: dict[str, list[Column]] = {}
    for table, text in _TABLES.items():
        found[table] = []
        for column in text.format(numbers=", ".join(numbers)).split(","):
            name, kind = column.split()
            bare = "COUNT" if kind == "GAMES" and whole else kind.removesuffix("?")
            sql, low, high = _KINDS[bare]
            if bare == "CALENDAR":
                low, high = RANGES[period]
            found[table].append(Column(name, sql, low, high, not kind.endswith("?")))
    return found


def created(table: str, columns: Sequence[Column]) -> str:
    """SQL that creates a table."""
    inner = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    return f"CREATE TABLE {table}({inner});"


def definitions(chains: Sequence[str], period: Period, *, whole: bool) -> str:
    """SQL that creates the tables of a run, and views for other clients."""
    sql = "".join(starmap(created, tables(chains, whole=whole).items()))
    return sql + _views(chains, period, dict(zip(_TABLES, _TABLES, strict=True)))


def session_views(
    chains: Sequence[str], held: Set[str], period: Period, slope: float = 1.0, shift: float = 0.0
) -> str:
    """SQL that creates views in the main database over the `held` tables of the attached run, skills on a scale."""
    sql = "".join(
        f"CREATE OR REPLACE VIEW {table} AS FROM {_RUN}.{table};"
        if table in held
        else created(table, columns).replace("TABLE", "TABLE IF NOT EXISTS", 1)
        for table, columns in tables(chains, whole=True).items()
        if table != "players"
    )
    places = {table: f"{_RUN}.{table}" if table in held else table for table in _TABLES}
    return f"""{sql}
        CREATE OR REPLACE VIEW players AS
        SELECT * REPLACE ({_shown("peak_mean", slope, shift)}, {_shown("peak_sd", slope)})
        FROM {_RUN}.players;
        {_views(chains, period, places, slope, shift)}"""


def _views(
    chains: Sequence[str], period: Period, places: Mapping[str, str], slope: float = 1.0, shift: float = 0.0
) -> str:
    """SQL of the views; `places` of the tables, other than those of the views."""
    skill, *further = chains
    return _VIEWS.format(
        **places,
        piece=_PIECE,
        results=list(RESULTS),
        label=LABELS[period],
        skill=_ahead(skill, period, slope, shift),
        further="".join(f", {_ahead(chain, period, slope, 0.0)}" for chain in further),
    )


def _ahead(chain: str, period: Period, slope: float, shift: float) -> str:
    """SQL of mean and sd of a chain `ahead` periods after the start of a span, on a scale."""
    moved, limited = sql_later_on(chain, STEPS_PER_YEAR[period])
    mean, sd = chain_columns(chain)
    return f"{_shown(mean, slope, shift, moved)}, {_shown(sd, slope, 0.0, limited)}"


def _shown(column: str, slope: float, shift: float = 0.0, value: str = "") -> str:
    scaled = f" * {slope!r} + {shift!r}" if (slope, shift) != (1.0, 0.0) else ""
    return f"{value or column}{scaled} AS {column}"


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


class Catalog(NamedTuple):
    """What a run holds: the chains of its spans, the skill first, and the names of its tables."""

    chains: tuple[str, ...]
    tables: frozenset[str]


# By file checked in this process: its catalog, and whether its numbers were checked, too
CHECKED: Final[dict[Signature, tuple[Catalog, bool]]] = {}


class NotARun(RunError):
    """A file that another program wrote."""

    def __init__(self, path: Path) -> None:
        hint = "make a run from games with `ttt fit FILE`, or name one with -r NAME.ttt"
        super().__init__("not a run of ttt", where=str(path), hint=hint)


def connect(path: Path, may_write: Path | None = None) -> tuple[DuckDBPyConnection, Catalog, Signature]:
    """Database in memory with the run attached as `DATABASE`; its catalog; its signature. Raises RunError.

    SQL may write the file `may_write` only.
    """
    import duckdb

    check_name(path)
    check_file(path)
    place = real_place(path)
    allowed = [f"{place}", f"{place}.wal", f"{place}.wal.checkpoint", f"{place}.wal.recovery"]
    if may_write:
        allowed.append(str(real_place(may_write)))
    connection = duckdb.connect(":memory:", config={**_SETTINGS, "temp_directory": f"{place}.tmp"})
    try:
        connection.execute("SET allowed_paths = ?", [allowed])
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        with translated(path):
            seen = signature(path)
            for delay in (*RETRY_DELAYS, None):
                try:
                    connection.execute(f"ATTACH {quoted(place)} AS {DATABASE} (READ_ONLY, TYPE duckdb)")
                    break
                except duckdb.Error as error:
                    check_file(path)  # gone by now?
                    text = str(error)
                    if not any(word in text.lower() for word in _HELD):
                        raise _unreadable(path, text) from error
                    if delay is None:
                        hint = "wait for it to end, or fit into another file with -o"
                        message = "another process has this run open for writing"
                        raise RunError(message, where=str(path), hint=hint) from error
                    time.sleep(delay)
            if seen not in CHECKED:
                CHECKED[seen] = check_catalog(connection, path), False
            catalog, _ = CHECKED[seen]
    except BaseException:
        connection.close()
        raise
    return connection, catalog, seen


def signature(path: Path) -> Signature:
    """Numbers that change when a file, or its log, is replaced or written to."""
    place = real_place(path)
    found: list[int] = []
    for file in (place, log_of(place)):
        if file.exists():
            facts = file.stat()
            found += [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
    return tuple(found)


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
    if not stat.S_ISREG(check_special(path).st_mode):  # opening a FIFO would wait for its writer
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


def insert_rows(connection: DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert all rows in one statement."""
    if columns := [*map(list, zip(*rows, strict=True))]:
        unnested = ", ".join(["unnest(?)"] * len(columns))
        connection.execute(f"INSERT INTO {table} SELECT {unnested}", columns)


def first_line(text: str) -> str:
    """The first line of a message, without a final full stop."""
    return text.strip().partition("\n")[0].rstrip(".")


def _unreadable(path: Path, text: str, how: str = "opened") -> RunError:
    if "newer version of duckdb" in text.lower():
        return RunError(
            "written by a newer version", where=str(path), hint="upgrade ttt and duckdb, or fit it again"
        )
    hint = "the file may be damaged; fit it again"
    if (log := path.with_name(f"{path.name}.wal")).exists():
        hint = f"{log} belongs to another database or is incomplete: move it away; the run is complete without it"
    return RunError(f"cannot be {how}: {first_line(text)}", where=str(path), hint=hint)


def check_catalog(connection: DuckDBPyConnection, path: Path) -> Catalog:
    """The catalog of the attached run. Raises RunError unless it has our format and exactly our tables."""
    query = f"SELECT table_name, sql FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
    found = {name: _plain(sql or "") for name, sql in connection.execute(query).fetchall()}
    chains = ("skill", *_CHAIN_SD.findall(found.get("spans", "")))
    expected = tables(chains, whole="weight bigint" in found.get("game_rows", ""))
    strange = []
    for name, columns in expected.items():
        if found.get(name) != _plain(created(name, columns)):
            strange.append(name)
    if "meta" in strange:
        raise NotARun(path)
    _check_format(connection, path)
    (size,) = connection.execute(f"SELECT sum(strlen(value)) FROM {_RUN}.meta").fetchone() or (0,)
    if size > _MOST_META:
        raise _strange(path, "its table `meta` holds impossible values")
    missing = {name for group in _ADDED if group.isdisjoint(found) for name in group}
    for name in (*(name for name in strange if name not in missing), *_names_of_views(connection)):
        raise _strange(path, f"its table `{name}` is not one that ttt creates")
    return Catalog(chains, frozenset(found))


def _names_of_views(connection: DuckDBPyConnection) -> list[str]:
    """Tables in place of which the run has views."""
    query = (
        f"SELECT view_name FROM duckdb_views() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
    )
    return [name for (name,) in connection.execute(query).fetchall() if name in _TABLES]


def _plain(sql: str) -> str:
    """SQL in one spelling: lower case, without quotes and extra blanks."""
    return " ".join(sql.replace('"', "").lower().split())


def _strange(path: Path, message: str) -> RunError:
    hint = "another program changed the file, so it is not used; fit the games again"
    return RunError(message, where=str(path), hint=hint)


def _check_format(connection: DuckDBPyConnection, path: Path) -> None:
    """Raise RunError for a run of another format; the table `meta` is the same in all."""
    query = f"SELECT max(value) FILTER (key = 'format' AND strlen(value) < 10) FROM {_RUN}.meta"
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
    connection: DuckDBPyConnection, path: Path, meta: RunMeta, catalog: Catalog, seen: Signature
) -> None:
    """Raise RunError when values of the attached run are impossible in any run."""
    if CHECKED.get(seen, (catalog, False))[1]:
        return
    period: Period = meta.period  # type: ignore[assignment]
    held = {
        table: columns
        for table, columns in tables(catalog.chains, period, whole=True).items()
        if table in catalog.tables and table != "meta"
    }
    ends = "coalesce(min(period_number), 0), coalesce(max(period_number), -1)"
    last_rows = ", ".join(f"(SELECT count(*) - 1 FROM {_RUN}.{table})" for table in held)
    found = connection.execute(f"SELECT {ends}, {last_rows} FROM {_RUN}.periods").fetchone()
    limits: Limits = dict(zip(("first", "last", *held), found or (), strict=True))
    sds = [chain_columns(chain)[1] for chain in catalog.chains]
    bridged = " AND ".join(
        f"({sd} IS NULL OR ({sd}_rise IS NOT NULL AND {sd}_bend IS NOT NULL)) AND {sd}_most >= {sd} * {_NEARLY}"
        for sd in sds
    )
    label = LABELS[period].replace("number", "period_number")
    for table, columns in held.items():
        if limits[table] < 0 and table in OPTIONAL:
            continue
        rule = _RULES.get(table, "true").format(label=label, bridged=bridged, meta=meta)
        if not _obeys(connection, table, columns, rule, limits):
            raise _strange(path, f"its table `{table}` holds impossible values")
    CHECKED[seen] = catalog, True


def _obeys(
    connection: DuckDBPyConnection, table: str, columns: Sequence[Column], rule: str, limits: Limits
) -> bool:
    """Whether a table obeys a rule, and its values are in the ranges of their columns."""
    values = [
        f'strlen("{column.name}")' if column.type.startswith("VARCHAR") else f'"{column.name}"'
        for column in columns
    ]
    facts = ", ".join(f"count({value}), min({value}), max({value})" for value in values)
    query = f"SELECT {rule}, {facts} FROM {_ORDERED.get(table, f'{_RUN}.{table}')}"
    obeyed, *found = connection.execute(query).fetchone() or ()
    for column, known, least, most in zip(columns, found[::3], found[1::3], found[2::3], strict=True):
        if known <= limits[table] and column.known:
            return False
        low, high = (limits.get(end, end) for end in (column.low, column.high))
        if known and not (low <= least and most <= high):  # NaN exceeds every number in SQL, and is none here
            return False
    return obeyed is not False


# Tables that are stored in order, with values of the row before
_ORDERED: Final = {
    "names": f"(SELECT rowid, *, lag(player) OVER () AS before FROM {_RUN}.names)",
    "players": f"(SELECT *, lag(player) OVER () AS before FROM {_RUN}.players)",
    "spans": f'(SELECT *, lag(player) OVER () AS before, lag("until") OVER () AS ended FROM {_RUN}.spans)',
}
_LABELS: Final = f"(SELECT period FROM {_RUN}.periods)"
# Conditions on whole tables beside the ranges of their columns. NULL, also in a row, counts as true.
_RULES: Final = {
    "periods": f"""bool_and(period_number - rowid = (SELECT min(period_number) FROM {_RUN}.periods)
        AND period = {{label}})""",
    "names": "bool_and(id = rowid AND (before IS NULL OR player > before))",
    "players": f"""count(*) = {{meta.players}} AND count(*) = (SELECT count(*) FROM {_RUN}.names)
        AND (SELECT bool_and(a.player = b.player) FROM {_RUN}.names a POSITIONAL JOIN {_RUN}.players b)
        AND bool_and("first" IN {_LABELS} AND "last" IN {_LABELS} AND peak_period IN {_LABELS}
            AND (before IS NULL OR player > before))""",
    "spans": """count(*) = {meta.nodes} AND bool_and("until" > period_number AND {bridged}
        AND (before IS NULL OR player > before OR coalesce(player = before AND period_number >= ended, false)))""",
    "game_rows": "count(*) = {meta.games}",
    "links": 'count(*) <= {meta.games} AND bool_and("first" <> "second")',
    "steps": "count(*) = {meta.nodes}",
    "texts": "bool_and(id = rowid)",
    "game_texts": "count(*) = {meta.games}",
    "neutral_games": 'count(DISTINCT "row") = count(*)',
    **dict.fromkeys(("draws", "newcomers"), 'count(DISTINCT "year") = count(*)'),
    **dict.fromkeys(("inputs", "dropped", "noticed", "evidence"), f"count(*) <= {MOST_FILES}"),
}
