"""Work during which signals are heard."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread, current_thread, main_thread
from typing import Final, TypeVar

Result = TypeVar("Result")

HEARD: Final = 0.2  # seconds: on Windows a thread that waits hears of Ctrl-C only between waits


def interruptible(work: Callable[[], Result]) -> Result:
    """What `work` gives, done in a thread of its own: signals are heard at once, also while compiled code runs.

    After one the thread is left to itself: it ends where `work` looks whether anybody waits, or with the process.
    """
    if current_thread() is not main_thread():
        return work()
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    while not wait([result], timeout=HEARD).done:
        pass
    return result.result()
