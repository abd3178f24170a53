"""Steps in all slices of a fit, wherever these are, and what is done when slices are lost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar, TypeVarTuple

import numpy as np

from ttt_cli.inference.ep.borders import Borders
from ttt_cli.inference.ep.cutting import SliceInputs
from ttt_cli.inference.ep.state import SliceState
from ttt_cli.inference.model import Play
from ttt_cli.storage import ArrayStorage
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import TttError
from ttt_cli.timeline import Timeline

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

RETRIES: Final = 20  # of a task after losses


class SliceLost(TttError):
    """Some slices are no longer where they were."""


class SitesLost(TttError):
    """Results were lost with slices of which nothing was saved: further sweeps find them again."""


class Slices(ABC):
    """The slices of a fit: in this process, in files or on workers of a cluster.

    A step is a function of a slice's state and of what has arrived there, as in `messages.py`: `run` does it in all
    slices.
    """

    @abstractmethod
    def run(
        self,
        step: Callable[[SliceState, *Arguments], Result],
        arguments: Sequence[tuple[*Arguments]],
    ) -> list[Result]:
        """Do a step in every slice, each with its arguments; the results in the order of slices. Raises SliceLost."""

    def recover(self) -> None:  # noqa: B027
        """Make slices that were lost again, with the sites that were saved or none. May raise SliceLost."""

    def can_write(self, storage: ArrayStorage) -> bool:  # noqa: ARG002
        """Whether slices can write into arrays of this storage."""
        return False


class SliceHere(Slices):
    """A whole timeline as one slice in this process."""

    def __init__(self, state: SliceState) -> None:
        self.state = state

    def run(
        self,
        step: Callable[[SliceState, *Arguments], Result],
        arguments: Sequence[tuple[*Arguments]],
    ) -> list[Result]:
        """Do a step."""
        return [step(self.state, *arguments[0])]


class Placement(Protocol):
    """Where slices of a fit are to be.

    `name` describes it; `scratch` is a folder that keeps what an interrupted fit continues from, or None.
    """

    @property
    def name(self) -> str:
        """As in "slices of time in files"."""

    @property
    def scratch(self) -> Path | None:
        """Folder of an interrupted fit."""

    def cuts(self, timeline: Timeline) -> Places:
        """The first period of each slice, and the end of the last. Raises ConfigError where none has room."""

    def hold(
        self, slice_inputs: SliceInputs, play: Play, folder: Path | None
    ) -> AbstractContextManager[Slices]:
        """Make slices, which end with the block; they save their sites in `folder`. Raises SetupError."""


@dataclass(frozen=True)
class Exchange:
    """Steps in slices between which messages cross `borders`."""

    slices: Slices
    borders: Borders

    def broadcast(
        self, step: Callable[[SliceState, *Arguments], Result], *common: *Arguments
    ) -> list[Result]:
        """Do a step in every slice with the same arguments."""
        return self.slices.run(step, [common] * (len(self.borders.start) - 1))

    def scatter(
        self,
        step: Callable[[SliceState, Array, *Arguments], Result],
        arrived: Array,
        *common: *Arguments,
    ) -> list[Result]:
        """Do a step in every slice with its rows of what has arrived at segments, then arguments that all have."""
        rows = np.split(arrived, self.borders.start[1:-1])
        return self.slices.run(step, [(row, *common) for row in rows])


@dataclass(frozen=True)
class Recovery:
    """Tasks over slices, which are repeated from the sites that are left whenever slices are lost.

    `restart` smooths the sites there are; it returns whether all slices have some.
    """

    slices: Slices
    restart: Callable[[], bool]

    def run(self, task: Callable[[], Result]) -> Result:
        """Do a task that is right from any sites. Raises SliceLost after RETRIES."""
        return self._run(task, needs_sites=False)

    def run_with_sites(self, task: Callable[[], Result]) -> Result:
        """Do a task that needs the sites of all slices. Raises SitesLost where some were lost."""
        return self._run(task, needs_sites=True)

    def _run(self, task: Callable[[], Result], *, needs_sites: bool) -> Result:
        losses = 0
        while True:
            try:
                if losses:
                    self.slices.recover()
                    if not self.restart() and needs_sites:
                        raise SitesLost("sites were lost with the workers that computed them")
                return task()
            except SliceLost:
                losses += 1
                if losses > RETRIES:
                    raise
