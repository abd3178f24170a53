"""The tables of a run file. Version 1 of the format; every change of meaning raises the version."""

from __future__ import annotations

from typing import Final

FORMAT: Final = 1

# {count}: BIGINT when every game counts as a whole number of games, else DOUBLE.
CREATE: Final = """
CREATE TABLE meta(key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
CREATE TABLE players(
    player VARCHAR, folded VARCHAR, surname VARCHAR, "first" VARCHAR, "last" VARCHAR,
    games {count}, wins {count}, draws {count}, losses {count},
    peak_period VARCHAR, peak_mean DOUBLE, peak_sd DOUBLE);
CREATE TABLE skills(
    player VARCHAR, period VARCHAR, period_number INTEGER, mean DOUBLE, sd DOUBLE, games {count}{further});
CREATE TABLE games(
    period VARCHAR, period_number INTEGER, date VARCHAR, date_days INTEGER, date_precision TINYINT,
    white VARCHAR, black VARCHAR, result VARCHAR, weight {count}, "offset" DOUBLE,
    file VARCHAR, line BIGINT, file_number INTEGER);
CREATE TABLE inputs(path VARCHAR, kind VARCHAR, digest VARCHAR, size BIGINT, rows BIGINT, used BIGINT);
CREATE TABLE dropped(file VARCHAR, reason VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE noticed(file VARCHAR, what VARCHAR, rows BIGINT, file_number INTEGER);
CREATE TABLE problems(file VARCHAR, line BIGINT, reason VARCHAR, detail VARCHAR, action VARCHAR);
CREATE TABLE evidence(
    point VARCHAR PRIMARY KEY, params VARCHAR NOT NULL, log_evidence DOUBLE, converged BOOLEAN,
    sweeps INTEGER, remaining_error DOUBLE);
"""

# The tables as people and scripts get them. Rows come as stored, which DuckDB promises for queries of one table:
# players by name, skills by player and period, games by date and as read.
PUBLIC: Final[dict[str, str]] = {
    "skills": "SELECT * EXCLUDE (period_number) FROM skills",
    "players": "SELECT * EXCLUDE (folded, surname) FROM players",
    "games": "SELECT period, date, white, black, result, weight, file, line FROM games",
}
RESULTS: Final = ("0-1", "1/2-1/2", "1-0")  # by outcome for White: loss, draw, win
