"""The tables of a run file. Version 2 of the format; every change of meaning raises the version."""

from __future__ import annotations

from typing import Final

FORMAT: Final = 2
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win

# {count}: BIGINT when every game counts as a whole number of games, else DOUBLE.
CREATE: Final = f"""
CREATE TABLE meta(key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
CREATE TABLE names(id INTEGER, player VARCHAR);
CREATE TABLE periods(period_number INTEGER, period VARCHAR);
CREATE TABLE players(
    player VARCHAR, folded VARCHAR, surname VARCHAR, "first" VARCHAR, "last" VARCHAR,
    games {{count}}, wins {{count}}, draws {{count}}, losses {{count}},
    peak_period VARCHAR, peak_mean DOUBLE, peak_sd DOUBLE);
CREATE TABLE skills(
    player VARCHAR, period VARCHAR, period_number INTEGER, mean DOUBLE, sd DOUBLE, games {{count}}{{further}});
CREATE TABLE game_rows(
    period_number INTEGER, date_days INTEGER, date_precision TINYINT, white_id INTEGER, black_id INTEGER,
    outcome TINYINT, weight {{count}}, "offset" DOUBLE, line BIGINT, file_number INTEGER);
CREATE TABLE inputs(path VARCHAR, kind VARCHAR, digest VARCHAR, size BIGINT, rows BIGINT, used BIGINT);
CREATE TABLE dropped(file VARCHAR, reason VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE noticed(file VARCHAR, what VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE problems(file VARCHAR, line BIGINT, reason VARCHAR, detail VARCHAR, action VARCHAR);
CREATE TABLE evidence(
    point VARCHAR PRIMARY KEY, params VARCHAR NOT NULL, log_evidence DOUBLE, converged BOOLEAN,
    sweeps INTEGER, remaining_error DOUBLE);
CREATE VIEW games AS
SELECT periods.period, period_number,
       substr(CAST(DATE '1970-01-01' + date_days AS VARCHAR), 1, [4, 7, 10][date_precision + 1]) AS date,
       date_days, date_precision, white.player AS white, black.player AS black,
       {list(RESULTS)}[outcome + 1] AS result, weight, "offset", inputs.path AS file, line, file_number,
       white_id, black_id
FROM game_rows JOIN periods USING (period_number) JOIN names white ON white.id = white_id
JOIN names black ON black.id = black_id LEFT JOIN inputs ON inputs.rowid = file_number
ORDER BY game_rows.rowid;
"""

# The tables as people and scripts get them. Rows come as stored, which DuckDB promises for queries of one table, or as
# the view orders them: players by name, skills by player and period, games by date and as read.
PUBLIC: Final[dict[str, str]] = {
    "skills": "SELECT * EXCLUDE (period_number) FROM skills",
    "players": "SELECT * EXCLUDE (folded, surname) FROM players",
    "games": "SELECT period, date, white, black, result, weight, file, line FROM games",
}
ALIASES: Final = "aliases"  # the kind of input that is the alias file, no file of games
