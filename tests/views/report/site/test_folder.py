"""A site is replaced whole, and nothing but a site: a signal or a failed call at any step leaves a complete one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ttt_cli.cli.messages import say
from ttt_cli.support.errors import RunError
from ttt_cli.support.locks import waiting
from ttt_cli.support.replacing import replacing, sweep
from ttt_cli.views.report.folder import new_folder

_WRITER = """
import errno, os, signal, sys
from pathlib import Path
from ttt_cli.support.errors import RunError
from ttt_cli.views.report.folder import new_folder

how = sys.argv[2]

def write(place, nth):
    calls = 0

    def step(event, *_):
        nonlocal calls
        if event in ("os.rename", "os.remove", "os.rmdir", "os.scandir", "os.listdir"):
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
_MOST = 50  # calls


@pytest.fixture(autouse=True)
def reported() -> Iterator[None]:
    """Messages of writers go to standard error, as on the command line."""
    with waiting(say, wait=True):
        yield


_NAMES = ("index.html", "players/a.html", "years/1900.html")


def _write(place: Path, text: str) -> None:
    with new_folder(place) as write:
        for name in _NAMES:
            write(name, text)


def _texts(place: Path) -> list[str]:
    return [(place / name).read_text() for name in _NAMES]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "how",
    [
        pytest.param("SIGINT", marks=pytest.mark.large),
        "SIGKILL",
        pytest.param("EIO", marks=pytest.mark.large),
    ],
)
def test_a_complete_site_is_there_whatever_happens_at_a_rename_removal_or_listing(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each call in turn, in folders by its number; none in folder 0."""
    places = [tmp_path / f"{nth:02}" / "site" for nth in range(_MOST)]
    for place in places:
        place.parent.mkdir()
        _write(place, "old")
    code = [sys.executable, "-c", _WRITER, str(tmp_path), how]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert 4 < int(done.stdout.split()[0]) < _MOST
    assert sum(not place.exists() for place in places) == (how == "SIGKILL")
    for place in places:
        if (
            not place.exists()
        ):  # killed between two renames: the next command that writes beside it puts it back
            assert how == "SIGKILL"
            with replacing(place.with_name("table.csv")) as table:
                table.touch()
            assert (
                capsys.readouterr().err
                == f"{place} restored: the command that was replacing it did not end\n"
            )
            place.with_name("table.csv").unlink()
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


@pytest.mark.parametrize(
    "name", ["notes.html", "data/games.csv", "players/precious.pgn", "years/x/y.txt", "empty"]
)
def test_files_that_no_site_wrote_stay(name: str, tmp_path: Path) -> None:
    place = tmp_path / "s"
    _write(place, "old")
    mine = place / name
    mine.parent.mkdir(exist_ok=True)
    if name == "empty":
        mine.mkdir()
    else:
        mine.write_text("mine")
    with pytest.raises(
        RunError, match=f"did not write \\({name.removesuffix('/y.txt').removesuffix('/games.csv')}"
    ):
        _write(place, "new")
    assert mine.is_dir() or mine.read_text() == "mine"
    assert _texts(place) == ["old"] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes")
def test_a_page_that_is_now_a_link_or_a_pipe_is_none_of_the_site(tmp_path: Path) -> None:
    place = tmp_path / "s"
    (tmp_path / "mine").mkdir()
    for make in (lambda path: path.symlink_to(tmp_path / "mine"), os.mkfifo):
        _write(place, "old")
        (place / "index.html").unlink()
        make(place / "index.html")
        with pytest.raises(RunError, match=r"did not write \(index.html\)"):
            _write(place, "new")
        (place / "index.html").unlink()
        (place / "index.html").write_text("old")


def test_of_a_neighbour_with_a_longer_name_nothing_is_touched(tmp_path: Path) -> None:
    for name in ("site", "site.b", "s[1]", "s1", ".site", "x" * 60, "x" * 61):
        _write(tmp_path / name, name)
    for name in (".site.b.0123abcd.ttt-old", ".s1.0123abcd.ttt-old"):
        (tmp_path / name).mkdir()
    before = sorted(tmp_path.iterdir())
    for name in ("site", "s[1]", "x" * 60):
        _write(tmp_path / name, "new")
        assert sorted(tmp_path.iterdir()) == before
        assert _texts(tmp_path / name) == ["new"] * 3
    assert _texts(tmp_path / "site.b") == ["site.b"] * 3
    assert _texts(tmp_path / ("x" * 61)) == ["x" * 61] * 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_named_like_leftovers_are_left_alone(tmp_path: Path) -> None:
    names = (".site.01234567.ttt-old", ".site.01234568.ttt-part", ".site.01234569.ttt.lock")
    for name in names:
        os.mkfifo(tmp_path / name)
    part = tmp_path / ".site.01234569.ttt-part"
    (part / "old").mkdir(parents=True)
    os.mkfifo(part / "old" / "site")
    _write(tmp_path / "site", "new")
    assert _texts(tmp_path / "site") == ["new"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, part.name, "site"])
    (tmp_path / names[2]).unlink()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names[:2], "site"])


def test_a_site_that_was_set_aside_is_put_back_only_into_an_empty_place(tmp_path: Path) -> None:
    for text in ("set aside", "there"):
        _write(tmp_path / "site", text)
        if text == "set aside":
            (tmp_path / ".site.01234567.ttt-part" / "old").mkdir(parents=True)
            (tmp_path / "site").rename(tmp_path / ".site.01234567.ttt-part" / "old" / "site")
            (tmp_path / "site").mkdir()
    assert _texts(tmp_path / "site") == ["there"] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


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
