"""The tables and views of a run file. Version 3 of the format; every change of meaning raises the version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ttt_cli.quantities import bridge_columns, chain_columns

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

FORMAT: Final = 3
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

_TABLES: Final = """
CREATE TABLE meta(key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
CREATE TABLE names(id INTEGER, player VARCHAR);
CREATE TABLE periods(period_number INTEGER, period VARCHAR);
CREATE TABLE players(
    player VARCHAR, folded VARCHAR, surname VARCHAR, "first" VARCHAR, "last" VARCHAR,
    games {count}, wins {count}, draws {count}, losses {count},
    peak_period VARCHAR, peak_mean DOUBLE, peak_sd DOUBLE);
CREATE TABLE spans(player VARCHAR, period_number INTEGER, "until" INTEGER, games {count}, {numbers});
CREATE TABLE game_rows(
    period_number INTEGER, date_days INTEGER, date_precision TINYINT, white_id INTEGER, black_id INTEGER,
    outcome TINYINT, weight {count}, "offset" DOUBLE, line BIGINT, file_number INTEGER);
CREATE TABLE inputs(path VARCHAR, kind VARCHAR, digest VARCHAR, size BIGINT, rows BIGINT, used BIGINT);
CREATE TABLE dropped(file VARCHAR, reason VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE noticed(file VARCHAR, what VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE problems(file VARCHAR, line BIGINT, reason VARCHAR, detail VARCHAR, action VARCHAR);
CREATE TABLE evidence(
    point VARCHAR PRIMARY KEY, params VARCHAR NOT NULL, log_evidence DOUBLE, converged BOOLEAN,
    sweeps INTEGER, remaining_error DOUBLE);
"""
_VIEWS: Final = """
CREATE VIEW games AS
SELECT periods.period, period_number,
       substr(CAST(DATE '1970-01-01' + date_days AS VARCHAR), 1, [4, 7, 10][date_precision + 1]) AS date,
       date_days, date_precision, white.player AS white, black.player AS black,
       {results}[outcome + 1] AS result, weight, "offset", inputs.path AS file, line, file_number,
       white_id, black_id
FROM game_rows JOIN periods USING (period_number) JOIN names white ON white.id = white_id
JOIN names black ON black.id = black_id LEFT JOIN inputs ON inputs.rowid = file_number
ORDER BY game_rows.rowid;
CREATE MACRO skills_within(low, high, idle) AS TABLE
SELECT player, {label} AS period, number AS period_number, {skill},
       CASE WHEN ahead = 0 THEN games ELSE 0 END AS games{further}
FROM (SELECT *, number - period_number AS ahead FROM (
    SELECT *, CAST(unnest(range(greatest(period_number, low), least("until", high + 1, period_number + idle + 1)))
                   AS INTEGER) AS number
    FROM spans WHERE period_number <= coalesce(high, period_number) AND "until" > coalesce(low, period_number)));
"""
SKILL_VIEWS: Final = """
CREATE VIEW skills AS FROM skills_within(NULL, NULL, NULL);
CREATE VIEW nodes AS FROM skills_within(NULL, NULL, 0);
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
    "games": "SELECT period, date, white, black, result, weight, file, line FROM games",
}
ALIASES: Final = "aliases"  # the kind of input that is the alias file, no file of games


def definitions(chains: Sequence[str], period: Period, *, whole: bool) -> str:
    """SQL that creates everything in an empty run; `chains` with the skill first.

    `whole`: every game counts as a whole number of games.
    """
    numbers = [*map(chain_columns, chains), *map(bridge_columns, chains)]
    skill, *further = map(_ahead, chains)
    tables = _TABLES.format(
        count="BIGINT" if whole else "DOUBLE",
        numbers=", ".join(f"{name} DOUBLE" for columns in numbers for name in columns),
    )
    views = _VIEWS.format(
        results=list(RESULTS),
        label=LABELS[period],
        skill=skill,
        further="".join(f", {text}" for text in further),
    )
    return tables + views + SKILL_VIEWS


def _ahead(chain: str) -> str:
    """Mean and sd of a chain so many periods `ahead` of the first of a span: `ttt_cli.fitted.later_on`."""
    mean, sd = chain_columns(chain)
    step, rise, bend, most, prior = bridge_columns(chain)
    known = f"coalesce(1 / ({prior} * {prior}), 0)"
    told = f"(1 / ({sd} * {sd}) - {known})"
    later = f"1 / sqrt({known} + {told} / (1 + {told} * ahead * ({rise} + ahead * {bend})))"
    limited = f"CASE WHEN ahead = 0 THEN {sd} WHEN {later} > {most} THEN {most} ELSE {later} END"
    return f"{mean} + ahead * {step} AS {mean}, {limited} AS {sd}"
