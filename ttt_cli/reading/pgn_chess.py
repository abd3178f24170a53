"""The same records through python-chess, which ends games at blank lines and takes tags line by line.

It loses players where no blank line separates moves from the next game; it serves to check the scanner on well-formed
files. Moves are skipped, so their hashes are not known.
"""

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple, TextIO, cast

import chess.pgn

from ttt_cli.kernels.pgn import NAMES
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.input import BlockReader
from ttt_cli.reading.pgn_text import Sections, Tag, rejected
from ttt_cli.reading.reports import AMBIGUOUS_TAGS, DROPPED

_GAMES_PER_BATCH: Final = 4096


class _CountedLines:
    """A text handle over blocks of bytes that counts its lines.

    `blank` and `text` are whether there have been blank lines and lines of text since they were last reset.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.line = 0
        self.blank = self.text = False
        self._lines = io.BufferedReader(BlockReader(iter(blocks)))

    def readline(self) -> str:
        self.line += 1
        line = self._lines.readline().decode("utf-8", "surrogateescape")
        self.blank |= line.isspace()
        self.text |= bool(line.strip()) and not line.startswith(("[", "%", ";"))
        return line


class _ChessGame(NamedTuple):
    """The tags of a game, with lines for offsets; `apart` is whether there was text before the first of them."""

    line: int
    tags: list[Tag]
    apart: bool


class _TagVisitor(chess.pgn.BaseVisitor[_ChessGame]):
    """Collects the tags of one game and its first line; moves are skipped."""

    def __init__(self, lines: _CountedLines) -> None:
        self._lines = lines
        self._line = 0
        self._tags: list[Tag] = []
        self._apart = False

    def begin_headers(self) -> None:
        self._line = self._lines.line

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        lines = self._lines
        self._apart = self._apart if self._tags else lines.text
        value = tagvalue.encode("utf-8", "surrogateescape")
        self._tags.append(Tag(tagname.encode(), value, lines.line, lines.line, lines.blank))
        lines.blank = lines.text = False

    def end_headers(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def result(self) -> _ChessGame:
        return _ChessGame(self._line, self._tags, self._apart)


def _stretches(lines: _CountedLines) -> Iterator[_ChessGame]:
    """Tags without text between them, since the library ends games at some blank lines and not at others."""
    handle = cast(TextIO, lines)
    waiting: _ChessGame | None = None
    while (game := chess.pgn.read_game(handle, Visitor=lambda: _TagVisitor(lines))) is not None:
        if waiting is not None and game.tags and not game.apart:
            waiting.tags.extend(game.tags)
            continue
        if waiting is not None:
            yield waiting
        waiting = game
    if waiting is not None:
        yield waiting


def read_pgn_chess(blocks: Iterable[bytes], strings: Strings) -> Iterator[Batch]:
    """Records of a PGN file given as blocks with LF line ends, as `chess.pgn.read_game` parses them.

    Games without moves are separated as by the scanner.
    """
    stretches = _stretches(_CountedLines(blocks))
    while games := list(islice(stretches, _GAMES_PER_BATCH)):
        lines: list[int] = []
        values: list[bytes] = []
        rejects: list[Note] = []
        for game in games:
            sections = Sections()
            for tag in game.tags:
                sections.add(tag)
            for group in sections.ended():
                if not group.certain:
                    notes = rejected(group.tags)
                    rejects += [Note(tag.start, AMBIGUOUS_TAGS, why, DROPPED) for tag, why in notes]
                    continue
                tags = {tag.name: tag.value for tag in reversed(group.tags)}
                lines.append(group.tags[0].start if group.tags else game.line)
                values += [tags.get(name, b"") for name in NAMES]
        yield Batch(lines, strings.ids(values).reshape(len(lines), len(NAMES)).T, rejects)
