"""What a comparison has of its systems: their entries, those that were lost, and the bars while they are at work."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.errors import TttError
from ttt_cli.evaluate.forecast.compare_tune import TunedSystem
from ttt_cli.evaluate.forecast.evaluation import Piece, System, Task
from ttt_cli.fitted import Kind
from ttt_cli.progress import Bar, Progress

INTERRUPTED: Final = "interrupted before it was done"


@dataclass(frozen=True)
class Entry:
    """How a system did. `system` has the parameters that were used, the tuned ones if `tuned` tells of tuning.

    `probabilities` of the scored games, shape (games, 3): loss, draw and win for White. `log_evidence` of all games,
    NaN where the system has none, or none could be had: `note` says why. `converged`: whether all fits did. `seconds`
    of the processor: for the forecasts, and for the tuning.
    """

    system: System
    kind: Kind
    probabilities: Array
    log_evidence: float
    converged: bool
    seconds: float
    tuned: TunedSystem | None = None
    tuning_seconds: float = 0.0
    note: str | None = None


@dataclass(frozen=True)
class Lost:
    """A system that could not be scored, and why; `hint`: what may help."""

    system: System
    reason: str
    hint: str | None = None


class Board:
    """What there is of every system so far. Its bars are open as long as `stack` is."""

    def __init__(
        self,
        systems: Sequence[System],
        chains: Sequence[Sequence[Task]],
        progress: Progress,
        stack: ExitStack,
    ) -> None:
        self._systems = systems
        self._pieces: list[list[Piece]] = [[] for _ in systems]
        self._forecasts = [sum(task.what == "predict" for task in chain) for chain in chains]
        self._errors: dict[int, Exception] = {}
        self._reported = [0.0] * len(systems)  # units of the task under way
        self.interrupted = False
        width = max((len(system.name) for system in systems), default=0)
        self._bars: list[Bar] = [
            stack.enter_context(
                progress.task(system.name.ljust(width), sum(task.units for task in chain), "steps")
            )
            for system, chain in zip(systems, chains, strict=True)
        ]

    def receive(self, task: Task, message: tuple[float, str]) -> None:
        """Show units of a task that is not done yet."""
        amount, note = message
        amount = min(amount, task.units - self._reported[task.system])
        self._reported[task.system] += amount
        self._bars[task.system].advance(amount, note)

    def add(self, piece: Piece) -> None:
        """Keep what came of a task."""
        task = piece.task
        self._pieces[task.system].append(piece)
        left = task.units - self._reported[task.system]
        self._reported[task.system] = 0.0
        self._bars[task.system].advance(left, "tuned" if task.what == "tune" else "")

    def lose(self, task: Task, error: Exception) -> None:
        """Keep what ended a system's tasks."""
        self._errors[task.system] = error
        self._bars[task.system].advance(0, "lost")

    def entries(self) -> tuple[Entry, ...]:
        """The systems that have predicted all games. Raises what ended the first when there are none."""
        found = tuple(self._entry(number) for number in range(len(self._systems)) if self._scored(number))
        if not found:
            if self.interrupted:
                raise KeyboardInterrupt
            raise next(iter(self._errors.values()))
        return found

    def lost(self) -> tuple[Lost, ...]:
        """The others."""
        return tuple(self._lost(number) for number in range(len(self._systems)) if not self._scored(number))

    def _scored(self, number: int) -> bool:
        """Whether all games are predicted, whatever became of the evidence."""
        done = sum(piece.task.what == "predict" for piece in self._pieces[number])
        return done == self._forecasts[number]

    def _entry(self, number: int) -> Entry:
        def of(what: str) -> Iterator[Piece]:
            return (piece for piece in self._pieces[number] if piece.task.what == what)

        predicted, last, tuning = list(of("predict")), next(of("evidence"), None), next(of("tune"), None)
        system, tuned = tuning.tuned if tuning and tuning.tuned else (self._systems[number], None)
        return Entry(
            system=system,
            kind=system.model.TRAITS.kind,
            probabilities=np.concatenate([piece.probabilities for piece in predicted]),
            log_evidence=last.log_evidence if last else float("nan"),
            converged=(last or predicted[-1]).converged,
            seconds=sum(piece.seconds for piece in predicted),
            tuned=tuned,
            tuning_seconds=tuning.seconds if tuning else 0.0,
            note=None if last else f"no log-evidence: {self._reason(number)}",
        )

    def _lost(self, number: int) -> Lost:
        error = self._errors.get(number)
        hint = error.hint if isinstance(error, TttError) else None
        return Lost(self._systems[number], self._reason(number), hint)

    def _reason(self, number: int) -> str:
        """Why there is no more of a system."""
        error = self._errors.get(number)
        if error is None:
            return INTERRUPTED
        if isinstance(error, TttError):
            return error.message
        first_line = str(error).partition("\n")[0]
        return f"unexpected {type(error).__name__}: {first_line}"
