"""Chains of work, each step starting from what the one before left: here, or in processes of their own."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any, Final, Protocol, TypeVar

from ttt_cli.errors import TttError

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_PATIENCE: Final = 5.0  # seconds that a process may take to end


class Worker(Protocol[Item_contra, Result_co]):
    """Does steps one after the other and may keep what it likes between them; must be picklable when new."""

    def step(self, item: Item_contra, *, fresh: bool) -> Result_co:
        """The result of one item; `fresh` when a new chain begins."""


class WorkerLost(TttError):
    """A process ended before its work did."""


def run_chains(
    worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], jobs: int
) -> Generator[Result, None, None]:
    """Results of all items, each as soon as it is there.

    Items of one chain are done in order by one worker, so results do not depend on `jobs`.
    `jobs` 1 works in this process, more in as many others, which end with this generator, however that comes.
    Raises what a step raises, after the results that were there; WorkerLost when a process dies.
    """
    waiting = [chain for chain in chains if chain]
    if jobs <= 1:
        for item, fresh in _tasks(iter(waiting)):
            yield worker.step(item, fresh=fresh)
        return
    with ExitStack() as stack:
        with _interrupts_held():
            crew = [stack.enter_context(_member()) for _ in range(min(jobs, len(waiting)))]
        begin = pickle.dumps(worker)
        for member in crew:
            member.send_bytes(begin)
        yield from _share(crew, iter(waiting))


def _tasks(waiting: Iterator[Sequence[Item]]) -> Iterator[tuple[Item, bool]]:
    """The items of one chain after the other, and whether each begins one; several may take from `waiting`."""
    for chain in waiting:
        for position, item in enumerate(chain):
            yield item, position == 0


@dataclass
class _Member:
    """A process at work, and the pipe to it."""

    process: BaseProcess
    pipe: Connection
    proved: bool = field(default=False)

    def send_bytes(self, message: bytes) -> None:
        try:
            self.pipe.send_bytes(message)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> Any:
        """What a step gave, or the exception that it ended with or that the process ended without it."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            return self._lost()
        self.proved = True
        return result

    def _lost(self) -> WorkerLost:
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        if self.proved or (code is not None and code < 0):
            hint = "is there memory enough? --jobs 1 needs the least"
        else:
            hint = 'a Python script that starts processes needs `if __name__ == "__main__":`; or take jobs=1'
        return WorkerLost(f"one of the processes that do the work ended by itself ({how})", hint=hint)


def _share(crew: Sequence[_Member], waiting: Iterator[Sequence[Item]]) -> Iterator[Any]:
    tasks = {member.pipe: _tasks(waiting) for member in crew}
    busy: dict[Any, _Member] = {}

    def employ(member: _Member) -> None:
        if (task := next(tasks[member.pipe], None)) is not None:
            member.send_bytes(pickle.dumps(task))
            busy[member.pipe] = member

    for member in crew:
        employ(member)
    while busy:
        ready = [busy.pop(pipe) for pipe in wait(list(busy))]
        outcomes = [(member, member.receive()) for member in ready]
        failures = [outcome for _, outcome in outcomes if isinstance(outcome, BaseException)]
        for member, outcome in outcomes:
            if not isinstance(outcome, BaseException):
                if not failures:
                    employ(member)
                yield outcome
        if failures:
            raise failures[0]


@contextmanager
def _member() -> Iterator[_Member]:
    context = get_context("spawn")  # the same everywhere, and safe beside threads
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with ours:
        with theirs:
            process.start()
        try:
            yield _Member(process, ours)
        finally:
            process.terminate()
            process.join(_PATIENCE)
            process.kill()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, and processes that begin inside never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # or the first process starts it, and it lets interrupts through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection) -> None:
    """Do what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted and ends its processes
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        worker = pipe.recv()
        while True:
            item, fresh = pipe.recv()
            pipe.send(_outcome(worker, item, fresh))
    except (EOFError, OSError):
        return


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _outcome(worker: Worker[Item, Result], item: Item, fresh: bool) -> Result | Exception:
    try:
        return worker.step(item, fresh=fresh)
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}")
        return error
