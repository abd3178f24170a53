"""Bytes as text: blocks made plain (UTF-8 or like it, LF line ends, no NULs), and single values decoded."""

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import Any, Final, TypeVar

from ttt_cli.errors import ConfigError, DataError, suggested
from ttt_cli.progress import SILENT
from ttt_cli.reading.streams import DamagedInputError, Input

HEAD: Final = 1 << 16  # bytes looked at to tell what a file is
BLOCK: Final = 1 << 17
SMALL: Final = 1 << 26  # bytes of a list of names or ratings, at most
LARGE: Final = 1 << 25  # bytes that take longer to read than compiled code takes to load
_LF, _CR = b"\n\r"
Block = TypeVar("Block")
_JUNK: Final = b"\0\x1a"  # padding, and the end-of-file mark of DOS
_MARKS: Final = {  # byte order marks, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_AT_ONCE: Final = 1 << 12  # values decoded together


def plain_blocks(blocks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same content with LF line ends and without NULs, in blocks of BLOCK bytes, the first of HEAD.

    With an `encoding`, or a UTF-16 or UTF-32 byte order mark, it becomes UTF-8; otherwise bytes stay.
    Raises ConfigError for an encoding there is not, DataError where bytes are not of that encoding.
    """
    head, content = peek(blocks, 4)
    known = encoding or marked_encoding(head)
    if known is not None:
        content = _transcode(content, known, name)
    head, content = peek(content, len(codecs.BOM_UTF8))
    if head.startswith(codecs.BOM_UTF8):
        content = chain([strip_mark(head)], islice(content, 1, None))
    return _gathered(_unix_lines(content))


def peek(blocks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first blocks, `size` bytes or more if there are so many, and all blocks, these included.

    Damage behind the first bytes is told when the blocks are read up to it.
    """
    source = iter(blocks)
    first: list[bytes] = []
    length, damage = 0, None
    try:
        while length < size and (more := next(source, b"")):
            first.append(more)
            length += len(more)
    except DamagedInputError as error:
        if not first:
            raise
        damage = error
    head = b"".join(first)
    return head, resumed(deque([head] if head else []), source, damage)


def resumed(first: deque[Block], rest: Iterator[Block], damage: DamagedInputError | None) -> Iterator[Block]:
    """The first blocks, which are let go one by one, and the rest; but what damage there was comes before that."""
    while first:
        yield first.popleft()
    if damage is not None:
        raise damage
    yield from rest


def marked_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32 if a byte order mark says so."""
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
        hint = "leave data.encoding away to read UTF-8 and cp1252 value by value"
        raise DataError(f"not {encoding}: {error}", where=f"{name}:{lines}", hint=hint) from error


def _unix_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    held = b""  # a CR whose LF may follow in the next block
    for block in blocks:
        clean = block.translate(None, _JUNK) if b"\0" in block or b"\x1a" in block else block
        if held:
            clean = held + clean
        held = b"\r" if clean.endswith(b"\r") else b""
        if b"\r" in clean:
            clean = _line_feeds(clean[: len(clean) - len(held)])
        if clean:
            yield clean
    if held:
        yield b"\n"


def _line_feeds(block: bytes) -> bytes:
    """CR LF and CR as LF; looking for a CR alone and taking all away is quicker than replacing pairs."""
    import numpy as np

    view = np.frombuffer(block, np.uint8)
    if np.any((view[:-1] == _CR) & (view[1:] != _LF)) or block.endswith(b"\r"):
        return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block.replace(b"\r", b"")


def _gathered(blocks: Iterator[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    count, least = 0, HEAD
    try:
        for block in blocks:
            waiting.append(block)
            count += len(block)
            if count >= least:
                yield b"".join(waiting)
                waiting, count, least = [], 0, BLOCK
    except DamagedInputError:  # what came before the damage is read too
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)


def whole_text(source: Input, what: str) -> str:
    """The text of a plain or packed file. Raises DataError where it is too long to be `what` it should be."""
    content = bytearray()
    with SILENT.task("") as bar, closing(source.blocks(bar)) as blocks:
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


def text_of(raw: object) -> str:
    """A value as text: bytes are decoded, and so are the bytes that `surrogateescape` left in a text."""
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
        texts += _decoded(some) or map(text_of, some)
    return texts


def _decoded(raws: Sequence[Any]) -> list[str] | None:
    """Values as lines of one text; None when some are no bytes, or none in UTF-8, or hold line ends."""
    try:
        texts = b"\n".join(raws).decode("utf-8").split("\n")
    except (TypeError, UnicodeDecodeError):
        return None
    return texts if len(texts) == len(raws) else None
