import ctypes
import errno
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ttt_cli.kernels import compile as compiling
from ttt_cli.kernels.cache import CacheFolder
from ttt_cli.support.progress import Wait, listening


def three_halves(x: float) -> float:
    return 1.5 * x


def double(x: float) -> float:
    return 2.0 * x


def compiled(function: Callable[[float], float]) -> Callable[[float], float]:
    return compiling.kernel(function)


@pytest.fixture
def new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Wait]]:
    """Call it to compile two kernels with a cache of their own, or load them, and to get what is announced."""
    monkeypatch.setattr(compiling, "_CACHE", CacheFolder(str(tmp_path), lasts=True))

    def start() -> list[Wait]:
        said: list[Wait] = []
        monkeypatch.setattr(compiling, "_WATCH", compiling._Compilations())
        with listening(said.append):
            assert compiled(three_halves)(3.0) == 4.5
            assert compiled(double)(3.0) == 6.0
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
    monkeypatch.setattr(compiling, "_CACHE", CacheFolder(str(tmp_path / "cache"), lasts=True))
    said: list[Wait] = []
    for folder, time in (("one", 1), ("copy", 2)):
        file = tmp_path / folder / "package.py"
        file.parent.mkdir()
        file.write_text("def half(x: float) -> float:\n    return x / 2\n", encoding="utf-8")
        os.utime(file, (time, time))
        module: dict[str, Any] = {"__name__": "package"}
        exec(compile(file.read_text(encoding="utf-8"), file, "exec"), module)
        with listening(said.append):
            assert compiled(module["half"])(3.0) == 1.5
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


def test_what_a_full_disk_does_not_take_is_compiled_every_time(
    new_process: Callable[[], list[Wait]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**given: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), given)

    monkeypatch.setattr("tempfile.mkstemp", full)
    for _ in range(2):
        assert [wait.done for wait in new_process() if wait.over] == [1, 2]


def test_without_a_folder_kernels_are_compiled_every_time(
    new_process: Callable[[], list[Wait]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for folder in ("", str(tmp_path / "file" / "within")):
        monkeypatch.setattr(compiling, "_CACHE", CacheFolder(folder, lasts=False))
        assert [wait.done for wait in new_process() if wait.over] == [1, 2]
    assert not list(tmp_path.rglob("*.kernel"))


def test_threads_that_meet_kernels_at_once_compile_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is compiled once and kept, and the hooks of the process are as before."""
    monkeypatch.setattr(compiling, "_CACHE", CacheFolder(str(tmp_path), lasts=True))
    before = sys.unraisablehook
    kernels = [compiled(function) for function in (three_halves, double)]
    meet = threading.Barrier(4)

    def call(number: int) -> float:
        meet.wait()
        return kernels[number % 2](2.0)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, range(4))) == [3.0, 4.0, 3.0, 4.0]
    assert len(list(tmp_path.rglob("*.kernel"))) == 2
    assert sys.unraisablehook is before


@pytest.mark.parametrize("goes_on", [True, False])
def test_an_interrupt_is_not_lost_in_a_callback_of_the_compiler(goes_on: bool) -> None:
    """Python prints what a callback of ctypes raises, and goes on, as far as the compiler can."""

    @ctypes.CFUNCTYPE(None)
    def called_back() -> None:
        raise KeyboardInterrupt

    def compile_something() -> None:
        called_back()
        if not goes_on:
            raise RuntimeError("no compiled object yet")

    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), compiling._interrupts_heard():
        compile_something()
    assert sys.unraisablehook is before


def test_other_errors_of_the_compiler_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="no room"), compiling._interrupts_heard():
        raise RuntimeError("no room")
