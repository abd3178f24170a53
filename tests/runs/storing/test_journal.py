"""Evidence points find their way into a run whatever readers and disks do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tests.support.handmade import RECORDS, put_small_run
from ttt_cli.errors import RunError
from ttt_cli.runs import connection
from ttt_cli.runs.evidence import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.storing import journal
from ttt_cli.runs.storing.journal import journal_of


@pytest.fixture
def place(tmp_path: Path) -> Path:
    put_small_run(tmp_path / "a.ttt")
    return tmp_path / "a.ttt"


def point(beta: float, error: float = 0.001) -> EvidencePoint:
    return EvidencePoint({"beta": beta}, {"beta": beta}, -beta, True, 5, error)


def betas(run: Run) -> list[float]:
    """Of all points but the run's own."""
    return [point.asked["beta"] for point in run.evidence_points()[1:]]


def stored(place: Path) -> int:
    """Points in the file itself."""
    with duckdb.connect(str(place), read_only=True) as database:
        (count,) = database.execute("SELECT count(*) - 1 FROM evidence").fetchone() or (0,)
    return int(count)


@contextmanager
def held(place: Path, *, read_only: bool) -> Iterator[None]:
    script = (
        f"import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only={read_only}); print('held', flush=True);"
        "input()"
    )
    command = [sys.executable, "-c", script, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
        holder.communicate("\n")


@pytest.mark.slow
def test_points_are_seen_at_once_and_merged_later(place: Path) -> None:
    run = open_run(place)
    run.store_evidence([point(300), point(400)])
    run.store_evidence([point(500, float("inf"))])
    assert betas(open_run(place)) == [300, 400, 500]
    assert (stored(place), journal_of(place).exists()) == (0, True)
    run.merge_evidence()
    assert betas(open_run(place)) == [300, 400, 500]
    assert (stored(place), list(place.parent.iterdir())) == (3, [place])
    run.store_evidence([point(600)])
    assert betas(run) == [300, 400, 500, 600]


@pytest.mark.slow
def test_readers_stop_neither_storing_nor_merging(place: Path) -> None:
    run = open_run(place)
    with held(place, read_only=True):
        run.store_evidence([point(300)])
        run.merge_evidence()
    assert stored(place) == 1


@pytest.mark.slow
def test_points_wait_while_another_program_holds_the_run_for_writing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "RETRY_DELAYS", ())
    run = open_run(place)
    with held(place, read_only=False):
        run.store_evidence([point(300)])
        run.merge_evidence()
    assert (betas(open_run(place)), stored(place)) == ([300], 0)
    open_run(place).merge_evidence()
    assert (betas(open_run(place)), stored(place)) == ([300], 1)


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
        with pytest.raises(RunError, match="No space left"):
            run.merge_evidence()
    assert 300 in betas(open_run(place))
    assert stored(place) == 0


def test_lines_broken_off_and_of_other_runs_are_passed_over(place: Path) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])
    whole = journal_of(place).read_text()
    other = whole.replace(run.meta.created, "2001-01-01T00:00:00").replace("300", "700")
    journal_of(place).write_text(f"{other}\nno json\n[1, 2]\n{{}}\n{whole}{whole[:-9]}")
    run.store_evidence([point(400)])
    assert betas(open_run(place)) == [300, 400]
    run.merge_evidence()
    assert stored(place) == 2


def test_points_of_a_run_that_was_replaced_are_gone(place: Path) -> None:
    open_run(place).store_evidence([point(300)])
    put_small_run(place, RECORDS[:2])
    assert betas(open_run(place)) == []
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_only_our_own_ordinary_files_are_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(place)
    run.store_evidence([point(300)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 4242)
        assert betas(open_run(place)) == []
    journal_of(place).rename(place.with_name("elsewhere"))
    journal_of(place).symlink_to("elsewhere")
    assert betas(open_run(place)) == []
    journal_of(place).unlink()
    os.mkfifo(journal_of(place))
    assert betas(open_run(place)) == []
    assert journal.noted(place, run.meta.created) == []
