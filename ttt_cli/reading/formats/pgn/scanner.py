"""PGN read for its tags and results: a scanner of bytes that survives what real files hold.

It is fed blocks and keeps no more than the game under way. Moves are skipped, not checked.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from ttt_cli.kernels.scanning.pgn_fields import COLUMNS
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.formats.pgn.moves import Movetext, hash_moves, main_line, read_moves
from ttt_cli.reading.formats.pgn.sections import Part, rejected
from ttt_cli.reading.formats.pgn.tags import (
    Oddity,
    first_of_each,
    plain_game,
    read_tags,
    tag_batch,
    values_of,
)
from ttt_cli.reading.streams import DamagedInputError
from ttt_cli.reading.text import decode
from ttt_cli.reading.values.results import parse_result

GAME_LIMIT: Final = 1 << 24  # bytes that one game may take

_KEPT: Final = 1 << 10  # bytes of a game too long that may hold the beginning of a tag
_SECTION: Final = re.compile(rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*")')
_NO_MOVES: Final = Movetext(0)


class Row(NamedTuple):
    """A record: its first line, the values of its columns, and its main line as it is hashed."""

    line: int
    values: tuple[bytes, ...]
    moves: bytes


class Scanner:
    """Reads the blocks of one file; a subclass may have a quicker way through the games it can tell."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = 0
        self._enough = 0  # bytes that make another attempt worth while
        self._line = 1  # of the first waiting byte
        self._counted = 0  # bytes of the current data whose lines are counted
        self._tagged = False  # no tags seen yet
        self._doubtful = False  # whether the next tags may be of a game that was rejected
        self._skipping = False  # whether a game that is too long goes on
        self._rows: list[Row] = []
        self._notes: list[Note] = []
        self._rejects: list[Note] = []

    def scan(self, blocks: Iterable[bytes]) -> Iterator[Batch]:
        """The records of a PGN file given as blocks with LF line ends; where blocks are cut makes no difference."""
        try:
            for block in blocks:
                yield from self._feed(block)
        except DamagedInputError:  # what came before the damage counts
            yield from self._batches(final=True)
            raise
        yield from self._feed(b"", final=True)

    def _feed(self, block: bytes, *, final: bool = False) -> Iterator[Batch]:
        """The records that end in the data so far."""
        self._waiting.append(block)
        self._size += len(block)
        if self._size < self._enough and not final:
            return
        data = self._read(b"".join(self._waiting), final=final)
        while len(data) > GAME_LIMIT and not self._skipping:
            self._reject_long(self._line)
            self._doubtful = read_tags(data, 0, final=False) is None
            self._tagged = self._skipping = True
            data = self._read(data[self._pass_over(data, len(data) - _KEPT) :], final=final)
        self._waiting, self._size = [data], len(data)
        self._enough = min(2 * len(data), GAME_LIMIT + 1)
        yield from self._batches(final=final)

    def _read(self, data: bytes, *, final: bool) -> bytes:
        """Read the games that are complete; returns the data behind them."""
        if self._skipping:
            found = _SECTION.search(data)
            self._skipping = found is None
            data = data[self._pass_over(data, found.start(1) if found else max(0, len(data) - _KEPT)) :]
        return data if self._skipping else data[self._scan(data, final=final) :]

    def _pass_over(self, data: bytes, stop: int) -> int:
        """Count the lines up to an offset, which is returned."""
        self._line += data.count(b"\n", 0, stop)
        return stop

    def _reject_long(self, line: int) -> None:
        why = f"no end of the game that begins here in {GAME_LIMIT >> 20} MB"
        self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))

    def _batches(self, *, final: bool) -> Iterator[Batch]:  # noqa: ARG002
        """The records and notes not yet handed over, if there are any; a subclass may keep some back until `final`."""
        rows, notes, rejects = self._rows, self._notes, self._rejects
        if rows or notes or rejects:
            self._rows, self._notes, self._rejects = [], [], []
            columns = list(zip(*(row.values for row in rows), strict=True)) or [()] * COLUMNS
            hashes = hash_moves([row.moves for row in rows])
            yield tag_batch([row.line for row in rows], columns, notes, hashes, rejects)

    def _scan(self, data: bytes, *, final: bool) -> int:
        """Read the games that are complete in `data`; returns where the first that is not begins."""
        position = self._counted = 0
        if not self._tagged:
            moves = read_moves(data, 0, final=final, tagged=False)
            if moves is None:
                return 0
            self._tagged = True
            self._add_untagged(data, moves)
            position = moves.end
        self._line_at(data, position)
        return self._read_games(data, position, final=final)

    def _read_games(self, data: bytes, position: int, *, final: bool) -> int:
        """Read games from `position` on, where tags begin; returns where the first incomplete one begins."""
        while position < len(data):
            if not self._doubtful and (plain := plain_game(data, position)):
                values = values_of(plain.tags, plain.tags[b"Result"])
                self._rows.append(Row(self._line, values, main_line(plain.moves)))
                self._line += plain.lines
                self._counted = position = plain.end
                continue
            following = self._read_slowly(data, position, final=final)
            if following is None:
                break
            position = following
        return position

    def _read_slowly(self, data: bytes, position: int, *, final: bool) -> int | None:
        """Read a game or more, however they are written; returns where the next begins, None if it is incomplete."""
        stretch = read_tags(data, position, final=final, doubtful=self._doubtful)
        if stretch is None:
            return None
        moves = read_moves(data, stretch.end, final=final) if stretch.moves else Movetext(stretch.end)
        if moves is None:
            return None
        self._doubtful = stretch.cut
        *before, last = stretch.parts or [Part((), certain=True)]
        for part in before:
            self._add(data, part.tags[0].start, part, _NO_MOVES)
        self._add(data, last.tags[0].start if last.tags else position, last, moves)
        self._line_at(data, moves.end)
        return moves.end

    def _add(self, data: bytes, start: int, part: Part, moves: Movetext) -> None:
        if part.certain:
            line, long = self._line_at(data, start), [tag for tag in part.tags if tag.long]
            if long:
                why = f"the tag {decode(long[0].name)} takes {(long[0].end - long[0].start) >> 10:,} KB"
                self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))
            elif moves.end - start > GAME_LIMIT:
                self._reject_long(line)
            else:
                tags, oddities = first_of_each(part.tags)
                self._add_oddities(data, oddities)
                result = self._settled(line, tags.get(b"Result"), moves.terminator)
                self._rows.append(Row(line, values_of(tags, result), main_line(moves.text)))
        else:
            for tag, why in rejected(part.tags):
                line = self._line_at(data, tag.start)
                self._rejects.append(Note(line, reasons.AMBIGUOUS_TAGS, why, reasons.DROPPED))
        self._add_untagged(data, moves)

    def _settled(self, line: int, tag: bytes | None, terminator: bytes) -> bytes:
        """The result of a game with this Result tag, None without one, and this end of its moves."""
        written = tag or b""
        if written == terminator or not terminator:
            return written
        result, reason, action = _settle_result(written, terminator)
        if reason:
            detail = "no Result tag" if tag is None else f'Result "{decode(written)}"'
            self._notes.append(Note(line, reason, f"{detail}, moves end {decode(terminator)}", action))
        return result

    def _add_untagged(self, data: bytes, moves: Movetext) -> None:
        self._add_oddities(data, moves.oddities)
        for offset, terminator, text in moves.more:
            self._rows.append(Row(self._line_at(data, offset), values_of({}, terminator), main_line(text)))
        if moves.stray:
            shown = decode(data[: moves.end].strip()[:40])
            self._notes.append(Note(self._line, reasons.STRAY_TEXT, shown, reasons.KEPT))

    def _add_oddities(self, data: bytes, oddities: list[Oddity]) -> None:
        for offset, reason, detail in oddities:
            line = self._line + data.count(b"\n", self._counted, offset)
            action = reasons.KEPT if reason == reasons.DUPLICATE_TAG else reasons.REPAIRED
            self._notes.append(Note(line, reason, detail, action))

    def _line_at(self, data: bytes, offset: int) -> int:
        """The line number of an offset that does not lie before the one asked for last."""
        self._line += data.count(b"\n", self._counted, offset)
        self._counted = offset
        return self._line


@lru_cache(maxsize=4096)
def _settle_result(tag: bytes, terminator: bytes) -> tuple[bytes, str, str]:
    """The result to use when tag and movetext differ, and what is to be noted about it."""
    by_tag, by_moves = parse_result(decode(tag)), parse_result(decode(terminator))
    if isinstance(by_moves, str) or by_tag in (by_moves, reasons.FORFEIT):
        return tag, "", ""
    if by_tag in (reasons.NO_RESULT, reasons.UNKNOWN_RESULT):
        return terminator, reasons.RESULT_FROM_MOVETEXT, reasons.REPAIRED
    return tag, reasons.CONTRADICTING_RESULT, reasons.KEPT
