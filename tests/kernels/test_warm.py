"""Kernels compiled beforehand: which, when, and what a default fit calls."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorder import Recorder
from ttt_cli import fit
from ttt_cli.kernels import compile as compiling
from ttt_cli.kernels import warm
from ttt_cli.support.progress import SILENT

ROOT = Path(__file__).parents[2]
ONE = ({"layout": ("join_pairs",)},)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which nothing is, for kernels of which nothing is compiled."""
    monkeypatch.setattr(compiling, "FOLDER", str(tmp_path))
    for kernel in warm._kernels("layout").values():
        monkeypatch.setattr(kernel, "_compiled", None)
    return tmp_path


def test_what_is_missing_is_compiled_once(empty: Path) -> None:
    shown = Recorder()
    assert warm.warm(ONE, shown, jobs=1) == 1
    assert list(empty.rglob("*.kernel"))
    assert shown.told == [(compiling.WAIT, 1), 1]
    assert warm.warm(ONE, shown, jobs=1) == 0
    assert len(shown.told) == 2


def test_what_another_process_compiled_is_not_compiled_again(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm.warm(ONE, SILENT, jobs=1)
    monkeypatch.setattr(warm._kernels("layout")["join_pairs"], "_compiled", None)
    assert warm.warm(ONE, SILENT, jobs=1) == 0


def test_few_are_left_to_the_first_call(empty: Path) -> None:
    assert warm.warm(ONE, SILENT, least=2) == 0
    assert not list(empty.rglob("*.kernel"))


def test_every_kernel_is_there_once() -> None:
    found = [
        (module, name)
        for chain in warm.every_kernel()
        for module, names in chain.items()
        for name in names
    ]
    assert len(found) == len(set(found)) > 70
    assert ("ep.ttt", "sweep") in found
    assert {pair for chain in warm.DEFAULT for module, names in chain.items() for pair in
            [(module, name) for name in names]} <= set(found)  # fmt: skip


@pytest.mark.slow
def test_what_is_compiled_for_a_default_fit_is_what_it_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sample, in two slices, from the file to the run."""
    called: set[tuple[str, str]] = set()
    before: Callable[..., Any] = compiling.Kernel.__call__

    def call(self: compiling.Kernel, *arguments: Any) -> Any:
        called.add((self.__module__.removeprefix("ttt_cli.kernels."), self.__name__))
        return before(self, *arguments)

    monkeypatch.setattr(compiling.Kernel, "__call__", call)
    fit(str(ROOT / "sample_pgn" / "classics.pgn"), threads=2)
    wanted = {
        (module, name)
        for chain in warm.DEFAULT
        for module, names in chain.items()
        for name in names
    }
    assert called == wanted


@pytest.mark.slow
def test_all_that_is_kept_is_loaded_and_not_compiled_again() -> None:
    """In a process of its own, into which numba loads nothing of what it compiles by."""
    warm.warm(warm.every_kernel(), SILENT)
    script = """
from ttt_cli.support.progress import listening
from ttt_cli.kernels.warm import _kernels, every_kernel
with listening(print):
    for chain in every_kernel():
        for module in chain:
            for kernel in _kernels(module).values():
                kernel.compile()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
