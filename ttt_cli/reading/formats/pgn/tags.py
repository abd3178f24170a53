"""The tag section of a PGN game: names and values as bytes, however they were laid out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.kernels.scanning.pgn_fields import COLUMNS, NAMES, SET_UP, TAG_LIMIT, USUAL, UTC_DATE
from ttt_cli.reading.batches import Batch, Note
from ttt_cli.reading.column import Column
from ttt_cli.reading.formats.pgn.sections import Part, Sections, Tag
from ttt_cli.reading.reasons import DUPLICATE_TAG, MALFORMED_TAG
from ttt_cli.reading.text import decode

_STRING: Final = rb'"((?:[^"\\\n]|\\.)*)"'
_NEXT: Final = rb'[ \t]*(?=\[[ \t]*[A-Za-z]\w*[ \t]*"|$)'  # another tag, or the end of the line
_LAYOUTS: Final = (
    re.compile(rb"\[[ \t]*([A-Za-z]\w*)[ \t]*" + _STRING + rb"[ \t]*\]" + _NEXT),
    re.compile(rb'\[[ \t]*([A-Za-z]\w*)[ \t]*"(.*?)"[ \t]*\]' + _NEXT),  # quotes inside that are not escaped
    re.compile(rb"\[[ \t]*([A-Za-z]\w*)[ \t]*" + _STRING + rb"[ \t]*\]"),  # moves on the same line
)
_BROKEN: Final = re.compile(rb'\[[ \t]*([A-Za-z]\w*)(?=[ \t"])')
_BLANKS: Final = re.compile(rb"(?:[ \t\f\v]|\xef\xbb\xbf)*")
_NEWLINES: Final = re.compile(rb"\n+")
_ESCAPE: Final = re.compile(rb'\\(["\\])')
_OPEN: Final = re.compile(rb'\[[ \t]*[A-Za-z]\w*[ \t]*"')
_MARK: Final = b"\xef\xbb\xbf"
_CANONICAL: Final = {name.lower(): name for name in NAMES}
# Columns behind the result.
_FURTHER: Final = ("event", "site", "round", "white_id", "black_id", "variant", "time_control")
STRETCH_LIMIT: Final = 1 << 20  # bytes of tags that may have to be looked at to tell one game from the next
_TAGS_LIMIT: Final = 50_000  # the same in tags
_LINE_BEFORE: Final = 1 << 12  # bytes of a line that are looked at before a tag
_NO_POSITION: Final = (b"", b"?")

Oddity = tuple[int, str, str]  # offset, reason, detail
_NAME: Final = re.compile(rb"[A-Z]\w*")
_ENDS: Final = {result: (b" " + result, b"\n" + result) for result in (b"1-0", b"0-1", b"1/2-1/2", b"*")}
_SECTION_LIMIT: Final = 1 << 12  # bytes; keeps files without blank lines from being searched to their end
_NEEDS_CARE: Final = frozenset(b"\n[ \t\f\v%;\xef")  # at the start of movetext


class Stretch(NamedTuple):
    """Tags without moves between them, and where they end.

    `moves` is whether what stands there belongs to the last of the games; else it is a tag of the next one, or, when
    they were too many and have been `cut` off, any tag.
    """

    parts: list[Part]
    end: int
    moves: bool = False
    cut: bool = False


def first_of_each(tags: Sequence[Tag]) -> tuple[dict[bytes, bytes], list[Oddity]]:
    """The tags of a game, the first of each name, and what was odd about them."""
    found: dict[bytes, bytes] = {}
    oddities: list[Oddity] = []
    for tag in tags:
        written = f'{decode(tag.name)} "{decode(tag.value)}"'
        if tag.odd:
            oddities.append((tag.start, MALFORMED_TAG, written))
        if tag.name in found:
            oddities.append((tag.start, DUPLICATE_TAG, written))
        found.setdefault(tag.name, tag.value)
    return found, oddities


def values_of(tags: dict[bytes, bytes], result: bytes) -> tuple[bytes, ...]:
    """The columns of a record: the values of NAMES up to the time control, this result, empty where there is no tag."""
    date, white, black, _, *further, variant, control = map(tags.get, NAMES[:COLUMNS], repeat(b""))
    if not date or date.startswith(b"?"):
        date = tags.get(NAMES[UTC_DATE], date)
    if not variant and (b"FEN" in tags or b"SetUp" in tags) and _set_up(tags):
        variant = SET_UP
    return (date, white, black, result, *further, variant, control)


def _set_up(tags: dict[bytes, bytes]) -> bool:
    position = tags.get(b"FEN", b"")
    return tags.get(b"SetUp") == b"1" or not (position in _NO_POSITION or position.startswith(USUAL))


def tag_batch(
    lines: Sequence[int] | NDArray[np.int64],
    columns: Sequence[Sequence[bytes] | Column[bytes]],
    notes: Sequence[Note],
    moves: NDArray[np.int64] | None,
    rejects: Sequence[Note] = (),
) -> Batch:
    """Records from their columns in the order of NAMES."""
    dates, whites, blacks, results, *others = columns
    further = dict(zip(_FURTHER, others, strict=True))
    return Batch(
        lines, dates, whites, blacks, results, rejects=rejects, notes=notes, further=further, moves=moves
    )


def opens_tag(data: bytes, bracket: int) -> bool:
    """Whether the `[` at that offset begins a tag at the start of its line or straight after a result."""
    if not _OPEN.match(data, bracket):
        return False
    line = data.rfind(b"\n", max(0, bracket - _LINE_BEFORE), bracket) + 1 or max(0, bracket - _LINE_BEFORE)
    before = data[line:bracket].replace(_MARK, b"").strip()
    return not before or before.split()[-1] in (b"1-0", b"0-1", b"1/2-1/2", b"*")


def read_tags(data: bytes, start: int, *, final: bool, doubtful: bool = False) -> Stretch | None:
    """Games from the tags at `start` on, one at least; None when `data` ends before that (never if `final`).

    `doubtful` is whether the first tags may be of a game that begins before `start`.
    """
    stretch = Sections(doubtful=doubtful)
    position, newlines = start, 0
    while True:
        position = _end_of_match(_BLANKS, data, position)
        first = data[position : position + 1]
        if not first:
            return Stretch(stretch.ended(), position, moves=True) if final else None
        if first == b"\n":
            end = _end_of_match(_NEWLINES, data, position)
            position, newlines = end, newlines + end - position
        elif first == b";" or (first == b"%" and data.startswith(b"\n", position - 1)):
            position, newlines = data.find(b"\n", position), 0
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
                return Stretch([Part(stretch.tags, certain=False)], tag.end, cut=True)
            position, newlines = tag.end, 0


_NO_TAG: Final = Tag(b"", b"", 0, 0)


def _read_tag(data: bytes, start: int, *, final: bool) -> Tag | None:
    """The tag at `start`; without a name when there is none, None when its line is not complete."""
    stop = _line_end(data, start, final=final)
    if stop is None:
        return None
    if stop - start > TAG_LIMIT:
        return _long_tag(data, start, stop)
    for layout in _LAYOUTS:
        if match := layout.match(data, start, stop):
            return Tag(canonical(match[1]), _ESCAPE.sub(rb"\1", match[2]), start, match.end())
    return _broken_tag(data, start, stop, final=final)


def _long_tag(data: bytes, start: int, stop: int) -> Tag:
    """The tag at `start` in a line of more than TAG_LIMIT bytes."""
    for layout in _LAYOUTS[::2]:
        match = layout.match(data, start, start + TAG_LIMIT)
        if match and match.end() < start + TAG_LIMIT:
            return Tag(canonical(match[1]), _ESCAPE.sub(rb"\1", match[2]), start, match.end())
    broken = _BROKEN.match(data, start, start + TAG_LIMIT)
    return Tag(canonical(broken[1]), b"", start, stop, long=True) if broken else _NO_TAG


def _broken_tag(data: bytes, start: int, stop: int, *, final: bool) -> Tag | None:
    """A tag with quotes or brackets amiss, on the line up to `stop` or folded into the next."""
    broken = _BROKEN.match(data, start, stop)
    if broken is None:
        return _NO_TAG
    name, value = canonical(broken[1]), data[broken.end() : stop].strip()
    if stop < len(data) and not value.endswith(b"]"):
        following = _line_end(data, stop + 1, final=final)
        if following is None:
            return None
        more = data[stop + 1 : following].strip()
        if more.endswith(b'"]') and not more.startswith(b"[") and len(more) <= TAG_LIMIT:
            value, stop = value + b" " + more, following
    value = value.removesuffix(b"]").rstrip().removeprefix(b'"').removesuffix(b'"')
    return Tag(name, value, start, stop, odd=True)


def _line_end(data: bytes, start: int, *, final: bool) -> int | None:
    stop = data.find(b"\n", start)
    if stop >= 0:
        return stop
    return len(data) if final else None


def _end_of_match(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    match = pattern.match(data, start)
    return match.end() if match else start


def canonical(name: bytes) -> bytes:
    """The usual spelling of the name of a tag that is read."""
    return _CANONICAL.get(name.lower(), name)


class PlainGame(NamedTuple):
    """Tags, the movetext, how many lines it all takes, and where the next game begins."""

    tags: dict[bytes, bytes]
    moves: bytes
    lines: int
    end: int


def plain_game(data: bytes, start: int) -> PlainGame | None:
    """The game whose tags begin at `start`, if all of it is plain; None leaves it to the slow path.

    Plain is: one tag a line, none twice, none with quotes or backslashes in its value; a blank line; movetext
    without comments or escape lines that ends with the result of the tags; then a line with an Event tag.
    """
    stop = data.find(b"\n\n", start, start + _SECTION_LIMIT)
    bracket = data.find(b"[", stop) if stop >= 0 else -1
    if bracket < 0 or data[stop + 2] in _NEEDS_CARE or not data.startswith(b'\n[Event "', bracket - 1):
        return None
    tags = _plain_tags(data[start:stop])
    if tags is None:
        return None
    if (
        (ends := _ENDS.get(tags.get(b"Result", b""))) is None
        or not data[bracket - 16 : bracket].rstrip().endswith(ends)
        or data.find(b"{", stop, bracket) >= 0
        or data.find(b";", stop, bracket) >= 0
        or data.find(b"%", stop, bracket) >= 0
        or data.find(b"\n1.", stop + 2, bracket) >= 0
    ):
        return None
    lines = len(tags) + data.count(b"\n", stop, bracket) - 1
    return PlainGame(tags, data[stop + 2 : bracket], lines, bracket)


def _plain_tags(section: bytes) -> dict[bytes, bytes] | None:
    """Names and values of a tag section in which every line is one `[Name "value"]`, all names different."""
    lines = section.count(b"\n") + 1
    pairs = section[1:-2].split(b'"]\n[')
    if len(pairs) != lines or section.count(b'"') != 2 * lines or b"\\" in section or section[-2:] != b'"]':
        return None
    try:
        tags = dict([pair.split(b' "') for pair in pairs])
    except ValueError:
        return None
    return tags if len(tags) == lines and _plain_names(tuple(tags)) else None


@lru_cache(maxsize=1024)
def _plain_names(names: tuple[bytes, ...]) -> bool:
    """Whether names are spelled as usual; those of one file recur in a few combinations."""
    return all(_NAME.fullmatch(name) and canonical(name) == name for name in names)
