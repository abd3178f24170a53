"""The lines of a table: whole ones from blocks of bytes, and where those of a block begin and end."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask, Places
from ttt_cli.reading.batches import Note
from ttt_cli.reading.reasons import DROPPED, TOO_LONG
from ttt_cli.reading.text import BLOCK

LINE_LIMIT: Final = 1 << 20  # bytes
LF: Final = ord("\n")


def pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, no more than BLOCK at a time."""
    return (block[start : start + BLOCK] for block in blocks for start in range(0, len(block), BLOCK))


class Lines(NamedTuple):
    """Whole lines; the `final` ones may end otherwise. One that is too long is `long`, and empty."""

    data: bytes
    final: bool = False
    long: bool = False


def whole_lines(blocks: Iterable[bytes]) -> Iterator[Lines]:
    """The same bytes cut behind the ends of lines, without those of more than LINE_LIMIT bytes."""
    rest, long = b"", False
    for block in pieces(blocks):
        end = block.find(b"\n")
        if long or len(rest) + (end if end >= 0 else len(block)) > LINE_LIMIT:
            rest, long = b"", end < 0
            if long:
                continue
            yield Lines(b"\n", long=True)
            block = block[end + 1 :]  # noqa: PLW2901
        data = rest + block
        cut = data.rfind(b"\n") + 1
        yield Lines(data[:cut])
        rest = data[cut:]
    if long:
        yield Lines(b"\n", long=True)
    yield Lines(rest, final=True)


def long_line(number: int) -> Note:
    """The account of a line that is too long."""
    return Note(number, TOO_LONG, f"a line of more than {LINE_LIMIT >> 10:,} KB", DROPPED)


class LineBlock:
    """Lines of a file, each with its LF: `data` and its `bytes`; line k is from `starts[k]` to its LF at `ends[k]`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.ends = self.places(LF)
        self.starts = np.concatenate([np.zeros(1, np.int64), self.ends + 1])[:-1]
        self.lengths = self.ends - self.starts

    def __len__(self) -> int:
        return len(self.ends)

    def places(self, byte: int) -> Places:
        """Where a byte stands."""
        return np.flatnonzero(self.bytes == byte) if byte in self.data else np.zeros(0, np.int64)

    def counts(self, places: Places) -> Places:
        """How many of these places are in each line, shape (lines,)."""
        return np.diff(np.searchsorted(places, self.ends), prepend=0)

    def lines_of(self, places: Places) -> Places:
        """The lines that these places are in."""
        return np.searchsorted(self.ends, places)

    def texts(self, lines: NDArray[np.integer]) -> Iterator[str]:
        """Lines as text, without their ends."""
        bounds = zip(self.starts[lines].tolist(), self.ends[lines].tolist(), strict=True)
        return (self.data[start:end].decode("utf-8", "surrogateescape") for start, end in bounds)

    def only(self, chosen: Mask) -> bytes:
        """The chosen lines, with their ends."""
        return self.data if chosen.all() else self.bytes[np.repeat(chosen, self.lengths + 1)].tobytes()
