"""Progress that remembers what it was told."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any


class Recorder:
    """Tasks as (label, total) and amounts, as they come; notes; its bars are itself."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.notes: list[str] = []

    def task(
        self, label: str, total: float | None = None, unit: str = ""
    ) -> AbstractContextManager[Recorder]:
        self.told.append((label, total))
        return nullcontext(self)

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.told.append(amount)
        self.notes.append(note)
