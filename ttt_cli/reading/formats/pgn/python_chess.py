"""The same records through python-chess, which ends games at blank lines and takes tags line by line.

It loses players where no blank line separates moves from the next game; it serves to check the scanner on well-formed
files. Moves are skipped, so their hashes are not known.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple, TextIO, cast

import chess.pgn

from ttt_cli.kernels.scanning.pgn_fields import COLUMNS
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.pgn.sections import Sections, Tag, rejected
from ttt_cli.reading.formats.pgn.tags import tag_batch, values_of
from ttt_cli.reading.reasons import AMBIGUOUS_TAGS, DROPPED

_GAMES_PER_BATCH: Final = 4096


class _Lines:
    """A text handle over blocks of bytes that counts the lines handed out.

    `blank` and `text` are whether blank lines and lines of text have come since they were last set to False.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.line = 0
        self.blank = self.text = False
        self._lines = _split(blocks)

    def readline(self) -> str:
        self.line += 1
        line = next(self._lines, b"").decode("utf-8", "surrogateescape")
        self.blank |= line.isspace()
        self.text |= bool(line.strip()) and not line.startswith(("[", "%", ";"))
        return line


def _split(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest


class _Game(NamedTuple):
    """The tags of a game, with lines for offsets; `apart` is whether there was text before the first of them."""

    line: int
    tags: list[Tag]
    apart: bool


class _Tags(chess.pgn.BaseVisitor[_Game]):
    """Collects the tags of one game and the line they begin in; moves are skipped."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._line = 0
        self._tags: list[Tag] = []
        self._apart = False

    def begin_headers(self) -> None:
        self._line = self._lines.line

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        lines = self._lines
        if not self._tags:
            self._apart = lines.text
        value = tagvalue.encode("utf-8", "surrogateescape")
        self._tags.append(Tag(tagname.encode(), value, lines.line, lines.line, lines.blank))
        lines.blank = lines.text = False

    def end_headers(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def result(self) -> _Game:
        return _Game(self._line, self._tags, self._apart)


def _sections(lines: _Lines) -> Iterator[_Game]:
    """The tags between which there is no text, since the library ends games at some blank lines and not at others."""
    handle = cast(TextIO, lines)
    open_: _Game | None = None
    while (game := chess.pgn.read_game(handle, Visitor=lambda: _Tags(lines))) is not None:
        if open_ is not None and game.tags and not game.apart:
            open_.tags.extend(game.tags)
            continue
        if open_ is not None:
            yield open_
        open_ = game
    if open_ is not None:
        yield open_


def read_pgn_chess(blocks: Iterable[bytes]) -> Iterator[Batch]:
    """Records of a PGN file given as blocks with LF line ends, as `chess.pgn.read_game` sees them.

    Games without moves are told apart as the scanner does it.
    """
    sections = _sections(_Lines(blocks))
    while games := list(islice(sections, _GAMES_PER_BATCH)):
        lines: list[int] = []
        rows: list[tuple[bytes, ...]] = []
        rejects: list[Note] = []
        for game in games:
            found = Sections()
            for tag in game.tags:
                found.add(tag)
            for part in found.ended():
                if part.certain:
                    tags = {tag.name: tag.value for tag in reversed(part.tags)}
                    lines.append(part.tags[0].start if part.tags else game.line)
                    rows.append(values_of(tags, tags.get(b"Result", b"")))
                else:
                    rejects += [
                        Note(tag.start, AMBIGUOUS_TAGS, why, DROPPED) for tag, why in rejected(part.tags)
                    ]
        columns = list(zip(*rows, strict=True)) or [()] * COLUMNS
        yield tag_batch(lines, columns, (), None, rejects)
