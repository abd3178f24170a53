"""A run that is replaced is whole before, or the old one stays: full disks, failing disks, logs left behind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, write_small_run
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import check_destination
from ttt_cli.support.errors import RunError
from ttt_cli.support.files import waiting

VERSION_AT = 12  # in a DuckDB file, the version of its storage
OF_1_4 = 67


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
@pytest.mark.parametrize("size", [20_000, 500_000, 1_000_000, 2_000_000])
def test_a_disk_that_fills_leaves_the_run_that_was_there(tmp_path: Path, size: int) -> None:
    place = tmp_path / "a.ttt"
    write_small_run(place)
    before = place.read_bytes()
    with files_up_to(size), pytest.raises(RunError, match=r"a\.ttt: cannot be written: .*File too large"):
        write_small_run(place, RECORDS[:2])
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


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
