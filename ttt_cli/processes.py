"""Chains of work, each step starting from what the one before left: here, or in processes of their own."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
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


OnTold = Callable[[Any, Any], object]  # (item, message)
OnLost = Callable[[Any, Exception], object]  # (item, what ended it)

_listeners: list[Callable[[Any], object]] = []


def tell(message: object) -> None:
    """Called by a step: hand a message (picklable) to the `on_told` of the call that makes it, if there is one."""
    for listener in _listeners:
        listener(message)


def run_chains(
    worker: Worker[Item, Result],
    chains: Iterable[Sequence[Item]],
    jobs: int,
    *,
    on_told: OnTold = lambda *_: None,
    on_lost: OnLost | None = None,
) -> Generator[Result, None, None]:
    """Results of all items, each as soon as it is there.

    Items of one chain are done in order by one worker, so results do not depend on `jobs`.
    `jobs` 1 works in this process, more in as many others, which end with this generator, however that comes.
    `on_told(item, message)` hears what a step has to `tell` before it is done. A step that raises, or whose process
    dies (WorkerLost), costs the rest of its chain: `on_lost(item, error)` hears of it, and the other chains go on.
    Without `on_lost` the error is raised, after the results that were there.
    """
    waiting = iter([chain for chain in chains if chain])
    if jobs <= 1:
        yield from _work_here(worker, waiting, on_told, on_lost)
        return
    with ExitStack() as stack:
        begin = pickle.dumps(worker)

        def hire() -> _Member:
            with _interrupts_held():
                member = stack.enter_context(_member())
            member.send_bytes(begin)
            return member

        yield from _Crew(hire, waiting, on_told, on_lost).work(jobs)


def _work_here(
    worker: Worker[Item, Result], waiting: Iterator[Sequence[Item]], on_told: OnTold, on_lost: OnLost | None
) -> Iterator[Result]:
    for chain in waiting:
        for position, item in enumerate(chain):
            try:
                with _listening(partial(on_told, item)):
                    result = worker.step(item, fresh=position == 0)
            except Exception as error:
                if on_lost is None:
                    raise
                on_lost(item, error)
                break
            yield result


@contextmanager
def _listening(listener: Callable[[Any], object]) -> Iterator[None]:
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@dataclass(frozen=True)
class _Told:
    """A message of a step that is still at work."""

    message: Any


@dataclass
class _Member:
    """A process at work, the pipe to it, the item it has and those of its chain that are to follow."""

    process: BaseProcess
    pipe: Connection
    proved: bool = field(default=False)
    item: Any = None
    rest: Iterator[Any] = field(default_factory=lambda: iter(()))

    def send_bytes(self, message: bytes) -> None:
        try:
            self.pipe.send_bytes(message)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> Any:
        """What a step told or gave, or the exception that it ended with or that the process ended without it."""
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


@dataclass
class _Crew:
    """The processes that share the chains; see `run_chains`."""

    hire: Callable[[], _Member]
    waiting: Iterator[Sequence[Any]]
    on_told: OnTold
    on_lost: OnLost | None
    busy: dict[Any, _Member] = field(default_factory=dict)

    def work(self, jobs: int) -> Iterator[Any]:
        """Results in the order in which they come."""
        for chain in list(islice(self.waiting, jobs)):
            self._begin(self.hire(), chain)
        while self.busy:
            ready = [self.busy.pop(pipe) for pipe in wait(list(self.busy))]
            outcomes = [(member, member.receive()) for member in ready]
            failures = [outcome for _, outcome in outcomes if isinstance(outcome, Exception)]
            stopped = self.on_lost is None and bool(failures)
            for member, outcome in outcomes:
                if isinstance(outcome, _Told):
                    self.on_told(member.item, outcome.message)
                    self.busy[member.pipe] = member
                elif isinstance(outcome, Exception):
                    if not stopped:
                        self._go_on_without(member, outcome)
                else:
                    if not stopped:
                        self._employ(member)
                    yield outcome
            if stopped:
                raise failures[0]

    def _begin(self, member: _Member, chain: Sequence[Any]) -> None:
        member.rest = iter([(item, position == 0) for position, item in enumerate(chain)])
        self._employ(member)

    def _employ(self, member: _Member) -> None:
        """Give a member the next item of its chain, or of the next chain."""
        task = next(member.rest, None)
        if task is None:
            if (chain := next(self.waiting, None)) is not None:
                self._begin(member, chain)
            return
        member.item = task[0]
        member.send_bytes(pickle.dumps(task))
        self.busy[member.pipe] = member

    def _go_on_without(self, member: _Member, error: Exception) -> None:
        """Give up a chain; if its process is gone, another takes its place."""
        assert self.on_lost is not None
        self.on_lost(member.item, error)
        member.rest = iter(())
        if not isinstance(error, WorkerLost):
            self._employ(member)
        elif (chain := next(self.waiting, None)) is not None:
            self._begin(self.hire(), chain)


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
        _listeners.append(lambda message: pipe.send(_Told(message)))
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
