"""Compiled kernels are unpickled: only what the user alone can write is believed."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ttt_cli.kernels import cache


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A package that cannot be written to, a user's cache, and a folder for temporary files open to all."""
    (tmp_path / "package").touch()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    monkeypatch.setattr(cache, "_HERE", tmp_path / "package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv(cache._SHARED, "")  # so that what is set here ends with the test
    monkeypatch.delenv(cache._SHARED)
    monkeypatch.setattr(cache.atexit, "register", lambda *args, **kwargs: None)
    return {"home": tmp_path / "home", "tmp": temporary, "own": temporary / f"ttt-{os.geteuid()}"}


def without_home(places: dict[str, Path]) -> None:
    places["home"].touch()


def is_fresh(place: cache.CacheFolder, places: dict[str, Path]) -> bool:
    folder = Path(place.folder)
    fresh = folder.parent
    return (
        not place.lasts
        and fresh.parent == places["tmp"]
        and fresh != places["own"]
        and stat.S_IMODE(fresh.lstat().st_mode) == 0o700
        and os.environ[cache._SHARED] == str(fresh)
    )


def test_the_first_place_that_can_be_written_to(
    places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache.cache_place("k") == cache.CacheFolder(
        str(places["home"] / ".cache" / "ttt" / "k"), lasts=True
    )
    assert stat.S_IMODE((places["home"] / ".cache" / "ttt" / "k").stat().st_mode) == 0o700
    monkeypatch.setattr(cache, "_HERE", tmp_path)
    assert cache.cache_place("k").folder == str(tmp_path / "__pycache__" / "k")


def test_the_folder_for_temporary_files_where_there_is_no_home(places: dict[str, Path]) -> None:
    without_home(places)
    assert cache.cache_place("k") == cache.CacheFolder(str(places["own"] / "k"), lasts=True)
    assert stat.S_IMODE(places["own"].stat().st_mode) == 0o700
    assert cache.cache_place("k").lasts


def test_a_user_without_a_home_at_all(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache.cache_place("k").folder == str(places["own"] / "k")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_to_is_left_alone(places: dict[str, Path], mode: int) -> None:
    without_home(places)
    (places["own"] / "k").mkdir(parents=True)
    (places["own"] / "k").chmod(mode)
    assert is_fresh(cache.cache_place("k"), places)


def test_a_folder_within_one_that_all_may_change_is_left_alone(places: dict[str, Path]) -> None:
    without_home(places)
    places["own"].mkdir()
    places["own"].chmod(0o777)
    assert is_fresh(cache.cache_place("k"), places)


def test_somebody_elses_folder_is_left_alone(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    me, found = os.geteuid(), Path.lstat
    planted = [places["home"] / ".cache" / "ttt" / "k", places["own"]]
    for folder in planted:
        folder.mkdir(parents=True, mode=0o700)

    def as_of_another(path: Path) -> os.stat_result:
        result = found(path)
        return os.stat_result((*result[:4], me + 1, *result[5:])) if path in planted else result

    monkeypatch.setattr(Path, "lstat", as_of_another)
    assert is_fresh(cache.cache_place("k"), places)
    assert not list(places["own"].iterdir())


def test_a_link_of_somebody_else_is_not_followed(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_home(places)
    elsewhere = places["tmp"] / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    places["own"].symlink_to(elsewhere)
    me, found = os.geteuid(), Path.lstat

    def as_of_another(path: Path) -> os.stat_result:
        result = found(path)
        return os.stat_result((*result[:4], me + 1, *result[5:])) if stat.S_ISLNK(result.st_mode) else result

    monkeypatch.setattr(Path, "lstat", as_of_another)
    assert is_fresh(cache.cache_place("k"), places)
    assert not list(elsewhere.iterdir())


@pytest.mark.slow
def test_a_fresh_folder_is_shared_with_processes_begun_and_goes_with_the_first(tmp_path: Path) -> None:
    child = "from ttt_cli.kernels.compile import _CACHE; print(_CACHE.folder)"
    script = (
        "import pathlib, subprocess, sys; from ttt_cli.kernels import cache;"
        "cache._roots = lambda: iter(());"
        "print(cache.cache_place('k').folder, flush=True);"
        f"subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    one, other = map(Path, shown.stdout.split())
    assert one.parent == other.parent
    assert one.parent.parent == tmp_path
    assert not one.parent.exists()
