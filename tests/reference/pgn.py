"""PGN read in Python alone: what the compiled code has to say too."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.pgn import SLOW_PATH
from ttt_cli.reading.pgn import Scanner


class PlainScanner(Scanner):
    """Leaves every game to the slow path."""

    def _run(self, view: tuple[NDArray[np.uint8], ...], position: int) -> Any:
        return SLOW_PATH, position


# Kinds of bytes; LINK: between the parts of a move; CASTLING: of castling; HYPHEN and ENDING end plain movetext.
OTHER, FILE, RANK, PIECE, LINK, CASTLING, HYPHEN, ENDING = range(8)
KIND_BITS = 3


def _kinds() -> NDArray[np.uint8]:
    kinds = np.full(256, OTHER, np.uint8)
    kinds[list(b"abcdefgh")] = FILE
    kinds[list(b"12345678")] = RANK
    kinds[list(b"ABCDEFGHIJKLMNQRSTUVWXYZ")] = PIECE  # in any language; a pawn's P is left out
    kinds[list(b"x:@=")] = LINK
    kinds[list(b"Oo0")] = CASTLING
    kinds[list(b"-")] = HYPHEN
    kinds[list(b"\n[{;%/*()")] = ENDING  # results are known by their rarer characters
    return kinds


def _is_kept(before: int, here: int, behind: int) -> bool:
    goes_on = behind in (FILE, RANK, LINK, HYPHEN)
    if here == FILE:
        return goes_on
    if here == RANK:
        return before in (FILE, PIECE)
    if here == PIECE:
        return goes_on or before in (RANK, LINK)
    return here == HYPHEN and before == behind == CASTLING


KINDS = _kinds()
# The earliest in the highest bits.
KEPT = np.array([_is_kept(*context) for context in product(range(8), repeat=3)])
