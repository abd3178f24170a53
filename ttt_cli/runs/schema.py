"""The tables and views of a run file. Version 5 of the format; every change of meaning raises the version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ttt_cli.histories import bridge_columns, chain_columns, sql_later_on
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.quantities import TEXT_COLUMNS

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

FORMAT: Final = 5
DATABASE: Final = "run"  # the name of the attached database of a run
HELD: Final = (
    f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE}' AND schema_name = 'main'"
)
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

_TABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "meta": "key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL",
        "names": "id INTEGER, player VARCHAR",
        "periods": "period_number INTEGER, period VARCHAR",
        "players": """player VARCHAR, folded VARCHAR, surname VARCHAR, "first" VARCHAR, "last" VARCHAR,
            games {count}, wins {count}, draws {count}, losses {count},
            peak_period VARCHAR, peak_mean DOUBLE, peak_sd DOUBLE, opponents INTEGER""",
        "spans": """player VARCHAR, period_number INTEGER, "until" INTEGER, games {count}, {numbers}""",
        "game_rows": """period_number INTEGER, date_days INTEGER, date_precision TINYINT, white_id INTEGER,
            black_id INTEGER, outcome TINYINT, weight {count}, "offset" DOUBLE, line BIGINT, file_number INTEGER""",
        "inputs": "path VARCHAR, kind VARCHAR, digest VARCHAR, size BIGINT, rows BIGINT, used BIGINT",
        "dropped": "file VARCHAR, reason VARCHAR, rows BIGINT, file_number INTEGER",
        "noticed": "file VARCHAR, what VARCHAR, rows BIGINT, file_number INTEGER",
        "problems": "file VARCHAR, line BIGINT, reason VARCHAR, detail VARCHAR, action VARCHAR",
        "evidence": """point VARCHAR PRIMARY KEY, params VARCHAR NOT NULL, log_evidence DOUBLE, converged BOOLEAN,
            sweeps INTEGER, remaining_error DOUBLE""",
        # Of a joint posterior, by the rows of spans
        "links": '"first" INTEGER, "second" INTEGER, q11 FLOAT, q12 FLOAT, q22 FLOAT',
        "steps": "variance DOUBLE, draw_margin_variance DOUBLE, draw_margin_precision DOUBLE",
        # Draw margins that move, and the mean of newcomers, by calendar year
        "draws": '"year" INTEGER, margin DOUBLE, sd DOUBLE, level DOUBLE',
        "newcomers": '"year" INTEGER, mean DOUBLE, sd DOUBLE',
        # What is written of games, by the rows of game_rows, empty where nothing is known
        "game_texts": ", ".join(f"{name} INTEGER" for name in TEXT_COLUMNS),
        "texts": "id INTEGER, text VARCHAR",
        "spellings": "player VARCHAR, spelling VARCHAR",
        "neutral_games": '"row" BIGINT',  # the rows of game_rows, counted from 0, of games on neutral ground
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

# The tables as people and scripts get them. Rows come as stored, which DuckDB promises for queries of one table, or as
# the view orders them: players by name, skills by player and period, games by date and as read.
PUBLIC: Final[dict[str, str]] = {
    "skills": "SELECT * EXCLUDE (period_number) FROM skills",
    "players": "SELECT * EXCLUDE (folded, surname) FROM players",
    "games": f"SELECT period, date, white, black, result, weight, file, line, {', '.join(TEXT_COLUMNS)}, neutral "
    "FROM games",
}
ALIASES: Final = "aliases"  # the kind of input that is the alias file, no file of games


def tables(chains: Sequence[str], *, whole: bool) -> dict[str, str]:
    """SQL columns of each table; `chains` with the skill first; `whole`: all weights are whole numbers."""
    numbers = [*map(chain_columns, chains), *map(bridge_columns, chains)]
    columns = ", ".join(f"{name} DOUBLE" for names in numbers for name in names)
    count = "BIGINT" if whole else "DOUBLE"
    return {table: text.format(count=count, numbers=columns) for table, text in _TABLES.items()}


def definitions(chains: Sequence[str], period: Period, *, whole: bool) -> str:
    """SQL that creates the tables of a run, and views for other clients."""
    created = "".join(f"CREATE TABLE {table}({text});" for table, text in tables(chains, whole=whole).items())
    return created + _views(chains, period, {table: table for table in _TABLES})


def session_views(
    chains: Sequence[str], period: Period, held: Set[str], *, slope: float = 1.0, shift: float = 0.0
) -> str:
    """SQL that creates views in the main database over the `held` tables of the attached run, skills on a scale."""
    created = "".join(
        f"CREATE OR REPLACE VIEW {table} AS FROM {DATABASE}.main.{table};"
        if table in held
        else f"CREATE TABLE IF NOT EXISTS {table}({columns});"
        for table, columns in tables(chains, whole=True).items()
        if table != "players"
    )
    places = {table: f"{DATABASE}.main.{table}" if table in held else table for table in _TABLES}
    return f"""{created}
        CREATE OR REPLACE VIEW players AS
        SELECT * REPLACE ({_shown("peak_mean", slope, shift)}, {_shown("peak_sd", slope)})
        FROM {DATABASE}.main.players;
        {_views(chains, period, places, slope, shift)}"""


def _views(
    chains: Sequence[str],
    period: Period,
    places: Mapping[str, str],
    slope: float = 1.0,
    shift: float = 0.0,
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
