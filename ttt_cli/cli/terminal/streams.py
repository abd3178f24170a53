"""The three standard streams, where they are closed or can no longer be written to; and signals that end a command."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Final, TextIO

from ttt_cli.errors import OutputError

UNWRITABLE: Final = (errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_STREAMS: Final = (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
_DEFAULTS: Final = (signal.SIG_DFL, signal.default_int_handler)


def prepare_streams() -> None:
    """Make the streams fit for use: characters that the output cannot show are escaped.

    No file opened later takes the place of a closed stream: reading and writing them fail, messages are lost.
    """
    for number, (name, flags) in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)  # the lowest number that is free
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="backslashreplace")
            if sys.platform == "win32" and not output.isatty():  # as files and pipes are everywhere else
                output.reconfigure(encoding="utf-8", newline="\n")


def prepare_home() -> None:
    """A user whom the system does not know has a home that does not exist: libraries ask for one."""
    if os.path.expanduser("~") == "~":  # noqa: PTH111 - Path raises
        os.environ["HOME"] = "/nonexistent"


def flush_output() -> None:
    """Write what standard output still holds. Raises BrokenPipeError, OutputError."""
    try:
        sys.stdout.flush()
    except OSError as error:
        give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"output cannot be written: {error.strerror}") from error


def give_up(stream: TextIO) -> None:
    """Lose what the stream still holds, and all that follows."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def printable(text: str) -> str:
    """The text without control characters, which a terminal would obey; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


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
