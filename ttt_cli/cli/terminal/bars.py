"""Progress as bars on standard error: on a terminal only, gone when the task ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ttt_cli.cli.terminal.console import QUIET, voice
from ttt_cli.progress import SILENT, Bar, Progress, Wait

if TYPE_CHECKING:
    from tqdm import tqdm

_SHARE = "{l_bar}{bar}| {elapsed}{postfix}"  # a task whose unit is a share of the whole
_WAIT = "{desc}, {elapsed}"
_COUNTED_WAIT = "{desc}: {n_fmt}, {elapsed}"
_KNOWN = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


def progress() -> Progress:
    """Bars when somebody can see them and -q was not given, else silence."""
    return Bars() if sys.stderr.isatty() and voice.level > QUIET else SILENT


class WaitBar:
    """What is announced while commands run: a line of its own where bars are seen, while it is waited for.

    Processes that this one begins show nothing.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._bar: tqdm[Any] | None = None
        self._seconds: dict[str, float] = {}  # waited before this bar, for each sentence

    def __call__(self, wait: Wait) -> None:
        """Show the line, or take it away."""
        if os.getpid() != self._process or progress() is SILENT:
            return
        if self._bar is None:
            self._bar = self._open(wait)
        if wait.done is not None:
            self._bar.update(wait.done - self._bar.n)
        self._bar.refresh()
        if wait.over:
            self._seconds[wait.sentence] = time.time() - self._bar.start_t
            self._bar.close()
            self._bar = None

    def _open(self, wait: Wait) -> tqdm[Any]:
        from tqdm import tqdm

        bar = tqdm(
            desc=wait.sentence,
            initial=wait.done or 0,
            bar_format=_WAIT if wait.done is None else _COUNTED_WAIT,
            file=sys.stderr,
            leave=False,
            dynamic_ncols=True,
        )
        bar.start_t -= self._seconds.get(wait.sentence, 0.0)
        return bar


class Bars:
    """Progress shown by tqdm. Bytes are counted as kB, MB; a task without a unit shows its share only."""

    @contextmanager
    def task(self, label: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
        """Show a bar for the task until the block ends."""
        from tqdm import tqdm

        looks: dict[str, Any] = {"unit": unit if unit == "B" else f" {unit}", "unit_scale": unit == "B"}
        if total is not None:
            looks["bar_format"] = _KNOWN if unit else _SHARE
        with tqdm(
            desc=label, total=total, file=sys.stderr, disable=None, leave=False, dynamic_ncols=True, **looks
        ) as bar:
            yield _TqdmBar(bar)


class _TqdmBar:
    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar = bar

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Move the bar on; the note stands at its end."""
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(amount)
