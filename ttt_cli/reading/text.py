"""Bytes as plain text: UTF-8 or similar with LF line ends and without NULs; single values decoded."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from ttt_cli.reading.unpacking import peek
from ttt_cli.support.errors import ConfigError, DataError, suggested

HEAD: Final = 1 << 16  # bytes by which a format is recognised
BLOCK: Final = 1 << 17
_MARKS: Final = {  # byte order marks, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ENCODINGS: Final = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1251", "cp437", "koi8-r")
_MOST_PADDING: Final = 1 << 25  # zero bytes that a text may have
_PADDING: Final = b"\0\x1a"  # NULs, and the end-of-file mark of DOS


def plain_blocks(blocks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same content with LF line ends and without NULs, in blocks that are never empty.

    With an `encoding`, or a UTF-16 or UTF-32 byte order mark, it is converted to UTF-8; other bytes are unchanged.
    Raises ConfigError for an unknown encoding, DataError for bytes that are not of that encoding and for a file with
    large holes.
    """
    head, content = peek(blocks, 4)
    source_encoding = encoding or marked_encoding(head)
    if source_encoding is not None:
        content = _transcode(content, source_encoding, name)
    head, content = peek(content, len(codecs.BOM_UTF8))
    next(content, b"")  # the head, which `peek` yields again as one block
    pending = b""  # a CR at the end of a block: an LF may follow in the next
    n_padding = 0
    for block in chain([strip_mark(head)], content):
        clean = pending + block
        if any(byte in clean for byte in _PADDING):
            length = len(clean)
            clean = clean.translate(None, _PADDING)
            n_padding += length - len(clean)
            if n_padding > _MOST_PADDING:
                message = f"has more than {_MOST_PADDING >> 20} MB of zero bytes"
                hint = "it is damaged or has holes: fetch or write it again"
                raise DataError(message, where=name, hint=hint)
        pending = b"\r" if clean.endswith(b"\r") else b""
        if b"\r" in clean:
            clean = clean[: len(clean) - len(pending)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if clean:
            yield clean
    if pending:
        yield b"\n"


def pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, at most BLOCK at a time."""
    for block in blocks:
        for start in range(0, len(block), BLOCK):
            yield block[start : start + BLOCK]


def marked_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32 according to a byte order mark, else None."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    return None


def strip_mark(head: bytes) -> bytes:
    """Without the UTF-8 byte order mark."""
    return head.removeprefix(codecs.BOM_UTF8)


def _transcode(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """The same text in UTF-8. Raises ConfigError for an unknown encoding, DataError for bytes that are not of it."""
    try:
        # any bytes do: this fails where there is no such encoding of texts
        bytes(4).decode(encoding)
    except (LookupError, ValueError) as error:
        hint = suggested(encoding, _ENCODINGS, "for instance utf-8, cp1252 or utf-16")
        raise ConfigError(f"data.encoding: unknown encoding {encoding!r}", hint=hint) from error
    line = 1
    try:
        for text in codecs.iterdecode(blocks, encoding):
            line += text.count("\n")
            yield text.encode("utf-8")
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            line += error.object.count(b"\n", 0, error.start)
        hint = "leave data.encoding out to read UTF-8 and cp1252 value by value"
        raise DataError(f"not {encoding}: {error}", where=f"{name}:{line}", hint=hint) from error


def decode(raw: bytes) -> str:
    """Bytes as text: UTF-8, else cp1252, else (the five bytes cp1252 lacks) latin-1. Never fails."""
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")
