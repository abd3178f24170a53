"""Signals that end a command."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


@contextmanager
def unwinding(received: list[int]) -> Iterator[None]:
    """Inside the block, a signal to end (SIGINT, SIGTERM, SIGHUP) unwinds as Ctrl-C does and leaves nothing behind.

    `received` gets the signals that come, also where a library at work makes another error of them.
    """

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        received.append(number)
        raise KeyboardInterrupt

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    before = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
    taken = {number: handler for number, handler in before.items() if handler in _DEFAULTS}
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)


def exit_code(number: int) -> int:
    """What a shell gives for a command that a signal ended."""
    return 128 + number
