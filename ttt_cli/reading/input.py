"""Files and streams as blocks of bytes: unpacked in bounded steps, counted and digested, then as plain text.

Plain text is UTF-8 or similar with LF line ends and without NULs; single values of it are decoded here, too.
"""

import bz2
import codecs
import hashlib
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

from ttt_cli.support.errors import ConfigError, DataError, nearest, suggested
from ttt_cli.support.opening import check_special, open_input, remember_input, remember_stream
from ttt_cli.support.progress import SILENT, Bar

STDIN: Final = "<stdin>"
STEP: Final = 1 << 18  # bytes read and unpacked at a time
MEMORY: Final = 1 << 27  # bytes that an unpacker may use; pyarrow has the same limit for zstd
_PLENTY: Final = 1 << 25  # unpacked bytes up to which any expansion is accepted
_MOST: Final = 250  # the largest expansion beyond that; games expand up to 30 times
_ADDRESS: Final = re.compile("(https?|ftp):/+(.+)")
_ERRORS: Final[tuple[type[Exception], ...]] = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)
Unpack = Callable[[Iterator[bytes]], Iterator[bytes]]

HEAD: Final = 1 << 16  # bytes by which a format is recognised
BLOCK: Final = 1 << 17
_MOST_PADDING: Final = 1 << 25  # zero bytes that a text may have
_SMALL: Final = 1 << 26  # the most bytes of a list of names or ratings
_MARKS: Final = {  # byte order marks, the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ENCODINGS: Final = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1251", "cp437", "koi8-r")
_RATINGS: Final = {"rating", "ratings", "elo", "rtng", "srtng", "rrtng", "brtng", "fideid"}
_OF_GAMES: Final = {"white", "black", "result", "score", "opponent", "winner", "loser", "home", "away"}


class DamagedInputError(DataError):
    """Compressed data are cut short or damaged; the content before the damage has been returned."""


def peek(blocks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first blocks joined, at least `size` bytes if there are as many, and all blocks again.

    DamagedInputError after the first bytes is raised only when the blocks are read up to the damage.
    """
    rest = iter(blocks)
    head = bytearray()
    damage = None
    try:
        while len(head) < size and (more := next(rest, b"")):
            head += more
    except DamagedInputError as error:
        if not head:
            raise
        damage = error

    def again() -> Iterator[bytes]:
        if head:
            yield bytes(head)
        if damage is not None:
            raise damage
        yield from rest

    return bytes(head), again()


class BlockReader(io.RawIOBase):
    """A file object over blocks of bytes; it returns less than asked for where a block ends."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = filter(None, blocks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; returns their number, 0 at the end."""
        self._rest = self._rest or memoryview(next(self._blocks, b""))
        part = self._rest[: len(buffer)]
        self._rest = self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _by_library(make: Callable[[], Any], pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack one stream after the other with decompressors of the standard library; NULs between them are skipped."""
    inner: Any = None
    for piece in pieces:
        rest = piece
        while rest := rest if inner else rest.lstrip(b"\0"):
            inner = inner or make()
            more = True
            while more and not inner.eof:
                yield (content := inner.decompress(rest, STEP))
                rest = getattr(inner, "unconsumed_tail", b"")
                more = not getattr(inner, "needs_input", not rest and len(content) < STEP)
            rest = b""
            if inner.eof:
                rest = inner.unused_data
                inner = None
    if inner is not None:
        raise EOFError


def _zstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    import pyarrow as pa

    try:
        stream = pa.CompressedInputStream(pa.PythonFile(BlockReader(pieces), mode="r"), "zstd")
        yield from iter(lambda: stream.read(STEP), b"")
    except OSError as error:
        if "truncated" in str(error).lower():
            raise EOFError from error
        raise


UNPACKERS: Final[dict[bytes, Unpack]] = {  # by the first bytes
    b"\x1f\x8b\x08": partial(_by_library, lambda: zlib.decompressobj(31)),
    b"BZh": partial(_by_library, bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": partial(_by_library, lambda: lzma.LZMADecompressor(memlimit=MEMORY)),
    b"\x28\xb5\x2f\xfd": _zstd,
}


class Expansion:
    """Counts bytes before and after unpacking; raises DataError for an expansion beyond that of games."""

    def __init__(self, name: str, packed: int = 0) -> None:
        self._name = name
        self._packed = packed
        self._unpacked = 0

    def add(self, count: int) -> None:
        """Count unpacked bytes."""
        self._unpacked += count
        if self._unpacked > _PLENTY and self._unpacked > _MOST * self._packed:
            message = f"unpacks to more than {_MOST} times its size, as games never do"
            hint = "if they are games nevertheless, unpack the file first and name what comes out"
            raise DataError(message, where=self._name, hint=hint)

    def unpacked(self, pieces: Iterator[bytes], unpack: Unpack) -> Iterator[bytes]:
        """The content of compressed pieces. Raises one of _ERRORS for damaged data, EOFError for an early end."""

        def counted() -> Iterator[bytes]:
            for piece in pieces:
                self._packed += len(piece)
                yield piece

        for content in filter(None, unpack(counted())):
            self.add(len(content))
            yield content


@contextmanager
def named_damage(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise DamagedInputError with that name for the errors of unpackers, and `errors`."""
    try:
        yield
    except (*_ERRORS, *errors) as error:
        if "memory" in str(error).lower():
            message = f"needs more than {MEMORY >> 20} MB of memory to be unpacked"
            raise DataError(message, where=name, hint="unpack it first, as it was packed") from error
        what = "compressed data end too early" if isinstance(error, EOFError) else f"is damaged ({error})"
        raise DamagedInputError(what, where=name, hint="fetch or pack it again") from error


class Input:
    """One file, stream or standard input (`-`), read once.

    `size` is that of the stored file, if known, `count` the bytes read so far, `kind` what the command reads it as.
    Raises DataError for a file that does not exist or cannot be opened, OutputError for an output of the command.
    """

    def __init__(
        self, source: str | os.PathLike[str] | BinaryIO, name: str | None = None, kind: str = "games"
    ) -> None:
        self.size: int | None = None
        self.count = 0
        self._digest = hashlib.sha256()
        self._path: Path | None = None
        self._kind = kind
        self._handle: BinaryIO
        if not isinstance(source, str | os.PathLike):
            self._handle = source
            self.name = name or str(getattr(source, "name", "<stream>"))
        elif os.fspath(source) == "-":
            self._handle = sys.stdin.buffer
            self.name = STDIN
            remember_stream(self._handle, self.name, kind)
        else:
            self._path = Path(source)
            self.name = shown(os.fspath(source))
            self.size = _size_of(self._path, kind)

    @property
    def seekable(self) -> Path | BinaryIO | None:
        """The path or a stream with random access; None when the bytes can be read only once."""
        if self._path is not None:
            return None if self.size is None else self._path
        return self._handle if self._handle.seekable() else None

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes read so far, hexadecimal."""
        return self._digest.hexdigest()

    def blocks(self, bar: Bar) -> Generator[bytes, None, None]:
        """The unpacked content in blocks that are never empty.

        Raises DataError when reading fails, DamagedInputError when compressed data are damaged or cut short.
        """
        with closing(self._stored(bar)) as stored:
            head, pieces = peek(stored, max(map(len, UNPACKERS)))
            for magic, unpack in UNPACKERS.items():
                if head.startswith(magic):
                    with named_damage(self.name):
                        yield from Expansion(self.name).unpacked(pieces, unpack)
                    return
            yield from pieces

    def _stored(self, bar: Bar) -> Generator[bytes, None, None]:
        try:
            with open_input(self._path, self._kind) if self._path else nullcontext(self._handle) as handle:
                while piece := handle.read(STEP):
                    self.count += len(piece)
                    self._digest.update(piece)
                    bar.advance(len(piece), Path(self.name).name)
                    yield piece
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", where=self.name) from error

    def text(self, what: str) -> str:
        """The whole text of a plain or packed file. Raises DataError for one too long to be `what` is expected."""
        content = bytearray()
        with closing(self.blocks(SILENT)) as blocks:
            for block in blocks:
                content += block
                if len(content) > _SMALL:
                    hint = f"is it {what}?"
                    raise DataError(f"takes more than {_SMALL >> 20} MB", where=self.name, hint=hint)
        return decode(strip_mark(bytes(content)))


def shown(path: str) -> str:
    """A path as printable text: bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def _size_of(path: Path, kind: str) -> int | None:
    """Size of a regular file, None for pipes and the like; the command remembers the file as an input."""
    try:
        if path.is_dir():
            inside = f"name the files in it: {path}/*.pgn"
            raise DataError("is a directory", where=shown(str(path)), hint=inside)
        status = check_special(path)
        remember_input(status, shown(str(path)), kind)
    except FileNotFoundError as error:
        if address := _ADDRESS.match(str(path)):
            url = shown(f"{address[1]}://{address[2]}")
            download = f"download it first: curl -LO {url}"
            raise DataError("is an address, not a file", where=url, hint=download) from error
        there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, [name for name in there if not name.startswith(".")])
        hint = f"did you mean {str(path.parent / near)!r}?" if near else None
        raise DataError("there is no such file", where=shown(str(path)), hint=hint) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=shown(str(path))) from error
    return status.st_size if path.is_file() else None


def plain_blocks(blocks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same content with LF line ends and without NULs, in blocks that are never empty.

    With an `encoding`, or a UTF-16 or UTF-32 byte order mark, it is converted to UTF-8; other bytes are unchanged.
    Raises ConfigError for an unknown encoding, DataError for bytes that are not of that encoding and for a file with
    large holes.
    """
    head, content = peek(blocks, 4)
    known = encoding or marked_encoding(head)
    if known is not None:
        content = _transcode(content, known, name)
    head, content = peek(content, len(codecs.BOM_UTF8))
    next(content, b"")  # the head again
    pending = b""  # a CR at the end of a block: an LF may follow in the next
    padding = 0  # bytes
    for block in chain([strip_mark(head)], content):
        clean = pending + block
        if b"\0" in clean or b"\x1a" in clean:  # padding, and the end-of-file mark of DOS
            before = len(clean)
            clean = clean.translate(None, b"\0\x1a")
            padding += before - len(clean)
            if padding > _MOST_PADDING:
                message = f"has more than {_MOST_PADDING >> 20} MB of zero bytes"
                raise DataError(
                    message, where=name, hint="it is damaged or has holes: fetch or write it again"
                )
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
    return next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)


def strip_mark(head: bytes) -> bytes:
    """Without the UTF-8 byte order mark."""
    return head.removeprefix(codecs.BOM_UTF8)


def _transcode(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    try:
        bytes(4).decode(encoding)
    except (LookupError, ValueError) as error:
        hint = suggested(encoding, _ENCODINGS, "for instance utf-8, cp1252 or utf-16")
        raise ConfigError(f"data.encoding: unknown encoding {encoding!r}", hint=hint) from error
    lines = 1
    try:
        for text in codecs.iterdecode(blocks, encoding):
            lines += text.count("\n")
            yield text.encode("utf-8")
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            lines += error.object.count(b"\n", 0, error.start)
        hint = "leave data.encoding out to read UTF-8 and cp1252 value by value"
        raise DataError(f"not {encoding}: {error}", where=f"{name}:{lines}", hint=hint) from error


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
