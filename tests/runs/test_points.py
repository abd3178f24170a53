"""Evidence points beside a run: kept whatever readers and disks do, and as long as they are valid."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.handmade import CONFIG, RECORDS, REPORT, fit_of, games_of, put_small_run, write_small_run
from ttt_cli.runs.meta import EvidencePoint, points_file, read_points
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import write_run
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import waiting
from ttt_cli.timeline import build_timeline


@pytest.fixture
def place(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt")
    return tmp_path / "a.ttt"


def point(beta: float, error: float = 0.001) -> EvidencePoint:
    return EvidencePoint({"beta": beta}, {"beta": beta}, -beta, True, 5, error)


def betas(run: Run) -> list[float]:
    """Of all points but the run's own."""
    return [point.asked["beta"] for point in run.evidence_points()[1:]]


def test_a_disk_that_fails_keeps_the_points_that_were_stored(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(RunError, match="No space left"):
            run.store_evidence([point(400)])
    assert 300 in betas(open_run(place))


def test_broken_lines_and_those_of_other_runs_are_ignored(place: Path) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])
    whole = points_file(place).read_text()
    other = whole.replace(run._basis, "0" * 32).replace("300", "700")
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
    assert read_points(place, run._basis) == []


def test_points_are_in_every_view_of_the_run_at_once(place: Path) -> None:
    run, other = open_run(place), open_run(place)
    assert len(other.query("FROM evidence")) == 1
    run.store_evidence([point(300), point(400)])
    run.store_evidence([replace(point(300), log_evidence=-1.0)])
    for reader in (run, other, open_run(place)):
        assert betas(reader) == [300, 400]
        assert reader.query("SELECT log_evidence FROM evidence").log_evidence.tolist()[1:] == [-1.0, -400.0]
    assert {path.name for path in place.parent.iterdir()} == {"a.ttt", "a.ttt.points"}


READ = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input()"
)


@pytest.mark.slow
def test_readers_do_not_stop_storing(place: Path) -> None:
    command = [sys.executable, "-c", READ, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        open_run(place).store_evidence([point(300)])
        holder.communicate("\n")
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
