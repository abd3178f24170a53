"""PGN text in any layout: tags, games between tags, movetext; for games that the compiled scanner cannot parse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from ttt_cli.kernels.pgn import MOVES_LIMIT, NAMES, TAG_LIMIT
from ttt_cli.reading.input import decode
from ttt_cli.reading.reports import UNCLOSED_COMMENT

READ: Final = frozenset(NAMES)
_PLAYERS: Final = frozenset((b"White", b"Black"))
_PAIRING: Final = _PLAYERS | {b"Result"}


class Tag(NamedTuple):
    """A tag, its offsets, and whether a blank line precedes it.

    `odd` is whether it was repaired, `long` whether it is too long to be read.
    """

    name: bytes
    value: bytes
    start: int
    end: int
    blank: bool = False
    odd: bool = False
    long: bool = False


class TagGroup(NamedTuple):
    """Consecutive tags: of one game if `certain`, else of games that cannot be separated."""

    tags: Sequence[Tag]
    certain: bool


class Sections:
    """Splits tags in file order into games: `parts`, and the `tags` after them that are not assigned yet.

    `doubtful` is whether the first tags may belong to an earlier game.
    """

    def __init__(self, *, doubtful: bool = False) -> None:
        self.parts: list[TagGroup] = []
        self.tags: list[Tag] = []
        self._block = 0  # the start of the last block among them
        self._whole = False  # whether the block before it names both players and repeats no tag that is read
        self._doubtful = doubtful

    def add(self, tag: Tag) -> bool:
        """Add the next tag; returns whether there are `parts` now."""
        if tag.blank:
            self._end_block()
        self.tags.append(tag)
        return bool(self.parts)

    def ended(self) -> list[TagGroup]:
        """All parts, after the last tag."""
        self._end_block()
        self._settle(len(self.tags))
        return self.parts

    def _end_block(self) -> None:
        names = [tag.name for tag in self.tags[self._block :] if tag.name in READ]
        whole = len(set(names)) == len(names) and _PLAYERS.issubset(names)
        if whole and self._whole:
            self._settle(self._block)
        self._block = len(self.tags)
        self._whole = whole

    def _settle(self, stop: int) -> None:
        tags = self.tags[:stop]
        self.parts += [TagGroup(tags, certain=False)] if self._doubtful else _split(tags)
        self._doubtful = False
        del self.tags[:stop]


def _split(tags: Sequence[Tag]) -> list[TagGroup]:
    """The games of consecutive blocks, in order."""
    read = [place for place, tag in enumerate(tags) if tag.name in READ]
    names = [tags[place].name for place in read]
    blank = [True, *(any(tag.blank for tag in tags[a + 1 : b + 1]) for a, b in pairwise(read))]
    for may_begin in (blank, [True] * len(names)):
        ways, starts = _ways(names, may_begin)
        if ways == 1:
            return [TagGroup(part, certain=True) for part in _cut(tags, read, starts)]
        if ways:
            return [TagGroup(tags, certain=False)]
    blocks = [place for place in range(1, len(names)) if blank[place]]
    repeated = [
        place
        for before, place, after in zip([0, *blocks], blocks, [*blocks[1:], len(names)], strict=False)
        if set(names[before:place]) & set(names[place:after])
    ]
    return [TagGroup(part, _is_one_game(part)) for part in _cut(tags, read, repeated)]


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
    at = len(names)
    while ways[-1] and at:
        at = first[at]
        starts.append(at)
    return ways[-1] if names else 0, starts[-2::-1]


def _cut(tags: Sequence[Tag], read: Sequence[int], starts: Sequence[int]) -> Iterator[Sequence[Tag]]:
    """Tags split before each tag `read[start]`, or at the blank line before it if there is one."""
    places = [0]
    for start in starts:
        between = range(read[start], read[start - 1], -1)
        places.append(next((place for place in between if tags[place].blank), read[start]))
    return (tags[a:b] for a, b in pairwise([*places, len(tags)]))


def _is_one_game(tags: Sequence[Tag]) -> bool:
    """Whether incomplete tags are of one game, which lacks a player or repeats tags."""
    if any(tag.blank for tag in tags[1:]):
        names = [tag.name for tag in tags if tag.name in READ]
        return len(set(names)) == len(names) and not _PLAYERS.issubset(names)
    values: dict[bytes, bytes] = {}
    for before, tag in zip([None, *tags], tags, strict=False):
        known = values.setdefault(tag.name, tag.value)
        if tag.name in _PAIRING and known != tag.value and (before is None or before.name != tag.name):
            return False
    return True


def rejected(tags: Sequence[Tag]) -> Iterator[tuple[Tag, str]]:
    """The least number of games in tags that cannot be separated: a tag of each, and the note to report."""
    sides = [[tag for tag in tags if tag.name == side] for side in (b"White", b"Black")]
    for tag in max(*sides, tags[:1], key=len):
        yield tag, f'which tags are of the same game cannot be told: {decode(tag.name)} "{decode(tag.value)}"'


_STRING: Final = rb'"((?:[^"\\\n]|\\.)*)"'
_NEXT: Final = rb'[ \t]*(?=\[[ \t]*[A-Za-z]\w*[ \t]*"|$)'  # another tag, or the end of the line
_LAYOUTS: Final = (
    re.compile(rb"\[[ \t]*([A-Za-z]\w*)[ \t]*" + _STRING + rb"[ \t]*\]" + _NEXT),
    re.compile(rb'\[[ \t]*([A-Za-z]\w*)[ \t]*"(.*?)"[ \t]*\]' + _NEXT),  # quotes inside that are not escaped
    re.compile(rb"\[[ \t]*([A-Za-z]\w*)[ \t]*" + _STRING + rb"[ \t]*\]"),  # moves on the same line
)
_BROKEN: Final = re.compile(rb'\[[ \t]*([A-Za-z]\w*)(?=[ \t"])')
_BLANKS: Final = re.compile(rb"(?:[ \t\f\v]|\xef\xbb\xbf)*")
_ESCAPE: Final = re.compile(rb'\\(["\\])')
_OPEN: Final = re.compile(rb'\[[ \t]*[A-Za-z]\w*[ \t]*"')
_MARK: Final = b"\xef\xbb\xbf"
_CANONICAL: Final = dict(zip(map(bytes.lower, NAMES), NAMES, strict=True))
STRETCH_LIMIT: Final = 1 << 20  # the most bytes of tags examined to separate games
_TAGS_LIMIT: Final = 50_000  # the same in tags
_LINE_BEFORE: Final = 1 << 12  # the most bytes of a line examined before a tag

Oddity = tuple[int, str, str]  # offset, reason, detail


class Stretch(NamedTuple):
    """Tags without moves between them, and their end.

    `moves` is whether movetext of the last game follows; else a tag of the next game follows or, when there are too
    many tags and they are `cut` off, any tag.
    """

    parts: list[TagGroup]
    end: int
    moves: bool = False
    cut: bool = False


def opens_tag(data: bytes, bracket: int) -> bool:
    """Whether the `[` at that offset opens a tag at the start of its line or right after a result."""
    if not _OPEN.match(data, bracket):
        return False
    line = data.rfind(b"\n", max(0, bracket - _LINE_BEFORE), bracket) + 1 or max(0, bracket - _LINE_BEFORE)
    before = data[line:bracket].replace(_MARK, b"").strip()
    return not before or before.split()[-1] in (b"1-0", b"0-1", b"1/2-1/2", b"*")


def read_tags(data: bytes, start: int, *, final: bool, doubtful: bool = False) -> Stretch | None:
    """At least one game from the tags at `start` on; None when `data` ends before that (never if `final`).

    `doubtful` is whether the first tags may be of a game that begins before `start`.
    """
    stretch = Sections(doubtful=doubtful)
    position = start
    newlines = 0
    while True:
        position = _BLANKS.match(data, position).end()  # type: ignore[union-attr]  # it matches nothing, too
        first = data[position : position + 1]
        if not first:
            return Stretch(stretch.ended(), position, moves=True) if final else None
        if first == b"\n":
            position = position + 1
            newlines = newlines + 1
        elif first == b";" or (first == b"%" and data.startswith(b"\n", position - 1)):
            position = data.find(b"\n", position)
            newlines = 0
            if position < 0:
                position = len(data)
        else:
            tag = _read_tag(data, position, final=final) if first == b"[" else _NO_TAG
            if tag is None:
                return None
            if not tag.name:
                return Stretch(stretch.ended(), position, moves=True)
            if stretch.add(tag._replace(blank=newlines > 1)):
                return Stretch(stretch.parts, stretch.tags[0].start)
            if position - start > STRETCH_LIMIT or len(stretch.tags) > _TAGS_LIMIT:
                return Stretch([TagGroup(stretch.tags, certain=False)], tag.end, cut=True)
            position = tag.end
            newlines = 0


_NO_TAG: Final = Tag(b"", b"", 0, 0)


def _read_tag(data: bytes, start: int, *, final: bool) -> Tag | None:
    """The tag at `start`, repaired if broken, _NO_TAG if there is none, None when its line is incomplete."""
    line_end = _line_end(data, start, final=final)
    if line_end is None:
        return None
    stop = min(line_end, start + TAG_LIMIT)
    for layout in _LAYOUTS if stop == line_end else _LAYOUTS[::2]:
        if (match := layout.match(data, start, stop)) and (stop == line_end or match.end() < stop):
            return Tag(canonical(match[1]), _ESCAPE.sub(rb"\1", match[2]), start, match.end())
    broken = _BROKEN.match(data, start, stop)
    if broken is None:
        return _NO_TAG
    name = canonical(broken[1])
    value = data[broken.end() : stop].strip()
    if stop < line_end:
        return Tag(name, b"", start, line_end, long=True)
    if stop < len(data) and not value.endswith(b"]"):  # continued on the next line
        following = _line_end(data, stop + 1, final=final)
        if following is None:
            return None
        more = data[stop + 1 : following].strip()
        if more.endswith(b'"]') and not more.startswith(b"[") and len(more) <= TAG_LIMIT:
            value = value + b" " + more
            stop = following
    value = value.removesuffix(b"]").rstrip().removeprefix(b'"').removesuffix(b'"')
    return Tag(name, value, start, stop, odd=True)


def _line_end(data: bytes, start: int, *, final: bool) -> int | None:
    stop = data.find(b"\n", start)
    return stop if stop >= 0 else len(data) if final else None


def canonical(name: bytes) -> bytes:
    """The usual spelling of a tag name."""
    return _CANONICAL.get(name.lower(), name)


COMMENT_LIMIT: Final = 1 << 20  # bytes after which a comment counts as never closed
_SHOWN: Final = 40  # bytes of it in its note

_SPECIAL: Final = re.compile(rb"[\[{;%]")
_RESULT: Final = rb"(?<!\S)(1-0|0-1|1/2-1/2|1/2|\*)(?!\S)"
_AFTER_TAGS: Final = re.compile(_RESULT + rb"|(?<=\n)1\.")
_WITHOUT_TAGS: Final = re.compile(_RESULT + rb"|(?<!\S)1\.")
_TAG_LINE: Final = re.compile(rb'\n[ \t]*(?:\xef\xbb\xbf)?(\[[ \t]*[A-Za-z]\w*[ \t]*"[^\n]*\])[ \t]*(?=\n)')
_PARENTHESIS: Final = re.compile(rb"([()])")


@dataclass(slots=True)
class Movetext:
    """Movetext up to `end`: the next tag section or the end of the data.

    `text` is that of the first game without comments, `terminator` the last result in it, if any. `more` are (offset,
    terminator, text) of further games without tags. `stray` is whether there is other text.
    """

    end: int
    text: bytes = b""
    terminator: bytes = b""
    more: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    stray: bool = False


def read_moves(data: bytes, start: int, *, final: bool, tagged: bool = True) -> Movetext | None:
    """The movetext from `start` on; None when `data` ends before it (never if `final`).

    `tagged` is whether the first moves are those of a game with tags.
    """
    oddities: list[Oddity] = []
    pieces: list[bytes] = []  # the data with blanks for comments, so that offsets stay
    position = kept = start
    while found := _SPECIAL.search(data, position):
        at = found.start()
        character = data[at]
        stop = _line_end(data, at, final=final)
        if character == _BRACE:
            stop = _comment_end(data, at, oddities, final=final)
        elif character == _PERCENT and at and not data.startswith(b"\n", at - 1):
            stop = at + 1
        elif character == _BRACKET and stop is not None:
            if opens_tag(data, at):
                return _settle(b"".join([*pieces, data[kept:at]]), start, oddities, tagged=tagged)
            stop = at + 1
        if stop is None:
            return None
        position = stop
        # The text of a comment that is not closed may hold the result.
        if character != _BRACE or data[stop - 1] == _CLOSED:
            pieces += [data[kept:at], b" " * (stop - at)]
            kept = stop
    if not final:
        return None
    return _settle(b"".join([*pieces, data[kept:]]), start, oddities, tagged=tagged)


_BRACE, _CLOSED, _BRACKET, _PERCENT = b"{}[%"


def _comment_end(data: bytes, brace: int, oddities: list[Oddity], *, final: bool) -> int | None:
    """The end of a comment, or the next tag section if the comment is not closed before it.

    A comment with another opening brace between a tag line and its closing brace counts as not closed, as does one
    longer than COMMENT_LIMIT.
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
    return tag.start(1) if tag else min(limit, len(data))


def _settle(plain: bytes, start: int, oddities: list[Oddity], *, tagged: bool) -> Movetext:
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
    games = [*zip((start + first for first in starts), results, texts, strict=True)]
    if tagged:
        (_, result, text), *more = games
        return Movetext(start + len(plain), text, result, more, oddities)
    stray = not games and bool(plain.strip(b"\xef\xbb\xbf \t\n\f\v"))
    return Movetext(start + len(plain), more=games, oddities=oddities, stray=stray)


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
