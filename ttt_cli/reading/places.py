"""Where records stand: their lines, and which records of the file they are where several begin in one line.

A place is one number, the line. From the first record that shares its line on, LINES times the record's number in the
file (from 1) is added, so that every record has a place of its own and places grow through a file.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

LINES: Final = 10**10  # more than a file has


def place_text(path: str, place: int) -> str:
    """`file:line`, and which record of the file it is where the line does not tell."""
    record, line = divmod(place, LINES)
    return f"{path}:{line} record {record}" if record else f"{path}:{line}"


class Places:
    """Makes places of the lines in which the records of a file begin, one after the other."""

    def __init__(self) -> None:
        self._count = 0
        self._last = -1  # line
        self._shared = False

    def next(self, line: int) -> int:
        """The place of the next record."""
        self._count += 1
        self._shared = self._shared or line == self._last
        self._last = line
        return line + LINES * self._count * self._shared

    def several(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of the next records, shape (n,)."""
        if not len(lines):
            return lines
        if self._shared or lines[0] == self._last or np.any(lines[1:] == lines[:-1]):
            return np.array([self.next(line) for line in lines.tolist()])
        self._count, self._last = self._count + len(lines), int(lines[-1])
        return lines
