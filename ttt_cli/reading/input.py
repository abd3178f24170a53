"""Files and streams as blocks of bytes, unpacked by their first bytes in bounded steps, counted and digested."""

import bz2
import hashlib
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from ttt_cli.support.errors import DataError, nearest
from ttt_cli.support.files import refuse_device
from ttt_cli.support.progress import Bar

STDIN: Final = "<stdin>"
STEP: Final = 1 << 18  # bytes read and unpacked at a time
MEMORY: Final = 1 << 27  # bytes that an unpacker may use; pyarrow has the same limit for zstd
_PLENTY: Final = 1 << 25  # unpacked bytes up to which any expansion is accepted
_MOST: Final = 250  # the largest expansion beyond that; games expand up to 30 times
_ADDRESS: Final = re.compile("(https?|ftp):/+(.+)")
ERRORS: Final = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)  # of damaged data
Unpack = Callable[[Iterator[bytes]], Iterator[bytes]]


class DamagedInputError(DataError):
    """Compressed data are cut short or damaged; the content before the damage has been returned."""


def peek(blocks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first blocks joined, at least `size` bytes if there are as many, and all blocks again.

    DamagedInputError after the first bytes is raised only when the blocks are read up to the damage.
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

    def again() -> Iterator[bytes]:
        if head:
            yield head
        if damage is not None:
            raise damage
        yield from source

    return head, again()


class BlockReader(io.RawIOBase):
    """A file object over blocks of bytes; it returns less than asked for where a block ends."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = filter(None, blocks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; returns their number, 0 at the end."""
        self._rest = self._rest or memoryview(next(self._blocks, b""))
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
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
                rest, inner = inner.unused_data, None
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
        """The content of compressed pieces. Raises one of ERRORS for damaged data, EOFError when they end too early."""

        def counted() -> Iterator[bytes]:
            for piece in pieces:
                self._packed += len(piece)
                yield piece

        for content in unpack(counted()):
            if content:
                self.add(len(content))
                yield content


def refuse_large(error: Exception, name: str) -> None:
    """Raise DataError where an unpacker would need more than MEMORY."""
    if "memory" in str(error).lower():
        message = f"needs more than {MEMORY >> 20} MB of memory to be unpacked"
        raise DataError(message, where=name, hint="unpack it first, as it was packed") from error


class Input:
    """One file, stream or standard input (`-`), read once.

    `size` is that of the stored file, if known, `count` the bytes read so far. Raises DataError for a file that does
    not exist or cannot be opened.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, name: str | None = None) -> None:
        self.size: int | None = None
        self.count = 0
        self._digest = hashlib.sha256()
        self._path: Path | None = None
        self._handle: BinaryIO
        if not isinstance(source, str | os.PathLike):
            self._handle = source
            self.name = name or str(getattr(source, "name", "<stream>"))
        elif os.fspath(source) == "-":
            self._handle, self.name = sys.stdin.buffer, STDIN
        else:
            self._path = Path(source)
            self.name = shown(os.fspath(source))
            self.size = _size_of(self._path)

    @property
    def seekable(self) -> Path | BinaryIO | None:
        """The path or a stream with random access; None when the bytes can be read only once."""
        return self._path or (self._handle if self._handle.seekable() else None)

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
            unpack = next((unpack for magic, unpack in UNPACKERS.items() if head.startswith(magic)), None)
            if unpack is None:
                yield from pieces
                return
            try:
                yield from Expansion(self.name).unpacked(pieces, unpack)
            except EOFError as error:
                hint = "the file was cut short: fetch or pack it again"
                raise DamagedInputError(
                    "compressed data end too early", where=self.name, hint=hint
                ) from error
            except ERRORS as error:
                refuse_large(error, self.name)
                message = f"compressed data are damaged ({error})"
                hint = "the file is damaged: fetch or pack it again"
                raise DamagedInputError(message, where=self.name, hint=hint) from error

    def _stored(self, bar: Bar) -> Generator[bytes, None, None]:
        try:
            with self._path.open("rb") if self._path else nullcontext(self._handle) as handle:
                while piece := handle.read(STEP):
                    self.count += len(piece)
                    self._digest.update(piece)
                    bar.advance(len(piece), Path(self.name).name)
                    yield piece
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", where=self.name) from error


def shown(path: str) -> str:
    """A path as printable text: bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def _size_of(path: Path) -> int | None:
    """Size of a regular file, None for pipes and the like."""
    try:
        if path.is_dir():
            inside = f"name the files in it: {path}/*.pgn"
            raise DataError("is a directory", where=shown(str(path)), hint=inside)
        refuse_device(path)
        status = path.stat()
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
