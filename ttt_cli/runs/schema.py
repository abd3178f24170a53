"""Tables and views of a run in SQL: columns with the ranges of their values, views of skills and games, labels.

Version 5 of the format; every change of meaning raises the version.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from ttt_cli.histories import bridge_columns, chain_columns, sql_later_on
from ttt_cli.periods import STEPS_PER_YEAR, number_of
from ttt_cli.reading.text_columns import TEXT_COLUMNS

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

FORMAT: Final = 5
DATABASE: Final = "run"  # the name of the attached database of a run
RUN: Final = f"{DATABASE}.main"  # its schema
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

LARGEST: Final = 1e30  # of anything in points, games or Elo points
SMALLEST: Final = 1e-9  # of standard deviations, and of times that are divided by
LONGEST_NAME: Final = 100_000  # bytes
_LARGEST_COUNT: Final = 2**62
_WORD: Final = re.compile(r"\w+")
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
RANGES: Final[
    Mapping[Period, tuple[int, int]]
] = {  # numbers of the periods of 0001-01-01 and 9999-12-31
    period: (number_of(date.min, period), number_of(date.max, period)) for period in LABELS
}


class _Kind(NamedTuple):
    """A kind of column: its SQL type, and the range of its values, or of the bytes of texts.

    Limits are numbers, or names of tables (the number of their rows), or `first` and `last` period.
    """

    sql_type: str
    low: float | str
    high: float | str


_KINDS: Final[Mapping[str, _Kind]] = {
    "TEXT": _Kind("VARCHAR", 0, LONGEST_NAME),
    "KEY": _Kind("VARCHAR PRIMARY KEY", 2, LONGEST_NAME),
    "JSON": _Kind("VARCHAR NOT NULL", 2, LONGEST_NAME),
    "ID": _Kind("INTEGER", 0, 2**31 - 1),
    "PLAYER": _Kind("INTEGER", 0, "names"),
    "SPAN": _Kind("INTEGER", 0, "spans"),
    "GAME": _Kind("BIGINT", 0, "game_rows"),
    "INPUT": _Kind("INTEGER", 0, "inputs"),
    "WORD": _Kind("INTEGER", 0, "texts"),
    "COVARIATE": _Kind("INTEGER", 0, "covariates"),
    "VALUE": _Kind("INTEGER", 0, "covariate_texts"),
    "FIELD": _Kind("INTEGER", 0, "people_fields"),
    "CATEGORY": _Kind("INTEGER", 0, "categories"),
    "SOURCE": _Kind("INTEGER", 0, "sources"),
    "TEAM": _Kind("INTEGER", 0, 2**31 - 1),
    "CATEGORY_SPAN": _Kind("INTEGER", 0, "category_spans"),
    "SUM_LINK": _Kind("INTEGER", 0, "sum_links"),
    "FILE": _Kind("INTEGER", -(2**31), 2**31 - 1),
    "YEAR": _Kind("INTEGER", *RANGES["year"]),
    "DAY": _Kind("INTEGER", *RANGES["day"]),
    "PERIOD": _Kind("INTEGER", "first", "last"),
    "CALENDAR": _Kind("INTEGER", 0, 0),  # the range of all periods of the run's length
    "CODE": _Kind("TINYINT", 0, 2),
    "FLAG": _Kind("BOOLEAN", False, True),
    "COUNT": _Kind("BIGINT", 0, _LARGEST_COUNT),
    "LINE": _Kind("BIGINT", -_LARGEST_COUNT, _LARGEST_COUNT),
    "GAMES": _Kind("DOUBLE", 0, LARGEST),  # or COUNT, if all weights are whole numbers
    "NUMBER": _Kind("DOUBLE", -LARGEST, LARGEST),
    "AMOUNT": _Kind("DOUBLE", 0, LARGEST),
    "SD": _Kind("DOUBLE", SMALLEST, LARGEST),
    "BOUND": _Kind("DOUBLE", SMALLEST, math.inf),
    "SHORT": _Kind("FLOAT", -LARGEST, LARGEST),
}
# Kinds of the columns of a chain, in the order of `histories.chain_columns` and `histories.bridge_columns`
_CHAIN: Final = (
    "NUMBER?",  # mean
    "SD?",  # sd
)
_BRIDGE: Final = (
    "NUMBER",  # mean_step
    "NUMBER?",  # mean_prior
    "NUMBER?",  # sd_rise
    "NUMBER?",  # sd_bend
    "BOUND?",  # sd_most
    "SD?",  # sd_prior
    "NUMBER",  # mean_growth
    "SD",  # mean_growth_periods
    "NUMBER",  # mean_decline
    "NUMBER",  # mean_decline_after
    "AMOUNT",  # sd_early
    "SD",  # sd_early_periods
)
# Columns with their kinds; ?: may be NULL
TABLES: Final[Mapping[str, str]] = MappingProxyType(
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
        "file_traits": "chess FLAG, home FLAG, winner_first FLAG, file_number INPUT",
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
        "doubtful_games": "row GAME, p_true AMOUNT",  # the probability that a record is right, where it may be wrong
        "victory_margins": "row GAME, margin AMOUNT",  # by how much games were won, where that is known
        # Covariates; their values as written: those of games or differences (`game_values`), and of covariates that
        # sides have (`game_covariates`), each with all games of the first such covariate, then those of the next; and
        # what they add to the strength of White
        "covariates": "id ID, name TEXT, category FLAG",
        "game_values": "value VALUE",
        "game_covariates": "covariate COVARIATE, single VALUE, white VALUE, black VALUE",
        "covariate_texts": "id ID, text TEXT",
        "covariate_points": "row GAME, points NUMBER",
        # What is known of players: texts by the id of a field, where there is one
        "people_fields": "id ID, name TEXT",
        "people": "player TEXT, field FIELD, value TEXT",
        # Categories of games, the empty one first; that of each row of game_rows; and the skills in those that have
        # offsets, as in spans from each player's first game there, with the number of games there
        "categories": "id ID, name TEXT",
        "game_categories": "category CATEGORY",
        # Sources of games, the empty one first, and that of each row of game_rows
        "sources": "id ID, name TEXT",
        "game_sources": "source SOURCE",
        "category_spans": """category CATEGORY, player TEXT, period_number PERIOD, until PERIOD?, games GAMES,
            {numbers}""",
        # Members of teams from number 1 on, with their shares of the game; by the rows of game_rows: teams of both
        # sides, 0 where a side is one player, and the number of the order of finish, 0 where there is none
        "team_members": "team TEAM, player_id PLAYER, share AMOUNT",
        "game_sides": "white_team TEAM, black_team TEAM, race ID",
        # Of a joint posterior, by the rows of category_spans: the offsets there
        "category_links": "first CATEGORY_SPAN, second CATEGORY_SPAN, q11 SHORT",
        "category_steps": "variance AMOUNT",
        # Of a joint posterior: games of teams and in orders of finish, whose sides are sums, and what defines the
        # performances of sides; and the terms of these sums, by link. Variables are the rows of spans, then those of
        # category_spans (the offsets there), then performances.
        "sum_links": "q11 SHORT",
        "sum_terms": "link SUM_LINK, variable ID, coefficient NUMBER",
    }
)
# Covariates of which all columns are stored; `game_values` has the others, in their order
COVARIATES_WITH_SIDES: Final = "SELECT DISTINCT covariate FROM game_covariates ORDER BY covariate"
# Missing in runs of earlier versions, each group as a whole; a session has them without rows
ADDED: Final = (
    frozenset({"links", "steps"}),
    frozenset({"game_texts", "texts"}),
    frozenset({"spellings"}),
    frozenset({"draws"}),
    frozenset({"newcomers"}),
    frozenset({"neutral_games"}),
    frozenset({"file_traits"}),
    frozenset({"covariates", "game_covariates", "covariate_texts", "covariate_points"}),
    frozenset({"game_values"}),
    frozenset({"people_fields", "people"}),
    frozenset({"victory_margins"}),
    frozenset({"doubtful_games"}),
    frozenset({"sources", "game_sources"}),
    frozenset(
        {"categories", "game_categories", "category_spans", "category_links", "category_steps"}
    ),
    frozenset({"team_members", "game_sides"}),
    frozenset({"sum_links", "sum_terms"}),
)
OPTIONAL: Final = frozenset().union(*ADDED)
# Periods of a span that are made at once: a list takes the memory of its longest rows.
_PIECE_LENGTH: Final = 1000
# Views and macros by name, those that others read first.
# The line of a game is its place modulo 10**10 (`reading.reports.LINES`), without the record in that line. The number
# is written as a product, since older versions of ttt read a run only if they know all words of its views.
_VIEWS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Teams by the names of their members, with shares that are not 1
        "teams": """
CREATE OR REPLACE VIEW teams AS
SELECT team,
       string_agg(
           player || CASE share WHEN 1 THEN '' ELSE printf(' (%g)', share) END, ' / ' ORDER BY members.rowid
       ) AS name
FROM {team_members} AS members JOIN {names} AS member ON member.id = player_id GROUP BY team""",
        # The players of each row of game_rows
        "game_players": """
CREATE OR REPLACE VIEW game_players AS
SELECT rowid AS game, white_id AS player_id, false AS is_black FROM {game_rows} AS game_rows
UNION ALL SELECT rowid, black_id, true FROM {game_rows} AS game_rows
UNION ALL SELECT game_rows.rowid, player_id, false FROM {game_rows} AS game_rows
    JOIN {game_sides} AS sides ON sides.rowid = game_rows.rowid
    JOIN {team_members} AS members ON members.team = white_team AND player_id <> white_id
UNION ALL SELECT game_rows.rowid, player_id, true FROM {game_rows} AS game_rows
    JOIN {game_sides} AS sides ON sides.rowid = game_rows.rowid
    JOIN {team_members} AS members ON members.team = black_team AND player_id <> black_id""",
        "games": """
CREATE OR REPLACE VIEW games AS
SELECT periods.period, period_number,
       substr(CAST(DATE '1970-01-01' + date_days AS VARCHAR), 1, [4, 7, 10][date_precision + 1]) AS date,
       date_days, date_precision, coalesce(of_white.name, white.player) AS white,
       coalesce(of_black.name, black.player) AS black,
       {results}[outcome + 1] AS result, weight, "offset", inputs.path AS file,
       line % (CAST(1000 AS BIGINT) * 1000 * 1000 * 10) AS line, coalesce(of_event.text, '') AS event,
       coalesce(of_site.text, '') AS site, coalesce(of_round.text, '') AS round, file_number,
       white_id, black_id, neutral_games."row" IS NOT NULL AS neutral,
       coalesce(covariate_points.points, 0) AS covariate_points, coalesce(of_game.name, '') AS category,
       coalesce(victory_margins.margin, 0) AS margin, coalesce(of_source.name, '') AS source,
       coalesce(doubtful_games.p_true, 1) AS p_true,
       coalesce(game_sides.race, 0) AS race, game_rows.rowid AS game
FROM {game_rows} AS game_rows JOIN {periods} AS periods USING (period_number)
JOIN {names} AS white ON white.id = white_id JOIN {names} AS black ON black.id = black_id
LEFT JOIN {inputs} AS inputs ON inputs.rowid = file_number
LEFT JOIN {neutral_games} AS neutral_games ON neutral_games."row" = game_rows.rowid
LEFT JOIN {victory_margins} AS victory_margins ON victory_margins."row" = game_rows.rowid
LEFT JOIN {doubtful_games} AS doubtful_games ON doubtful_games."row" = game_rows.rowid
LEFT JOIN {covariate_points} AS covariate_points ON covariate_points."row" = game_rows.rowid
LEFT JOIN {game_texts} AS game_texts ON game_texts.rowid = game_rows.rowid
LEFT JOIN {texts} AS of_event ON of_event.id = game_texts.event
LEFT JOIN {texts} AS of_site ON of_site.id = game_texts.site
LEFT JOIN {texts} AS of_round ON of_round.id = game_texts.round
LEFT JOIN {game_categories} AS game_categories ON game_categories.rowid = game_rows.rowid
LEFT JOIN {categories} AS of_game ON of_game.id = game_categories.category
LEFT JOIN {game_sources} AS game_sources ON game_sources.rowid = game_rows.rowid
LEFT JOIN {sources} AS of_source ON of_source.id = game_sources.source
LEFT JOIN {game_sides} AS game_sides ON game_sides.rowid = game_rows.rowid
LEFT JOIN teams AS of_white ON of_white.team = game_sides.white_team
LEFT JOIN teams AS of_black ON of_black.team = game_sides.black_team
ORDER BY game_rows.rowid""",
        # Skills in periods from low to high, up to last where no games follow, and at most idle periods after games.
        # A span is a row of spans: a period with games and those after it without. One of 1990 that ends before 2000,
        # with low 1993, high 1996, idle 5, has beyond 1996 (1990 + idle + 1), begins at 1993, and gives rows of 1993,
        # 1994, 1995. Read it from the innermost query on: spans with their ends, then within the limits, pieces, rows.
        "skills_of": """
CREATE OR REPLACE MACRO skills_of(low, high, last, idle) AS TABLE
SELECT player, {label} AS period, number AS period_number, {skill},
       CASE WHEN ahead = 0 THEN games ELSE 0 END AS games{further}
FROM (SELECT *, number - period_number AS ahead FROM (
    -- a row for each period of a piece of a span
    SELECT *, CAST(unnest(range(piece_start, least(piece_start + {piece_length}, beyond))) AS INTEGER) AS number FROM (
        -- a row for each piece of a span
        SELECT *, unnest(range(greatest(period_number, low), beyond, {piece_length})) AS piece_start
        -- spans with the period that is the first beyond their end and the limits
        FROM (SELECT *, least("end", high + 1, period_number + idle + 1) AS beyond
            FROM (SELECT *, coalesce("until", last + 1, period_number + 1) AS "end" FROM {spans})
            WHERE period_number <= coalesce(high, period_number) AND "end" > coalesce(low, period_number)
            AND coalesce(period_number + idle >= low, true)))))""",
        "skills_within": """
CREATE OR REPLACE MACRO skills_within(low, high, idle) AS TABLE
FROM skills_of(low, high, (SELECT max(period_number) FROM {spans}), idle)""",
        "skills": """
CREATE OR REPLACE VIEW skills AS FROM skills_of(NULL, NULL, NULL, NULL)""",
        # Skills in periods with games
        "nodes": """
CREATE OR REPLACE VIEW nodes AS
SELECT player, {label} AS period, number AS period_number, {skill}, games{further}
FROM (SELECT *, 0 AS ahead, period_number AS number FROM {spans})""",
        # Skills in periods with games, in each category with offsets
        "category_nodes": """
CREATE OR REPLACE VIEW category_nodes AS
SELECT of_span.name AS category, player, {period_label} AS period, period_number, {skill_there}, games
FROM {category_spans} JOIN {categories} AS of_span ON of_span.id = category""",
    }
)
# The players of a category: their records, first and last game and peak there
_CATEGORY_PLAYERS: Final = """
WITH sides AS (
    SELECT player_id AS id, if(is_black, 2 - outcome, outcome) AS result, weight
    FROM game_players JOIN {game_rows} AS game_rows ON game_rows.rowid = game),
records AS (
    SELECT id, sum(weight) AS games, coalesce(sum(weight) FILTER (result = 2), 0) AS wins,
           coalesce(sum(weight) FILTER (result = 1), 0) AS draws,
           coalesce(sum(weight) FILTER (result = 0), 0) AS losses
    FROM sides GROUP BY id),
met AS (
    SELECT own.player_id AS id, count(DISTINCT other.player_id) AS opponents
    FROM game_players AS own JOIN game_players AS other USING (game) WHERE own.is_black <> other.is_black
    GROUP BY own.player_id),
marks AS (
    SELECT player, min(period_number) AS first, max(period_number) FILTER (games > 0) AS last,
           -- the highest mean, in the earliest of periods with equal ones
           max({{'mean': mean, 'period': -period_number, 'sd': sd}}) FILTER (games > 0) AS peak
    FROM {spans} GROUP BY player)
SELECT all_players.player, folded, surname, begun.period AS "first", ended.period AS "last",
       records.games, records.wins, records.draws, records.losses, best.period AS peak_period,
       marks.peak.mean{scaled} AS peak_mean, marks.peak.sd{scaled_sd} AS peak_sd, met.opponents
FROM {players} AS all_players JOIN {names} AS named USING (player) JOIN records USING (id) JOIN met USING (id)
JOIN marks USING (player)
JOIN {periods} AS begun ON begun.period_number = marks.first
JOIN {periods} AS ended ON ended.period_number = marks.last
JOIN {periods} AS best ON best.period_number = -marks.peak.period
ORDER BY named.id
"""

# The tables as people and scripts get them. Rows come as stored, which DuckDB promises for queries of one table, or as
# the view orders them: players by name, skills by player and period, games by date and as read.
PUBLIC: Final[dict[str, str]] = {
    "skills": "SELECT * EXCLUDE (period_number) FROM skills",
    "players": "SELECT * EXCLUDE (folded, surname) FROM players",
    "games": f"SELECT period, date, white, black, result, weight, file, line, {', '.join(TEXT_COLUMNS)}, neutral, "
    "category, margin, source, p_true FROM games",
}
ALIASES: Final = "aliases"  # the kind of input that is the alias file
PEOPLE: Final = "people"  # the kind of input that is the file of people
CORRECTIONS: Final = "corrections"  # the kind of input that is the file of corrections
NOT_OF_GAMES: Final = (ALIASES, PEOPLE, CORRECTIONS)  # kinds of input


class TableColumn(NamedTuple):
    """A column of a table: its SQL type, the range of its values (`_KINDS`), and whether none is NULL."""

    name: str
    type: str
    low: float | str
    high: float | str
    required: bool


def tables(
    chains: Sequence[str], period: Period = "year", *, whole_weights: bool
) -> dict[str, list[TableColumn]]:
    """Columns of each table; `chains` with the skill first; `whole_weights`: all weights are whole numbers."""
    chain_kinds = [
        f"{name} {kind}"
        for names, kinds in ((chain_columns, _CHAIN), (bridge_columns, _BRIDGE))
        for chain in chains
        for name, kind in zip(names(chain), kinds, strict=True)
    ]
    columns_of: dict[str, list[TableColumn]] = {}
    for table, text in TABLES.items():
        columns_of[table] = []
        for column in text.format(numbers=", ".join(chain_kinds)).split(","):
            name, written_kind = column.split()
            required = not written_kind.endswith("?")
            kind = written_kind.removesuffix("?")
            if kind == "GAMES" and whole_weights:
                kind = "COUNT"
            limits: tuple[float | str, float | str] = (_KINDS[kind].low, _KINDS[kind].high)
            if kind == "CALENDAR":
                limits = RANGES[period]
            columns_of[table].append(TableColumn(name, _KINDS[kind].sql_type, *limits, required))
    return columns_of


def create_table(table: str, columns: Sequence[TableColumn]) -> str:
    """SQL that creates a table."""
    definition = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    return f"CREATE TABLE {table}({definition});"


def table_definitions(chains: Sequence[str], *, whole_weights: bool) -> str:
    """SQL that creates the tables of a run."""
    columns_of = tables(chains, whole_weights=whole_weights)
    return "".join(create_table(table, columns) for table, columns in columns_of.items())


def client_views(chains: Sequence[str], period: Period) -> str:
    """SQL that creates the views of a run for other clients, which are not made for the session as ours are."""
    return ";".join(_views(chains, period, {table: table for table in TABLES}).values())


def session_views(
    chains: Sequence[str],
    stored: Set[str],
    period: Period,
    slope: float = 1.0,
    shift: float = 0.0,
    category: int | None = None,
) -> dict[str, str]:
    """SQL of each view in the main database over the `stored` tables of the attached run, skills on a scale.

    Views that others read come first. Tables that an older run lacks are created without rows. With the number of a
    `category` the players, spans and games are those of the category alone.
    """
    names = {table: f"{RUN}.{table}" if table in stored else table for table in TABLES}
    if category is not None:
        names |= _category_tables(category)
    views: dict[str, str] = {}
    for table, columns in tables(chains, whole_weights=True).items():
        if table in stored:
            views[table] = f"CREATE OR REPLACE VIEW {table} AS FROM {names[table]}"
        else:
            views[table] = create_table(table, columns).replace("TABLE", "TABLE IF NOT EXISTS", 1)
    scaled = _on_scale("peak_mean", slope, shift), _on_scale("peak_sd", slope)
    del views["players"]
    players = f"SELECT * REPLACE ({', '.join(scaled)}) FROM {RUN}.players"
    if category is not None:
        players = _CATEGORY_PLAYERS.format(
            **names, scaled=f" * {slope!r} + {shift!r}", scaled_sd=f" * {slope!r}"
        )
    of_games = _views(chains, period, names, slope, shift)
    return views | of_games | {"players": f"CREATE OR REPLACE VIEW players AS {players}"}


def used_views(views: Mapping[str, str], sql: str) -> list[str]:
    """The names of the views that a query reads, directly or through others, in the order of `views`."""
    words = _words(sql)
    used = []
    for name, definition in reversed(list(views.items())):
        if name in words:
            used.append(name)
            words |= _words(definition)
    return used[::-1]


def _words(sql: str) -> set[str]:
    return set(_WORD.findall(sql.lower()))


def _category_tables(category: int) -> dict[str, str]:
    """SQL of the tables that have rows of one category alone; the rows of games keep their numbers."""
    return {
        "spans": f"(SELECT * EXCLUDE (category) FROM {RUN}.category_spans WHERE category = {category})",
        "game_rows": f"(SELECT g.rowid, g.* FROM {RUN}.game_rows g JOIN {RUN}.game_categories c ON c.rowid = g.rowid"
        f" WHERE c.category = {category})",
    }


def _views(
    chains: Sequence[str],
    period: Period,
    names: Mapping[str, str],
    slope: float = 1.0,
    shift: float = 0.0,
) -> dict[str, str]:
    """SQL of the views by name; `names` of the tables that they read, by table."""
    skill, *further_chains = chains
    values = {
        **names,
        "piece_length": _PIECE_LENGTH,
        "results": list(RESULTS),
        "label": LABELS[period],
        "period_label": LABELS[period].replace("number", "period_number"),
        "skill_there": f"{_on_scale('mean', slope, shift)}, {_on_scale('sd', slope)}",
        "skill": _ahead(skill, period, slope, shift),
        "further": "".join(f", {_ahead(chain, period, slope, 0.0)}" for chain in further_chains),
    }
    return {name: definition.format(**values) for name, definition in _VIEWS.items()}


def _ahead(chain: str, period: Period, slope: float, shift: float) -> str:
    """SQL of mean and sd of a chain `ahead` periods after the start of a span, on a scale."""
    mean_ahead, sd_ahead = sql_later_on(chain, STEPS_PER_YEAR[period])
    mean, sd = chain_columns(chain)
    return f"{_on_scale(mean, slope, shift, mean_ahead)}, {_on_scale(sd, slope, 0.0, sd_ahead)}"


def _on_scale(column: str, slope: float, shift: float = 0.0, value: str = "") -> str:
    """SQL of a column with its value, or another `value`, on a scale."""
    scaled = "" if (slope, shift) == (1.0, 0.0) else f" * {slope!r} + {shift!r}"
    return f"{value or column}{scaled} AS {column}"
