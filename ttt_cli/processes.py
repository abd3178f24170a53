"""Chains of work, each step starting from what the one before left: here, or in processes of their own.

Such a process imports what its work is made of and no script of the user. It runs in a session of its own, so that
Ctrl-C reaches only the one that began it, and ends with that one, whatever ends it.
"""

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, Final, Protocol, TypeVar

from ttt_cli.errors import TttError
from ttt_cli.interrupts import HEARD
from ttt_cli.progress import Listener

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_START: Final = "import sys; sys.path[:] = {}; from ttt_cli.processes import serve; serve()"
BESIDE_OTHERS: Final = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
_HEADER: Final = 8  # bytes before an order that tell its length


class Worker(Protocol[Item_contra, Result_co]):
    """Does steps one after the other and may keep what it likes between them; must be picklable when new."""

    def step(self, item: Item_contra, *, fresh: bool) -> Result_co:
        """The result of one item; `fresh` when a new chain begins."""


class WorkerLost(TttError):
    """A process ended before its work did."""


class Unwanted(BaseException):
    """Nobody waits any more for what a step does."""


@dataclass(frozen=True)
class Report:
    """A message of a step that is still at work."""

    message: Any


OnReport = Callable[[Any, Any], object]  # (item, message)
OnLost = Callable[[Any, Exception], object]  # (item, what ended it)
# An item with a Report, its result, or the error that ended its chain.
Found = Generator[tuple[Any, Any], None, None]
Engine = Callable[[Worker[Any, Any], Iterable[Sequence[Any]]], Found]  # does chains elsewhere

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_end_if_unwanted: ContextVar[Callable[[], object] | None] = ContextVar("end_if_unwanted", default=None)


def report(message: object) -> None:
    """Called by a step: hand a message (picklable) to whoever wants the step done."""
    if listener := _listener.get():
        listener(message)


def end_if_unwanted() -> None:
    """Called by a long step now and then. Raises Unwanted when it may end, for nobody waits for it."""
    if look := _end_if_unwanted.get():
        look()


class Reporting:
    """Progress of a step that goes to whoever wants it done, as (amount, note)."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> "Iterator[Reporting]":  # noqa: ARG002
        """Report a task."""
        yield self

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report so many units done."""
        report((amount, note))


@contextmanager
def watched(listener: Listener, look: Callable[[], object] | None = None) -> Iterator[None]:
    """Who hears the reports of steps inside the block, and what raises Unwanted in them."""
    tokens = _listener.set(listener), _end_if_unwanted.set(look)
    try:
        yield
    finally:
        _listener.reset(tokens[0])
        _end_if_unwanted.reset(tokens[1])


def run_chains(
    worker: Worker[Item, Result],
    chains: Iterable[Sequence[Item]],
    jobs: int | Engine,
    *,
    on_report: OnReport = lambda *_: None,
    on_lost: OnLost | None = None,
) -> Generator[Result, None, None]:
    """Results of all items, each as soon as it is there; those of a chain are done in order, whatever `jobs` is.

    `jobs` 1 works in this process, more in as many others, which end with this generator, however that comes; an
    Engine works elsewhere, with the same promises. `on_report(item, message)` receives what a step reports before it is
    done. A step that raises, or whose process dies (WorkerLost), costs the rest of its chain: `on_lost(item, error)`
    receives it, and the other chains go on. Without `on_lost` the error is raised, after the results that were there.
    """
    with closing(_work(worker, chains, jobs, on_report)) as found:
        for item, outcome in found:
            if isinstance(outcome, Report):
                on_report(item, outcome.message)
            elif not isinstance(outcome, Exception):
                yield outcome
            else:
                error: Exception = outcome
                if isinstance(outcome, WorkerLost) and not callable(jobs):
                    error = WorkerLost(outcome.message, hint=f"{outcome.hint} --jobs 1 needs the least")
                if on_lost is None:
                    raise error
                on_lost(item, error)


def _work(
    worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], jobs: int | Engine, on_report: OnReport
) -> Found:
    if callable(jobs):
        return jobs(worker, chains)
    return work_apart(worker, chains, jobs) if jobs > 1 else _work_here(worker, chains, on_report)


def _work_here(worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], on_report: OnReport) -> Found:
    for chain in chains:
        for position, item in enumerate(chain):
            try:
                with watched(partial(on_report, item)):
                    result = worker.step(item, fresh=position == 0)
            except Exception as error:
                yield item, error
                break
            yield item, result


def work_apart(worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], jobs: int) -> Found:
    """What comes of items in other processes: reports of each, then its result or the error that ended its chain."""
    orders = [
        [(item, pickle.dumps((item, position == 0))) for position, item in enumerate(chain)]
        for chain in chains
        if chain
    ]
    pool = _Pool(pickle.dumps(worker), iter(orders))
    running = min(jobs, len(orders))
    try:
        for _ in range(running):
            Thread(target=pool.attend, daemon=True).start()
        while running:
            try:
                event = pool.events.get(timeout=HEARD)
            except Empty:
                continue
            if isinstance(event, Exception):
                raise event
            if event is None:
                running -= 1
            else:
                yield event
    finally:
        pool.end()


class _Pool:
    """Processes, each attended by a thread that hands it one chain after the other and receives what comes of it."""

    def __init__(self, worker: bytes, waiting: Iterator[Sequence[tuple[Any, bytes]]]) -> None:
        self.events: SimpleQueue[tuple[Any, Any] | Exception | None] = SimpleQueue()  # None: a thread is done
        self._worker = worker
        self._waiting = waiting
        self._processes: list[_Process] = []
        self._lock = Lock()
        self._ended = False

    def attend(self) -> None:
        """Have a process do the chains that wait; another takes the place of one that is lost."""
        process = None
        try:
            while (chain := self._next()) is not None:
                for item, order in chain:
                    if process is None and (process := self._begun()) is None:
                        return
                    process.order(order)
                    while isinstance(outcome := process.receive(), Report):
                        self.events.put((item, outcome))
                    self.events.put((item, outcome))
                    if isinstance(outcome, WorkerLost):
                        process = None
                    if isinstance(outcome, Exception):
                        break
        except Exception as error:
            self.events.put(error)
        finally:
            self.events.put(None)

    def end(self) -> None:
        """End all processes whatever they do, and wait until they have ended."""
        with self._lock:
            self._ended = True
        for process in self._processes:
            process.end()

    def _next(self) -> Sequence[tuple[Any, bytes]] | None:
        with self._lock:
            return next(self._waiting, None)

    def _begun(self) -> "_Process | None":
        """Another process, None after the end."""
        with self._lock:
            if self._ended:
                return None
            process = _Process()
            self._processes.append(process)
        process.order(self._worker)
        return process


class _Process:
    """A process at work, seen from the one that began it: orders go to its standard input, pickles come back."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START.format(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **BESIDE_OTHERS},
            # on Windows, in place of a session:
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def order(self, message: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended, as `receive` will say
            assert self.process.stdin is not None
            self.process.stdin.write(len(message).to_bytes(_HEADER, "little") + message)
            self.process.stdin.flush()

    def receive(self) -> Any:
        """What a step reported or gave, or the exception that it ended with or that the process ended without it."""
        try:
            assert self.process.stdout is not None
            return pickle.load(self.process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            code = self.process.wait()
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            said = f"one of the processes that do the work ended by itself ({how})"
            return WorkerLost(said, hint="is there memory enough?")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # something may be left to be written
                assert pipe is not None
                pipe.close()


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def serve() -> None:
    """Do what is ordered until the pipe is closed: the whole life of such a process."""
    try:
        _serve()
    except BrokenPipeError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # a usual end would wait for the thread that receives orders


def _serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may be written there
    orders: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive_orders, args=(orders,), daemon=True).start()
    worker = pickle.loads(orders.get())
    with watched(lambda message: _send(answers, Report(message))):
        while True:
            item, fresh = pickle.loads(orders.get())
            _send(answers, outcome_of(worker, item, fresh))


def _receive_orders(orders: SimpleQueue[bytes]) -> None:
    """Hand on what comes; end at once when there is nobody left to order."""
    while header := sys.stdin.buffer.read(_HEADER):
        orders.put(sys.stdin.buffer.read(int.from_bytes(header, "little")))
    os._exit(1)


def _send(pipe: IO[bytes], what: object) -> None:
    pickle.dump(what, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def outcome_of(worker: Worker[Item, Result], item: Item, fresh: bool) -> Result | Exception:
    """The result of a step, or the error that it ended with, in a form that can travel."""
    try:
        return worker.step(item, fresh=fresh)
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}")
        return error
