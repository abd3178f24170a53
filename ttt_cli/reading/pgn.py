"""PGN files: compiled code reads the common games, Python (`pgn_text`) all others."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.kernels import pgn as kernel
from ttt_cli.kernels.pgn import COLUMNS, GROUP, NAMES, RESULT, mark_bytes
from ttt_cli.reading import pgn_text
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import Batch, Layout, Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.dates import known_date
from ttt_cli.reading.input import DamagedInputError, decode, pieces
from ttt_cli.reading.results import parse_result

GAME_LIMIT: Final = 1 << 24  # bytes that one game may take
_USUAL: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"  # the initial position, as in FEN


def variant_of(variant: str, set_up: str, position: str) -> str:
    """The variant as written, or `set-up` for a game from another position than the usual one."""
    usual = position in ("", "?") or position.startswith(_USUAL)
    return variant or ("" if usual and set_up != "1" else "set-up")


_TAGS_OF: Final = {
    "dates": (b"Date", b"UTCDate"),
    "whites": (b"White",),
    "blacks": (b"Black",),
    "results": (b"Result",),
    "event": (b"Event",),
    "site": (b"Site",),
    "round": (b"Round",),
    "white_id": (b"WhiteFideId",),
    "black_id": (b"BlackFideId",),
    "variant": (b"Variant", b"SetUp", b"FEN"),
    "time_control": (b"TimeControl",),
    "termination": (b"Termination",),
    "ply_count": (b"PlyCount",),
    "white_type": (b"WhiteType",),
    "black_type": (b"BlackType",),
    "white_title": (b"WhiteTitle",),
    "black_title": (b"BlackTitle",),
}
TAG_COLUMNS: Final[dict[str, tuple[int, ...]]] = {}
for _column, _tags in _TAGS_OF.items():
    TAG_COLUMNS[_column] = tuple(map(NAMES.index, _tags))
MADE: Final[Mapping[str, Callable[..., Hashable]]] = {"dates": known_date, "variant": variant_of}

_KEPT: Final = 1 << 10  # bytes kept of a game that is too long: a tag may begin in them
_SECTION: Final = re.compile(rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*")')
_NO_MOVES: Final = pgn_text.Movetext(0)
_ANOTHER: Final = b'\n[A "' + bytes(GROUP)  # a tag after the last game, so that compiled code finds its end


_ROWS_AT_ONCE: Final = 1 << 13
_NOTES_AT_ONCE: Final = 1 << 13  # notes after which a batch is returned


_Marked = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]


def _marked(data: bytes) -> _Marked:
    """The data, the marks of its bytes, and room for the letters of moves."""
    view = np.frombuffer(data, np.uint8)
    marks = np.empty(len(data), np.uint8)
    if len(data):
        mark_bytes(view, marks)
    return view, marks, np.empty(len(data) + GROUP, np.uint8)


def hash_moves(line: bytes) -> int:
    """The hash of a main line without comments, 0 without moves (see `kernels.pgn.hash_main_line`)."""
    return int(kernel.hash_main_line(*_marked(b"\n" + line + b"\n")))


class Scanner:
    """Reads the blocks of one file: compiled code the common games, Python the `slow` others."""

    def __init__(self) -> None:
        self.slow = 0
        self.strings = Strings()
        self._waiting: list[bytes] = []
        self._size = 0
        self._enough = 0  # bytes before the next attempt
        self._line = 1  # of the first waiting byte
        self._counted = 0  # bytes of the current data before line `_line`
        self._tagged = False  # whether tags have been read
        self._doubtful = False  # whether the next tags may be of a rejected game
        self._skipping = False  # whether a game that is too long continues
        # Filled by the kernel: rows, `_state[ROWS]` of which are used, and games with contradictory results.
        self._state = np.zeros(5, np.int64)
        self._lines = np.empty(_ROWS_AT_ONCE, np.int64)
        self._moves = np.empty(_ROWS_AT_ONCE, np.int64)
        self._codes = np.empty((_ROWS_AT_ONCE, COLUMNS), np.int32)
        self._unsettled = np.empty((_ROWS_AT_ONCE, 2), np.int64)
        self._batches: list[Batch] = []
        self._notes: list[Note] = []
        self._rejects: list[Note] = []

    def scan(self, blocks: Iterable[bytes]) -> Iterator[Batch]:
        """The records of a PGN file given as blocks with LF line ends, wherever these are cut."""
        try:
            for block in blocks:
                self._feed(block)
                yield from self._finished(final=False)
        except DamagedInputError:  # games before the damage count
            yield from self._finished(final=True)
            raise
        self._feed(b"", final=True)
        yield from self._finished(final=True)

    def _finished(self, *, final: bool) -> list[Batch]:
        if final or len(self._notes) + len(self._rejects) > _NOTES_AT_ONCE:
            self._end_batch()
        found = self._batches
        self._batches = []
        return found

    def _end_batch(self) -> None:
        count = int(self._state[kernel.ROWS])
        if count or self._notes or self._rejects:
            codes = np.ascontiguousarray(self._codes[:count].T)
            lines = self._lines[:count].copy()
            moves = self._moves[:count].copy()
            self._batches.append(Batch(lines, codes, self._rejects, self._notes, moves))
        self._state[kernel.ROWS] = 0
        self._notes = []
        self._rejects = []

    def _feed(self, block: bytes, *, final: bool = False) -> None:
        self._waiting.append(block)
        self._size += len(block)
        if self._size < self._enough and not final:
            return
        data = self._read(b"".join(self._waiting), final=final)
        while len(data) > GAME_LIMIT and not self._skipping:
            self._reject_long(self._line)
            self._doubtful = pgn_text.read_tags(pgn_text.PgnText(data, final=False), 0) is None
            self._tagged = self._skipping = True
            data = self._read(data[self._pass_over(data, len(data) - _KEPT) :], final=final)
        self._waiting = [data]
        self._size = len(data)
        self._enough = min(2 * len(data), GAME_LIMIT + 1)

    def _read(self, data: bytes, *, final: bool) -> bytes:
        """Read the complete games; returns the data after them."""
        if self._skipping:
            found = _SECTION.search(data)
            self._skipping = found is None
            data = data[self._pass_over(data, found.start(1) if found else max(0, len(data) - _KEPT)) :]
        return data if self._skipping else data[self._scan(data, final=final) :]

    def _pass_over(self, data: bytes, stop: int) -> int:
        """Count the lines up to an offset, and return it."""
        self._line += data.count(b"\n", 0, stop)
        return stop

    def _reject_long(self, line: int) -> None:
        why = f"no end of the game that begins here in {GAME_LIMIT >> 20} MB"
        self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))

    def _scan(self, data: bytes, *, final: bool) -> int:
        """Read the games that are complete in `data`; returns the offset of the first that is not."""
        position = self._counted = 0
        text = pgn_text.PgnText(data, final=final)
        if not self._tagged and not text.opens_tag(0):
            moves = pgn_text.read_moves(text, 0, tagged=False)
            if moves is None:
                return 0
            self._add_untagged(data, moves)
            position = moves.end
        self._tagged = True
        self._line_at(data, position)
        view = _marked(data + _ANOTHER if final else data)
        while position < len(data):
            status, position = (kernel.SLOW_PATH, position) if self._doubtful else self._run(view, position)
            if status == kernel.STRINGS_FULL:
                self.strings.grow()
            elif status == kernel.ROWS_FULL:
                self._end_batch()
            elif position < len(data) and (final or status == kernel.SLOW_PATH):
                following = self._read_slowly(text, position)
                if following is None:
                    break
                position = following
                self.slow += 1
            else:
                break
        return position

    def _read_slowly(self, text: pgn_text.PgnText, position: int) -> int | None:
        """Read one game or more in any layout; returns the offset of the next, None if they are incomplete."""
        data = text.data
        stretch = pgn_text.read_tags(text, position, doubtful=self._doubtful)
        if stretch is None:
            return None
        moves: pgn_text.Movetext | None = pgn_text.Movetext(stretch.end)
        if stretch.moves:
            moves = pgn_text.read_moves(text, stretch.end)
        if moves is None:
            return None
        self._doubtful = stretch.cut
        *before, last = stretch.groups or [pgn_text.TagGroup((), certain=True)]
        for group in before:
            self._add(data, group.tags[0].start, group, _NO_MOVES)
        self._add(data, last.tags[0].start if last.tags else position, last, moves)
        self._line_at(data, moves.end)
        return moves.end

    def _add(self, data: bytes, start: int, group: pgn_text.TagGroup, moves: pgn_text.Movetext) -> None:
        if not group.certain:
            for tag, why in pgn_text.inseparable(group.tags):
                line = self._line_at(data, tag.start)
                self._rejects.append(Note(line, reasons.AMBIGUOUS_TAGS, why, reasons.DROPPED))
        else:
            line = self._line_at(data, start)
            long = [tag for tag in group.tags if tag.long]
            if long:
                why = f"the tag {decode(long[0].name)} takes {(long[0].end - long[0].start) >> 10:,} KB"
                self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))
            elif moves.end - start > GAME_LIMIT:
                self._reject_long(line)
            else:
                tags: dict[bytes, bytes] = {}  # the first of each name
                for tag in group.tags:
                    again = tag.name in tags and tag.name in pgn_text.READ
                    odd = [reasons.MALFORMED_TAG] * tag.odd + [reasons.DUPLICATE_TAG] * again
                    written = f'{decode(tag.name)} "{decode(tag.value)}"' if odd else ""
                    for reason in odd:
                        action = reasons.KEPT if reason == reasons.DUPLICATE_TAG else reasons.REPAIRED
                        self._notes.append(Note(self._line_at(data, tag.start), reason, written, action))
                    tags.setdefault(tag.name, tag.value)
                result = self._settled(line, tags.get(b"Result"), moves.terminator)
                self._add_row(line, tags | {b"Result": result}, moves.text)
        self._add_untagged(data, moves)

    def _add_row(self, line: int, tags: Mapping[bytes, bytes], movetext: bytes) -> None:
        if self._state[kernel.ROWS] == _ROWS_AT_ONCE:
            self._end_batch()
        row = self._state[kernel.ROWS]
        self._lines[row] = line
        self._moves[row] = hash_moves(pgn_text.main_line(movetext))
        self._codes[row] = self.strings.ids([tags.get(name, b"") for name in NAMES])
        self._state[kernel.ROWS] += 1

    def _settled(self, line: int, tag: bytes | None, terminator: bytes) -> bytes:
        """The result of a game from its Result tag (None without one) and the end of its moves."""
        written = tag or b""
        if written == terminator or not terminator:
            return written
        result, reason, action = _settle_result(written, terminator)
        if reason:
            detail = "no Result tag" if tag is None else f'Result "{decode(written)}"'
            self._notes.append(Note(line, reason, f"{detail}, moves end {decode(terminator)}", action))
        return result

    def _add_untagged(self, data: bytes, moves: pgn_text.Movetext) -> None:
        self._add_oddities(data, moves.oddities)
        for offset, terminator, text in moves.more:
            self._add_row(self._line_at(data, offset), {b"Result": terminator}, text)
        if moves.stray:
            shown = decode(data[: moves.end].strip()[:40])
            self._notes.append(Note(self._line, reasons.STRAY_TEXT, shown, reasons.KEPT))

    def _add_oddities(self, data: bytes, oddities: list[pgn_text.Oddity]) -> None:
        for offset, reason, detail in oddities:
            line = self._line + data.count(b"\n", self._counted, offset)
            self._notes.append(Note(line, reason, detail, reasons.REPAIRED))

    def _line_at(self, data: bytes, offset: int) -> int:
        """The line number of an offset; offsets must not decrease."""
        self._line += data.count(b"\n", self._counted, offset)
        self._counted = offset
        return self._line

    def _run(self, view: _Marked, position: int) -> tuple[int, int]:
        """Run the compiled code from a game on; returns the status and the offset of the next game."""
        state = self._state
        strings = self.strings
        state[:] = position, self._line, state[kernel.ROWS], 0, len(strings)
        rows = (self._lines, self._moves, self._codes, self._unsettled)
        status = kernel.scan_games(*view, state, *rows, *strings.arrays)
        self._counted, self._line, _, unsettled, strings.size = state.tolist()
        for row, code in self._unsettled[:unsettled].tolist():
            (written,) = strings.texts(self._codes[row, RESULT : RESULT + 1])
            tag = None if code >= kernel.NO_TAG else written.encode()
            result = self._settled(int(self._lines[row]), tag, kernel.RESULTS[code % kernel.NO_TAG])
            self._codes[row, RESULT] = strings.number(result)
        return status, self._counted


@lru_cache(maxsize=4096)
def _settle_result(tag: bytes, terminator: bytes) -> tuple[bytes, str, str]:
    """The result to use when tag and movetext differ, and the reason and action of its note."""
    by_tag = parse_result(decode(tag))
    by_moves = parse_result(decode(terminator))
    if isinstance(by_moves, str) or by_tag in (by_moves, reasons.FORFEIT):
        return tag, "", ""
    if by_tag in (reasons.NO_RESULT, reasons.UNKNOWN_RESULT):
        return terminator, reasons.RESULT_FROM_MOVETEXT, reasons.REPAIRED
    return tag, reasons.CONTRADICTING_RESULT, reasons.KEPT


def read_pgn(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:  # noqa: ARG001
    """Open a PGN file given as blocks with LF line ends."""
    if data.reader == "chess":
        from ttt_cli.reading.pgn_chess import read_pgn_chess

        strings = Strings()
        batches = read_pgn_chess(blocks, strings)
    else:
        scanner = Scanner()
        strings = scanner.strings
        batches = scanner.scan(pieces(blocks))
    return Table(Layout(TAG_COLUMNS, made=MADE), strings, batches)
