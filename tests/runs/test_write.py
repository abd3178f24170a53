import os
import shutil
import subprocess
import sys
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, REPORT, games_of, run_of, write_small_run
from tests.support.processes import holding
from tests.support.strategies import examples
from ttt_cli import api
from ttt_cli.cli import main
from ttt_cli.cli.main import run as run_command
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Line
from ttt_cli.games.table import Games
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.meta import WHERE, RunMeta
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import check_destination, check_space, write_lock, write_run
from ttt_cli.storage import MEMORY, ArrayFiles
from ttt_cli.support.errors import RunError
from ttt_cli.support.locks import waiting
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

Usage = namedtuple("Usage", "total used free")


def test_players_have_their_record_and_first_highest_peak(tmp_path: Path) -> None:
    write_small_run(tmp_path / "a.ttt")
    columns, rows = open_run(tmp_path / "a.ttt").select("SELECT * FROM players")
    assert columns[:5] == ("player", "folded", "surname", "first", "last")
    assert [row[:9] for row in rows] == [
        ("Anderssen, Adolf", "anderssen adolf", "anderssen", "1858", "1862", 5, 1, 1, 3),
        ("Morphy, Paul", "morphy paul", "morphy", "1857", "1858", 5, 3, 1, 1),
        ("Paulsen, Louis", "paulsen louis", "paulsen", "1857", "1862", 4, 1, 2, 1),
    ]
    assert [row[9:] for row in rows] == [
        ("1862", 1006.0, 50.0, 2), ("1858", 1003.0, 50.0, 2), ("1862", 1007.0, 50.0, 2),
    ]  # fmt: skip


def test_of_equal_peaks_the_first_counts() -> None:
    run = run_of(games_of(RECORDS), chains={"skill": Line(np.full(8, 1500.0), np.full(8, 50.0))})
    assert run.select("SELECT player, peak_period FROM players")[1] == [
        ("Anderssen, Adolf", "1858"), ("Morphy, Paul", "1857"), ("Paulsen, Louis", "1857"),
    ]  # fmt: skip


def test_peaks_are_of_periods_with_games_and_of_numbers() -> None:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    mean = np.array([1500.0, 1600.0, 1700.0, 1200.0, 1300.0, 1250.0, 1400.0, 1350.0])
    mean[timeline.node_player == games.players.index("Morphy, Paul")] = np.nan
    best: dict[str, tuple[float, str]] = {}
    for node in range(timeline.n_nodes):  # by period
        name = games.players[timeline.node_player[node]]
        if mean[node] > best.get(name, (0.0, ""))[0]:
            best[name] = mean[node], timeline.label(int(timeline.node_period[node]))
    run = run_of(games, chains={"skill": Line(mean, np.full(8, 50.0))})
    rows = run.select("SELECT player, peak_mean, peak_period FROM players")[1]
    assert rows == [(name, *best.get(name, (None, None))) for name in games.players]
    assert rows[1][1] is None


def test_many_games_keep_their_order(tmp_path: Path) -> None:
    n = 300_000  # more than the database stores and reads at one go
    games = Games(
        date=np.sort(np.arange(n, dtype=np.int32) % 997),
        date_precision=np.full(n, 2, np.int8),
        white=np.zeros(n, np.int32),
        black=np.ones(n, np.int32),
        outcome=np.full(n, 2, np.int8),
        weight=np.broadcast_to(1.0, n),
        offset=np.broadcast_to(0.0, n),
        source_file=np.zeros(n, np.int32),
        source_line=np.random.default_rng(1).permutation(n),
        players=("A", "B"),
    )
    run = run_of(games, tmp_path / "a.ttt")
    assert np.array_equal(run.arrays("SELECT line FROM games")["line"], games.source_line)
    assert np.array_equal(run.stored_games().source_line, games.source_line)


def test_games_keep_order_dates_as_far_as_known_and_sources(tmp_path: Path) -> None:
    write_small_run(tmp_path / "a.ttt")
    _, rows = open_run(tmp_path / "a.ttt").select(
        "SELECT period, date, white, black, result, weight, file, line FROM games"
    )
    assert [row[1:5] for row in rows] == list(RECORDS)
    assert [row[0] for row in rows] == ["1857", "1857", "1858", "1858", "1858", "1861", "1862"]
    assert [(row[6], row[7]) for row in rows][2:4] == [("a.pgn", 30), ("b.csv", 40)]


@each("weights, kind", [([1, 2, 3, 1, 1, 1, 1], int), ([1, 0.5, 3, 1, 1, 1, 1], float)])
def test_counts_are_whole_numbers_unless_a_game_counts_for_less(
    weights: list[float], kind: type
) -> None:
    run = run_of(games_of(RECORDS, weights))
    rows = (
        run.select("SELECT games, wins FROM players")[1] + run.select("SELECT weight FROM games")[1]
    )
    assert {type(value) for row in rows for value in row} == {kind}


def test_the_report_and_the_fit_itself_are_kept(tmp_path: Path) -> None:
    write_small_run(tmp_path / "a.ttt")
    run = open_run(tmp_path / "a.ttt")
    for sql, rows in (
        (
            "path, kind, digest, size, rows, used FROM inputs LIMIT 1",
            [("a.pgn", "pgn", "00ff", 100, 5, 3)],
        ),
        ("file, reason, rows FROM dropped", [("a.pgn", "no result", 1), ("a.pgn", "bad date", 1)]),
        ("file, what, rows, file_number FROM noticed", [("a.pgn", "duplicate", 2, 0)]),
        ("count(*) FROM problems", [(len(REPORT.problems),)]),
    ):
        assert run.select(f"SELECT {sql}")[1] == rows
    expected = {
        "model": "ttt", "kind": "smoothed", "period": "year", "first": "1857", "last": "1862",
        "log_evidence": -4.0000000000000001 / 3, "converged": True, "sweeps": 7, "remaining_error": 0.004,
        "skipped_sites": 2, "trace": ((12.5, float("inf")), (0.25, 0.004)), "games": 7, "weight": 7.0,
        "nodes": 8, "players": 3, "draw_share": pytest.approx(2 / 7),
        "params": {"beta": 480.0, "tau": 60.0, "draw_margin": 123.25},
        "config": CONFIG.model_dump(mode="json", exclude={"solver": set(WHERE)}),
    }  # fmt: skip
    assert {name: getattr(run.meta, name) for name in expected} == expected
    (point,) = run.evidence_points()
    assert (point.log_evidence, point.params) == (run.meta.log_evidence, run.meta.params)
    assert point.requested == {"beta": 480.0, "tau": 60.0, "draw_margin": "auto"}


def test_a_run_may_be_replaced_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "a.ttt"
    assert check_destination(place) is None
    place.touch()
    assert check_destination(place) is None
    write_small_run(place)
    assert "7 games 1857-1862" in str(check_destination(place))
    (tmp_path / "games.pgn").write_text('[Event "x"]\n')
    duckdb.connect(str(tmp_path / "other.ttt")).execute("CREATE TABLE t AS SELECT 1").close()
    for name in ("games.pgn", "other.ttt"):
        with pytest.raises(RunError, match=f"{name}: exists and is not a run"):
            check_destination(tmp_path / name)


@each(
    "name, message",
    [
        ("", "is a folder"),
        ("no/a.ttt", "folder does not exist"),
        ("/dev/null", "not a regular file"),
    ],
)
def test_places_that_cannot_take_a_run_are_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        check_destination(tmp_path / name)
    assert ("mkdir" in (caught.value.hint or "")) == ("does not exist" in message)


def test_a_link_to_a_run_keeps_pointing_there(tmp_path: Path) -> None:
    write_small_run(tmp_path / "a.ttt")
    link = tmp_path / "link.ttt"
    link.symlink_to("a.ttt")
    write_small_run(link, RECORDS[:2])
    assert link.is_symlink()
    assert open_run(tmp_path / "a.ttt").meta.games == 2


def test_players_without_games_are_kept() -> None:
    games = games_of(RECORDS)
    run = run_of(replace(games, players=(*games.players, "Zukertort")))
    sql = "SELECT first, games, peak_mean FROM players WHERE player = 'Zukertort'"
    assert run.select(sql)[1] == [(None, 0, None)]
    assert run.stored_games().players[-1] == "Zukertort"
    assert np.array_equal(run.stored_games().white, games.white)


def test_notes_of_the_model_are_kept_and_runs_without_them_have_none() -> None:
    notes = ("two players left out: A; B", "Ö")
    meta = run_of(games_of(RECORDS), notes=notes, leave_one_out=-3.5).meta
    assert meta.notes == notes
    rows = [(key, value) for key, value in meta.to_rows() if key != "notes"]
    assert RunMeta.from_rows(rows) == replace(meta, notes=())
    with pytest.raises(RunError, match="has no trace"):
        RunMeta.from_rows((key, value) for key, value in rows if key != "trace")


def test_what_lies_in_files_is_written_part_by_part_and_is_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    sides = (rng.choice(9, 2, replace=False) for _ in range(80))
    games = make_games(
        (1900 + int(rng.integers(9)), f"p{i}", f"p{j}", int(rng.integers(3)), 1.0 + k % 2)
        for k, (i, j) in enumerate(sides)
    )
    written = CodedColumn(rng.integers(0, 5, 80).astype(np.int32), ("", *"abcd"))
    games = replace(games, event=written, spellings=(("p1", "P. 1"),))
    runs = []
    for name, storage in (("whole", MEMORY), ("parts", ArrayFiles(tmp_path, rows=7))):
        timeline = build_timeline(replace(games, storage=storage))
        fit = ttt.fit(timeline, ttt.Params(), SolverConfig())
        write_run(
            place := tmp_path / f"{name}.ttt",
            replace(games, storage=storage),
            timeline,
            fit,
            CONFIG,
        )
        runs.append(place)
    with duckdb.connect() as connection:
        for run in runs:
            connection.execute(f"ATTACH '{run}' AS {run.stem}")
        tables = connection.execute("SELECT DISTINCT table_name FROM duckdb_tables()").fetchall()
        assert len(tables) > 10
        for (table,) in tables:
            whole, parts = (
                connection.execute(
                    f"SELECT * FROM {run.stem}.main.{table} ORDER BY rowid"
                ).fetchall()
                for run in runs
            )
            different = {one[0] for one, other in zip(whole, parts, strict=True) if one != other}
            assert different <= {"created"}, table


def test_a_disk_without_room_is_refused_with_numbers_before_inference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.ttt"
    write_small_run(place, RECORDS[:2])
    before = place.read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 300_000))
    monkeypatch.setattr(ttt, "fit", lambda *_, **__: pytest.fail("inference has begun"))
    with pytest.raises(
        RunError, match=r"needs about 2 MB, and the disk has 0\.3 MB left"
    ) as caught:
        api.fit(games_of(RECORDS), output=place)
    assert caught.value.where == str(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_the_estimate_is_no_more_than_a_run_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.ttt"
    timeline = build_timeline(write_small_run(place))
    size = place.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, size))
    check_space(place, timeline)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, size // 2))
    with pytest.raises(RunError, match="needs about"):
        check_space(place, timeline)


@pytest.mark.slow
def test_a_default_name_takes_only_the_place_of_a_run_of_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.csv").write_text("date,white,black,result\n1850,a,b,1-0\n")
    (tmp_path / "g.tsv").write_text("date\twhite\tblack\tresult\n1850\ta\tb\t1-0\n")
    for args, code in (
        (["g.csv"], 0),
        (["./g.csv"], 0),
        (["g.tsv"], 2),
        (["g.tsv", "-o", "g.ttt"], 0),
    ):
        assert run_command(["fit", *args, "-q", "-s", "model.name=elo"]) == code
    err = capsys.readouterr().err
    assert "g.ttt: is a run of other games (./g.csv)" in err
    assert "name another run with -o, or replace this one with -o g.ttt" in err


@given(st.data())
@examples(12)
def test_records_are_the_weighted_results(data: st.DataObject) -> None:
    rows = [
        RECORDS[i] for i in sorted(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=12)))
    ]
    same = data.draw(st.booleans())
    weights = (
        [2.0] * len(rows) if same else [data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in rows]
    )
    games = games_of(rows, weights)
    if same:
        games = replace(games, weight=np.broadcast_to(2.0, len(rows)))
        assert games.weight.strides == (0,)
    expected = np.zeros((3, len(games.players)))
    for (_, white, black, result), weight in zip(rows, weights, strict=True):
        outcome = ("0-1", "1/2-1/2", "1-0").index(result)
        expected[outcome, games.players.index(white)] += weight
        expected[2 - outcome, games.players.index(black)] += weight
    found = run_of(games).arrays("SELECT games, losses, draws, wins FROM players")
    assert np.array_equal([found["losses"], found["draws"], found["wins"]], expected)
    assert np.array_equal(found["games"], expected.sum(axis=0))


locks = pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
NEW = "date,white,black,result\n1863,a,b,1-0\n"
HOLD = (
    "import sys; from ttt_cli.runs.write import write_lock\n"
    "with write_lock(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.readline()"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    main.run(["fit", _games("old", 3), "-q", "-o", "a.ttt"])
    return tmp_path / "a.ttt"


def _games(name: str, count: int) -> str:
    rows = "".join(f"18{50 + i},{name},b,1-0\n18{50 + i},b,{name},1/2-1/2\n" for i in range(count))
    Path(f"{name}.csv").write_text(f"date,white,black,result\n{rows}")
    return f"{name}.csv"


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.suffix != ".csv")


@locks
@pytest.mark.slow
def test_who_holds_a_run_may_take_it_again_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "a.ttt"
    with write_lock(place):
        with write_lock(place):
            write_small_run(place)
        assert (tmp_path / ".a.ttt.lock").exists()
    assert list(tmp_path.iterdir()) == [place]


@locks
@pytest.mark.slow
def test_a_link_and_its_run_are_one(tmp_path: Path) -> None:
    (tmp_path / "link.ttt").symlink_to("a.ttt")
    with write_lock(tmp_path / "a.ttt"), subprocess.Popen(
        [sys.executable, "-m", "ttt_cli", "fit", "-", "--no-wait", "-o", str(tmp_path / "link.ttt")],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        _, err = other.communicate(NEW)
    assert other.returncode == 2
    assert "another process writes this run" in err


COMMANDS = (
    ["update", "a.ttt", "new.csv"],
    ["fit", "new.csv", "-o", "a.ttt"],
    ["tune", "beta", "-r", "a.ttt"],
    ["evidence", "--grid", "beta=300/400", "-r", "a.ttt"],
)
ALIKE = ("tune", "evidence")  # they write points beside the run, as `fit` and `update` write it


@locks
@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [pytest.param(args, marks=[pytest.mark.large] * (args[0] in ALIKE)) for args in COMMANDS],
    ids=lambda args: args[0],
)
def test_the_second_writer_is_refused_by_choice_or_waits(
    place: Path, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _games("new", 2)
    before = place.read_bytes()
    with holding(HOLD, "a.ttt") as end:
        assert main.run([*args, "--no-wait"]) == 2
        assert capsys.readouterr().err.splitlines() == [
            "a.ttt: another process writes this run", "hint: leave --no-wait out to wait until it ends",
        ]  # fmt: skip
        assert place.read_bytes() == before
        assert main.run(["player", "old", "-r", "a.ttt"]) == 0  # readers need no lock
        told: list[str] = []
        with (
            waiting(lambda sentence: (told.append(sentence), end()), wait=True),
            write_lock("a.ttt"),
        ):
            pass
        assert told == [
            "a.ttt: waiting for another process that writes this run (--no-wait refuses)"
        ]
    assert main.run(args) in (0, 4)
    assert {*names()} - {"a.ttt.points"} == {"a.ttt"}


VERSION_AT = 12  # in a DuckDB file, the version of its storage
OF_1_4 = 67


@pytest.mark.slow
def test_the_log_beside_a_run_goes_after_the_run_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, log = tmp_path / "a.ttt", tmp_path / "a.ttt.wal"
    write_small_run(place)
    log.write_bytes(b"of another database")

    def failing(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", failing)
        with pytest.raises(RunError, match="Input/output error"):
            write_small_run(place)
    assert log.exists()
    write_small_run(place)
    assert not log.exists()


UNFINISHED = (
    "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute(\"INSERT INTO meta VALUES ('x', 'y')\");"
    "os.kill(os.getpid(), 9)"
)


@pytest.mark.slow
def test_a_log_of_another_database_beside_a_run_is_named_and_never_applied(tmp_path: Path) -> None:
    place, log = tmp_path / "a.ttt", tmp_path / "a.ttt.wal"
    write_small_run(place)
    write_small_run(tmp_path / "b.ttt", RECORDS[:2])
    subprocess.run([sys.executable, "-c", UNFINISHED, str(place)], check=False)
    assert log.exists()
    assert ("x", "y") in open_run(place).select("SELECT * FROM meta")[1]
    shutil.copyfile(tmp_path / "b.ttt", place)
    with pytest.raises(RunError, match="cannot be opened") as caught:
        open_run(place)
    assert "a.ttt.wal belongs to another database" in (caught.value.hint or "")
    log.unlink()
    assert open_run(place).meta.games == 2


def test_the_oldest_duckdb_that_we_allow_can_read_a_run(tmp_path: Path) -> None:
    write_small_run(tmp_path / "a.ttt")
    version = (tmp_path / "a.ttt").read_bytes()[VERSION_AT : VERSION_AT + 8]
    assert int.from_bytes(version, "little") <= OF_1_4


def test_mode_stays_and_a_protected_run_is_refused_before_the_work(tmp_path: Path) -> None:
    place = tmp_path / "a.ttt"
    write_small_run(place)
    place.chmod(0o600)
    write_small_run(place, RECORDS[:2])
    assert place.stat().st_mode & 0o777 == 0o600
    place.chmod(0o444)
    with pytest.raises(RunError, match="write-protected") as caught:
        check_destination(place)
    assert "chmod u+w" in (caught.value.hint or "")
    with pytest.raises(RunError, match="write-protected"):
        write_small_run(place)
    assert open_run(place).meta.games == 2


@pytest.mark.slow
def test_other_names_of_a_run_keep_the_old_one_and_that_is_said(tmp_path: Path) -> None:
    place, other = tmp_path / "a.ttt", tmp_path / "b.ttt"
    write_small_run(place)
    os.link(place, other)
    told: list[str] = []
    with waiting(told.append, wait=True):
        write_small_run(place, RECORDS[:2])
    assert (open_run(place).meta.games, open_run(other).meta.games) == (2, 7)
    assert told == [f"{place} has 2 hard links: the other names keep the old run"]
    with waiting(told.append, wait=True):
        write_small_run(place)
    assert len(told) == 1
