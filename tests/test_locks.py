import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ttt_cli.support.files import abandoned, locked

HOLD = (
    "import sys; from pathlib import Path; from ttt_cli.support.files import locked\n"
    "with locked(Path(sys.argv[1])):\n print('held', flush=True)\n sys.stdin.readline()"
)


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a lock until a line comes."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate("\n")


def test_nothing_is_left_by_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        assert path.exists()
    assert not path.exists()


def test_another_process_is_refused_or_waits(tmp_path: Path) -> None:
    path, told = tmp_path / "lock", []
    with holder(path) as process:
        with pytest.raises(BlockingIOError), locked(path, wait=False):
            pass
        with abandoned(path) as dead:
            assert not dead
        assert path.exists()

        def release() -> None:
            told.append(process.poll())
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()

        with locked(path, on_wait=release):
            assert told == [None]
            assert path.exists()
    assert not path.exists()


def test_the_lock_of_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        process.kill()
        process.wait()
        assert path.exists()
        with locked(path, wait=False):
            pass
    assert not path.exists()


def test_what_a_dead_process_left_is_known_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with abandoned(path) as dead:
        assert dead
        with pytest.raises(BlockingIOError), locked(path, wait=False):
            pass
    assert not path.exists()
    with abandoned(path) as dead:
        assert not dead
    assert not path.exists()


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "lock").symlink_to("other")
    with pytest.raises(OSError, match=r"symbolic|links"), locked(tmp_path / "lock"):
        pass
    assert (tmp_path / "other").read_text() == "kept"


def test_a_lock_that_was_removed_while_waiting_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        path.unlink()
        with locked(path, wait=False):
            assert path.stat().st_nlink == 1
