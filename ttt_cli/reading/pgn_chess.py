"""The same records through python-chess, as it parses them: games end at blank lines, tags are read line by line.

It loses players where no blank line separates moves from the next game; it serves to check the scanner on well-formed
files. Moves are skipped, so their hashes are not known.
"""

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TextIO, cast

import chess.pgn

from ttt_cli.kernels.pgn import NAMES
from ttt_cli.reading.batches import Batch
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.unpacking import BlockReader

_GAMES_PER_BATCH: Final = 4096
_Game = tuple[int, dict[str, str]]  # the first line and the tags, the first of each name


class _CountedLines:
    """A text handle over blocks of bytes that counts its lines."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.line = 0
        self._lines = io.BufferedReader(BlockReader(blocks))

    def readline(self) -> str:
        self.line += 1
        return self._lines.readline().decode("utf-8", "surrogateescape")


class _TagVisitor(chess.pgn.BaseVisitor[_Game]):
    """Collects the tags of one game and its first line; moves are skipped."""

    def __init__(self, lines: _CountedLines) -> None:
        self._lines = lines
        self._line = 0
        self._tags: dict[str, str] = {}

    def begin_headers(self) -> None:
        self._line = self._lines.line

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self._tags.setdefault(tagname, tagvalue)

    def end_headers(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def result(self) -> _Game:
        return self._line, self._tags


def read_pgn_chess(
    blocks: Iterable[bytes], strings: Strings, further: tuple[bytes, ...] = ()
) -> Iterator[Batch]:
    """Records of a PGN file given as blocks with LF line ends, as `chess.pgn.read_game` parses them.

    `further`: tags besides the usual ones.
    """
    lines = _CountedLines(blocks)
    handle = cast(TextIO, lines)
    names = [name.decode() for name in (*NAMES, *further)]
    games = iter(lambda: chess.pgn.read_game(handle, Visitor=lambda: _TagVisitor(lines)), None)
    while batch := list(islice(games, _GAMES_PER_BATCH)):
        texts = [
            tags.get(name, "").encode("utf-8", "surrogateescape")
            for _, tags in batch
            for name in names
        ]
        codes = strings.numbers_of(texts).reshape(len(batch), len(names)).T
        yield Batch([line for line, _ in batch], codes)
