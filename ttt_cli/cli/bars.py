"""Progress bars on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.cli.messages import QUIET, session
from ttt_cli.support.progress import SILENT, Bar, Progress, Wait

if TYPE_CHECKING:
    from tqdm import tqdm

_SHARE_FORMAT: Final = "{l_bar}{bar}| {elapsed}{postfix}"  # a task whose unit is a share of the whole
_WAIT_FORMAT: Final = "{desc}, {elapsed}"
_COUNTED_WAIT_FORMAT: Final = "{desc}: {n_fmt}, {elapsed}"
_TOTAL_FORMAT: Final = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


def progress() -> Progress:
    """Progress bars if standard error is a terminal and -q was not given, else none."""
    return Bars() if sys.stderr.isatty() and session.verbosity > QUIET else SILENT


class WaitBar:
    """Show a message on its own line while the user waits, where bars are shown, but not in child processes."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._bar: tqdm[Any] | None = None

    def __call__(self, wait: Wait) -> None:
        """Show the line, or remove it when the wait is over."""
        if os.getpid() != self._process or progress() is SILENT:
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
        if wait.done is not None:
            self._bar.update(wait.done - self._bar.n)
        self._bar.refresh()
        if wait.over:
            self._bar.close()
            self._bar = None


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
            yield _TqdmBar(bar)


class _TqdmBar:
    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Advance the bar; the note is shown at its end."""
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(amount)
