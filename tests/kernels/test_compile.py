import ctypes
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ttt_cli.kernels import compile as compiling
from ttt_cli.progress import listening


def three_halves(x: float) -> float:
    return 1.5 * x


def double(x: float) -> float:
    return 2.0 * x


def compiled(function: Callable[[float], float]) -> Callable[[float], float]:
    return compiling.kernel("float64(float64)")(function)


def test_the_wait_is_announced_once_and_not_when_kernels_come_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_CACHE", str(tmp_path))
    said: list[str] = []

    def in_a_new_process() -> None:
        monkeypatch.setattr(compiling, "_WATCH", compiling._FirstCompilation())
        with listening(said.append):
            assert compiled(three_halves)(3.0) == 4.5
            assert compiled(double)(3.0) == 6.0

    in_a_new_process()
    assert said == [compiling.WAIT]
    assert any(tmp_path.rglob("*.nbc"))
    in_a_new_process()
    assert said == [compiling.WAIT]


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
