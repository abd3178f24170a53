"""What is reported of files that were read: counts, and problems row by row with the place of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

LINES: Final = 10**10  # more than a file has


@dataclass(frozen=True, slots=True)
class Problem:
    """One record, or a part of one, that was not as it should be."""

    file: str
    line: int  # its place (see `places`)
    reason: str  # a word or two from a fixed vocabulary, counted in reports: "no result", "bad date"
    detail: str  # what stood there
    action: str  # "dropped", "repaired" or "kept"

    @property
    def place(self) -> str:
        """`file:line`, with the number of the record where several share the line."""
        return place_text(self.file, self.line)


@dataclass(frozen=True)
class FileReport:
    """What one input file gave. `rows == used + sum(dropped.values())` always."""

    path: str
    kind: str  # "pgn", "csv"
    digest: str  # sha256 of the bytes as stored
    size: int  # bytes as stored
    rows: int
    used: int
    dropped: dict[str, int]  # reason -> rows
    noticed: dict[str, int] = field(default_factory=dict)  # what else is said of rows that are used -> rows
    chess: bool = True  # no columns of another sport: players are people

    def __post_init__(self) -> None:
        if self.rows != self.used + sum(self.dropped.values()):
            raise ValueError(f"{self.path}: {self.rows} rows are not {self.used} used + {self.dropped}")


@dataclass(frozen=True)
class InputFile:
    """A file that was read besides the games; `digest` (SHA-256) and `size` are of its bytes as stored."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True)
class ReadReport:
    """The full account of a reading: files, problems row by row, the alias file by which names were united."""

    files: tuple[FileReport, ...] = ()
    problems: tuple[Problem, ...] = ()
    aliases: InputFile | None = None

    @property
    def rows(self) -> int:
        """Records seen, over all files."""
        return sum(file.rows for file in self.files)

    @property
    def used(self) -> int:
        """Records that became games, over all files."""
        return sum(file.used for file in self.files)

    @property
    def dropped(self) -> dict[str, int]:
        """Records that were kept out, by reason, over all files, most frequent first."""
        return _total(file.dropped for file in self.files)

    @property
    def chess(self) -> bool:
        """Whether any file is of chess, as far as can be told."""
        return not self.files or any(file.chess for file in self.files)

    @property
    def noticed(self) -> dict[str, int]:
        """Records that are used although something is said of them, by what it is, most frequent first."""
        return _total(file.noticed for file in self.files)


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for reason, count in one.items():
            total[reason] = total.get(reason, 0) + count
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


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
