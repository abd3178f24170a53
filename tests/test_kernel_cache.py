"""Every module of kernels is compiled once, after those that it imports."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.support import kernel_cache


@pytest.mark.parametrize("processes", [1, 3])
def test_every_module_once_and_after_what_it_imports(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []
    imported = kernel_cache.imported_kernels()

    class Pool(ThreadPoolExecutor):
        def submit(self, function: Callable[..., Any], name: str, /) -> Future[Any]:  # type: ignore[override]
            assert imported[name] <= finished
            began.append(name)
            return super().submit(function, name)

    finished: set[str] = set()
    monkeypatch.setattr(kernel_cache, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(kernel_cache, "_load", finished.add)
    kernel_cache.compile_kernels(processes)
    assert sorted(began) == sorted(finished) == sorted(imported)


def test_imports_are_seen() -> None:
    found = kernel_cache.imported_kernels()
    assert found["ep.ttt"] >= {"ep.chains", "colours", "compile", "handicaps"}
    assert "normal" in found["truncated"]
    assert not found["scanning.pgn_fields"]


def test_a_module_that_does_not_compile_is_left_to_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(kernel_cache, "_load", lambda name: 1 / 0)
    kernel_cache.compile_kernels(2)
