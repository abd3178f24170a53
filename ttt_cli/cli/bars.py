"""Progress as bars on standard error: on a terminal only, gone when the task ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ttt_cli.cli.console import QUIET, say, voice
from ttt_cli.progress import SILENT, Bar, Progress

if TYPE_CHECKING:
    from tqdm import tqdm

_SHARE = "{l_bar}{bar}| {elapsed}{postfix}"  # a task whose unit is a share of the whole
_KNOWN = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"


def progress() -> Progress:
    """Bars when somebody can see them and -q was not given, else silence."""
    return Bars() if sys.stderr.isatty() and voice.level > QUIET else SILENT


def say_on_terminal(sentence: str) -> None:
    """What is announced while commands run: a line where bars are seen."""
    if sys.stderr.isatty():
        say(sentence)


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
