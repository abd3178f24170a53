"""A site is replaced whole: a signal or a failed call at any rename or removal leaves a complete site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ttt_cli.support.errors import RunError
from ttt_cli.views.report.site import new_folder

_WRITER = """
import errno, os, signal, sys
from pathlib import Path
from ttt_cli.support.errors import RunError
from ttt_cli.views.report.site import new_folder

how = sys.argv[2]

def write(place, nth):
    calls = 0

    def step(event, *_):
        nonlocal calls
        if event in ("os.rename", "os.remove", "os.rmdir"):
            calls += 1
            if calls == nth:
                if how == "EIO":
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                os.kill(os.getpid(), getattr(signal, how))

    try:
        with new_folder(place) as put:
            sys.addaudithook(step)
            for name in ("index.html", "players/a.html", "years/1900.html"):
                put(name, "new")
    except (RunError, KeyboardInterrupt):
        pass
    print(calls, flush=True)

for place in sorted(Path(sys.argv[1]).iterdir()):
    if not os.fork():
        write(place / "site", int(place.name))
        os._exit(0)
    os.wait()
"""
_MOST = 30  # calls


_NAMES = ("index.html", "players/a.html", "years/1900.html")


def _write(place: Path, text: str) -> None:
    with new_folder(place) as write:
        for name in _NAMES:
            write(name, text)


def _texts(place: Path) -> list[str]:
    return [(place / name).read_text() for name in _NAMES]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL", "EIO"])
def test_a_complete_site_is_there_whatever_happens_at_a_rename_or_removal(how: str, tmp_path: Path) -> None:
    """Each call in turn, in folders by its number; none in folder 0."""
    places = [tmp_path / f"{nth:02}" / "site" for nth in range(_MOST)]
    for place in places:
        place.parent.mkdir()
        _write(place, "old")
    code = [sys.executable, "-c", _WRITER, str(tmp_path), how]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert 4 < int(done.stdout.split()[0]) < _MOST
    for place in places:
        if not place.exists():  # killed between two renames: the next writer puts it back, also if it fails
            with pytest.raises(KeyboardInterrupt), new_folder(place):
                raise KeyboardInterrupt
        assert _texts(place) in (["old"] * 3, ["new"] * 3), place
        _write(place, "next")
        assert _texts(place) == ["next"] * 3
        assert [path.name for path in place.parent.iterdir()] == ["site"], place


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


def test_a_new_site_replaces_all_of_the_old_one_unless_interrupted(tmp_path: Path) -> None:
    place = tmp_path / "s"
    _write(place, "old")
    with pytest.raises(KeyboardInterrupt), new_folder(place):
        raise KeyboardInterrupt
    assert _texts(place) == ["old"] * 3
    with new_folder(place) as write:
        write("index.html", "new")
    assert sorted(path.name for path in place.iterdir()) == ["index.html", "made-by-ttt.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
