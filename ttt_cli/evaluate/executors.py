"""Chains of work, each step starting from what the one before left: here, or in processes of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, Protocol


class Worker(Protocol):
    """Does steps one after the other and may keep what it likes between them; must be picklable when new."""

    def step(self, item: Any, *, fresh: bool) -> Any:
        """The result of one item; `fresh` when a new chain begins."""


def run_chains(worker: Worker, chains: Sequence[Sequence[Any]], jobs: int) -> Iterator[Any]:
    """Results of all items, each as soon as it is there.

    Items of one chain are done in order by one worker, so results do not depend on `jobs`.
    `jobs` 1 works in this process, more in as many others.
    """
    if jobs <= 1:
        for chain in chains:
            for position, item in enumerate(chain):
                yield worker.step(item, fresh=position == 0)
        return
    pools = [_single(worker) for _ in range(min(jobs, len(chains)))]
    try:
        yield from _share(pools, chains)
    finally:
        for pool in pools:
            _stop(pool)


def available_cores() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _share(pools: list[ProcessPoolExecutor], chains: Sequence[Sequence[Any]]) -> Iterator[Any]:
    waiting = [chain for chain in chains if chain]
    under_way: dict[Future[Any], tuple[ProcessPoolExecutor, Sequence[Any], int]] = {}

    def submit(pool: ProcessPoolExecutor, chain: Sequence[Any], position: int) -> None:
        under_way[pool.submit(_step, chain[position], position == 0)] = pool, chain, position

    for pool in pools:
        if waiting:
            submit(pool, waiting.pop(0), 0)
    while under_way:
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            pool, chain, position = under_way.pop(future)
            if position + 1 < len(chain):
                submit(pool, chain, position + 1)
            elif waiting:
                submit(pool, waiting.pop(0), 0)
            yield future.result()


_worker: Worker | None = None


def _single(worker: Worker) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin, initargs=(worker,))


def _begin(worker: Worker) -> None:
    global _worker  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted and stops its workers
    _worker = worker


def _step(item: Any, fresh: bool) -> Any:
    assert _worker is not None
    return _worker.step(item, fresh=fresh)


def _stop(pool: ProcessPoolExecutor) -> None:
    alive = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in alive:
        process.terminate()
