"""PGN text in any layout: tags, games between tags, movetext; for games that the compiled scanner cannot parse.

Every function takes time proportional to the bytes that it passes over, whatever these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from ttt_cli.kernels.pgn import MOVES_LIMIT, NAMES, TAG_LIMIT
from ttt_cli.reading.reports import UNCLOSED_COMMENT
from ttt_cli.reading.text import decode

READ: Final = frozenset(NAMES)
_PLAYERS: Final = frozenset((b"White", b"Black"))
_PAIRING: Final = _PLAYERS | {b"Result"}
_RESULT_WORDS: Final = frozenset((b"1-0", b"0-1", b"1/2-1/2", b"*"))
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Tag(NamedTuple):
    """A tag with its offsets."""

    name: bytes
    value: bytes
    start: int
    end: int
    blank: bool = False  # whether a blank line precedes it
    odd: bool = False  # whether it was repaired
    long: bool = False  # whether it is too long to be read


class TagGroup(NamedTuple):
    """Consecutive tags: of one game if `certain`, else of games that cannot be separated."""

    tags: Sequence[Tag]
    certain: bool


_LINE_BEFORE: Final = 1 << 12  # the most bytes of a line examined before a tag
_WORD_BEFORE: Final = 64  # bytes among which the last word before a tag nearly always is
_OPEN: Final = re.compile(rb'\[[ \t]*[A-Za-z]\w*[ \t]*"')


class PgnText:
    """The bytes of a PGN file that are being read; `final` is whether they go up to its end.

    Searches start at increasing offsets and remember what they found: no stretch is searched twice for the same bytes.
    """

    def __init__(self, data: bytes, *, final: bool) -> None:
        self.data = data
        self.final = final
        # by bytes, where the last search for them began and ended
        self._finds: dict[bytes, tuple[int, int]] = {}
        # where the last search for the end of a tag began and ended, and its limit
        self._closing = (0, -1, -1)

    def find(self, wanted: bytes, start: int) -> int:
        """The first offset of some bytes from `start` on; the length of the data if there is none."""
        begin, offset = self._finds.get(wanted, (0, -1))
        if not begin <= start <= offset:
            offset = self.data.find(wanted, start)
            if offset < 0:
                offset = len(self.data)
            self._finds[wanted] = (start, offset)
        return offset

    def line_end(self, start: int) -> int | None:
        """The end of the line at `start`; None if the line is incomplete."""
        offset = self.find(b"\n", start)
        return offset if offset < len(self.data) or self.final else None

    def closing_quote(self, start: int, stop: int) -> int:
        """The first quote from `start` on that ends a tag, before another tag or the end of the line at `stop`.

        It is `stop` if there is none.
        """
        begin, offset, limit = self._closing
        if limit != stop or not begin <= start <= offset:
            match = _CLOSING.search(self.data, start, stop)
            offset = match.start() if match else stop
            self._closing = (start, offset, stop)
        return offset

    def opens_tag(self, bracket: int) -> bool:
        """Whether the `[` at that offset opens a tag at the start of its line or right after a result."""
        return bool(_OPEN.match(self.data, bracket)) and self._may_open_tag(bracket)

    def _may_open_tag(self, bracket: int) -> bool:
        for size in (_WORD_BEFORE, _LINE_BEFORE):
            first = max(0, bracket - size)
            before = self.data[first:bracket]
            line = before.rpartition(b"\n")[2].replace(_BYTE_ORDER_MARK, b"")
            words = line.split()
            if b"\n" in before or first == 0 or len(words) > 1:
                break  # else the first word may be cut
        return not words or words[-1] in _RESULT_WORDS


class TagSplitter:
    """Splits tags in file order into games: `groups`, and the `tags` after them that are not assigned yet.

    `doubtful` is whether the first tags may belong to an earlier game.
    """

    def __init__(self, *, doubtful: bool = False) -> None:
        self.groups: list[TagGroup] = []
        self.tags: list[Tag] = []
        self._last_block = 0  # the start of the last block among them
        # whether the block before names both players and repeats no tag that is read
        self._block_before_is_whole = False
        self._doubtful = doubtful

    def add(self, tag: Tag) -> bool:
        """Add the next tag; returns whether there are groups now."""
        if tag.blank:
            self._end_block()
        self.tags.append(tag)
        return bool(self.groups)

    def end(self) -> list[TagGroup]:
        """All groups, after the last tag."""
        self._end_block()
        self._assign(len(self.tags))
        return self.groups

    def _end_block(self) -> None:
        names = [tag.name for tag in self.tags[self._last_block :] if tag.name in READ]
        is_whole = len(set(names)) == len(names) and _PLAYERS.issubset(names)
        if is_whole and self._block_before_is_whole:
            self._assign(self._last_block)
        self._last_block = len(self.tags)
        self._block_before_is_whole = is_whole

    def _assign(self, stop: int) -> None:
        """Move the tags before `stop` into groups."""
        tags = self.tags[:stop]
        self.groups += [TagGroup(tags, certain=False)] if self._doubtful else _split(tags)
        self._doubtful = False
        del self.tags[:stop]


def _split(tags: Sequence[Tag]) -> list[TagGroup]:
    """The games of consecutive blocks, in order."""
    read = [index for index, tag in enumerate(tags) if tag.name in READ]
    names = [tags[index].name for index in read]
    after_blank = [
        True,
        *(any(tag.blank for tag in tags[a + 1 : b + 1]) for a, b in pairwise(read)),
    ]
    for may_begin in (after_blank, [True] * len(names)):
        ways, starts = _ways(names, may_begin)
        if ways == 1:
            return [TagGroup(part, certain=True) for part in _cut(tags, read, starts)]
        if ways:
            return [TagGroup(tags, certain=False)]
    blocks = [index for index in range(1, len(names)) if after_blank[index]]
    ends = [*blocks[1:], len(names)]
    repeating = [  # blocks that repeat a tag of the block before
        start
        for before, start, end in zip([0, *blocks], blocks, ends, strict=False)
        if set(names[before:start]) & set(names[start:end])
    ]
    return [TagGroup(part, _is_one_game(part)) for part in _cut(tags, read, repeating)]


def _ways(names: Sequence[bytes], may_begin: Sequence[bool]) -> tuple[int, list[int]]:
    """The number of ways (2: more than one) to split names into whole games, and the starts of one way.

    `may_begin[i]` is whether a game may begin with `names[i]`.
    """
    ways = [1] + [0] * len(names)
    first = [0] * (len(names) + 1)
    for stop in range(1, len(names) + 1):
        if stop < len(names) and not may_begin[stop]:
            continue
        seen: set[bytes] = set()
        for start in range(stop - 1, -1, -1):
            if names[start] in seen:
                break
            seen.add(names[start])
            if ways[start] and seen >= _PLAYERS:
                ways[stop] = min(2, ways[stop] + ways[start])
                first[stop] = start
    starts = []
    stop = len(names)
    while ways[-1] and stop:
        stop = first[stop]
        starts.append(stop)
    return ways[-1] if names else 0, starts[-2::-1]


def _cut(
    tags: Sequence[Tag], read: Sequence[int], starts: Sequence[int]
) -> Iterator[Sequence[Tag]]:
    """Tags split before each tag `read[start]`, or at the blank line before it if there is one."""
    cuts = [0]
    for start in starts:
        between = range(read[start], read[start - 1], -1)
        cuts.append(next((index for index in between if tags[index].blank), read[start]))
    return (tags[a:b] for a, b in pairwise([*cuts, len(tags)]))


def _is_one_game(tags: Sequence[Tag]) -> bool:
    """Whether incomplete tags are of one game, which lacks a player or repeats tags."""
    if any(tag.blank for tag in tags[1:]):
        names = [tag.name for tag in tags if tag.name in READ]
        return len(set(names)) == len(names) and not _PLAYERS.issubset(names)
    values: dict[bytes, bytes] = {}
    for before, tag in zip([None, *tags], tags, strict=False):
        value = values.setdefault(tag.name, tag.value)
        if (
            tag.name in _PAIRING
            and value != tag.value
            and (before is None or before.name != tag.name)
        ):
            return False
    return True


def inseparable(tags: Sequence[Tag]) -> Iterator[tuple[Tag, str]]:
    """The least number of games in tags that cannot be separated: a tag of each, and the note to report."""
    sides = [[tag for tag in tags if tag.name == side] for side in (b"White", b"Black")]
    for tag in max(*sides, tags[:1], key=len):
        yield (
            tag,
            f'which tags are of the same game cannot be told: {decode(tag.name)} "{decode(tag.value)}"',
        )


_BEGIN: Final = rb"\[[ \t]*([A-Za-z]\w*)[ \t]*"
_STRING: Final = rb'"((?:[^"\\\n]|\\.)*)"'
_NEXT: Final = rb'[ \t]*(?=\[[ \t]*[A-Za-z]\w*[ \t]*"|$)'  # another tag, or the end of the line
_USUAL_TAG: Final = re.compile(_BEGIN + _STRING + rb"[ \t]*\]" + _NEXT)
# The begin of a tag with quotes inside that are not escaped; it ends at `_CLOSING`.
_UNESCAPED_TAG: Final = re.compile(_BEGIN + rb'"')
_CLOSING: Final = re.compile(rb'"[ \t]*\]' + _NEXT)
_TAG_BEFORE_MOVES: Final = re.compile(_BEGIN + _STRING + rb"[ \t]*\]")  # on the same line
_BROKEN_TAG: Final = re.compile(rb'\[[ \t]*([A-Za-z]\w*)(?=[ \t"])')
_BLANKS: Final = re.compile(rb"(?:[ \t\f\v]|\xef\xbb\xbf)*")
_ESCAPE: Final = re.compile(rb'\\(["\\])')
_CANONICAL: Final = {name.lower(): name for name in NAMES}
STRETCH_LIMIT: Final = 1 << 20  # the most bytes of tags examined to separate games
_TAGS_LIMIT: Final = 50_000  # the same in tags


class Oddity(NamedTuple):
    """What was odd about a movetext."""

    offset: int
    reason: str
    detail: str


class Stretch(NamedTuple):
    """Tags without moves between them, and their end.

    `moves` is whether movetext of the last game follows; else a tag of the next game follows or, when there are too
    many tags and they are `cut` off, any tag.
    """

    groups: list[TagGroup]
    end: int
    moves: bool = False
    cut: bool = False


def read_tags(text: PgnText, start: int, *, doubtful: bool = False) -> Stretch | None:
    """At least one game from the tags at `start` on; None when the text ends before that (never if it is final).

    `doubtful` is whether the first tags may be of a game that begins before `start`.
    """
    data = text.data
    splitter = TagSplitter(doubtful=doubtful)
    position = start
    newlines = 0
    while True:
        position = _BLANKS.match(data, position).end()  # type: ignore[union-attr]  # it matches nothing, too
        first = data[position : position + 1]
        if not first:
            return Stretch(splitter.end(), position, moves=True) if text.final else None
        if first == b"\n":
            position = position + 1
            newlines = newlines + 1
        elif first == b";" or (first == b"%" and data.startswith(b"\n", position - 1)):
            position = text.find(b"\n", position)
            newlines = 0
        else:
            tag = _read_tag(text, position) if first == b"[" else _NO_TAG
            if tag is None:
                return None
            if not tag.name:
                return Stretch(splitter.end(), position, moves=True)
            if splitter.add(tag._replace(blank=newlines > 1)):
                return Stretch(splitter.groups, splitter.tags[0].start)
            if position - start > STRETCH_LIMIT or len(splitter.tags) > _TAGS_LIMIT:
                return Stretch([TagGroup(splitter.tags, certain=False)], tag.end, cut=True)
            position = tag.end
            newlines = 0


_NO_TAG: Final = Tag(b"", b"", 0, 0)


def _read_tag(text: PgnText, start: int) -> Tag | None:
    """The tag at `start`, repaired if broken, _NO_TAG if there is none, None when its line is incomplete."""
    line_end = text.line_end(start)
    if line_end is None:
        return None
    stop = min(line_end, start + TAG_LIMIT)
    return _well_formed_tag(text, start, stop, line_end) or _broken_tag(text, start, stop, line_end)


def _well_formed_tag(text: PgnText, start: int, stop: int, line_end: int) -> Tag | None:
    """The tag at `start` that ends before `stop`, which is before the end of a long line; None if it is broken."""
    data = text.data
    match = _USUAL_TAG.match(data, start, stop)
    if match and (stop == line_end or match.end() < stop):
        return _tag_of(match[1], match[2], start, match.end())
    opening = _UNESCAPED_TAG.match(data, start, stop) if stop == line_end else None
    if opening:
        quote = text.closing_quote(opening.end(), stop)
        closing = _CLOSING.match(data, quote, stop)
        if closing:
            return _tag_of(opening[1], data[opening.end() : quote], start, closing.end())
    match = _TAG_BEFORE_MOVES.match(data, start, stop)
    if match and (stop == line_end or match.end() < stop):
        return _tag_of(match[1], match[2], start, match.end())
    return None


def _tag_of(name: bytes, value: bytes, start: int, end: int) -> Tag:
    return Tag(canonical(name), _ESCAPE.sub(rb"\1", value), start, end)


def _broken_tag(text: PgnText, start: int, stop: int, line_end: int) -> Tag | None:
    """As `_read_tag`, the tag whose value goes up to the end of its line, or of the next one."""
    data = text.data
    broken = _BROKEN_TAG.match(data, start, stop)
    if broken is None:
        return _NO_TAG
    name = canonical(broken[1])
    if stop < line_end:
        return Tag(name, b"", start, line_end, long=True)
    value = data[broken.end() : stop].strip()
    if stop < len(data) and not value.endswith(b"]"):
        following = text.line_end(stop + 1)
        if following is None:
            return None
        more = data[stop + 1 : following].strip()
        if more.endswith(b'"]') and not more.startswith(b"[") and len(more) <= TAG_LIMIT:
            value = value + b" " + more
            stop = following
    value = value.removesuffix(b"]").rstrip().removeprefix(b'"').removesuffix(b'"')
    return Tag(name, value, start, stop, odd=True)


def canonical(name: bytes) -> bytes:
    """The usual spelling of a tag name."""
    return _CANONICAL.get(name.lower(), name)


COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
_SHOWN: Final = 40  # bytes of it in its note

# A comment, a line that is one, or what may be a tag.
_SPECIAL: Final = re.compile(rb'[{;]|(?<![^\n])%|\[(?=[ \t]*[A-Za-z]\w*[ \t]*")')
_STRAY: Final = bytes.maketrans(b"[%", b"  ")  # which mean nothing elsewhere
_RESULT: Final = rb"(?<!\S)(1-0|0-1|1/2-1/2|1/2|\*)(?!\S)"
_AFTER_TAGS: Final = re.compile(_RESULT + rb"|(?<=\n)1\.")
_WITHOUT_TAGS: Final = re.compile(_RESULT + rb"|(?<!\S)1\.")
_TAG_LINE: Final = re.compile(
    rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*"[^\n]*\])[ \t]*(?=\n)'
)
_PARENTHESIS: Final = re.compile(rb"([()])")
_BRACE, _BRACKET = b"{["


class UntaggedGame(NamedTuple):
    """A game without tags."""

    offset: int
    terminator: bytes  # the last result in it, if any
    text: bytes  # without comments


@dataclass(slots=True)
class Movetext:
    """Movetext up to `end`: the next tag section or the end of the data.

    `text` is that of the first game without comments, `terminator` the last result in it, if any. `more` are further
    games without tags. `stray` is whether there is other text.
    """

    end: int
    text: bytes = b""
    terminator: bytes = b""
    more: list[UntaggedGame] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    stray: bool = False


class _Comment(NamedTuple):
    """The end of a comment; `closed`: at its brace, else where a tag section or too much text ends it."""

    end: int
    closed: bool


def read_moves(text: PgnText, start: int, *, tagged: bool = True) -> Movetext | None:
    """The movetext from `start` on; None when the text ends before it (never if it is final).

    `tagged` is whether the first moves are those of a game with tags.
    """
    data = text.data
    oddities: list[Oddity] = []
    pieces: list[bytes] = []  # the data with blanks for comments, so that offsets stay
    position = start
    while match := _SPECIAL.search(data, position):
        offset = match.start()
        pieces.append(data[position:offset].translate(_STRAY))
        if data[offset] == _BRACKET:
            if text.opens_tag(offset) and text.line_end(offset) is not None:
                return _games_in(b"".join(pieces), start, oddities, tagged=tagged)
            comment: _Comment | None = _Comment(offset + 1, closed=True)
        elif data[offset] == _BRACE:
            comment = _read_comment(text, offset, oddities)
        else:
            line_end = text.line_end(offset)
            comment = None if line_end is None else _Comment(line_end, closed=True)
        if comment is None:
            return None
        position = comment.end
        # The text of a comment that is not closed may hold the result.
        pieces.append(b" " * (position - offset) if comment.closed else data[offset:position])
    if not text.final:
        return None
    pieces.append(data[position:].translate(_STRAY))
    return _games_in(b"".join(pieces), start, oddities, tagged=tagged)


def _read_comment(text: PgnText, brace: int, oddities: list[Oddity]) -> _Comment | None:
    """The comment at a brace; it ends before the next tag section if it is not closed before it.

    A comment with another opening brace between a tag line and its closing brace counts as not closed, as does one
    longer than COMMENT_LIMIT. None when the text ends too early.
    """
    data = text.data
    limit = min(brace + COMMENT_LIMIT, len(data))
    close = text.find(b"}", brace)
    is_closed = close < limit
    stop = min(close, limit)
    tag = _TAG_LINE.search(data, brace, stop)
    opened_again = tag is not None and text.find(b"{", tag.end()) < stop
    if is_closed and not opened_again:
        return _Comment(close + 1, closed=True)
    # bytes that may change the decision or the note
    needed = _SHOWN if opened_again else COMMENT_LIMIT
    if not text.final and len(data) < brace + needed:
        return None
    detail = data[brace : brace + _SHOWN].decode("utf-8", "replace")
    oddities.append(Oddity(brace, UNCLOSED_COMMENT, detail))
    return _Comment(tag.start(1) if tag else limit, closed=False)


def _games_in(plain: bytes, start: int, oddities: list[Oddity], *, tagged: bool) -> Movetext:
    """Split movetext without comments into games: move 1 at the start of a line after a result begins another."""
    starts = [0] * tagged
    results = [b""] * tagged
    running = tagged
    for event in (_AFTER_TAGS if tagged else _WITHOUT_TAGS).finditer(plain):
        if event[1] is None:
            if not running:
                starts.append(event.start())
                results.append(b"")
            running = True
        elif results:
            results[-1] = event[1]
            running = False
    texts = [plain[first:stop] for first, stop in pairwise([*starts, len(plain)])]
    games = [
        UntaggedGame(start + first, result, game)
        for first, result, game in zip(starts, results, texts, strict=True)
    ]
    end = start + len(plain)
    if tagged:
        first_game, *more = games
        return Movetext(end, first_game.text, first_game.terminator, more, oddities)
    stray = not games and bool(plain.strip(b"\xef\xbb\xbf \t\n\f\v"))
    return Movetext(end, more=games, oddities=oddities, stray=stray)


def main_line(text: bytes) -> bytes:
    """Movetext without comments and variations, up to MOVES_LIMIT."""
    pieces: list[bytes] = []
    depth = 0
    for piece in _PARENTHESIS.split(text[:MOVES_LIMIT]):
        if piece == b"(":
            depth += 1
        elif piece == b")":
            depth = max(depth - 1, 0)
        elif not depth:
            pieces.append(piece)
    return b")".join(pieces)
