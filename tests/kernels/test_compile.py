"""Compiled kernels: announced, kept where the user alone can write, loaded again unless damaged."""

import ctypes
import errno
import os
import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest

from tests.support.cases import each
from ttt_cli.kernels import compile as compiling
from ttt_cli.kernels.compile import cache_folder, flat, inner, kernel, rare
from ttt_cli.kernels.compiler import KernelCompiler
from ttt_cli.support.progress import Wait, listening


def three_halves(x: float) -> float:
    return 1.5 * x


def double(x: float) -> float:
    return 2.0 * x


@pytest.fixture
def new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Wait]]:
    """Call it to compile two kernels with a cache of their own, or load them, and to get what is announced."""
    monkeypatch.setattr(compiling, "FOLDER", str(tmp_path))

    def start() -> list[Wait]:
        said: list[Wait] = []
        monkeypatch.setattr(compiling.KernelCache, "_compiled", 0)
        with listening(said.append):
            assert kernel(three_halves)(3.0) == 4.5
            assert kernel(double)(3.0) == 6.0
        return said

    return start


def test_compiling_is_announced_and_loading_from_the_cache_is_not(
    new_process: Callable[[], list[Wait]], tmp_path: Path
) -> None:
    said = [(wait.done, wait.over) for wait in new_process()]
    assert said == [(0, False), (1, True), (1, False), (2, True)]
    assert len(list(tmp_path.rglob("*.kernel"))) == 2
    assert new_process() == []


def test_a_copy_of_the_package_finds_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it lies, and whenever its files were written."""
    monkeypatch.setattr(compiling, "FOLDER", str(tmp_path / "cache"))
    said: list[Wait] = []
    for folder, time in (("one", 1), ("copy", 2)):
        file = tmp_path / folder / "package.py"
        file.parent.mkdir()
        file.write_text("def half(x: float) -> float:\n    return x / 2\n", encoding="utf-8")
        os.utime(file, (time, time))
        module: dict[str, Any] = {"__name__": "package"}
        exec(compile(file.read_text(encoding="utf-8"), file, "exec"), module)
        with listening(said.append):
            assert kernel(module["half"])(3.0) == 1.5
    assert [wait.over for wait in said] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[: len(content) // 2],
                                    lambda content: bytes(len(content)), lambda content: content[:-9] + bytes(9)],
                         ids=["empty", "truncated", "zeros", "end lost"])  # fmt: skip
def test_damaged_files_are_compiled_anew(
    damage: Callable[[bytes], bytes], new_process: Callable[[], list[Wait]], tmp_path: Path
) -> None:
    new_process()
    for file in tmp_path.rglob("*.kernel"):
        file.write_bytes(damage(file.read_bytes()))
    assert [wait.done for wait in new_process() if wait.over] == [1, 2]
    assert new_process() == []


def test_what_cannot_be_kept_is_compiled_every_time(
    new_process: Callable[[], list[Wait]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder, with one that cannot be made, and on a full disk."""

    def full(**given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), given)

    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.mkstemp", full)
    for folder in ("", str(tmp_path / "file" / "within"), str(tmp_path)):
        monkeypatch.setattr(compiling, "FOLDER", folder)
        assert [wait.done for wait in new_process() if wait.over] == [1, 2]
    assert not list(tmp_path.rglob("*.kernel"))


def test_threads_that_meet_kernels_at_once_compile_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is compiled once and kept, and the hooks of the process are as before."""
    monkeypatch.setattr(compiling, "FOLDER", str(tmp_path))
    before = sys.unraisablehook
    kernels = [kernel(function) for function in (three_halves, double)]
    meet = threading.Barrier(4)

    def call(number: int) -> float:
        meet.wait()
        return kernels[number % 2](2.0)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, range(4))) == [3.0, 4.0, 3.0, 4.0]
    assert len(list(tmp_path.rglob("*.kernel"))) == 2
    assert sys.unraisablehook is before


@each(
    "interrupted, error, raised",
    [
        (True, None, KeyboardInterrupt),
        (True, RuntimeError, KeyboardInterrupt),
        (False, RuntimeError, RuntimeError),
    ],
)
def test_an_interrupt_is_not_lost_in_a_callback_of_the_compiler(interrupted, error, raised) -> None:
    """Python prints what a callback of ctypes raises, and goes on, as far as the compiler can."""

    @ctypes.CFUNCTYPE(None)
    def called_back() -> None:
        raise KeyboardInterrupt

    def compile_something() -> None:
        if interrupted:
            called_back()
        if error:
            raise error

    before = sys.unraisablehook
    with pytest.raises(raised), compiling._interrupts_heard():
        compile_something()
    assert sys.unraisablehook is before


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A package that cannot be written to, a user's cache, and a folder for temporary files open to all."""
    (tmp_path / "package").touch()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    monkeypatch.setattr(compiling, "_HERE", tmp_path / "package")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return {"home": tmp_path / "home", "tmp": temporary, "own": temporary / f"ttt-{os.geteuid()}"}


def test_the_first_place_that_can_be_written_to(
    places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = places["home"] / ".cache" / "ttt" / "k"
    assert cache_folder("k") == str(kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    monkeypatch.setattr(compiling, "_HERE", tmp_path)
    assert cache_folder("k") == str(tmp_path / "__pycache__" / "k")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert cache_folder("k") == str(tmp_path / "given" / "k")


@pytest.mark.parametrize("home", ["file", "none"])
def test_the_folder_for_temporary_files_where_there_is_no_home(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    if home == "file":
        places["home"].touch()
    else:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache_folder("k") == str(places["own"] / "k")
    assert stat.S_IMODE(places["own"].stat().st_mode) == 0o700


@pytest.mark.parametrize(("at", "mode"), [("k", 0o777), ("k", 0o770), ("k", 0o1777), (".", 0o777)])
def test_a_folder_that_others_may_change_is_left_alone(
    places: dict[str, Path], at: str, mode: int
) -> None:
    places["home"].touch()
    (places["own"] / "k").mkdir(parents=True)
    (places["own"] / at).chmod(mode)
    assert cache_folder("k") == ""


def test_what_somebody_else_made_is_left_alone(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, and a link in the folder for temporary files."""
    elsewhere, kept = places["tmp"] / "elsewhere", places["home"] / ".cache" / "ttt" / "k"
    for folder in (elsewhere, kept):
        folder.mkdir(parents=True, mode=0o700)
    places["own"].symlink_to(elsewhere)
    me, found = os.geteuid(), Path.lstat

    def as_of_another(path: Path) -> os.stat_result:
        result = found(path)
        return (
            os.stat_result((*result[:4], me + 1, *result[5:]))
            if path in (kept, places["own"])
            else result
        )

    monkeypatch.setattr(Path, "lstat", as_of_another)
    assert cache_folder("k") == ""
    assert not list(elsewhere.iterdir())


def test_python_may_call_what_kernels_link() -> None:
    """It has no address there, so that a call would end the process."""

    @inner
    def doubled(number):
        return 2.0 * number

    @kernel
    def more(number: float) -> float:
        return doubled(number) + 1.0

    assert more(3.0) == 7.0
    assert doubled(3.0) == 6.0
    assert doubled(3) == 6.0


def test_what_few_games_need_is_called_and_the_rest_is_not() -> None:
    """Whatever first asks for a function; options of the one that does would pass on else."""

    @rare
    def seldom(x: float) -> float:
        return x * 3.0

    @flat
    def often(x: float) -> float:
        return seldom(x) + 1.0

    @numba.njit("float64(float64)", pipeline_class=KernelCompiler)
    def both(x):
        return often(x) + often(2.0 * x)

    assert both(2.0) == 20.0
    (code,) = both.inspect_llvm().values()
    calls = [line for line in code.splitlines() if " call " in line]
    assert any("seldom" in line for line in calls)
    assert not any("often" in line for line in calls)
