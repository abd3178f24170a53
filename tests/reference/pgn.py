"""PGN read in Python alone: what the compiled code has to say too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.pgn import SLOW_PATH
from ttt_cli.reading.pgn import Scanner


class PlainScanner(Scanner):
    """Leaves every game to the slow path."""

    def _run(self, marked: tuple[NDArray[np.uint8], ...], position: int) -> Any:
        return SLOW_PATH, position
