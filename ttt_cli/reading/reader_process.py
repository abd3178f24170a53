"""A process that reads sources for another one: orders come on standard input, what it finds goes out, pickled."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from typing import IO, Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import TttError
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.source import FileRead, SourceReader
from ttt_cli.reading.sources import Source

_START: Final = "import sys; sys.path[:] = {}; from ttt_cli.reading.reader_process import serve; serve()"


class Advance(NamedTuple):
    """So many bytes have been read."""

    amount: float
    note: str


class Done(NamedTuple):
    """A source has been read to its end."""


Said = Advance | FileRead | Problem | Done | Exception


class ReaderLost(TttError):
    """A process ended before its work did."""


class ReaderProcess:
    """A process at work, seen from the one that started it; it imports this package and no script of the user."""

    def __init__(self, data: DataConfig) -> None:
        command = [sys.executable, "-c", _START.format(sys.path)]
        # in a session of its own Ctrl-C does not reach it: who started it is interrupted and ends it
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout
        self._tell(data)

    def read(self, source: Source) -> None:
        """Begin with a source; `hear` then says what comes of it, up to Done or an error."""
        self._tell(source)

    def hear(self) -> Said:
        """What the process says next; as an exception the error that it met, or that it has ended by itself."""
        try:
            said: Said = pickle.load(self._answers)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            return self._lost()
        return said

    def end(self) -> None:
        """End the process whatever it does, and wait until it has ended."""
        self._process.kill()
        self._process.wait()
        self._answers.close()
        with suppress(OSError):  # something may be left to be told
            self._orders.close()

    def _tell(self, order: DataConfig | Source) -> None:
        try:
            _send(self._orders, order)
        except (OSError, ValueError):  # it has ended, as `hear` will say
            return

    def _lost(self) -> ReaderLost:
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return ReaderLost(
            f"a process that read files ended by itself ({how})", hint="is there memory enough?"
        )


def serve() -> None:
    """Read what is asked for until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak there
    try:
        reader = SourceReader(pickle.load(orders), much=True)  # it would not be here for less
        while True:
            _serve_one(reader, pickle.load(orders), answers)
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the other process has gone, and nothing is left to be flushed


class _Told:
    """A bar whose advances are told to the other process."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers

    def advance(self, amount: float = 1, note: str = "") -> None:
        _send(self._answers, Advance(amount, note))


def _serve_one(reader: SourceReader, source: Source, answers: IO[bytes]) -> None:
    try:
        for part in reader.read(source, _Told(answers)):
            _send(answers, part)
        _send(answers, Done())
    except BrokenPipeError:
        raise
    except Exception as error:
        _send(answers, _portable(error))


def _portable(error: Exception) -> Exception:
    """The error in a form that arrives, with its traceback unless it is meant for users."""
    if not isinstance(error, TttError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _send(pipe: IO[bytes], what: object) -> None:
    pickle.dump(what, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()
