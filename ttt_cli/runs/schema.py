"""The tables and views of a run file. Version 5 of the format; every change of meaning raises the version."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from ttt_cli.histories import bridge_columns, chain_columns, sql_later_on
from ttt_cli.periods import STEPS_PER_YEAR, number_of
from ttt_cli.reading.reports import TEXT_COLUMNS

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

FORMAT: Final = 5
DATABASE: Final = "run"  # the name of the attached database of a run
HELD: Final = (
    f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
)
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

LARGEST: Final = 1e30  # of anything in points, games or Elo points
SMALLEST: Final = 1e-9  # of standard deviations, and of times that are divided by
LONGEST_NAME: Final = 100_000  # bytes
_WHOLE: Final = 2**62
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
# SQL type of each kind of column, and the range of its values, or of the bytes of texts; of PERIOD that of the run's
_KINDS: Final[Mapping[str, tuple[str, float, float]]] = {
    "TEXT": ("VARCHAR", 0, LONGEST_NAME),
    "KEY": ("VARCHAR PRIMARY KEY", 2, LONGEST_NAME),
    "JSON": ("VARCHAR NOT NULL", 2, LONGEST_NAME),
    "ID": ("INTEGER", 0, 2**31 - 1),
    "FILE": ("INTEGER", -(2**31), 2**31 - 1),
    "YEAR": ("INTEGER", *RANGES["year"]),
    "DAY": ("INTEGER", *RANGES["day"]),
    "PERIOD": ("INTEGER", 0, 0),
    "CODE": ("TINYINT", 0, 2),
    "FLAG": ("BOOLEAN", 0, 1),
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
        "periods": "period_number PERIOD, period TEXT",
        "players": """player TEXT, folded TEXT, surname TEXT, first TEXT?, last TEXT?, games GAMES, wins GAMES,
            draws GAMES, losses GAMES, peak_period TEXT?, peak_mean NUMBER?, peak_sd SD?, opponents ID""",
        "spans": "player TEXT, period_number PERIOD, until PERIOD?, games GAMES, {numbers}",
        "game_rows": """period_number PERIOD, date_days DAY, date_precision CODE, white_id ID, black_id ID,
            outcome CODE, weight GAMES, offset NUMBER, line LINE, file_number FILE""",
        "inputs": "path TEXT, kind TEXT, digest TEXT, size COUNT, rows COUNT, used COUNT",
        "dropped": "file TEXT, reason TEXT, rows COUNT, file_number ID",
        "noticed": "file TEXT, what TEXT, rows COUNT, file_number ID",
        "problems": "file TEXT, line LINE, reason TEXT, detail TEXT, action TEXT",
        "evidence": """point KEY, params JSON, log_evidence NUMBER?, converged FLAG, sweeps ID,
            remaining_error AMOUNT?""",
        # Of a joint posterior, by the rows of spans
        "links": "first ID, second ID, q11 SHORT, q12 SHORT?, q22 SHORT?",
        "steps": "variance AMOUNT, draw_margin_variance AMOUNT?, draw_margin_precision AMOUNT?",
        # Draw margins that move, and the mean of newcomers, by calendar year
        "draws": "year YEAR, margin AMOUNT, sd AMOUNT, level NUMBER",
        "newcomers": "year YEAR, mean NUMBER, sd AMOUNT",
        # What is written of games, by the rows of game_rows, empty where nothing is known
        "game_texts": ", ".join(f"{name} ID" for name in TEXT_COLUMNS),
        "texts": "id ID, text TEXT",
        "spellings": "player TEXT, spelling TEXT",
        "neutral_games": "row COUNT",  # the rows of game_rows, counted from 0, of games on neutral ground
    }
)
# Missing in runs of earlier versions; a session has them without rows
OPTIONAL: Final = frozenset(
    {"links", "steps", "game_texts", "texts", "spellings", "draws", "newcomers", "neutral_games"}
)
_PIECE: Final = 1000  # periods of a span that are made at once: a list takes the memory of its longest rows
# The line of a game is its place without the record (`reading.reports.LINES`), in words that older versions know.
_VIEWS: Final = """
CREATE OR REPLACE VIEW games AS
SELECT periods.period, period_number,
       substr(CAST(DATE '1970-01-01' + date_days AS VARCHAR), 1, [4, 7, 10][date_precision + 1]) AS date,
       date_days, date_precision, white.player AS white, black.player AS black,
       {results}[outcome + 1] AS result, weight, "offset", inputs.path AS file,
       line % (CAST(1000 AS BIGINT) * 1000 * 1000 * 10) AS line, {texts_of_game}, file_number,
       white_id, black_id, neutral_games."row" IS NOT NULL AS neutral
FROM {game_rows} AS game_rows JOIN {periods} AS periods USING (period_number)
JOIN {names} AS white ON white.id = white_id JOIN {names} AS black ON black.id = black_id
LEFT JOIN {inputs} AS inputs ON inputs.rowid = file_number
LEFT JOIN {neutral_games} AS neutral_games ON neutral_games."row" = game_rows.rowid
LEFT JOIN {game_texts} AS game_texts ON game_texts.rowid = game_rows.rowid
{of_texts}ORDER BY game_rows.rowid;
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
    """A column of a table: its SQL type, the range of its values (of texts: bytes), and whether none is NULL."""

    name: str
    type: str
    low: float
    high: float
    known: bool


def tables(chains: Sequence[str], period: Period = "year", *, whole: bool) -> dict[str, list[Column]]:
    """Columns of each table; `chains` with the skill first; `whole`: all weights are whole numbers."""
    numbers = [
        f"{name} {kind}"
        for names, kinds in ((chain_columns, _CHAIN), (bridge_columns, _BRIDGE))
        for chain in chains
        for name, kind in zip(names(chain), kinds, strict=True)
    ]
    found: dict[str, list[Column]] = {}
    for table, text in _TABLES.items():
        found[table] = []
        for column in text.format(numbers=", ".join(numbers)).split(","):
            name, kind = column.split()
            bare = "COUNT" if kind == "GAMES" and whole else kind.removesuffix("?")
            sql, *ends = _KINDS[bare]
            low, high = RANGES[period] if bare == "PERIOD" else ends
            found[table].append(Column(name, sql, low, high, not kind.endswith("?")))
    return found


def created(table: str, columns: Sequence[Column]) -> str:
    """SQL that creates a table."""
    inner = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    return f"CREATE TABLE {table}({inner});"


def definitions(chains: Sequence[str], period: Period, *, whole: bool) -> str:
    """SQL that creates the tables of a run, and views for other clients."""
    sql = "".join(created(table, columns) for table, columns in tables(chains, whole=whole).items())
    return sql + _views(chains, period, {table: table for table in _TABLES})


def session_views(
    chains: Sequence[str], period: Period, held: Set[str], *, slope: float = 1.0, shift: float = 0.0
) -> str:
    """SQL that creates views in the main database over the `held` tables of the attached run, skills on a scale."""
    sql = "".join(
        f"CREATE OR REPLACE VIEW {table} AS FROM {DATABASE}.main.{table};"
        if table in held
        else created(table, columns).replace("TABLE", "TABLE IF NOT EXISTS", 1)
        for table, columns in tables(chains, whole=True).items()
        if table != "players"
    )
    places = {table: f"{DATABASE}.main.{table}" if table in held else table for table in _TABLES}
    return f"""{sql}
        CREATE OR REPLACE VIEW players AS
        SELECT * REPLACE ({_shown("peak_mean", slope, shift)}, {_shown("peak_sd", slope)})
        FROM {DATABASE}.main.players;
        {_views(chains, period, places, slope, shift)}"""


def _views(
    chains: Sequence[str], period: Period, places: Mapping[str, str], slope: float = 1.0, shift: float = 0.0
) -> str:
    """SQL of the views; `places` of the tables, other than those of the views."""
    skill, *further = (_ahead(chain, period, slope, shift if chain == "skill" else 0.0) for chain in chains)
    return _VIEWS.format(
        **places,
        piece=_PIECE,
        results=list(RESULTS),
        label=LABELS[period],
        skill=skill,
        further="".join(f", {text}" for text in further),
        texts_of_game=", ".join(f"coalesce(of_{name}.text, '') AS {name}" for name in TEXT_COLUMNS),
        of_texts="".join(
            f"LEFT JOIN {places['texts']} AS of_{name} ON of_{name}.id = game_texts.{name}\n"
            for name in TEXT_COLUMNS
        ),
    )


def _ahead(chain: str, period: Period, slope: float, shift: float) -> str:
    """SQL of mean and sd of a chain `ahead` periods after the start of a span, on a scale."""
    moved, limited = sql_later_on(chain, STEPS_PER_YEAR[period])
    mean, sd = chain_columns(chain)
    return f"{_shown(mean, slope, shift, moved)}, {_shown(sd, slope, 0.0, limited)}"


def _shown(column: str, slope: float, shift: float = 0.0, value: str = "") -> str:
    scaled = f" * {slope!r} + {shift!r}" if (slope, shift) != (1.0, 0.0) else ""
    return f"{value or column}{scaled} AS {column}"
