"""PGN files: compiled code reads the common games, Python (`pgn_text`) all others."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.kernels import pgn as kernel
from ttt_cli.kernels.pgn import COLUMNS, GROUP, NAMES, RESULT, mark_bytes
from ttt_cli.reading import pgn_text
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import Batch, Layout, Note, Table
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.covariates import further_tags
from ttt_cli.reading.dates import known_date
from ttt_cli.reading.results import parse_result
from ttt_cli.reading.text import decode, pieces
from ttt_cli.reading.unpacking import DamagedInputError

GAME_LIMIT: Final = 1 << 24  # bytes that one game may take
# The initial position, as in FEN
_USUAL: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def variant_of(variant: str, set_up: str, position: str) -> str:
    """The variant as written, or `set-up` for a game from another position than the usual one."""
    usual = position in ("", "?") or position.startswith(_USUAL)
    return variant or ("" if usual and set_up != "1" else "set-up")


_TAGS: Final = {  # by column
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
for _column, _tags in _TAGS.items():
    TAG_COLUMNS[_column] = tuple(NAMES.index(_tag) for _tag in _tags)
COMBINERS: Final[Mapping[str, Callable[..., Hashable]]] = {
    "dates": known_date,
    "variant": variant_of,
}

_KEPT: Final = 1 << 10  # bytes kept of a game that is too long: a tag may begin in them
_SECTION: Final = re.compile(rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*")')
_NO_MOVES: Final = pgn_text.Movetext(0)
# A tag after the last game, so that compiled code finds its end
_ANOTHER: Final = b'\n[A "' + bytes(GROUP)


_ROWS_AT_ONCE: Final = 1 << 13
_NOTES_AT_ONCE: Final = 1 << 13  # notes after which a batch is returned
_SHOWN: Final = 40  # bytes of a text in its note


class _MarkedText(NamedTuple):
    """Bytes as the kernel takes them."""

    data: NDArray[np.uint8]  # (n,)
    marks: NDArray[np.uint8]  # (n,), of the bytes (see `kernels.pgn.mark_bytes`)
    letters: NDArray[np.uint8]  # (n + GROUP,), room for the letters of moves


def _marked(data: bytes) -> _MarkedText:
    bytes_read = np.frombuffer(data, np.uint8)
    marks = np.empty(len(data), np.uint8)
    if len(data):
        mark_bytes(bytes_read, marks)
    return _MarkedText(bytes_read, marks, np.empty(len(data) + GROUP, np.uint8))


def hash_moves(line: bytes) -> int:
    """The hash of a main line without comments, 0 without moves (see `kernels.pgn.hash_main_line`)."""
    return int(kernel.hash_main_line(*_marked(b"\n" + line + b"\n")))


class _LineCounter:
    """Computes the line numbers of increasing offsets of a text; `line` is that of the last one."""

    def __init__(self) -> None:
        self.line = 1
        self.offset = 0  # before which lines are counted

    def at(self, data: bytes, offset: int) -> int:
        """The line number of an offset; offsets must not decrease."""
        self.line += data.count(b"\n", self.offset, offset)
        self.offset = offset
        return self.line

    def ahead(self, data: bytes, offset: int) -> int:
        """As `at`, but smaller offsets may follow."""
        return self.line + data.count(b"\n", self.offset, offset)


class _RowBuffer:
    """Rows that the kernel fills, as many as fit into a batch.

    `state` is that of `kernel.scan_games`: `state[ROWS]` rows are filled, `state[UNSETTLED]` games have contradictory
    results.
    """

    def __init__(self, columns: int = COLUMNS) -> None:
        self.state = np.zeros(5, np.int64)
        self.lines = np.empty(_ROWS_AT_ONCE, np.int64)
        self.moves = np.empty(_ROWS_AT_ONCE, np.int64)
        self.codes = np.empty((_ROWS_AT_ONCE, columns), np.int32)
        self.unsettled = np.empty((_ROWS_AT_ONCE, 2), np.int64)

    def __len__(self) -> int:
        return int(self.state[kernel.ROWS])

    def add(self, line: int, moves: int, codes: NDArray[np.int32]) -> None:
        """Add a row, for which there must be room."""
        row = len(self)
        self.lines[row] = line
        self.moves[row] = moves
        self.codes[row] = codes
        self.state[kernel.ROWS] += 1

    def take(self, rejects: Sequence[Note], notes: Sequence[Note]) -> Batch:
        """The rows as a batch with these notes; no row is left."""
        count = len(self)
        codes = np.ascontiguousarray(self.codes[:count].T)
        batch = Batch(self.lines[:count].copy(), codes, rejects, notes, self.moves[:count].copy())
        self.state[kernel.ROWS] = 0
        return batch


class Scanner:
    """Reads the blocks of one file: compiled code the common games, Python the `slow` others.

    With `further` tags Python reads all games, for compiled code knows the usual tags only.
    """

    def __init__(self, further: tuple[bytes, ...] = ()) -> None:
        self.slow = 0
        self._tag_names = (*NAMES, *further)
        self._is_compiled = not further
        self.strings = Strings()
        self._waiting: list[bytes] = []  # blocks of games that are not complete
        self._size = 0  # of these, bytes
        self._size_needed = 0  # before the next attempt
        self._lines = _LineCounter()  # of the current data
        self._tagged = False  # whether tags have been read
        self._doubtful = False  # whether the next tags may be of a rejected game
        self._skipping = False  # whether a game that is too long continues
        self._rows = _RowBuffer(len(self._tag_names))
        self._notes: list[Note] = []
        self._rejects: list[Note] = []
        self._batches: list[Batch] = []

    def scan(self, blocks: Iterable[bytes]) -> Iterator[Batch]:
        """The records of a PGN file given as blocks with LF line ends, wherever these are cut."""
        try:
            for block in blocks:
                self._feed(block)
                yield from self._take_batches(final=False)
        except DamagedInputError:  # games before the damage count
            yield from self._take_batches(final=True)
            raise
        self._feed(b"", final=True)
        yield from self._take_batches(final=True)

    def _take_batches(self, *, final: bool) -> list[Batch]:
        """The complete batches, of all games if `final`."""
        if final or len(self._notes) + len(self._rejects) > _NOTES_AT_ONCE:
            self._end_batch()
        batches = self._batches
        self._batches = []
        return batches

    def _end_batch(self) -> None:
        if len(self._rows) or self._notes or self._rejects:
            self._batches.append(self._rows.take(self._rejects, self._notes))
        self._notes = []
        self._rejects = []

    def _feed(self, block: bytes, *, final: bool = False) -> None:
        self._waiting.append(block)
        self._size += len(block)
        if self._size < self._size_needed and not final:
            return
        data = self._read(b"".join(self._waiting), final=final)
        while len(data) > GAME_LIMIT and not self._skipping:
            self._reject_long(self._lines.line)
            self._doubtful = pgn_text.read_tags(pgn_text.PgnText(data, final=False), 0) is None
            self._tagged = self._skipping = True
            data = self._read(data[self._pass_over(data, len(data) - _KEPT) :], final=final)
        self._waiting = [data]
        self._size = len(data)
        self._size_needed = min(2 * len(data), GAME_LIMIT)

    def _read(self, data: bytes, *, final: bool) -> bytes:
        """Read the complete games; returns the data after them."""
        if self._skipping:
            section = _SECTION.search(data)
            self._skipping = section is None
            end_of_long_game = section.start(1) if section else max(0, len(data) - _KEPT)
            data = data[self._pass_over(data, end_of_long_game) :]
        return data if self._skipping else data[self._scan(data, final=final) :]

    def _pass_over(self, data: bytes, stop: int) -> int:
        """Count the lines up to an offset, and return it."""
        self._lines.line += data.count(b"\n", 0, stop)
        return stop

    def _reject_long(self, line: int) -> None:
        why = f"no end of the game that begins here in {GAME_LIMIT >> 20} MB"
        self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))

    def _scan(self, data: bytes, *, final: bool) -> int:
        """Read the games that are complete in `data`; returns the offset of the first that is not."""
        position = 0
        self._lines.offset = 0
        text = pgn_text.PgnText(data, final=final)
        if not self._tagged and not text.opens_tag(0):
            moves = pgn_text.read_moves(text, 0, tagged=False)
            if moves is None:
                return 0
            self._add_untagged(data, moves)
            position = moves.end
        self._tagged = True
        self._lines.at(data, position)
        marked = _marked(data + _ANOTHER if final else data)
        while position < len(data):
            status = kernel.SLOW_PATH
            if self._is_compiled and not self._doubtful:
                status, position = self._run(marked, position)
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
        self._lines.at(data, moves.end)
        return moves.end

    def _add(
        self, data: bytes, start: int, group: pgn_text.TagGroup, moves: pgn_text.Movetext
    ) -> None:
        if not group.certain:
            for tag, why in pgn_text.inseparable(group.tags):
                line = self._lines.at(data, tag.start)
                self._rejects.append(Note(line, reasons.AMBIGUOUS_TAGS, why, reasons.DROPPED))
        else:
            line = self._lines.at(data, start)
            long_tags = [tag for tag in group.tags if tag.long]
            if long_tags:
                size = (long_tags[0].end - long_tags[0].start) >> 10
                why = f"the tag {decode(long_tags[0].name)} takes {size:,} KB"
                self._rejects.append(Note(line, reasons.TOO_LONG, why, reasons.DROPPED))
            elif moves.end - start > GAME_LIMIT:
                self._reject_long(line)
            else:
                tags = self._values(data, group.tags)
                result = self._settled(line, tags.get(b"Result"), moves.terminator)
                self._add_row(line, tags | {b"Result": result}, moves.text)
        self._add_untagged(data, moves)

    def _values(self, data: bytes, tags: Sequence[pgn_text.Tag]) -> dict[bytes, bytes]:
        """The values of the tags of a game, the first of each name; notes repaired and repeated tags."""
        values: dict[bytes, bytes] = {}
        for tag in tags:
            is_repeated = tag.name in values and tag.name in pgn_text.READ
            if tag.odd or is_repeated:
                line = self._lines.at(data, tag.start)
                written = f'{decode(tag.name)} "{decode(tag.value)}"'
                if tag.odd:
                    self._notes.append(Note(line, reasons.MALFORMED_TAG, written, reasons.REPAIRED))
                if is_repeated:
                    self._notes.append(Note(line, reasons.DUPLICATE_TAG, written, reasons.KEPT))
            values.setdefault(tag.name, tag.value)
        return values

    def _add_row(self, line: int, tags: Mapping[bytes, bytes], movetext: bytes) -> None:
        if len(self._rows) == _ROWS_AT_ONCE:
            self._end_batch()
        codes = self.strings.numbers_of([tags.get(name, b"") for name in self._tag_names])
        self._rows.add(line, hash_moves(pgn_text.main_line(movetext)), codes)

    def _settled(self, line: int, tag: bytes | None, terminator: bytes) -> bytes:
        """The result of a game from its Result tag (None without one) and the end of its moves."""
        written = tag or b""
        if written == terminator or not terminator:
            return written
        result, reason, action = _settle_result(written, terminator)
        if reason:
            detail = "no Result tag" if tag is None else f'Result "{decode(written)}"'
            self._notes.append(
                Note(line, reason, f"{detail}, moves end {decode(terminator)}", action)
            )
        return result

    def _add_untagged(self, data: bytes, moves: pgn_text.Movetext) -> None:
        """Add the games without tags and the notes of a movetext."""
        for oddity in moves.oddities:
            line = self._lines.ahead(data, oddity.offset)
            self._notes.append(Note(line, oddity.reason, oddity.detail, reasons.REPAIRED))
        for game in moves.more:
            self._add_row(
                self._lines.at(data, game.offset), {b"Result": game.terminator}, game.text
            )
        if moves.stray:
            text = decode(data[: moves.end].strip()[:_SHOWN])
            self._notes.append(Note(self._lines.line, reasons.STRAY_TEXT, text, reasons.KEPT))

    def _run(self, marked: _MarkedText, position: int) -> tuple[int, int]:
        """Run the compiled code from a game on; returns the status and the offset of the next game."""
        rows = self._rows
        strings = self.strings
        rows.state[:] = position, self._lines.line, len(rows), 0, len(strings)
        status = kernel.scan_games(
            *marked, rows.state, rows.lines, rows.moves, rows.codes, rows.unsettled, *strings.arrays
        )
        self._lines.offset = int(rows.state[kernel.POSITION])
        self._lines.line = int(rows.state[kernel.LINE])
        strings.size = int(rows.state[kernel.STRINGS])
        n_unsettled = int(rows.state[kernel.UNSETTLED])
        for row, code in rows.unsettled[:n_unsettled].tolist():
            (written,) = strings.texts(rows.codes[row, RESULT : RESULT + 1])
            tag = None if code >= kernel.NO_TAG else written.encode()
            result = self._settled(int(rows.lines[row]), tag, kernel.RESULTS[code % kernel.NO_TAG])
            rows.codes[row, RESULT] = strings.number(result)
        return status, self._lines.offset


class _SettledResult(NamedTuple):
    """The result to use where tag and movetext differ, and the reason and action of its note, empty without one."""

    result: bytes
    reason: str
    action: str


@lru_cache(maxsize=4096)
def _settle_result(tag: bytes, terminator: bytes) -> _SettledResult:
    """The result of a game whose tag and movetext differ."""
    by_tag = parse_result(decode(tag))
    by_moves = parse_result(decode(terminator))
    if isinstance(by_moves, str) or by_tag in (by_moves, reasons.FORFEIT):
        return _SettledResult(tag, "", "")
    if by_tag in (reasons.NO_RESULT, reasons.UNKNOWN_RESULT):
        return _SettledResult(terminator, reasons.RESULT_FROM_MOVETEXT, reasons.REPAIRED)
    return _SettledResult(tag, reasons.CONTRADICTING_RESULT, reasons.KEPT)


def read_pgn(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:  # noqa: ARG001
    """Open a PGN file given as blocks with LF line ends."""
    further = further_tags(data)
    tags = tuple(tag for tag in further.tags if tag not in NAMES)  # the usual ones are read anyway
    columns = {**TAG_COLUMNS}
    for column, index in further.columns.items():
        columns[column] = ((*NAMES, *tags).index(further.tags[index]),)
    if data.reader == "chess":
        from ttt_cli.reading.pgn_chess import read_pgn_chess

        strings = Strings()
        batches = read_pgn_chess(blocks, strings, tags)
    else:
        scanner = Scanner(tags)
        strings = scanner.strings
        batches = scanner.scan(pieces(blocks))
    return Table(Layout(columns, combiners=COMBINERS), strings, batches)
