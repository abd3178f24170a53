"""The same records through python-chess, which ends games at blank lines and takes tags line by line.

It loses players where no blank line separates games; it serves to check the scanner on well-formed files. Moves are
skipped, so their hashes are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TextIO, cast

import chess.pgn

from ttt_cli.games.pgn.tags import tag_batch, values_of
from ttt_cli.games.records import Batch

_GAMES_PER_BATCH: Final = 4096

_Row = tuple[int, tuple[bytes, ...]]  # line, and the values of the columns


class _Lines:
    """A text handle over blocks of bytes that counts the lines handed out."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.line = 0
        self._lines = _split(blocks)

    def readline(self) -> str:
        self.line += 1
        return next(self._lines, b"").decode("utf-8", "surrogateescape")


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest


class _Tags(chess.pgn.BaseVisitor[_Row]):
    """Collects the tags of one game and the line they begin in; moves are skipped."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._line = 0
        self._tags: dict[bytes, bytes] = {}

    def begin_headers(self) -> None:
        self._line = self._lines.line

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self._tags[tagname.encode()] = tagvalue.encode("utf-8", "surrogateescape")

    def end_headers(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def result(self) -> _Row:
        return self._line, values_of(self._tags, self._tags.get(b"Result", b""))


def _games(lines: _Lines) -> Iterator[_Row]:
    handle = cast(TextIO, lines)
    while (row := chess.pgn.read_game(handle, Visitor=lambda: _Tags(lines))) is not None:
        yield row


def read_pgn_chess(blocks: Iterable[bytes]) -> Iterator[Batch]:
    """Records of a PGN file given as blocks with LF line ends, as `chess.pgn.read_game` sees them."""
    games = _games(_Lines(blocks))
    while rows := list(islice(games, _GAMES_PER_BATCH)):
        columns = list(zip(*(values for _, values in rows), strict=True))
        yield tag_batch([line for line, _ in rows], columns, (), None)
