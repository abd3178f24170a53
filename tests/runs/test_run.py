import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.handmade import RECORDS, REPORT, Record, games_of, put_small_run, run_of, write_small_run
from tests.support.strategies import examples
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.reading.columns import Column
from ttt_cli.reading.reports import TEXT_COLUMNS
from ttt_cli.runs import attach
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.schema import FORMAT
from ttt_cli.support.errors import LookupFailed, RunError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    put_small_run(tmp_path / "a.ttt")
    return open_run(tmp_path / "a.ttt")


def same_games(one: Games, other: Games) -> bool:
    columns = ((getattr(one, name), getattr(other, name)) for name in GAME_COLUMNS)
    equal = all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in columns)
    equal = equal and all(list(getattr(one, name)) == list(getattr(other, name)) for name in TEXT_COLUMNS)
    equal = equal and one.spellings == other.spellings
    return equal and one.players == other.players and one.report == other.report


def test_the_stored_games_are_the_fitted_ones(tmp_path: Path) -> None:
    games = write_small_run(tmp_path / "a.ttt")
    assert same_games(open_run(tmp_path / "a.ttt").stored_games(), games)


def test_what_was_written_of_games_comes_back() -> None:
    rounds = Column(np.array([3, 1, 2, 0, 0, 1, 3], np.uint8), ("", "1", "2", "London", "unused"))
    spellings = (("Morphy, Paul", "Morphy, P."), ("Morphy, Paul", "Paul Morphy"))
    games = replace(games_of(RECORDS, report=REPORT), round=rounds, event=rounds, spellings=spellings)
    run = run_of(games)
    assert run.has_rows("texts")
    assert same_games(run.stored_games(), games)
    assert list(run.stored_games().round)[:3] == ["London", "1", "2"]
    assert len(run.select("SELECT * FROM run.main.texts WHERE text = 'unused'")[1]) == 0


def test_a_run_without_texts_or_of_before_there_were_any_is_whole(run: Run) -> None:
    assert run.path is not None
    assert not run.has_rows("texts")
    run.close()
    with duckdb.connect(str(run.path)) as database:
        database.execute("DROP TABLE game_texts; DROP TABLE texts; DROP TABLE spellings")
    older = open_run(run.path)
    assert not older.has_rows("texts")
    assert same_games(older.stored_games(), games_of(RECORDS, report=REPORT))


NAMES = st.sampled_from(
    ["Ångström", "a", "B", "b, c", "O'Neil", 'q"uote', "tab\there", "名前", "-", "NULL", ""]
)
RECORDS_DRAWN = st.lists(
    st.tuples(
        st.sampled_from(["1749", "1850", "1850-02", "1850-03-01", "1999-12-31"]),
        NAMES,
        NAMES,
        st.sampled_from(["1-0", "0-1", "1/2-1/2"]),
    ).filter(lambda record: record[1] != record[2]),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@examples(12)
@given(RECORDS_DRAWN, st.data())
def test_any_games_come_back_equal(records: list[Record], data: st.DataObject) -> None:
    n = len(records)
    weights = data.draw(st.lists(st.floats(1e-3, 1e6), min_size=n, max_size=n))
    games = games_of(sorted(records, key=middle), weights, REPORT)
    assert same_games(run_of(games, period="month").stored_games(), games)


def middle(record: Record) -> str:
    """The text of a date's middle: what games are sorted by."""
    return {4: f"{record[0]}-07-02", 7: f"{record[0]}-16"}.get(len(record[0]), record[0])


def test_two_inputs_of_one_name_stay_apart() -> None:
    report = replace(REPORT, files=(REPORT.files[0], replace(REPORT.files[1], path="a.pgn")))
    games = games_of(RECORDS, report=report)
    assert same_games(run_of(games).stored_games(), games)


def test_files_that_are_no_runs_say_so(tmp_path: Path) -> None:
    (tmp_path / "text.ttt").write_text("hello")
    duckdb.connect(str(tmp_path / "other.ttt")).execute("CREATE TABLE t AS SELECT 1").close()
    for name, message in (
        ("text.ttt", r"text\.ttt: not a run of ttt"),
        ("other.ttt", "not a run of ttt"),
        ("", "is a folder"),
        ("missing.ttt", "no such run"),
    ):
        with pytest.raises(RunError, match=message):
            open_run(tmp_path / name)


def test_a_forgotten_suffix_is_understood_or_suggested(run: Run) -> None:
    assert run.path is not None
    assert open_run(run.path.with_suffix("")).path == run.path
    run.path.rename(run.path.with_name("of 1.5.ttt"))
    with pytest.raises(RunError) as caught:
        open_run(run.path.with_name("of 1.5"))
    assert "did you mean" in (caught.value.hint or "")
    assert "of 1.5.ttt" in (caught.value.hint or "")


def test_damage_and_other_versions_are_told_apart(run: Run) -> None:
    path = run.path
    assert path is not None
    run.close()
    for sql, message in (
        ("UPDATE meta SET value = '999' WHERE key = 'format'", "newer ttt"),
        (f"UPDATE meta SET value = '{FORMAT - 1}' WHERE key = 'format'", "older ttt"),
        (
            f"UPDATE meta SET value = '{FORMAT}' WHERE key = 'format'; DELETE FROM meta WHERE key = 'sweeps'",
            "has no sweeps",
        ),
    ):
        with duckdb.connect(str(path)) as database:
            database.execute(sql)
        with pytest.raises(RunError, match=message):
            open_run(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(RunError, match="cannot be opened"):
        open_run(path)


@pytest.mark.parametrize("begin", [1 << 18, 1 << 21])
def test_damage_behind_the_catalog_is_an_error_with_a_hint(run: Run, begin: int) -> None:
    path = run.path
    assert path is not None
    whole = bytearray(path.read_bytes())
    for place in range(12288 + begin + 9, len(whole), 1 << 18):  # in every block
        whole[place] ^= 1
    for damaged in (whole, whole[:begin]):
        path.write_bytes(damaged)
        with pytest.raises(RunError, match=r"cannot be (opened|read)") as caught:
            open_run(path).select("SELECT * FROM skills JOIN games USING (period)")
        assert caught.value.where == str(path)
        assert caught.value.hint == "the file may be damaged; fit it again"


def test_a_run_held_by_another_process_is_an_error_in_words(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attach, "RETRY_DELAYS", (0.0,))
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"
    command = [sys.executable, "-c", script, str(run.path)]
    run.close()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match="another process has"):
            open_run(run.path)
        holder.communicate("\n")
    assert open_run(run.path).meta.games == 7


def test_frames_have_the_public_columns(run: Run) -> None:
    skills = run.skills()
    assert list(skills.columns) == ["player", "period", "mean", "sd", "games"]
    assert len(skills) == 13
    assert list(run.skills("morphy")["period"]) == ["1857", "1858"]
    with pytest.raises(LookupFailed):
        run.skills("Nobody")
    assert list(run.players()["player"]) == ["Anderssen, Adolf", "Morphy, Paul", "Paulsen, Louis"]
    assert list(run.games()["result"]) == [record[3] for record in RECORDS]
    assert list(run.evidence().columns) == [
        *("beta", "tau", "draw_margin"),
        *("log_evidence", "converged", "sweeps", "remaining_error"),
    ]


def point(beta: float, log_evidence: float) -> EvidencePoint:
    return EvidencePoint(
        {"beta": beta, "tau": 60.0}, {"beta": beta, "tau": 60.0}, log_evidence, True, 5, 0.001
    )


def test_evidence_points_are_kept_and_the_later_of_equals_wins(run: Run) -> None:
    with run:
        run.store_evidence([point(600, -1.0), point(700, -2.0)])
        assert len(run.evidence_points()) == 3
    run.store_evidence([replace(point(600.0, -3.0), asked={"tau": 60, "beta": 600})])
    stored = open_run(run.path).evidence_points()
    assert len(stored) == 3
    assert {p.asked["beta"]: p.log_evidence for p in stored[1:]} == {600.0: -3.0, 700.0: -2.0}
    assert run.path is not None
    assert not run.path.with_name("a.ttt.wal").exists()


def test_a_reader_sees_the_run_as_it_was_when_opened(run: Run) -> None:
    put_small_run(run.path, RECORDS[:2])
    assert len(run.select("SELECT * FROM games")[1]) == len(RECORDS)
    with run, run:
        assert len(run.skills()) == 13
    with pytest.raises(RunError, match="replaced meanwhile"):  # it was closed
        run.select("SELECT * FROM games")
    assert len(open_run(run.path).select("SELECT * FROM games")[1]) == 2


def test_evidence_never_goes_to_another_run_in_the_same_place(run: Run) -> None:
    assert run.path is not None
    put_small_run(run.path)
    with pytest.raises(RunError, match="replaced meanwhile"):
        run.store_evidence([point(600, -1.0)])
    assert len(open_run(run.path).evidence_points()) == 1


def test_the_evidence_table_unites_the_parameters_of_all_points(run: Run) -> None:
    run.store_evidence([EvidencePoint({"x": 1}, {"x": 1.0}, -1.0, False, 3, float("inf"))])
    frame = run.evidence()
    assert list(frame["x"].isna()) == [True, False]
    assert list(frame["converged"]) == [True, False]


def test_streamed_rows_are_all_the_rows(run: Run) -> None:
    sql = "SELECT i FROM range(25000) t(i)"
    columns, rows = run.stream(sql)
    assert columns == ("i",)
    assert [i for (i,) in rows] == list(range(25000))


def test_parquet_copies_hold_the_query(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "it's.parquet"
    run.copy_to(target, "parquet", "SELECT player FROM players")
    with duckdb.connect() as database:
        rows = database.execute("SELECT player FROM read_parquet(?)", [str(target)]).fetchall()
    assert rows == [("Anderssen, Adolf",), ("Morphy, Paul",), ("Paulsen, Louis",)]


def test_wrong_sql_is_a_run_error(run: Run) -> None:
    with pytest.raises(RunError, match=r"a\.ttt"):
        run.select("SELECT nothing FROM nowhere")


def test_a_query_gives_a_frame(small_run: Callable[..., Run]) -> None:
    frame = small_run().query("SELECT player, games FROM players WHERE games > ? ORDER BY player", [3])
    assert frame.columns.tolist() == ["player", "games"]
    assert frame.values.tolist() == [["Anderssen, Adolf", 5], ["Morphy, Paul", 5], ["Paulsen, Louis", 4]]


def test_the_view_of_games_has_what_was_written_of_them(tmp_path: Path) -> None:
    events = Column(np.array([1, 0, 1, 0, 0, 1, 1], np.uint8), ("", "London"))
    run = run_of(replace(games_of(RECORDS, report=REPORT), event=events), tmp_path / "a.ttt")
    sql = "SELECT event, site, round FROM games"
    expected = [(event, "", "") for event in events]
    assert run.select(sql)[1] == expected
    with duckdb.connect(str(tmp_path / "a.ttt"), read_only=True) as other:
        assert other.execute(sql).fetchall() == expected
