"""Runs made to do harm: whatever stands in the file, nothing is touched, nothing is asked of the net, and it is said.

Each evil is what a stranger could put into a run with a DuckDB client. `{here}` is a folder with files to be read,
written over or appended to, `{port}` a port that counts who calls.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.support.handmade import put_small_run, write_small_run
from ttt_cli.cli.main import run as ttt
from ttt_cli.errors import RunError
from ttt_cli.periods import period_of
from ttt_cli.runs import session, untrusted
from ttt_cli.runs.evidence import EvidencePoint
from ttt_cli.runs.run import open_run
from ttt_cli.runs.schema import LABELS
from ttt_cli.runs.storing import durable
from ttt_cli.runs.untrusted import RANGES

REPLACED = "CREATE TABLE kept AS FROM {0}; DROP TABLE {0}; "
SKILLS = "'a' AS player, '1857' AS period, 1857 AS period_number, 1.0 AS mean, 1.0 AS sd, 1 AS games"
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
    "span_from_the_beginning": "UPDATE spans SET period_number = -2147483648",
    "span_before_all_periods": "UPDATE spans SET period_number = 1",
    "span_beyond_all_periods": 'UPDATE spans SET "until" = 9999',
    "periods_not_one_by_one": "UPDATE periods SET period_number = 9000, period = '9000' WHERE period = '1862'",
    "infinite_mean": "UPDATE spans SET mean = 'inf'",
    "mean_no_number": "UPDATE spans SET mean = 'nan'",
    "negative_sd": "UPDATE spans SET sd = -1",
    "peak_no_number": "UPDATE players SET peak_mean = '-inf'",
    "label": "UPDATE periods SET period = '<script>'",
    "label_of_a_player": "UPDATE players SET \"first\" = '</script><script>alert(1)</script>'",
    "period_number": "UPDATE periods SET period_number = 2000000000 WHERE period = '1858'",
    "periods_that_multiply": "INSERT INTO periods SELECT period_number, period FROM periods, range(1000)",
    "names_that_multiply": "UPDATE names SET id = 0",
    "ids_beyond": "UPDATE game_rows SET white_id = 2147483647",
    "ids_before": "UPDATE game_rows SET black_id = -1",
    "outcome": "UPDATE game_rows SET outcome = 127",
    "weight": "UPDATE game_rows SET weight = -1",
    "day": "UPDATE game_rows SET date_days = 2147483647",
    "nothing_where_something_is": "UPDATE game_rows SET white_id = NULL",
    "more_players_than_told": "INSERT INTO players SELECT p.* FROM players p, range(10000)",
    "long_name": "UPDATE players SET player = repeat('x', 1000000)",
    "meta_of_another_kind": "UPDATE meta SET value = '{{}}' WHERE key = 'players'",
    "meta_too_deep": "UPDATE meta SET value = repeat('[', 1000000) WHERE key = 'notes'",
    "meta_too_large": "UPDATE meta SET value = repeat('x', 20000000) WHERE key = 'version'",
    "meta_no_number": "UPDATE meta SET value = 'NaN' WHERE key = 'elo_unit'",
    "unknown_period": "UPDATE meta SET value = 'day, COPY (SELECT 1) TO ''{here}/x''' WHERE key = 'period'",
    "chain_that_is_sql": 'ALTER TABLE spans ADD COLUMN "a FROM read_text(\'{here}/secret\') --" DOUBLE',
    "format_no_number": "UPDATE meta SET value = repeat('9', 5000) WHERE key = 'format'",
}  # fmt: skip

# What a view is made with in place of a function that would act at once.
STAND_IN = (
    "CREATE MACRO {}(a := 1, save_location := 1, storage := 1, storage_path := 1) AS TABLE SELECT 1 AS x"
)


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


def evil_run(here: Path, port: int, evil: str) -> Path:
    place = here / "x.ttt"
    put_small_run(place)
    with duckdb.connect(str(place)) as database:
        for statement in EVIL[evil].format(here=here, port=port).split("; "):
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


@pytest.mark.slow
@pytest.mark.parametrize("evil", EVIL)
def test_nothing_acts_and_the_run_is_refused(
    evil: str, here: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    place = evil_run(here, port, evil)
    before = files(here)
    assert ttt(["player", "Morphy", "-r", str(place)]) == 2
    told = capsys.readouterr()
    assert "x.ttt: " in told.err
    assert "unexpected" not in told.err
    assert not told.out
    assert files(here) == before


@pytest.mark.slow
@pytest.mark.parametrize("evil", ["view_skills_reads", "label_of_a_player"])
@pytest.mark.parametrize(
    "command",
    ["players", "top --leaders", "versus Morphy Paulsen", "plot", "report -o -", "export games -f csv",
     "export skills -f parquet -o {here}/x", "compare elo", "tune"],
)  # fmt: skip
def test_so_by_every_command(
    evil: str, command: str, here: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    place = evil_run(here, port, evil)
    before = files(here)
    assert ttt([*command.format(here=here).split(), "-r", str(place)]) == 2
    assert "unexpected" not in capsys.readouterr().err
    assert files(here) == before


@pytest.mark.parametrize(
    ("evil", "view", "trace"),
    [
        ("view_skills_reads", "skills", None),
        ("view_games_profiles", "games", "page.txt"),
        ("view_nodes_logs", "nodes", "log"),
        ("view_finds_files", "skills", None),
    ],
)
def test_the_evil_is_real(evil: str, view: str, trace: str | None, here: Path, port: int) -> None:
    """Another client that asks these views does act: the tests above are about something."""
    place = evil_run(here, port, evil)
    before = files(here)
    with duckdb.connect(str(place), read_only=True) as database:
        rows = database.execute(f"FROM {view}").fetchall()
        database.execute("SELECT 1").fetchall()
    if trace:
        after = files(here)
        assert {path for path in after if after[path] != before.get(path)} >= {str(here / trace)}
    else:
        assert "secret" in str(rows)


@pytest.mark.slow
@pytest.mark.parametrize("evil", ["default", "index", "view_meta_reads", "infinite_mean"])
def test_nothing_is_written_to_such_a_run(evil: str, here: Path, port: int) -> None:
    put_small_run(here / "x.ttt")
    run = open_run(here / "x.ttt")
    evil_run(here, port, evil)
    before = files(here)
    with pytest.raises(RunError):
        run.store_evidence([EvidencePoint({"tau": 1.0}, {"tau": 1.0}, -1.0, True, 5, 0.001)])
    assert files(here).keys() == before.keys()
    assert files(here)[str(here / "x.ttt")][1] == before[str(here / "x.ttt")][1]


@pytest.mark.slow
def test_a_log_beside_the_run_is_looked_at_too(here: Path, port: int) -> None:
    """Views in the log of a process that died are read with the run, and refused like others."""
    place = evil_run(here, port, "sequence")
    put_small_run(place)
    script = (
        "import duckdb, os, sys; database = duckdb.connect(sys.argv[1]);"
        "database.execute('CREATE VIEW player AS FROM read_text(?)'.replace('?', repr(sys.argv[2])));"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, place, here / "secret"], check=True)
    assert place.with_name("x.ttt.wal").stat().st_size
    with pytest.raises(RunError, match="a view `player`"):
        open_run(place)


def test_a_trigger_is_refused_before_it_can_act(here: Path) -> None:
    """It needs a file in a newer storage format than ours, with the same tables."""
    put_small_run(here / "plain.ttt")
    with duckdb.connect() as database:
        database.execute(f"ATTACH '{here}/plain.ttt' AS plain (READ_ONLY)")
        database.execute(f"ATTACH '{here}/x.ttt' AS run (STORAGE_VERSION 'v2.0.0')")
        database.execute("COPY FROM DATABASE plain TO run; USE run")
        database.execute(
            "CREATE TRIGGER later AFTER INSERT ON evidence FOR EACH STATEMENT "
            "INSERT INTO run.main.noticed VALUES ('x', 'y', 1, 1)"
        )
        database.execute("CHECKPOINT run; USE memory; DETACH run")
    with pytest.raises(RunError, match="a trigger `later`"):
        open_run(here / "x.ttt")


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
        open_run(here / "x.ttt").query(sql.format(here=here, port=port))
    assert files(here) == before


@pytest.mark.slow
def test_all_of_it_in_little_memory_and_no_file_opened(here: Path, port: int) -> None:
    """By the account of the kernel: one process reads all such runs."""
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace here")
    chosen = [
        evil for evil in EVIL if evil.startswith(("view", "macro", "further", "span", "generated", "more"))
    ]
    for evil in chosen:
        shutil.move(evil_run(here, port, evil), here / f"{evil}.ttt")
    script = (
        "import resource, sys; from ttt_cli.cli.main import run; from pathlib import Path\n"
        "codes = [run(['player', 'Morphy', '-r', str(p)]) for p in sorted(Path(sys.argv[1]).glob('*.ttt'))]\n"
        "print(set(codes), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [strace, "-f", "-o", here / "trace", "-e", "trace=open,openat,openat2,connect,unlink,rename"]
    done = subprocess.run(
        [*command, sys.executable, "-c", script, here], capture_output=True, text=True, check=True
    )
    codes, kilobytes = done.stdout.rsplit(" ", 1)
    assert codes == "{2}"
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
    monkeypatch.setattr(durable, "_CHAINS", {})
    for module, check in (
        (session, untrusted.check_catalog),
        (session, untrusted.check_numbers),
        (durable, untrusted.check_catalog),
    ):
        monkeypatch.setattr(
            module,
            check.__name__,
            lambda *args, check=check: (checked.append(check.__name__), check(*args))[1],
        )
    write_small_run(here / "x.ttt")
    for _ in range(2):
        open_run(here / "x.ttt").query("FROM players")
    both = ["check_catalog", "check_numbers"]
    assert checked == both  # the first: of what was written, before it took its place
    write_small_run(here / "y.ttt", further="draw_margin")
    assert checked[2:] == ["check_catalog"]  # other tables and views
    evil_run(here, port, "span_without_end")
    checked.clear()
    with pytest.raises(RunError):
        open_run(here / "x.ttt").query("FROM players")
    assert checked == both
    with pytest.raises(RunError):
        open_run(here / "x.ttt").query("FROM players")
    assert checked[2:] == ["check_numbers"]


@pytest.mark.parametrize("period", LABELS)
def test_the_ranges_are_those_of_the_calendar(period: str) -> None:
    days = np.array(["0001-01-01", "9999-12-31"], "datetime64[D]").astype(np.int32)
    assert RANGES[period] == tuple(period_of(days, period).tolist())  # type: ignore[index, arg-type]
