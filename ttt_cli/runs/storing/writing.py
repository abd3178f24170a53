"""One writer at a time: the lock that every command which changes a run holds from reading it to replacing it."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ttt_cli.errors import RunError
from ttt_cli.files import is_protected, real_place
from ttt_cli.locks import locked
from ttt_cli.runs.connection import check_name
from ttt_cli.runs.folder import database_of, is_folder


class _Here(threading.local):
    """Of this thread: the runs whose locks it holds and may take again, whether it waits, and whom it tells."""

    def __init__(self) -> None:
        self.held: set[Path] = set()
        self.wait = True
        self.report: Callable[[str], object] = lambda _: None


_here = _Here()


@contextmanager
def waiting(report: Callable[[str], object], *, wait: bool) -> Iterator[None]:
    """Inside the block, another writer of a run is waited for, or is an error; `report` gets what is to be known."""
    before = _here.wait, _here.report
    _here.wait, _here.report = wait, report
    try:
        yield
    finally:
        _here.wait, _here.report = before


def report(sentence: str) -> None:
    """Say something about a run that is written, to whoever is `waiting`."""
    _here.report(sentence)


@contextmanager
def writing(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Hold the lock of the run at `path`, existing or not, inside the block; readers need none. None: in memory.

    Raises RunError when another process holds it and `waiting` forbids to wait, and where no run can be written.
    """
    if path is None:
        yield
        return
    check_name(Path(path))
    place = real_place(Path(path))
    if place in _here.held:
        yield
        return
    check_place(Path(path))
    with ExitStack() as stack:
        try:
            lock = place.with_name(f".{place.name}.lock")
            sentence = f"{path}: waiting for another process that writes this run (--no-wait refuses)"
            stack.enter_context(locked(lock, wait=_here.wait, on_wait=lambda: report(sentence)))
        except BlockingIOError:
            hint = "leave --no-wait out to wait for its end"
            raise RunError("another process writes this run", where=str(path), hint=hint) from None
        except OSError as error:
            raise not_written(path, error) from error
        _here.held.add(place)
        stack.callback(_here.held.discard, place)
        yield


def check_place(place: Path) -> None:
    """Raise RunError where no run can be written, whatever stands there."""
    where = str(place)
    if real_place(place).is_symlink():
        raise RunError("is a link that leads to itself", where=where)
    if is_folder(place):
        place = database_of(place)
    if place.is_dir():
        raise RunError("is a folder", where=where, hint="name a file to write the run to, NAME.ttt")
    if place.exists() and not place.is_file():
        raise RunError("is not an ordinary file, a run cannot be written there", where=where)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    if is_protected(place):
        hint = f"chmod u+w {place}, or write to another file"
        raise RunError("is write-protected and stays as it is", where=where, hint=hint)


def not_written(path: str | os.PathLike[str], error: OSError) -> RunError:
    """The error for a run that the system would not take."""
    return RunError(f"cannot be written: {error.strerror or error}", where=str(path))
