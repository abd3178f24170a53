"""Runs made to do harm: whatever stands in the file, nothing is touched, nothing is asked of the net, and it is said.

Each evil is what a stranger could put into a run with a DuckDB client. `{here}` is a folder with files to be read,
written over or appended to, `{port}` a port that counts who calls.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games
from tests.support.cases import each
from tests.support.handmade import (
    CONFIG,
    RECORDS,
    REPORT,
    fit_of,
    games_of,
    put_small_run,
    run_of,
    write_small_run,
)
from tests.support.laid_out import histories
from tests.support.strategies import examples
from ttt_cli import fit, read_games
from ttt_cli.cli.main import run as ttt
from ttt_cli.histories import chain_columns
from ttt_cli.periods import label, period_of
from ttt_cli.runs import checks, connection, database, schema
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import RunError
from ttt_cli.systems.registry import MODULES
from ttt_cli.timeline import build_timeline

REPLACED = "CREATE TABLE kept AS FROM {0}; DROP TABLE {0}; "
SKILLS = (
    "'a' AS player, '1857' AS period, 1857 AS period_number, 1.0 AS mean, 1.0 AS sd, 1 AS games"
)
EVIL = {
    "view_players_reads": REPLACED.format("players")
    + "CREATE VIEW players AS SELECT * REPLACE ((SELECT content FROM read_text('{here}/secret')) AS folded) FROM kept",
    "view_meta_reads": REPLACED.format("meta")
    + "CREATE VIEW meta AS FROM kept UNION ALL SELECT 'x', content FROM read_text('{here}/secret')",
    "view_skills_reads": "CREATE OR REPLACE VIEW skills AS SELECT nodes.*, content "
    "FROM nodes, read_text('{here}/secret')",
    "view_games_profiles": "CREATE OR REPLACE VIEW games AS FROM enable_profiling(save_location := '{here}/page.txt')",
    "view_nodes_logs": "CREATE OR REPLACE VIEW nodes AS FROM enable_logging(storage := 'file', "
    "storage_path := '{here}/log')",
    "view_reads_the_net": "CREATE OR REPLACE VIEW skills AS FROM read_text('http://127.0.0.1:{port}/x')",
    "view_finds_files": "CREATE OR REPLACE VIEW skills AS SELECT file AS player FROM glob('{here}/*')",
    "view_without_end": f"CREATE OR REPLACE VIEW skills AS SELECT {SKILLS} FROM range(1000000000000)",
    "further_view": "CREATE VIEW player AS FROM read_text('{here}/secret')",
    "macro_skills_within": "CREATE OR REPLACE MACRO skills_within(low, high, idle) AS TABLE "
    f"SELECT {SKILLS} FROM read_text('{{here}}/secret')",
    "macro_for_a_function": "CREATE MACRO greatest(a, b) AS (SELECT content FROM read_text('{here}/secret'))",
    "macro_for_another": "CREATE MACRO folded(a) AS TABLE FROM read_csv('http://127.0.0.1:{port}/x')",
    "generated_column": "ALTER TABLE names RENAME TO kept; CREATE TABLE names(id INTEGER, player VARCHAR "
    "GENERATED ALWAYS AS (repeat('x', 10000000))); INSERT INTO names SELECT id FROM kept; DROP TABLE kept",
    "default": "ALTER TABLE evidence ALTER sweeps SET DEFAULT (length(repeat('x', 1000000)))",
    "other_type": "ALTER TABLE players ALTER surname TYPE BLOB USING surname::BLOB",
    "own_type": "CREATE TYPE word AS ENUM ('a'); ALTER TABLE noticed ALTER what TYPE word USING 'a'::word",
    "further_table": "CREATE TABLE skills_of AS SELECT 1",
    "further_schema": "CREATE SCHEMA system2; CREATE VIEW system2.players AS FROM read_text('{here}/secret')",
    "index": "CREATE INDEX slow ON evidence((length(repeat(point, 1000000))))",
    "sequence": "CREATE SEQUENCE players_seq",
    "check": "CREATE TABLE other AS FROM inputs; DROP TABLE inputs; CREATE TABLE inputs(path VARCHAR "
    "CHECK (length(path) < 9), kind VARCHAR, digest VARCHAR, size BIGINT, rows BIGINT, used BIGINT)",
    "span_without_end": 'UPDATE spans SET "until" = 2147483646',
    "span_beyond_all_periods": 'UPDATE spans SET "until" = 9999',
    "periods_not_one_by_one": "UPDATE periods SET period_number = 9000, period = '9000' WHERE period = '1862'",
    "no_periods": "DELETE FROM periods",
    "label": "UPDATE periods SET period = '<script>'",
    "label_of_a_player": "UPDATE players SET \"first\" = '</script><script>alert(1)</script>'",
    "period_number": "UPDATE periods SET period_number = 2000000000 WHERE period = '1858'",
    "periods_that_multiply": "INSERT INTO periods SELECT period_number, period FROM periods, range(1000)",
    "names_that_multiply": "UPDATE names SET id = 0",
    "more_players_than_told": "INSERT INTO players SELECT p.* FROM players p, range(10000)",
    "equal_names": "UPDATE names SET player = 'Morphy, Paul'",
    "equal_players": "UPDATE players SET player = 'Morphy, Paul'",
    "texts_as_a_view": REPLACED.format("texts") + "CREATE VIEW texts AS SELECT text AS id, id AS text FROM kept",
    "texts_missing": "DROP TABLE texts",
    "spellings_as_a_view": REPLACED.format("spellings") + "CREATE VIEW spellings AS FROM kept, range(1000000)",
    "largest_sd_below_the_sd": "UPDATE spans SET sd_most = 0.001",
    "bridge_missing": "UPDATE spans SET sd_early_periods = NULL",
    "spans_without_ends": 'UPDATE spans SET "until" = NULL',
    "span_twice": "INSERT INTO spans FROM spans; UPDATE meta SET value = '16' WHERE key = 'nodes'",
    "five_million_rows": "INSERT INTO spans SELECT s.* FROM spans s, range(700000); "
    "UPDATE meta SET value = '5600008' WHERE key = 'nodes'",
    "no_setting": "ALTER TABLE meta ALTER value DROP NOT NULL; UPDATE meta SET value = NULL WHERE key = 'trace'",
    "integer_of_400_digits": "UPDATE meta SET value = repeat('9', 400) WHERE key = 'sweeps'",
    "format_of_another_script": "UPDATE meta SET value = '²' WHERE key = 'format'",
    "meta_of_another_kind": "UPDATE meta SET value = '{{}}' WHERE key = 'players'",
    "meta_too_deep": "UPDATE meta SET value = repeat('[', 1000000) WHERE key = 'notes'",
    "meta_too_large": "UPDATE meta SET value = repeat('x', 20000000) WHERE key = 'version'",
    "meta_no_number": "UPDATE meta SET value = 'NaN' WHERE key = 'elo_unit'",
    "unknown_period": "UPDATE meta SET value = 'day, COPY (SELECT 1) TO ''{here}/x''' WHERE key = 'period'",
    "chain_that_is_sql": 'ALTER TABLE spans ADD COLUMN "a FROM read_text(\'{here}/secret\') --" DOUBLE',
    "format_no_number": "UPDATE meta SET value = repeat('9', 5000) WHERE key = 'format'",
}  # fmt: skip

# Only for other clients: we read tables
IGNORED = {
    *(evil for evil in EVIL if evil.startswith(("view", "macro", "further"))),
    "index",
    "sequence",
} - {
    "view_players_reads",
    "view_meta_reads",
}
TOGETHER = [evil for evil in sorted(IGNORED) if "VIEW skills" not in EVIL[evil]]
EVIL_FILES = [
    TOGETHER,
    *([evil] for evil in sorted(IGNORED - {*TOGETHER})),
]  # all with one view `skills` at most

# What a view is made with in place of a function that would act at once.
STAND_IN = "CREATE MACRO {}(a := 1, save_location := 1, storage := 1, storage_path := 1) AS TABLE SELECT 1 AS x"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("a secret")
    (tmp_path / "page.txt").write_text("a page")
    (tmp_path / "log").mkdir()
    return tmp_path


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield listener.getsockname()[1]
        with pytest.raises(BlockingIOError):
            listener.accept()


def evil_run(here: Path, port: int, *evils: str) -> Path:
    place = here / "x.ttt"
    put_small_run(place)
    statements = "; ".join(EVIL[evil] for evil in evils).format(here=here, port=port)
    with duckdb.connect(str(place)) as database:
        for statement in statements.split("; "):
            function = re.search(r"(enable_\w+|read_\w+)\(.*(:=|http:)", statement)
            if function and statement.startswith("CREATE"):
                database.execute(STAND_IN.format(function[1]))
            database.execute(statement)
            if function and statement.startswith("CREATE"):
                database.execute(f"DROP MACRO TABLE {function[1]}")
    return place


def files(here: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(here.rglob("*"))
    }


@pytest.mark.large
@pytest.mark.slow
def test_nothing_acts_and_the_run_is_refused(
    here: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for evil in sorted({*EVIL} - IGNORED):
        place = evil_run(here, port, evil)
        before = files(here)
        assert ttt(["player", "Morphy", "-r", str(place)]) == 2, evil
        told = capsys.readouterr()
        assert "x.ttt: " in told.err, evil
        assert "unexpected" not in told.err, evil
        assert not told.out, evil
        assert files(here) == before, evil
        place.unlink()


@pytest.mark.slow
def test_views_and_macros_of_the_file_are_never_evaluated(
    here: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    put_small_run(here / "honest.ttt")
    commands = ("player Morphy", "top --leaders", "export games", "export skills", "players")

    def answers(run_: Path) -> list[tuple[int, str]]:
        found = [
            ttt([*command.split(), "-q", "-f", "csv", "-r", str(run_)]) for command in commands
        ]
        return [*zip(found, [capsys.readouterr().out] * len(found), strict=True)]

    expected = answers(here / "honest.ttt")
    assert {code for code, _ in expected} == {0}
    for evils in EVIL_FILES:
        place = evil_run(here, port, *evils)
        before = files(here)
        assert answers(place) == expected, evils
        assert files(here) == before, evils
        place.unlink()


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_text('{here}/secret')",
        "FROM '{here}/table.csv'",
        "FROM glob('{here}/*')",
        "COPY (SELECT 1) TO '{here}/page.txt'",
        "PRAGMA enable_profiling",
        "CALL enable_logging(storage := 'file', storage_path := '{here}/log')",
        "SET enable_external_access = true",
        "SET memory_limit = '90GB'",
        "ATTACH '{here}/other.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM read_text('http://127.0.0.1:{port}/x')",
    ],
)
def test_sql_over_a_run_reaches_nothing_else(sql: str, here: Path, port: int) -> None:
    put_small_run(here / "x.ttt")
    (here / "table.csv").write_text("a,b")
    before = files(here)
    with pytest.raises(RunError):
        open_run(here / "x.ttt").select(sql.format(here=here, port=port))
    assert files(here) == before


@pytest.mark.slow
def test_all_of_it_in_little_memory_and_no_file_opened(here: Path, port: int) -> None:
    """By the account of the kernel: one process reads all such runs."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace here")
    large = ([evil] for evil in EVIL if evil.startswith(("view_meta", "span", "generated", "more")))
    chosen = [*EVIL_FILES, *large]
    for evils in chosen:
        shutil.move(evil_run(here, port, *evils), here / f"{evils[0]}.ttt")
    script = (
        "import resource, sys; from ttt_cli.cli.main import run; from pathlib import Path\n"
        "codes = [run(['player', 'Morphy', '-r', str(p)]) for p in sorted(Path(sys.argv[1]).glob('*.ttt'))]\n"
        "print(set(codes), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [
        strace,
        "-f",
        "-o",
        here / "trace",
        "-e",
        "trace=open,openat,openat2,connect,unlink,rename",
    ]
    done = subprocess.run(
        [*command, sys.executable, "-c", script, here], capture_output=True, text=True, check=True
    )
    codes, kilobytes = done.stdout.rsplit(" ", 1)
    assert codes.splitlines()[-1] == "{0, 2}"
    assert int(kilobytes) < 1_000_000
    trace = (here / "trace").read_text()
    assert not re.findall(r"connect\(.*AF_INET", trace)
    assert trace.count(".ttt") >= len(chosen)
    touched = {name for name in re.findall(rf'"({here}/[^"]*)"', trace) if ".ttt" not in name}
    assert not touched


@pytest.mark.slow
def test_a_file_is_checked_once_in_a_process_and_again_when_it_changed(
    here: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    for module, check in ((database, checks.check_catalog), (connection, checks.check_numbers)):

        def counted(*args: object, real: Callable[..., object] = check) -> object:
            checked.append(real.__name__)
            return real(*args)

        monkeypatch.setattr(module, check.__name__, counted)
    write_small_run(here / "x.ttt")
    checked.clear()
    for _ in range(2):
        open_run(here / "x.ttt").select("FROM players")
    assert "check_catalog" not in checked  # written here
    evil_run(here, port, "span_without_end")
    checked.clear()
    for _ in range(2):
        with pytest.raises(RunError):
            open_run(here / "x.ttt").select("FROM players")
    assert checked == ["check_catalog", "check_numbers", "check_numbers"]


def test_no_table_may_be_a_view() -> None:
    run = run_of(games_of(RECORDS, report=REPORT))
    connection = run._connection.opened().connection
    for table in schema.tables(run._connection.catalog.chains, whole_weights=True):
        connection.execute(
            f"BEGIN; CREATE TABLE run.main.kept AS FROM run.main.{table}; DROP TABLE run.main.{table};"
            f" CREATE VIEW run.main.{table} AS FROM run.main.kept"
        )
        with pytest.raises(RunError, match=r"not a run|is not one that ttt creates"):
            checks.check_catalog(connection, Path("a"))
        connection.execute("ROLLBACK")


@each("table", ("links", "steps", "texts", "game_texts"))
def test_tables_that_belong_together_may_not_be_without_each_other(table: str) -> None:
    run = run_of(games_of(RECORDS, report=REPORT))
    connection = run._connection.opened().connection
    connection.execute(f"DROP TABLE run.main.{table}")
    with pytest.raises(RunError, match="is not one that ttt creates"):
        checks.check_catalog(connection, Path("a"))


def test_a_largest_sd_is_no_smaller_than_the_sd() -> None:
    run = run_of(games_of(RECORDS, report=REPORT))
    for largest, possible in (("sd", True), ("0.99 * sd", False), ("1e-3", False)):
        run._connection.opened().connection.execute(
            f"BEGIN; UPDATE run.main.spans SET sd_most = {largest}"
        )
        refused = (
            nullcontext() if possible else pytest.raises(RunError, match="its table `spans` holds")
        )
        with refused:
            checks.check_numbers(
                run._connection.opened().connection,
                Path("a"),
                run.meta,
                run._connection.catalog,
                (),
            )
        checks.CHECKED.pop((), None)
        run._connection.opened().connection.execute("ROLLBACK")


BEYOND = {
    "DOUBLE": ("'nan'", "'-1e31'", "'1e31'"),
    "BIGINT": ("'-9e18'", "'9e18'"),
    "INTEGER": ("'-2147483648'", "'2147483647'"),
    "TINYINT": ("'-128'", "'127'"),
    "VARCHAR": ("repeat('x', 100001)",),
}


def is_possible(column: schema.TableColumn, value: str) -> bool:
    if (
        isinstance(column.low, str)
        or isinstance(column.high, str)
        or "(" in value
        or value == "NULL"
    ):
        return False
    return column.low <= float(value.strip("'")) <= column.high


@pytest.mark.large
def test_no_column_may_leave_its_range() -> None:
    """Every column of every table that has rows: unknown, no number, below and above."""
    run = run_of(
        games_of(RECORDS, report=REPORT),
        chains=fit_of(build_timeline(games_of(RECORDS)), further="e").chains,
    )
    connection, found = run._connection.opened().connection, set[str]()
    for table, columns in schema.tables(run._connection.catalog.chains, whole_weights=True).items():
        if table == "meta" or not run.has_rows(f"run.main.{table}"):
            continue
        for column in columns:
            unknown = ["NULL"] * (column.required and column.type in BEYOND)
            for value in (*unknown, *BEYOND.get(column.type, ())):
                if not is_possible(column, value):
                    connection.execute(
                        f'BEGIN; UPDATE run.main.{table} SET "{column.name}" = {value}'
                    )
                    with pytest.raises(
                        RunError, match=f"its table `{table}` holds impossible values"
                    ):
                        checks.check_numbers(
                            connection, Path("a"), run.meta, run._connection.catalog, ()
                        )
                    connection.execute("ROLLBACK")
                    found.add(f"{table}.{column.name}")
    assert len(found) > 70


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_a_pipe_with_a_name_is_no_run(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ttt")
    with pytest.raises(RunError, match="not a run"):
        open_run(tmp_path / "pipe.ttt")
    assert ttt(["fit", "x.csv", "-o", str(tmp_path / "pipe.ttt")]) == 2


@each("period", schema.LABELS)
def test_the_ranges_are_those_of_the_calendar(period: str) -> None:
    days = np.array(["0001-01-01", "9999-12-31"], "datetime64[D]").astype(np.int32)
    assert schema.RANGES[period] == tuple(period_of(days, period).tolist())  # type: ignore[index, arg-type]


@pytest.mark.parametrize("system", ["spinrad", "elo-historical"])
def test_a_run_without_sds_opens_in_another_process(system: str, tmp_path: Path) -> None:
    games = io.BytesIO(b"date,white,black,result\n1850,A,B,1-0\n1858,A,B,0-1\n1858,A,B,1-0\n")
    fit(read_games(games), model=system, output=tmp_path / "x.ttt")
    checks.CHECKED.clear()
    _, rows = open_run(tmp_path / "x.ttt").select(
        "SELECT count(*), count(sd) FROM skills WHERE games = 0"
    )
    assert rows == [(14, 0)]


ROWS = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1850, "c", "a", 2), (1851, "b", "a", 1), (1857, "a", "c", 0),
    (1857, "b", "c", 2), (1890, "a", "b", 2), (1892, "b", "d", 0), (1895, "d", "c", 1), (1896, "d", "a", 1),
]  # fmt: skip


CAREER = {
    "growth": 150,
    "growth_years": 2.5,
    "decline": 12.5,
    "decline_after": 3.5,
    "early": 2,
    "early_years": 1.5,
}
SYSTEMS = [
    *((name, {}) for name in MODULES),
    *((name, CAREER) for name in ("ttt", "ttt-d", "trueskill")),
]


@pytest.mark.slow
@each("model, given", SYSTEMS)
def test_every_system_is_shown_as_it_was_found(model: str, given: dict[str, float]) -> None:
    """Also after the last game of a player, to the end of the run."""
    timeline, fit = fit_rows(ROWS, model, **given)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    nodes = run.arrays("SELECT * FROM nodes")
    for onward, source in ((False, "skills"), (True, "skills_within(NULL, NULL, NULL)")):
        expected, skills = (
            histories(timeline, fit, onward=onward),
            run.arrays(f"SELECT * FROM {source}"),
        )
        assert [timeline.players[i] for i in expected.player] == skills["player"].tolist()
        assert np.array_equal(expected.period, skills["period_number"])
        assert np.array_equal(expected.games, skills["games"])
        for name in (column for chain in fit.chains for column in chain_columns(chain)):
            assert skills[name] == pytest.approx(expected.columns[name], rel=1e-12, nan_ok=True)
            assert np.array_equal(
                nodes[name], expected.columns[name][expected.games > 0], equal_nan=True
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    "period", ["year", "quarter", "month", "week", pytest.param("day", marks=pytest.mark.large)]
)
def test_labels_are_those_of_the_periods(period: str) -> None:
    records = [("0900", "Old, A", "Older, B", "1-0"), ("2101-12-31", "Old, A", "Older, B", "0-1")]
    games = games_of(
        [*records[:1], *RECORDS, ("1999-12-30", "Öst, O", "New, N", "1-0"), *records[1:]]
    )
    timeline = build_timeline(games, period)  # type: ignore[arg-type]
    run = memory_run(games, timeline, fit_of(timeline), CONFIG)
    rows = run.select("SELECT DISTINCT period_number, period FROM skills ORDER BY ALL")[1]
    assert rows == [(number, label(number, period)) for number, _ in rows]  # type: ignore[arg-type]
    assert rows == run.select("SELECT period_number, period FROM periods")[1]


games = st.lists(
    st.tuples(
        st.integers(1850, 1870), st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 2)
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.large
@given(
    games, st.none() | st.integers(1845, 1875), st.integers(0, 12), st.none() | st.integers(0, 9)
)
@examples(16)
def test_some_periods_are_those_rows_of_all(
    rows: list[tuple[int, str, str, int]], low: int | None, width: int, idle: int | None
) -> None:
    """Also in Elo; to `idle` periods after one with games, also after a player's last, to the last of all."""
    rows.sort()
    timeline, fit = fit_rows(rows, draw_margin=100)
    high = None if low is None else low + width
    stored = make_games(rows), timeline, fit, CONFIG
    points = memory_run(*stored)
    played = points.select("SELECT player, period_number FROM skills WHERE games > 0")[1]
    everything = "SELECT * FROM skills_within(NULL, NULL, NULL)"
    last_game = {
        (player, number): max(then for name, then in played if name == player and then <= number)
        for player, _, number, *_ in points.select(everything)[1]
    }
    assert {number for _, number in last_game} == set(range(rows[0][0], rows[-1][0] + 1))
    history = set(points.select("SELECT player, period_number FROM skills")[1])
    elo = [memory_run(*stored, scale=["a @ 1860 = 2000"])] if ("a", 1860) in history else []
    for shown in (points, *elo):
        expected = [
            row
            for row in shown.select(everything)[1]
            if (low is None or low <= row[2] <= low + width)
            and (idle is None or row[2] - last_game[row[0], row[2]] <= idle)
        ]
        assert (
            shown.select("SELECT * FROM skills_within(?, ?, ?)", [low, high, idle])[1] == expected
        )


def test_settings_of_impossible_size_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(io.BytesIO(b"date,white,black,result\n1900,A,B,1-0\n"), output=tmp_path / "a.ttt")
    shutil.copy(
        tmp_path / "a.ttt", tmp_path / "b.ttt"
    )  # what was just written is not checked again
    monkeypatch.setattr(checks, "_MOST_META", 100)
    with pytest.raises(RunError, match="its table `meta` holds impossible values"):
        open_run(tmp_path / "b.ttt").skills()
