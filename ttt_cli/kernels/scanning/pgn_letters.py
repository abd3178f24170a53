"""Which letters of movetext make the hash of a game's moves, and what each weighs; tables for all scanners.

A game is known by the letters that name squares, pieces and castling in its main line. Whether a byte is one of them
depends on the bytes before and behind it and on nothing else (`KEPT`): a file goes on in a square, a capture or another
file; a rank stands behind a file or a piece; a piece goes on as a file does, or stands where a pawn is promoted; a
hyphen between two `O` or `0` is castling. So numbers, results, `x`, `=`, checks, marks, numeric glyphs and comments
(which are blanks here) leave no trace.

The letters, eight to a word of 64 bits (the first lowest, the last word filled up with zeros), are mixed word by word:
times `MIX`, then the upper half added to the lower one without carry. The hash is the sum of the k-th mixed word times
the k-th of 4096 random weights (which then repeat), modulo 2^64: multilinear hashing, by which two different games
agree with a probability of about 2^-60.
"""

from itertools import product
from typing import Final

import numpy as np

MOVES_LIMIT: Final = 1 << 20  # bytes of movetext; what stands behind them is not hashed
WEIGHTS_MASK: Final = (1 << 12) - 1

# Kinds of bytes; LINK: between the parts of a move; ROUND: of castling; HYPHEN and SPECIAL end plain movetext.
OTHER, FILE, RANK, PIECE, LINK, ROUND, HYPHEN, SPECIAL = range(8)
KIND_BITS: Final = 3


def _kinds():
    kinds = np.full(256, OTHER, np.uint8)
    kinds[list(b"abcdefgh")] = FILE
    kinds[list(b"12345678")] = RANK
    kinds[list(b"ABCDEFGHIJKLMNQRSTUVWXYZ")] = PIECE  # in any language; a pawn's P is left out
    kinds[list(b"x:@=")] = LINK
    kinds[list(b"Oo0")] = ROUND
    kinds[list(b"-")] = HYPHEN
    kinds[list(b"\n[{;%/*()")] = SPECIAL  # results are known by their rarer characters
    return kinds


def _is_kept(before, here, behind):
    goes_on = behind in (FILE, RANK, LINK, HYPHEN)
    if here == FILE:
        return goes_on
    if here == RANK:
        return before in (FILE, PIECE)
    if here == PIECE:
        return goes_on or before in (RANK, LINK)
    return here == HYPHEN and before == behind == ROUND


def _weights():
    """Random weights by splitmix64 (Steele, Lea and Flood 2014), the state starting at 0."""
    state = np.arange(1, WEIGHTS_MASK + 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))).view(np.int64)


KINDS: Final = _kinds()
# The earliest in the highest bits.
KEPT: Final = np.array([_is_kept(*context) for context in product(range(8), repeat=3)])
WEIGHTS: Final = _weights()
MIX: Final = np.uint64(0x9E3779B97F4A7C15)
