"""Standard streams and signals of the process."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any, Final, TextIO

from ttt_cli.support.errors import OutputError

UNWRITABLE: Final = (errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_STREAMS: Final = (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
_DEFAULT_HANDLERS: Final = (signal.SIG_DFL, signal.default_int_handler)


def prepare_streams() -> None:
    """Prepare stdin, stdout and stderr: escape characters that the output's encoding lacks.

    Closed streams are replaced, since otherwise the next opened file would get their number. Reading or writing a
    replaced stream fails; messages to a closed stderr are lost.
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
            if (
                sys.platform == "win32" and not output.isatty()
            ):  # as files and pipes are everywhere else
                output.reconfigure(encoding="utf-8", newline="\n")


def flush_output() -> None:
    """Flush standard output. Raises BrokenPipeError, OutputError."""
    try:
        sys.stdout.flush()
    except OSError as error:
        discard_output(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"output cannot be written: {error.strerror}") from error


def discard_output(stream: TextIO) -> None:
    """Discard the stream's pending and further output."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, stream.fileno())
    os.close(null_device)


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def terminal_width() -> int:
    """Columns of the terminal, 80 when there is none."""
    return shutil.get_terminal_size().columns


@contextmanager
def unwinding(received: list[int]) -> Iterator[None]:
    """Inside the block, SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt; `received` lists them, however it ends."""

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        received.append(number)
        raise KeyboardInterrupt

    replaced_handlers: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) in _DEFAULT_HANDLERS:
            replaced_handlers[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in replaced_handlers.items():
            signal.signal(number, handler)
