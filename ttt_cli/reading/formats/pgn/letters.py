"""A hash of the moves of a game: the same for the same main line, however it is written."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask, Places
from ttt_cli.kernels.scanning.pgn_letters import (
    KEPT,
    KIND_BITS,
    KINDS,
    MIX,
    MOVES_LIMIT,
    WEIGHTS,
    WEIGHTS_MASK,
)

_PARENTHESIS: Final = re.compile(rb"[()]")
_OPEN: Final = ord("(")
_WORD: Final = 8  # letters


def main_line(text: bytes) -> bytes:
    """Movetext without comments, as far as it is hashed, without its variations."""
    text = text[:MOVES_LIMIT]
    if b"(" not in text:
        return text
    pieces: list[bytes] = []
    depth = kept = 0
    for found in _PARENTHESIS.finditer(text):
        place = found.start()
        if text[place] == _OPEN:
            if not depth:
                pieces.append(text[kept:place])
            depth += 1
        elif depth:
            depth -= 1
            kept = place
    if not depth:
        pieces.append(text[kept:])
    return b"".join(pieces)


def hash_moves(lines: Sequence[bytes]) -> Places:
    """The hashes of main lines without comments, shape (n,), 0 where there is no move (see `kernels.pgn_letters`)."""
    return np.concatenate([np.zeros(0, np.int64), *map(_hashes, _groups(lines))])


def _groups(lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Consecutive lines of about MOVES_LIMIT bytes together."""
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line)
        if size >= MOVES_LIMIT:
            yield group
            group, size = [], 0
    if group:
        yield group


def _hashes(lines: list[bytes]) -> Places:
    data = np.frombuffer(b"\n".join([b"", *lines, b""]), np.uint8)
    places = np.flatnonzero(_kept(data))
    ends = np.cumsum([len(line) + 1 for line in lines])
    bounds = np.concatenate([[0], np.searchsorted(places, ends)])
    counts = np.diff(bounds)
    words = -(-counts // _WORD)  # of each line
    firsts = np.concatenate([[0], np.cumsum(words)])
    letters = np.zeros(firsts[-1] * _WORD, np.uint8)
    letters[np.arange(len(places)) + np.repeat(firsts[:-1] * _WORD - bounds[:-1], counts)] = data[places]
    mixed = letters.view("<u8") * MIX
    mixed ^= mixed >> np.uint64(32)
    order = np.arange(len(mixed)) - np.repeat(firsts[:-1], words)
    sums = np.cumsum(mixed.view(np.int64) * WEIGHTS[order & WEIGHTS_MASK])
    until: Places = np.concatenate([np.zeros(1, np.int64), sums])[firsts]
    return np.diff(until)


def _kept(data: NDArray[np.uint8]) -> Mask:
    """Which bytes are letters of moves; the first and the last byte are blanks."""
    kinds = KINDS[data].astype(np.uint16)
    context = (kinds[:-2] << KIND_BITS | kinds[1:-1]) << KIND_BITS | kinds[2:]
    kept = np.zeros(len(data), np.bool_)
    kept[1:-1] = KEPT[context]
    return kept
