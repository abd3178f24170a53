"""Chains of steps: each starts from the previous one, in this process, in worker processes or on a cluster."""

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import IO, Any, Final, NamedTuple, Protocol, TypeVar

from ttt_cli.support.errors import TttError
from ttt_cli.support.progress import Listener

Item = TypeVar("Item")
Result = TypeVar("Result")
Item_contra = TypeVar("Item_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_WORKER_PROGRAM: Final = (
    "import sys; sys.path[:] = {};"
    " from ttt_cli.parallel.processes import serve_orders; serve_orders()"
)
BESIDE_OTHERS: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
HEARD: Final = 0.2  # seconds: on Windows a thread that waits hears of Ctrl-C only between waits


class Worker(Protocol[Item_contra, Result_co]):
    """Performs steps one after the other and may keep state between them; must be picklable initially."""

    def step(self, item: Item_contra, *, fresh: bool) -> Result_co:
        """Result of one item; `fresh` for the first of a chain."""


class WorkerLost(TttError):
    """A worker process ended before its work was done."""


class Unwanted(BaseException):
    """The result of a step is no longer wanted."""


@dataclass(frozen=True)
class StepReport:
    """A message of a running step."""

    message: Any


OnReport = Callable[[Any, Any], object]  # (item, message)
OnLost = Callable[[Any, Exception], object]  # (item, what ended it)
# Pairs of an item and a StepReport, its result, or the error that ended its chain. Steps in this process give no
# StepReport: their messages reach OnReport while they run.
Outcomes = Generator[tuple[Any, Any], None, None]
Engine = Callable[[Worker[Any, Any], Iterable[Sequence[Any]]], Outcomes]  # does chains elsewhere

# Who listens to reports of a step, and the check whether its result is wanted
_watching: ContextVar[tuple[Listener | None, Callable[[], object] | None]] = ContextVar(
    "watching", default=(None, None)
)


def report(message: object) -> None:
    """Send a picklable message from a step to the caller."""
    if listener := _watching.get()[0]:
        listener(message)


def end_if_unwanted() -> None:
    """Raise Unwanted if the result is no longer wanted; long steps call this regularly."""
    if look := _watching.get()[1]:
        look()


class Reporting:
    """Progress of a step, reported as (amount, note)."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> "Iterator[Reporting]":  # noqa: ARG002
        """Report a task."""
        yield self

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report so many units done."""
        report((amount, note))


@contextmanager
def watched(listener: Listener, look: Callable[[], object] | None = None) -> Iterator[None]:
    """Inside the block, pass reports of steps to the listener and raise Unwanted by the check."""
    token = _watching.set((listener, look))
    try:
        yield
    finally:
        _watching.reset(token)


def run_chains(
    worker: Worker[Item, Result],
    chains: Iterable[Sequence[Item]],
    jobs: int | Engine,
    *,
    on_report: OnReport = lambda *_: None,
    on_lost: OnLost | None = None,
) -> Generator[Result, None, None]:
    """Yield the results of all items as they arrive; items of a chain run in order.

    `jobs` 1 works in this process, more in as many others, which end with this generator; an Engine works elsewhere,
    with the same promises. `on_report(item, message)` receives messages of unfinished steps. A step that raises, or
    that loses its process (WorkerLost), ends its chain only: `on_lost(item, error)` receives it. Without `on_lost`
    the error is raised, after earlier results.
    """
    if callable(jobs):
        outcomes = jobs(worker, chains)
    elif jobs > 1:
        outcomes = work_in_processes(worker, chains, jobs)
    else:
        outcomes = _work_here(worker, chains, on_report)
    with closing(outcomes):
        for item, outcome in outcomes:
            if isinstance(outcome, StepReport):
                on_report(item, outcome.message)
            elif not isinstance(outcome, Exception):
                yield outcome
            else:
                error: Exception = outcome
                if isinstance(outcome, WorkerLost) and not callable(jobs):
                    error = WorkerLost(
                        outcome.message, hint=f"{outcome.hint} --jobs 1 needs the least"
                    )
                if on_lost is None:
                    raise error
                on_lost(item, error)


def _work_here(
    worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], on_report: OnReport
) -> Outcomes:
    for chain in chains:
        for position, item in enumerate(chain):
            try:
                with watched(partial(on_report, item)):
                    result = worker.step(item, fresh=position == 0)
            except Exception as error:
                yield item, error
                break
            yield item, result


class _Delivery(NamedTuple):
    """An outcome of an item, and whether its chain is over."""

    item: Any
    outcome: Any
    ends_chain: bool


def work_in_processes(
    worker: Worker[Item, Result], chains: Iterable[Sequence[Item]], jobs: int
) -> Outcomes:
    """Run chains in other processes: yield reports of each item, then its result or the error of its chain."""
    # Pickled here, an error reaches the caller. `order` pickles these bytes again: so the thread of a worker process
    # that receives them knows where they end, and leaves them to be loaded by the thread that works.
    content = pickle.dumps(worker)
    waiting = deque(
        [(item, pickle.dumps((item, position == 0))) for position, item in enumerate(chain)]
        for chain in chains
        if chain
    )
    chains_left = len(waiting)
    deliveries: SimpleQueue[_Delivery] = SimpleQueue()
    processes: list[_Process] = []

    def begin() -> None:
        processes.append(_Process())
        Thread(target=attend, args=(processes[-1],), daemon=True).start()

    def attend(process: _Process) -> None:
        """Give waiting chains to a process until none is left or the process is lost."""
        process.order(content)
        outcome = None
        while not isinstance(outcome, WorkerLost):
            try:
                chain = waiting.popleft()
            except IndexError:
                return
            for position, (item, order) in enumerate(chain, 1):
                process.order(order)
                while isinstance(outcome := process.receive(), StepReport):
                    deliveries.put(_Delivery(item, outcome, ends_chain=False))
                ends_chain = isinstance(outcome, Exception) or position == len(chain)
                deliveries.put(_Delivery(item, outcome, ends_chain))
                if ends_chain:
                    break

    try:
        for _ in range(min(jobs, chains_left)):
            begin()
        while chains_left:
            try:
                delivery = deliveries.get(timeout=HEARD)
            except Empty:
                continue
            chains_left -= delivery.ends_chain
            if isinstance(delivery.outcome, WorkerLost) and waiting:
                begin()
            yield delivery.item, delivery.outcome
    finally:
        for process in processes:
            process.end()


class _Process:
    """A worker process that reads orders from its standard input and writes pickles to its output."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER_PROGRAM.format(sys.path)],
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
            _send(self.process.stdin, message)

    def receive(self) -> Any:
        """The next report or outcome; WorkerLost when the process has ended."""
        try:
            assert self.process.stdout is not None
            return pickle.load(self.process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            code = self.process.wait()
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            hint = "perhaps it ran out of memory"
            return WorkerLost(f"a worker process ended unexpectedly ({how})", hint=hint)
        except Exception as error:  # of a result that cannot be unpickled
            return error

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # something may be left to be written
                assert pipe is not None
                pipe.close()


def available_cores() -> int:
    """Number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def serve_orders() -> None:
    """Main loop of a worker process: execute orders until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may be written there
    orders: SimpleQueue[bytes] = SimpleQueue()

    def receive() -> None:
        """Queue orders; end the process when the input is closed."""
        try:
            while True:
                orders.put(pickle.load(sys.stdin.buffer))
        finally:
            os._exit(1)

    Thread(target=receive, daemon=True).start()
    try:
        worker = pickle.loads(orders.get())
        with watched(lambda message: _send(answers, StepReport(message))):
            while True:
                item, fresh = pickle.loads(orders.get())
                _send(answers, outcome_of(worker, item, fresh=fresh))
    except BrokenPipeError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # a usual end would wait for the thread that receives orders


def _send(pipe: IO[bytes], message: object) -> None:
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def outcome_of(worker: Worker[Item, Result], item: Item, *, fresh: bool) -> Result | Exception:
    """The result of a step, or its error in picklable form."""
    try:
        return worker.step(item, fresh=fresh)
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}")
        return error


Value = TypeVar("Value")


def interruptible(work: Callable[[], Value]) -> Value:
    """Run `work` in a thread, which a signal abandons, so that signals are handled at once, also in compiled code."""
    if current_thread() is not main_thread():
        return work()
    result: Future[Value] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    while not wait([result], timeout=HEARD).done:
        pass
    return result.result()
