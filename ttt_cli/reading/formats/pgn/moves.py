"""The movetext of a PGN game: where it ends, its result, and a hash of its moves, which are not checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask, Places
from ttt_cli.kernels.scanning.pgn_letters import (
    KEPT,
    KIND_BITS,
    KINDS,
    MIX,
    MOVES_LIMIT,
    WEIGHTS,
    WEIGHTS_MASK,
)
from ttt_cli.reading.formats.pgn.tags import Oddity, opens_tag
from ttt_cli.reading.reasons import UNCLOSED_COMMENT

COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
_SHOWN: Final = 40  # bytes of it that its note tells

_SPECIAL: Final = re.compile(rb"[\[{;%]")
_RESULT: Final = rb"(?<!\S)(1-0|0-1|1/2-1/2|1/2|\*)(?!\S)"
_AFTER_TAGS: Final = re.compile(_RESULT + rb"|(?<=\n)1\.")
_WITHOUT_TAGS: Final = re.compile(_RESULT + rb"|(?<!\S)1\.")
_TAG_LINE: Final = re.compile(rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*"[^\n]*\])[ \t]*(?=\n)')
_PARENTHESIS: Final = re.compile(rb"[()]")
_OPEN: Final = ord("(")
_WORD: Final = 8  # letters


@dataclass(slots=True)
class Movetext:
    """Movetext up to `end`, where the next tag section begins or the data ends.

    `text` is that of the first game without comments, `terminator` the last result in it, if any. `more` are (offset,
    terminator, text) of games without tags that follow it. `stray` is whether anything else stands there.
    """

    end: int
    text: bytes = b""
    terminator: bytes = b""
    more: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    stray: bool = False


def read_moves(data: bytes, start: int, *, final: bool, tagged: bool = True) -> Movetext | None:
    """The movetext from `start` on; None when `data` ends before it does (never if `final`).

    `tagged` is whether a tag section came before, so that the first moves are those of its game.
    """
    oddities: list[Oddity] = []
    pieces: list[bytes] = []  # the data without its comments, which become blanks, so that offsets stay
    position = kept = start
    while found := _SPECIAL.search(data, position):
        special = found.start()
        stop = _special_end(data, special, oddities, final=final)
        if stop is None:
            return None
        if stop == special:
            return _settle(b"".join([*pieces, data[kept:special]]), start, oddities, tagged=tagged)
        position = stop
        # The text of a comment that is not closed may hold the result.
        if data[special] != _BRACE or data[stop - 1] == _CLOSED:
            pieces += [data[kept:special], b" " * (stop - special)]
            kept = stop
    if not final:
        return None
    return _settle(b"".join([*pieces, data[kept:]]), start, oddities, tagged=tagged)


_BRACE, _CLOSED, _BRACKET, _PERCENT = b"{}[%"


def _special_end(data: bytes, offset: int, oddities: list[Oddity], *, final: bool) -> int | None:
    """Where reading goes on after a special character: at `offset` if tags begin there, None if unknown."""
    character = data[offset]
    if character == _BRACE:
        return _comment_end(data, offset, oddities, final=final)
    if character == _PERCENT and offset and not data.startswith(b"\n", offset - 1):
        return offset + 1
    line_end = data.find(b"\n", offset)
    if line_end < 0 and not final:
        return None
    if character == _BRACKET:
        return offset if opens_tag(data, offset) else offset + 1
    return line_end if line_end >= 0 else len(data)


def _comment_end(data: bytes, brace: int, oddities: list[Oddity], *, final: bool) -> int | None:
    """The end of a comment; where the next tag section begins when the comment is not closed before it.

    It counts as not closed when another one opens between a tag line and the closing brace, or after COMMENT_LIMIT.
    """
    limit = brace + COMMENT_LIMIT
    close = data.find(b"}", brace, limit)
    stop = min(limit, len(data)) if close < 0 else close
    tag = _TAG_LINE.search(data, brace, stop)
    if tag and data.find(b"{", tag.end(), stop) >= 0:
        close = -1
    elif close >= 0:
        return close + 1
    elif not final and len(data) < limit:
        return None
    if not final and len(data) < brace + _SHOWN:
        return None
    oddities.append((brace, UNCLOSED_COMMENT, data[brace : brace + _SHOWN].decode("utf-8", "replace")))
    if tag:
        return tag.start(1)
    return min(limit, len(data))


def _settle(plain: bytes, start: int, oddities: list[Oddity], *, tagged: bool) -> Movetext:
    """Split movetext without comments into games: move 1 at the start of a line after a result is another."""
    games: list[tuple[int, bytes]] = [(start, b"")] if tagged else []
    running = tagged
    for event in (_AFTER_TAGS if tagged else _WITHOUT_TAGS).finditer(plain):
        result = event[1]
        if result is None:
            if not running:
                games.append((start + event.start(), b""))
            running = True
        elif games:
            games[-1] = (games[-1][0], result)
            running = False
    end = start + len(plain)
    stops = [offset for offset, _ in games[1:]] + [end]
    texts = [plain[first - start : stop - start] for (first, _), stop in zip(games, stops, strict=False)]
    found = [(offset, result, text) for (offset, result), text in zip(games, texts, strict=True)]
    if tagged:
        return Movetext(end, texts[0], games[0][1], found[1:], oddities)
    stray = not games and bool(plain.strip(b"\xef\xbb\xbf \t\n\f\v"))
    return Movetext(end, more=found, oddities=oddities, stray=stray)


def main_line(text: bytes) -> bytes:
    """Movetext without comments, as far as it is hashed, without its variations."""
    text = text[:MOVES_LIMIT]
    if b"(" not in text:
        return text
    pieces: list[bytes] = []
    depth = kept = 0
    for found in _PARENTHESIS.finditer(text):
        place = found.start()
        if text[place] == _OPEN:
            if not depth:
                pieces.append(text[kept:place])
            depth += 1
        elif depth:
            depth -= 1
            kept = place
    if not depth:
        pieces.append(text[kept:])
    return b"".join(pieces)


def hash_moves(lines: Sequence[bytes]) -> Places:
    """The hashes of main lines without comments, shape (n,), 0 where there is no move (see `kernels.pgn_letters`)."""
    group = np.cumsum([len(line) for line in lines], dtype=np.int64) // MOVES_LIMIT  # hashed at a time
    bounds = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(lines)]
    parts = (_hashes(lines[begin:end]) for begin, end in pairwise(bounds) if begin < end)
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _hashes(lines: Sequence[bytes]) -> Places:
    data = np.frombuffer(b"\n".join([b"", *lines, b""]), np.uint8)
    places = np.flatnonzero(_kept(data))
    ends = np.cumsum([len(line) + 1 for line in lines])
    bounds = np.concatenate([[0], np.searchsorted(places, ends)])
    counts = np.diff(bounds)
    words = -(-counts // _WORD)  # of each line
    firsts = np.concatenate([[0], np.cumsum(words)])
    letters = np.zeros(firsts[-1] * _WORD, np.uint8)
    letters[np.arange(len(places)) + np.repeat(firsts[:-1] * _WORD - bounds[:-1], counts)] = data[places]
    mixed = letters.view("<u8") * MIX
    mixed ^= mixed >> np.uint64(32)
    order = np.arange(len(mixed)) - np.repeat(firsts[:-1], words)
    sums = np.cumsum(mixed.view(np.int64) * WEIGHTS[order & WEIGHTS_MASK])
    until: Places = np.concatenate([np.zeros(1, np.int64), sums])[firsts]
    return np.diff(until)


def _kept(data: NDArray[np.uint8]) -> Mask:
    """Which bytes are letters of moves; the first and the last byte are blanks."""
    kinds = KINDS[data].astype(np.uint16)
    context = (kinds[:-2] << KIND_BITS | kinds[1:-1]) << KIND_BITS | kinds[2:]
    kept = np.zeros(len(data), np.bool_)
    kept[1:-1] = KEPT[context]
    return kept
