"""Marks of bytes say what the tables and the sets of characters say, for every byte beside every other."""

from __future__ import annotations

import string

import numpy as np

from tests.reference.pgn import HYPHEN, KEPT, KIND_BITS, KINDS
from tests.support.cases import each
from ttt_cli.kernels.pgn import (
    LETTER,
    NAME_END,
    NEWLINE,
    SPECIAL,
    TEXT_END,
    VALUE_END,
    mark_bytes,
)

NAME = (string.ascii_letters + string.digits + "_").encode()
SETS = {
    SPECIAL: b"[{;%/*()-",
    NEWLINE: b"\n",
    TEXT_END: b"\n}",
    VALUE_END: b'\n"\\',
    NAME_END: bytes(byte for byte in range(256) if byte not in NAME),
}


def all_contexts() -> bytes:
    """One byte of each kind (and every byte once) between one of each kind on either side."""
    kinds = [int(np.flatnonzero(kind == KINDS)[-1]) for kind in range(8)]
    return bytes(
        byte for here in range(256) for before in kinds for behind in kinds for byte in (before, here, behind)
    )


def marks_of(content: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    marks = np.full(len(content), 255, np.uint8)
    mark_bytes(np.frombuffer(content, np.uint8), marks)
    assert marks[0] == marks[-1] == 0
    return marks[1:-1]


def test_letters_are_those_of_the_tables() -> None:
    content = all_contexts()
    kinds = KINDS[np.frombuffer(content, np.uint8)].astype(int)
    kept = KEPT[(kinds[:-2] << KIND_BITS | kinds[1:-1]) << KIND_BITS | kinds[2:]]
    found = (marks_of(content) >> LETTER & 1).astype(bool)
    plain = kinds[1:-1] != HYPHEN  # castling is looked at by itself
    assert found[plain].tolist() == kept[plain].tolist()
    assert not found[~plain].any()
    assert kept[plain].any()


@each("bit", SETS)
def test_other_marks_are_sets_of_characters(bit: int) -> None:
    content = all_contexts()
    assert (marks_of(content) >> bit & 1).tolist() == [byte in SETS[bit] for byte in content[1:-1]]


@each("content", [b"a", b"ab", b"e4 "])
def test_short_blocks(content: bytes) -> None:
    assert len(marks_of(content)) == max(0, len(content) - 2)
