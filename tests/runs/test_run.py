import math
import os
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import (
    CONFIG,
    RECORDS,
    REPORT,
    Record,
    fit_of,
    games_of,
    put_small_run,
    run_of,
    write_small_run,
)
from tests.support.joint_runs import run_of as joint_run
from tests.support.processes import holding
from tests.support.strategies import examples
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.runs import database
from ttt_cli.runs.evidence_points import EvidencePoint, points_file, read_points
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import write_run
from ttt_cli.support.errors import LookupFailed, RunError
from ttt_cli.support.locks import waiting
from ttt_cli.timeline import build_timeline

HELD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]{}); print('held', flush=True); input()"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    put_small_run(tmp_path / "a.ttt")
    return open_run(tmp_path / "a.ttt")


def same_games(one: Games, other: Games) -> bool:
    columns = ((getattr(one, name), getattr(other, name)) for name in GAME_COLUMNS)
    equal = all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in columns)
    equal = equal and all(
        list(getattr(one, name)) == list(getattr(other, name)) for name in TEXT_COLUMNS
    )
    equal = equal and one.spellings == other.spellings
    return equal and one.players == other.players and one.report == other.report


def test_what_was_written_of_games_comes_back() -> None:
    rounds = CodedColumn(
        np.array([3, 1, 2, 0, 0, 1, 3], np.uint8), ("", "1", "2", "London", "unused")
    )
    spellings = (("Morphy, Paul", "Morphy, P."), ("Morphy, Paul", "Paul Morphy"))
    games = replace(
        games_of(RECORDS, report=REPORT), round=rounds, event=rounds, spellings=spellings
    )
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
        database.execute(
            "DROP TABLE game_texts; DROP TABLE texts; DROP TABLE spellings; DROP TABLE file_traits"
        )
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


def test_what_files_say_of_sports_and_sides_comes_back() -> None:
    """After an update, files of football counted as chess, and the side named first no longer played at home."""
    football = replace(REPORT.files[0], chess=False, home=True)
    winners = replace(REPORT.files[1], chess=False, winner_first=True)
    report = replace(REPORT, files=(football, winners))
    stored = run_of(games_of(RECORDS, report=report)).stored_games().report
    assert stored == report
    assert not stored.chess


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


def test_settings_that_are_missing_and_a_file_cut_short_are_told_apart(run: Run) -> None:
    path = run.path
    assert path is not None
    run.close()
    with duckdb.connect(str(path)) as database:
        database.execute("DELETE FROM meta WHERE key = 'sweeps'")
    with pytest.raises(RunError, match="has no sweeps"):
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
    monkeypatch.setattr(database, "RETRY_DELAYS", (0.0,))
    run.close()
    with holding(HELD.format(""), run.path), pytest.raises(RunError, match="another process has"):
        open_run(run.path)
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
        run.store_evidence([point(600)])
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
    run.write_parquet(target, "SELECT player FROM players")
    with duckdb.connect() as database:
        rows = database.execute("SELECT player FROM read_parquet(?)", [str(target)]).fetchall()
    assert rows == [("Anderssen, Adolf",), ("Morphy, Paul",), ("Paulsen, Louis",)]


def test_wrong_sql_is_a_run_error(run: Run) -> None:
    with pytest.raises(RunError, match=r"a\.ttt"):
        run.select("SELECT nothing FROM nowhere")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt")
    return tmp_path / "a.ttt"


def point(beta: float) -> EvidencePoint:
    return EvidencePoint({"beta": beta}, {"beta": beta}, -beta, True, 5, 0.001)


def betas(run: Run) -> list[float]:
    """Of all points but the run's own."""
    return [point.requested["beta"] for point in run.evidence_points()[1:]]


def test_broken_lines_and_those_of_other_runs_are_ignored(place: Path) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])
    whole = points_file(place).read_text()
    other = whole.replace(run._connection.basis, "0" * 32).replace("300", "700")
    points_file(place).write_text(f"{other}\nno json\n[1, 2]\n{{}}\n{whole}{whole[:-9]}")
    run.store_evidence([point(400)])
    assert betas(open_run(place)) == [300, 400]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_only_our_own_ordinary_files_are_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 4242)
        assert betas(open_run(place)) == []
    points_file(place).rename(place.with_name("elsewhere"))
    points_file(place).symlink_to("elsewhere")
    assert betas(open_run(place)) == []
    points_file(place).unlink()
    os.mkfifo(points_file(place))
    assert betas(open_run(place)) == []
    assert read_points(place, run._connection.basis).rows == ()


def test_points_are_in_every_view_of_the_run_at_once(place: Path) -> None:
    run, other = open_run(place), open_run(place)
    assert len(other.query("FROM evidence")) == 1
    run.store_evidence([point(300), point(400)])
    run.store_evidence([replace(point(300), requested={"beta": 300.0}, log_evidence=-1.0)])
    for reader in (run, other, open_run(place)):
        assert betas(reader) == [300, 400]
        assert reader.query("SELECT log_evidence FROM evidence").log_evidence.tolist()[1:] == [
            -1.0,
            -400.0,
        ]
    assert {path.name for path in place.parent.iterdir()} == {"a.ttt", "a.ttt.points"}


@pytest.mark.slow
def test_readers_do_not_stop_storing(place: Path) -> None:
    with holding(HELD.format(", read_only=True"), place):
        open_run(place).store_evidence([point(300)])
    assert betas(open_run(place)) == [300]


def test_a_refit_of_the_same_games_keeps_its_points(place: Path) -> None:
    open_run(place).store_evidence([point(300)])
    write_small_run(place)
    assert betas(open_run(place)) == [300]


@pytest.mark.slow
def test_points_of_other_games_or_settings_are_dropped_and_counted(place: Path) -> None:
    config = CONFIG.model_copy(update={"solver": CONFIG.solver.model_copy(update={"tol": 0.5})})
    for records, chosen in ((RECORDS[:2], CONFIG), (RECORDS, config)):
        write_small_run(place)
        open_run(place).store_evidence([point(300), point(400), point(300)])
        games = games_of(records, report=REPORT)
        timeline = build_timeline(games)
        told: list[str] = []
        with waiting(told.append, wait=True):
            write_run(place, games, timeline, fit_of(timeline), chosen)
        assert told == [f"{place}: 2 evidence points of other games or settings are dropped"]
        assert betas(open_run(place)) == []
        assert [*place.parent.iterdir()] == [place]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    return tmp_path


@pytest.mark.slow
def test_named_run_then_environment_then_the_one_fitted_last(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match="no run") as caught:
        open_run()
    assert "ttt fit" in (caught.value.hint or "")
    for name in ("old.ttt", "middle.ttt", "new.ttt"):
        write_small_run(here / name, RECORDS[:2])
    (here / "folder.ttt").mkdir()
    os.utime(here / "folder.ttt", (2e9, 2e9))
    assert open_run().name == "new.ttt"
    monkeypatch.setenv("TTT_RUN", "old.ttt")
    assert open_run().name == "old.ttt"
    assert open_run("middle.ttt").name == "middle.ttt"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["evidence", "copied", "touched"])
def test_what_is_written_to_later_is_not_fitted_later(here: Path, how: str) -> None:
    write_small_run(here / "old.ttt", RECORDS[:2])
    write_small_run(here / "new.ttt", RECORDS[:2])
    if how == "evidence":
        old = open_run("old.ttt")
        old.store_evidence([point(300)])
        assert len(open_run("old.ttt").evidence_points()) == 2
    elif how == "copied":
        (here / "copy.ttt").write_bytes((here / "old.ttt").read_bytes())
    os.utime(here / "old.ttt", (2e9, 2e9))
    assert open_run().name == "new.ttt"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_a_run_of_another_user_is_not_opened_unasked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_small_run(here / "theirs.ttt", RECORDS[:2])
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(RunError, match=r"theirs\.ttt: belongs to another user") as caught:
        open_run()
    assert "-r theirs.ttt" in (caught.value.hint or "")
    assert open_run("theirs.ttt").meta.games == 2


def test_the_newest_is_an_error_when_it_cannot_be_read_and_passed_over_when_it_is_no_database(
    here: Path,
) -> None:
    write_small_run(here / "old.ttt", RECORDS[:2])
    (here / "newer.ttt").write_text("not a database")
    os.utime(here / "newer.ttt", (2e9, 2e9))
    assert open_run().name == "old.ttt"
    (here / "newer.ttt").write_bytes((here / "old.ttt").read_bytes()[:5000])
    os.utime(here / "newer.ttt", (2e9, 2e9))
    with pytest.raises(RunError, match=r"newer\.ttt: cannot be opened"):
        open_run()


FEW = [(1850, "a", "b", 2), (1853, "c", "b", 2), (1857, "a", "d", 0), (1860, "d", "c", 1)]
CAREER = {"growth": 300.0, "growth_years": 2.0, "decline": 9.0, "decline_after": 10.0, "early": 2.0}


def test_the_mean_of_newcomers_is_kept(tmp_path: Path) -> None:
    timeline, fit = fit_rows(FEW, **CAREER, prior_mean_drift=30.0)
    write_run(tmp_path / "a.ttt", make_games(FEW), timeline, fit, CONFIG)
    found, curve = open_run(tmp_path / "a.ttt").newcomers(), fit.newcomers
    assert found["year"].tolist() == [1850, 1853, 1857]
    assert found["mean"].tolist() == curve.mean.tolist()
    assert found["sd"].tolist() == curve.sd.tolist()


def test_the_curve_of_careers_is_that_of_the_parameters() -> None:
    _, run = joint_run(rows=FEW, **CAREER, tau=50.0)
    found = run.career().set_index("years")
    assert found.loc[0.0].tolist() == [0.0, 0.0]
    assert found.index[-1] == 40.0
    assert found.loc[12.0, "mean"] == pytest.approx(300 * (1 - math.exp(-6)) - 18)
    assert found.loc[12.0, "sd"] == pytest.approx(50 * math.sqrt(12 + 6 * (1 - math.exp(-4))))
