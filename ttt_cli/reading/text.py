"""Bytes as text: blocks normalised (UTF-8 or similar, LF line ends, no NULs), and single values decoded."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import Any, Final

from ttt_cli.reading.input import Input, peek
from ttt_cli.support.errors import ConfigError, DataError, suggested
from ttt_cli.support.progress import SILENT

HEAD: Final = 1 << 16  # bytes by which a format is recognised
BLOCK: Final = 1 << 17
SMALL: Final = 1 << 26  # the most bytes of a list of names or ratings
_MARKS: Final = {  # byte order marks, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_RATINGS: Final = {"rating", "ratings", "elo", "rtng", "srtng", "rrtng", "brtng", "fideid"}
_OF_GAMES: Final = {"white", "black", "result", "score", "opponent", "winner", "loser", "home", "away"}
_AT_ONCE: Final = 1 << 12  # values decoded together


def plain_blocks(blocks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same content with LF line ends and without NULs, in blocks that are never empty.

    With an `encoding`, or a UTF-16 or UTF-32 byte order mark, it is converted to UTF-8; other bytes are unchanged.
    Raises ConfigError for an unknown encoding, DataError for bytes that are not of that encoding.
    """
    head, content = peek(blocks, 4)
    known = encoding or marked_encoding(head)
    if known is not None:
        content = _transcode(content, known, name)
    head, content = peek(content, len(codecs.BOM_UTF8))
    if head.startswith(codecs.BOM_UTF8):
        content = chain([strip_mark(head)], islice(content, 1, None))
    return _unix_lines(content)


def pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, at most BLOCK at a time."""
    return (block[start : start + BLOCK] for block in blocks for start in range(0, len(block), BLOCK))


def marked_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32 according to a byte order mark, else None."""
    return next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)


def strip_mark(head: bytes) -> bytes:
    """Without the UTF-8 byte order mark."""
    return head.removeprefix(codecs.BOM_UTF8)


def _transcode(blocks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    try:
        known = codecs.lookup(encoding)
        if not known._is_text_encoding or known.incrementaldecoder is None:
            hint = "for instance utf-8, cp1252 or utf-16"
            raise ConfigError(f"data.encoding: {encoding!r} is no encoding of text", hint=hint)
        decoder = known.incrementaldecoder()
    except (LookupError, ValueError) as error:
        usual = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1251", "cp437", "koi8-r")
        hint = suggested(encoding, usual, "for instance utf-8, cp1252 or utf-16")
        raise ConfigError(f"data.encoding: unknown encoding {encoding!r}", hint=hint) from error
    lines = 1
    try:
        for block in blocks:
            text = decoder.decode(block).encode("utf-8")
            lines += text.count(b"\n")
            yield text
        yield decoder.decode(b"", final=True).encode("utf-8")
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            lines += error.object.count(b"\n", 0, error.start)
        hint = "leave data.encoding out to read UTF-8 and cp1252 value by value"
        raise DataError(f"not {encoding}: {error}", where=f"{name}:{lines}", hint=hint) from error


def _unix_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    pending = b""  # a CR at the end of a block: an LF may follow in the next
    for block in blocks:
        clean = pending + block
        if b"\0" in clean or b"\x1a" in clean:  # padding, and the end-of-file mark of DOS
            clean = clean.translate(None, b"\0\x1a")
        pending = b"\r" if clean.endswith(b"\r") else b""
        if b"\r" in clean:
            clean = clean[: len(clean) - len(pending)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if clean:
            yield clean
    if pending:
        yield b"\n"


def whole_text(source: Input, what: str) -> str:
    """The text of a plain or packed file. Raises DataError for a file too long to be `what` is expected."""
    content = bytearray()
    with closing(source.blocks(SILENT)) as blocks:
        for block in blocks:
            content += block
            if len(content) > SMALL:
                raise DataError(f"takes more than {SMALL >> 20} MB", where=source.name, hint=f"is it {what}?")
    return decode(strip_mark(bytes(content)))


def decode(raw: bytes) -> str:
    """Bytes as text: UTF-8, else cp1252, else (the five bytes cp1252 lacks) latin-1. Never fails."""
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def rating_list(name: str) -> DataError:
    """The error for a list of ratings instead of games."""
    hint = "perhaps --beside FILE of `ttt plot` or `ttt report`, which show published ratings"
    return DataError("is a rating list, not games", where=name, hint=hint)


def is_rating_list(line: str) -> bool:
    """Whether the first line of a file is that of a list of players with their ratings."""
    words = set(re.findall(r"[a-z]+", line.casefold()))
    return bool(words & {"name", "player"} and words & _RATINGS) and not words & _OF_GAMES


def text_of(raw: object) -> str:
    """A value as text: decodes bytes, and bytes that `surrogateescape` left in a text."""
    if isinstance(raw, bytes):
        return decode(raw)
    text = str(raw)
    if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
        return decode(text.encode("utf-8", "surrogateescape"))
    return text


def texts_of(raws: Sequence[Any], text_of: Callable[[Any], str] = text_of) -> list[str]:
    """`text_of` of each; bytes that are valid UTF-8 are decoded many at once."""
    texts: list[str] = []
    for start in range(0, len(raws), _AT_ONCE):
        some = list(raws[start : start + _AT_ONCE])
        try:
            decoded = b"\n".join(some).decode("utf-8").split("\n")
        except (TypeError, UnicodeDecodeError):
            decoded = []
        texts += decoded if len(decoded) == len(some) else map(text_of, some)  # a value may contain LF
    return texts
