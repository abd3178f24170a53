"""What the inference of TTT must at least do: bytes that move, exponentials, divisions; and how fast each can be.

Counted by hand from `kernels/ep/ttt.py`, `kernels/truncated.py` and `kernels/ep/joint_means.py`. Bytes are those of
every array that a pass goes through, each once; bytes that are updated move twice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ttt_cli.fitted import Fit
    from ttt_cli.inference.ep.merged import MergedGames

# Of a pair in a pass: its two nodes, outcome and weight, read; its sites, read and written; its link, written.
PAIR_BYTES: Final = (4 + 4 + 1 + 8) + 2 * 32 + 16
# Of a node in a pass: neighbours, drift and prior, read; its marginal and a message, read and written; of the node
# before, marginal and message, read.
NODE_BYTES: Final = (4 + 4 + 8 + 8) + 2 * (16 + 16) + (16 + 16)
# In a step of the joint solution: of a pair its two nodes and its pull; of a node the arrays of three loops: the step
# and its elimination, substitution, games.
PAIR_STEP_BYTES: Final = 4 + 4 + 8
NODE_STEP_BYTES: Final = 108 + 44 + 24
# Divisions and roots of an update: cavity, scale and its root, new sites; then those of the moments.
UPDATE_DIVISIONS: Final = 4
WIN_DIVISIONS: Final = 2
DRAW_DIVISIONS: Final = 4
REPEATED_DIVISIONS: Final = 2  # where a site stands for more than one game

OUTCOMES: Final = 8  # codes of an outcome without handicap (`kernels/codes.py`)
DRAW: Final = 1
WIN: Final = 2
CACHED: Final = 2048  # numbers that stay in the nearest cache
LEAST: Final = 1 << 28  # bytes moved in a trial: long enough for the clock


def exponentials(merged: MergedGames, fitted: Fit) -> float:
    """Exponentials per update: a win takes one where the expected lead is above the margin, else none (a table serves);
    a draw takes two where the expected lead is within the margin, else one. By the skills found."""
    margin, mean = fitted.params["draw_margin"], fitted.mean
    lead = mean[merged.games.first] - mean[merged.games.second]
    outcome = merged.games.code % OUTCOMES
    of_draw = np.where(np.abs(lead) < margin, 2, 1)
    of_win = np.where(np.where(outcome == WIN, lead, -lead) >= margin, 1, 0)
    return float(np.where(outcome == DRAW, of_draw, of_win).mean())


def divisions(merged: MergedGames) -> float:
    """Divisions and roots per update."""
    drawn = float((merged.games.code % OUTCOMES == DRAW).mean())
    repeated = float((merged.games.weight > 1.0).mean())
    moments = drawn * DRAW_DIVISIONS + (1.0 - drawn) * WIN_DIVISIONS
    return UPDATE_DIVISIONS + moments + repeated * REPEATED_DIVISIONS


@dataclass(frozen=True)
class Speeds:
    """Processor seconds of an exponential and of a division."""

    exponential: float
    division: float

    @classmethod
    def measured(cls) -> Speeds:
        """The best of a few trials each."""
        values, out, turns = np.linspace(-8.0, -1.0, CACHED), np.empty(CACHED), 2000
        return cls(
            exponential=best(lambda: _exponentials(values, out, turns)) / (turns * CACHED),
            division=best(lambda: _divisions(values, out, turns)) / (turns * CACHED),
        )


def seconds_to_move(size: int) -> float:
    """Processor seconds to read one half of so many bytes and write the other, again and again: from the cache that
    holds them, else from memory."""
    source, target = np.ones(max(size // 16, 1)), np.empty(max(size // 16, 1))
    turns = max(LEAST // size, 1)

    def work() -> None:
        for _ in range(turns):
            np.copyto(target, source)

    return best(work) / turns


def best(work: Callable[[], object], trials: int = 7) -> float:
    """The least processor seconds that some work took; once before, to compile it and to find its memory."""
    work()
    found = math.inf
    for _ in range(trials):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return found


@njit(error_model="numpy")
def _exponentials(values: NDArray[np.float64], out: NDArray[np.float64], turns: int) -> None:
    for turn in range(turns):
        for k in range(len(values)):
            out[k] = math.exp(values[k] - 1e-3 * turn)


@njit(error_model="numpy")
def _divisions(values: NDArray[np.float64], out: NDArray[np.float64], turns: int) -> None:
    for turn in range(turns):
        for k in range(len(values)):
            out[k] = 1.0 / (values[k] - 1e-3 * turn)
