"""A site is replaced whole: a signal or a failed call at any rename or removal leaves a complete site."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ttt_cli.support.errors import RunError
from ttt_cli.views.report.folder import new_folder

_WRITER = """
import errno, os, signal, sys
from pathlib import Path
from ttt_cli.support.errors import RunError
from ttt_cli.views.report import folder

how, nth, can_exchange = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "exchange"
calls, exchange = 0, folder.exchange

def step(event, *_):
    global calls
    if event in ("os.rename", "os.remove", "os.rmdir", "exchange"):
        calls += 1
        if calls == nth:
            if how == "EIO":
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            os.kill(os.getpid(), getattr(signal, how))

def watched(one, other):
    step("exchange")
    done = can_exchange and exchange(one, other)
    step("exchange")
    return done

folder.exchange = watched
try:
    with folder.new_folder(Path(sys.argv[1])) as write:
        sys.addaudithook(step)
        for name in ("index.html", "players/a.html", "years/1900.html"):
            write(name, "new")
except (RunError, KeyboardInterrupt):
    pass
print(calls)
"""


def _write(place: Path, text: str) -> None:
    with new_folder(place) as write:
        write("index.html", text)
        write("players/a.html", text)
        write("years/1900.html", text)


def _texts(place: Path) -> list[str]:
    return [(place / name).read_text() for name in ("index.html", "players/a.html", "years/1900.html")]


def _run(place: Path, how: str, nth: int, kind: str) -> str:
    code = [sys.executable, "-c", _WRITER, str(place), how, str(nth), kind]
    return subprocess.run(code, capture_output=True, text=True, check=False).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("kind", ["exchange", "two renames"])
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL", "EIO"])
def test_a_complete_site_is_there_whatever_happens_at_a_rename_or_removal(
    how: str, kind: str, tmp_path: Path
) -> None:
    place = tmp_path / "site"
    _write(place, "old")
    calls = int(_run(place, how, 0, kind))
    assert calls > 6
    for nth in range(1, calls + 1):
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        _write(place, "old")
        _run(place, how, nth, kind)
        if not place.exists():  # killed between two renames: the next writer puts it back, also if it fails
            with pytest.raises(KeyboardInterrupt), new_folder(place):
                raise KeyboardInterrupt
        assert _texts(place) in (["old"] * 3, ["new"] * 3), nth
        _write(place, "next")
        assert _texts(place) == ["next"] * 3
        assert [path.name for path in tmp_path.iterdir()] == ["site"], nth


def test_what_is_no_site_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "s"
    _write(place, "old")
    (place / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"did not write \(notes.txt\)"):
        _write(place, "new")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    _write(foreign, "new")  # an empty folder
    with pytest.raises(RunError, match="its folder does not exist"):
        _write(tmp_path / "no" / "s", "new")
    with pytest.raises(RunError, match="is a file"):
        _write(foreign / "index.html", "new")
    assert _texts(foreign) == ["new"] * 3
    assert _texts(place) == ["old"] * 3
