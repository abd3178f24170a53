"""Many names looked through at once, so that only few need a careful look one by one."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask

_ASCII: Final = 128
_FEW: Final = 1_000  # names that are looked at one by one in the time that a table of characters takes
_AT_ONCE: Final = 1 << 16  # names, for the sake of memory


class Neighbours:
    """Finds names that may hold two neighbouring characters in which `pattern` matches.

    A line end stands before and behind each name; a character beyond ASCII, or a line end within, counts as `?`. Of few
    names all may hold them.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def among(self, names: Sequence[str]) -> NDArray[np.intp]:
        """The numbers of those names in order."""
        if len(names) < _FEW:
            return np.arange(len(names))
        starts = range(0, len(names), _AT_ONCE)
        return np.concatenate([start + self._found(names[start : start + _AT_ONCE]) for start in starts])

    @cached_property
    def _table(self) -> Mask:
        """Whether the pattern matches, by both characters."""
        letters = list(map(chr, range(_ASCII)))
        return np.array([bool(self._pattern.search(one + other)) for one in letters for other in letters])

    def _found(self, names: Sequence[str]) -> NDArray[np.intp]:
        text = "\n".join(names)
        if text.count("\n") >= len(names):
            text = "\n".join(name.replace("\n", "?") for name in names)
        letters = np.frombuffer(f"\n{text}\n".encode("ascii", "replace"), np.uint8)
        pairs = letters[:-1] * np.uint16(_ASCII) + letters[1:]
        ends = np.flatnonzero(letters == ord("\n"))
        return np.unique(np.searchsorted(ends, np.flatnonzero(self._table[pairs]), side="right") - 1)
