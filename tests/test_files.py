"""Files are replaced whole and locked; what is left behind is swept."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from ttt_cli.support import replacing as replacing_files
from ttt_cli.support.locks import locked
from ttt_cli.support.replacing import real_path, replacing, sweep


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    with replacing(place) as temporary:
        temporary.write_text("new")
        assert not place.exists()
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_a_broken_off_block_leaves_everything_as_it_was(
    tmp_path: Path, error: type[BaseException]
) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")

    def broken_off() -> None:
        with replacing(place) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        broken_off()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_mode_and_owner_stay(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")
    for mode in (0o600, 0o664):
        place.chmod(mode)
        with replacing(place) as temporary:
            temporary.write_text("new")
        assert stat.S_IMODE(place.stat().st_mode) == mode


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_the_owner_stays_when_root_writes(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")
    os.chown(place, 12345, 23456)
    with replacing(place) as temporary:
        temporary.write_text("new")
    assert (place.stat().st_uid, place.stat().st_gid) == (12345, 23456)


def test_a_group_that_cannot_be_kept_loses_what_only_it_might_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")
    place.chmod(0o664)

    def refused(path: Path, user: int, group: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    monkeypatch.setattr(
        replacing_files, "_owner", lambda status: (1, 1) if status.st_size == 3 else (2, 2)
    )
    with replacing(place) as temporary:
        temporary.write_text("newer")
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


def test_a_write_protected_file_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")
    place.chmod(0o444)
    with pytest.raises(PermissionError), replacing(place):
        pass
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


KILLED = (
    "import os, sys; from pathlib import Path; from ttt_cli.support.replacing import replacing\n"
    "with replacing(Path(sys.argv[1])) as temporary:\n temporary.write_text('half')\n"
    " (temporary.parent / 'more').mkdir()\n os.kill(os.getpid(), 9)"
)


def test_what_a_killed_process_left_is_swept_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".notes.ttt-part").mkdir()
    (tmp_path / ".notes.ttt-part" / "mine").write_text("kept")
    (tmp_path / ".g.ttt.lock").touch()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a.txt")], check=False)
    (left,) = tmp_path.glob(".a.txt.*.ttt-part")
    assert sorted(path.name for path in left.iterdir()) == ["a.txt", "more"]
    with replacing(tmp_path / "b.txt") as first, replacing(tmp_path / "c.txt") as second:
        first.write_text("one")
        second.write_text("two")
        assert not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".notes.ttt-part", "b.txt", "c.txt"]


def test_links_that_lead_to_themselves_are_left_to_the_system(tmp_path: Path) -> None:
    try:
        (tmp_path / "loop").symlink_to("loop")
    except OSError:
        pytest.skip("no links here")
    assert real_path(tmp_path / "loop").name == "loop"


HOLD = (
    "import sys; from pathlib import Path; from ttt_cli.support.locks import locked\n"
    "with locked(Path(sys.argv[1])):\n print('held', flush=True)\n sys.stdin.readline()"
)


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a lock until a line comes."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
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


def test_folders_without_a_lock_and_locks_of_nobody_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".a.0123abcd.ttt-part").mkdir()
    (tmp_path / ".b.ttt.lock").touch()
    with locked(tmp_path / ".c.ttt.lock"):
        sweep(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [".c.ttt.lock"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("backwards", [False, True], ids=["folder first", "lock first"])
def test_all_leftovers_are_swept_in_any_order_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backwards: bool
) -> None:
    """The lock of a folder is removed with it, and is then not where the list of the folder has it."""
    (tmp_path / ".b.0123abcd.ttt-part").mkdir()
    for name in (".a.ttt.lock", ".b.0123abcd.ttt.lock", ".c.ttt.lock"):
        (tmp_path / name).touch()
    read_folder = os.scandir

    def in_order(folder: Path) -> nullcontext[list[os.DirEntry[str]]]:
        with read_folder(folder) as entries:
            return nullcontext(sorted(entries, key=lambda entry: entry.name, reverse=backwards))

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", in_order)
        sweep(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_lock_with_content_is_nobodys_leftover(tmp_path: Path) -> None:
    (tmp_path / ".b.ttt.lock").write_text("mine")
    sweep(tmp_path)
    assert (tmp_path / ".b.ttt.lock").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc")
@pytest.mark.parametrize("place", ["/proc/self/fd/99", "/dev/fd/99", "/proc/lock"])
def test_a_lock_that_can_never_be_made_is_not_waited_for(place: str) -> None:
    with pytest.raises(PermissionError), locked(Path(place)):
        pass
    with pytest.raises(PermissionError), replacing(Path(place)):
        pass


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
