"""Hostile runs: every column of every table of a small run changed in every way of `VALUES`, then opened by commands.

    python benchmarks/fuzz_runs.py [--runs 200] [--seed 1] [--commands 2]

Every command must end with 0, 2 or 3, in 10 seconds and 1 GB; what does not is printed, and the exit code is 1.
"""

import os
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from measuring import options_of

from ttt_cli.api import fit
from ttt_cli.cli.main import run as ttt

VALUES = (
    "NULL", "'nan'", "'inf'", "'-inf'", "0", "-1", "1", "1e-300", "-1e-300", "1e300", "1e29", "127", "-128", "9999",
    "2147483647", "-2147483648", "9223372036854775807", "''", "' '", "'²'", "chr(0)", "repeat('9', 400)",
    "repeat('x', 90000)", "repeat('[', 5000)", "'{}'", "'[]'", "'null'", "'true'", "'1e999'", "'{\"a\": [[]]}'",
    "'<script>'", "'../../x'", "'1858'", "'year'", "rowid", "-rowid", "hash(rowid) % 100",
)  # fmt: skip
ROWS = (
    "DELETE FROM {table}",
    "DELETE FROM {table} WHERE rowid = 0",
    "DELETE FROM {table} WHERE rowid % 2 = 1",
    "INSERT INTO {table} FROM {table}",
    "INSERT INTO {table} SELECT t.* FROM {table} t LIMIT 1",
    "INSERT INTO {table} SELECT t.* FROM (FROM {table} LIMIT 1) t, range(5000000)",
    "CREATE TABLE turned AS FROM {table} ORDER BY rowid DESC; DELETE FROM {table}; INSERT INTO {table} FROM turned; "
    "DROP TABLE turned",
)
COMMANDS = (
    "player P1", "players -n 5", "versus P1 P2", "top", "top --leaders --each", "top --peak",
    "plot P1 P2 -f svg -o x.svg", "plot --leaders -o x.svg", "report -o x.html", "report site",
    "export games -f csv", "export skills -f parquet -o x.parquet", "export evidence", "export draws",
    "evidence", "evidence --grid beta=300/400", "compare elo", "tune beta -o x.yaml",
    "update {run} more.csv -o y.ttt", "fit more.csv --start {run} -o y.ttt",
)  # fmt: skip
RESULTS = ("1-0", "0-1", "1/2-1/2")
SECONDS, MEGABYTES = 10, 1000


def changed(base: Path, place: Path, random_: random.Random, number: int) -> str:
    """Make a changed copy of a run; return the SQL that did it."""
    shutil.copyfile(base, place)
    with duckdb.connect(str(place)) as database:
        columns = database.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND table_name IN "
            "(SELECT table_name FROM duckdb_tables()) ORDER BY ALL"
        ).fetchall()
        table, column = columns[number % len(columns)]
        if random_.random() < 0.2:
            sql = random_.choice(ROWS).format(table=table)
            if random_.random() < 0.7:  # consistent with the counts in meta
                counts = {"spans": "nodes", "game_rows": "games", "players": "players"}
                if table in counts:
                    sql += (
                        f"; UPDATE meta SET value = (SELECT CAST(count(*) AS VARCHAR) FROM {table}) "
                        f"WHERE key = '{counts[table]}'"
                    )
        else:
            value = random_.choice(VALUES)
            where = random_.choice(("", " WHERE rowid = 0", " WHERE rowid % 3 = 1"))
            if table == "meta":
                where = f" WHERE key = '{random_.choice(database.execute('SELECT key FROM meta').fetchall())[0]}'"
                column = "value"
            sql = f'UPDATE {table} SET "{column}" = {value}{where}'
        for statement in sql.split("; "):
            try:
                database.execute(statement)
            except duckdb.Error:
                sql += f" (not: {statement})"
    return sql


def attempt(words: list[str], folder: Path) -> tuple[int, float, float, str]:
    """Exit code of a command in a fork, seconds, megabytes and the end of its messages."""
    began = time.monotonic()
    said = folder / "said"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for stream, name in ((1, os.devnull), (2, str(said))):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            os.chdir(folder)
            code = ttt(words)
            sys.stderr.flush()
        finally:
            os._exit(code)
    while (found := os.wait4(child, os.WNOHANG))[0] == 0:
        if time.monotonic() - began > 20 * SECONDS:
            os.kill(child, 9)
        time.sleep(0.02)
    _, status, usage = found
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = max(usage.ru_maxrss - own, 0) / 1024
    text = said.read_text(errors="replace")[-300:] if said.exists() else ""
    cpu = usage.ru_utime + usage.ru_stime
    return os.waitstatus_to_exitcode(status), min(cpu, time.monotonic() - began), megabytes, text


def main() -> int:
    """Attack; the exit code."""
    options = options_of(__doc__, runs=200, seed=1, commands=2, system="ttt-d-career")
    random_, bad = random.Random(options.seed), 0
    codes: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            f"{1850 + i % 9},P{i * 7 % 12},P{i * 5 % 11 + 1},{RESULTS[i % 3]},Open {i % 4},{1 + i % 2}"
            for i in range(150)
            if i * 7 % 12 != i * 5 % 11 + 1
        ]
        text = "date,white,black,result,event,round\n"
        (folder / "games.csv").write_text(text + "\n".join([*lines, "18xx,a,b,1-0,,"]) + "\n")
        (folder / "more.csv").write_text("date,white,black,result\n1859,P1,P2,1-0\n")
        fit(folder / "games.csv", options.system, output=folder / "base.ttt")
        for warm in ("top", "player P1", "evidence"):
            attempt([*warm.split(), "-r", "base.ttt"], folder)
        for number in range(options.runs):
            sql = changed(folder / "base.ttt", folder / "x.ttt", random_, number)
            for command in random_.sample(COMMANDS, options.commands):
                words = command.format(run="x.ttt").split()
                if "x.ttt" not in words:
                    words += ["-r", "x.ttt"]
                code, seconds, megabytes, said = attempt([*words, "-q"], folder)
                codes[code] = codes.get(code, 0) + 1
                if code not in (0, 2, 3, 4) or seconds > SECONDS or megabytes > MEGABYTES:
                    bad += 1
                    print(
                        f"{code}, {seconds:.1f} s, {megabytes:.0f} MB: {command!r} after {sql}\n  {said}"
                    )
                for path in folder.glob("y.ttt*"):
                    path.unlink()
    print(f"{options.runs} runs, exit codes {dict(sorted(codes.items()))}, {bad} bad")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
