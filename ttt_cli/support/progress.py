"""Protocol for reporting progress; the default reports nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


class Bar(Protocol):
    """One task under way."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report `amount` more units done, with a short note beside the bar."""


class Progress(Protocol):
    """Shows running tasks, for instance as bars on a terminal."""

    def task(
        self, label: str, total: float | None = None, unit: str = ""
    ) -> AbstractContextManager[Bar]:
        """Open a task of `total` units (None: unknown); it ends with the `with` block."""


class Silent:
    """Progress that shows nothing, and its bars."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator["Silent"]:  # noqa: ARG002
        """Open a task that nobody sees."""
        yield self

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Report to nobody."""


SILENT = Silent()


@dataclass(frozen=True)
class Wait:
    """A wait outside of tasks: its reason, the number of parts done (if any), and whether it is over."""

    sentence: str
    done: int | None
    over: bool


Listener = Callable[[Any], object]
_listeners: list[Listener] = []


def announce(wait: Wait) -> None:
    """Report a wait to all listeners."""
    for listener in _listeners:
        listener(wait)


@contextmanager
def waiting(sentence: str) -> Iterator[None]:
    """Announce that the block is waited for."""
    announce(Wait(sentence, None, over=False))
    try:
        yield
    finally:
        announce(Wait(sentence, None, over=True))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hand what is announced inside the block to a function."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
