"""Progress bars on a terminal, whose clocks run while a step takes long; elsewhere a line on each long step."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.cli.messages import QUIET, say, session
from ttt_cli.support.progress import SILENT, Bar, Progress, Wait

if TYPE_CHECKING:
    from tqdm import tqdm

_TICK: Final = 1.0  # seconds between drawings of a clock
LONG_STEP: Final = 30.0  # seconds after which a step is said to take long where no bars are shown
_SHARE_FORMAT: Final = "{l_bar}{bar}| {elapsed}{postfix}"  # a task without a unit
_WAIT_FORMAT: Final = "{desc}, {elapsed}"
_COUNTED_WAIT_FORMAT: Final = "{desc}: {n_fmt}, {elapsed}"
_TOTAL_FORMAT: Final = (
    "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"
)


def progress() -> Progress:
    """Bars if standard error is a terminal, else lines on long steps; nothing with -q."""
    if session.verbosity <= QUIET:
        return SILENT
    return Bars() if sys.stderr.isatty() else LongSteps()


class Clock:
    """Draws a bar every second, so that its clock runs while a step takes long."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(_TICK):
            self._bar.refresh()

    def stop(self) -> None:
        """Draw no more."""
        self._over.set()
        self._thread.join()


class LongSteps:
    """Says of each kind of step once that it takes long, where no bars are shown."""

    def __init__(self) -> None:
        self._labels: set[str] = set()

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:  # noqa: ARG002
        """Say so if the block takes long."""
        timer = Timer(LONG_STEP, self._say, [label])
        timer.daemon = True
        timer.start()
        try:
            yield SILENT
        finally:
            timer.cancel()

    def _say(self, label: str) -> None:
        if label not in self._labels:
            self._labels.add(label)
            say(f"{label} takes more than {LONG_STEP:.0f} seconds")


class WaitBar:
    """Show a message on its own line while the user waits, elsewhere say that it takes long; not in child processes."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._bar: tqdm[Any] | None = None
        self._clock: Clock | None = None
        self._timer: Timer | None = None

    def __call__(self, wait: Wait) -> None:
        """Show the line, or remove it when the wait is over."""
        if os.getpid() != self._process or session.verbosity <= QUIET:
            return
        if not sys.stderr.isatty():
            self._say_later(wait)
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                desc=wait.sentence,
                initial=wait.done or 0,
                bar_format=_WAIT_FORMAT if wait.done is None else _COUNTED_WAIT_FORMAT,
                file=sys.stderr,
                leave=False,
                dynamic_ncols=True,
            )
            self._clock = Clock(self._bar)
        if wait.done is not None:
            self._bar.update(wait.done - self._bar.n)
        self._bar.refresh()
        if wait.over and self._clock:
            self._clock.stop()
            self._bar.close()
            self._bar = None

    def _say_later(self, wait: Wait) -> None:
        """Say what is waited for if it takes long."""
        if self._timer is None:
            self._timer = Timer(
                LONG_STEP, say, [f"{wait.sentence} takes more than {LONG_STEP:.0f} seconds"]
            )
            self._timer.daemon = True
            self._timer.start()
        if wait.over:
            self._timer.cancel()
            self._timer = None


class Bars:
    """Progress shown by tqdm. Bytes are counted as kB, MB; a task without a unit shows its share only."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
        """Show a bar for the task until the block ends."""
        from tqdm import tqdm

        is_bytes = unit == "B"
        bar_format = None
        if total is not None:
            bar_format = _TOTAL_FORMAT if unit else _SHARE_FORMAT
        with tqdm(
            desc=label,
            total=total,
            unit=unit if is_bytes else f" {unit}",
            unit_scale=is_bytes,
            bar_format=bar_format,
            file=sys.stderr,
            disable=None,
            leave=False,
            dynamic_ncols=True,
        ) as bar:
            clock = Clock(bar)
            try:
                yield _TqdmBar(bar)
            finally:
                clock.stop()


class _TqdmBar:
    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Advance the bar; the note is shown at its end."""
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(amount)
