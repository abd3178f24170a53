"""Blocks of bytes, unpacked in bounded steps: gzip, bzip2, xz and zstd by their first bytes."""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ttt_cli.support.errors import DataError

STEP: Final = 1 << 18  # bytes read and unpacked at a time
MEMORY_LIMIT: Final = 1 << 27  # bytes that an unpacker may use; pyarrow has the same limit for zstd
_SMALL: Final = 1 << 25  # unpacked bytes up to which any expansion is accepted
_LARGEST_EXPANSION: Final = 250  # beyond that; games expand up to 30 times
_ERRORS: Final[tuple[type[Exception], ...]] = (
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
)
Unpack = Callable[[Iterator[bytes]], Iterator[bytes]]


class DamagedInputError(DataError):
    """Compressed data are cut short or damaged; the content before the damage has been returned."""


def peek(blocks: Iterable[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first blocks joined, at least `size` bytes if there are as many, and all blocks again.

    DamagedInputError after the first bytes is raised only when the blocks are read up to the damage.
    """
    remaining = iter(blocks)
    head = bytearray()
    damage = None
    try:
        while len(head) < size and (block := next(remaining, b"")):
            head += block
    except DamagedInputError as error:
        if not head:
            raise
        damage = error

    def from_the_start() -> Iterator[bytes]:
        if head:
            yield bytes(head)
        if damage is not None:
            raise damage
        yield from remaining

    return bytes(head), from_the_start()


class BlockReader(io.RawIOBase):
    """A file object over blocks of bytes; it returns less than requested where a block ends."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = (block for block in blocks if block)
        self._unread = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; returns their number, 0 at the end."""
        if not self._unread:
            self._unread = memoryview(next(self._blocks, b""))
        part = self._unread[: len(buffer)]
        self._unread = self._unread[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _unpacked_streams(
    make_decompressor: Callable[[], Any], pieces: Iterator[bytes]
) -> Iterator[bytes]:
    """Unpack one stream after the other by the standard library; NULs between them are skipped.

    Raises EOFError when the last stream does not end.
    """
    decompressor: Any = None
    for piece in pieces:
        packed = piece
        while True:
            if decompressor is None:
                packed = packed.lstrip(b"\0")
            if not packed:
                break
            decompressor = decompressor or make_decompressor()
            yield from _steps(decompressor, packed)
            packed = b""
            if decompressor.eof:
                packed = decompressor.unused_data
                decompressor = None
    if decompressor is not None:
        raise EOFError


def _steps(decompressor: Any, packed: bytes) -> Iterator[bytes]:
    """The content of a piece of a stream, at most STEP bytes at a time."""
    has_more = True
    while has_more and not decompressor.eof:
        content = decompressor.decompress(packed, STEP)
        yield content
        if isinstance(decompressor, bz2.BZ2Decompressor | lzma.LZMADecompressor):
            packed = b""
            has_more = not decompressor.needs_input
        else:
            packed = decompressor.unconsumed_tail
            has_more = bool(packed) or len(content) == STEP


def _gzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    return _unpacked_streams(lambda: zlib.decompressobj(31), pieces)


def _bzip2(pieces: Iterator[bytes]) -> Iterator[bytes]:
    return _unpacked_streams(bz2.BZ2Decompressor, pieces)


def _xz(pieces: Iterator[bytes]) -> Iterator[bytes]:
    return _unpacked_streams(lambda: lzma.LZMADecompressor(memlimit=MEMORY_LIMIT), pieces)


def _zstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    import pyarrow as pa

    try:
        stream = pa.CompressedInputStream(pa.PythonFile(BlockReader(pieces), mode="r"), "zstd")
        while content := stream.read(STEP):
            yield content
    except OSError as error:
        if "truncated" in str(error).lower():
            raise EOFError from error
        raise


UNPACKERS: Final[dict[bytes, Unpack]] = {  # by the first bytes
    b"\x1f\x8b\x08": _gzip,
    b"BZh": _bzip2,
    b"\xfd7zXZ\x00": _xz,
    b"\x28\xb5\x2f\xfd": _zstd,
}
LONGEST_MAGIC: Final = max(len(magic) for magic in UNPACKERS)


def unpacker_for(head: bytes) -> Unpack | None:
    """The unpacker of data that begin so; None for data that are not compressed."""
    for magic, unpack in UNPACKERS.items():
        if head.startswith(magic):
            return unpack
    return None


class Expansion:
    """Counts bytes before and after unpacking; raises DataError for an expansion beyond that of games."""

    def __init__(self, name: str, packed: int = 0) -> None:
        self._name = name
        self._packed = packed
        self._unpacked = 0

    def add(self, count: int) -> None:
        """Count unpacked bytes."""
        self._unpacked += count
        if self._unpacked > _SMALL and self._unpacked > _LARGEST_EXPANSION * self._packed:
            message = f"unpacks to more than {_LARGEST_EXPANSION} times its size, as games never do"
            hint = "if they are games nevertheless, unpack the file first and name what comes out"
            raise DataError(message, where=self._name, hint=hint)

    def unpacked(self, pieces: Iterator[bytes], unpack: Unpack) -> Iterator[bytes]:
        """The content of compressed pieces. Raises one of _ERRORS for damaged data, EOFError for an early end."""

        def counted() -> Iterator[bytes]:
            for piece in pieces:
                self._packed += len(piece)
                yield piece

        for content in unpack(counted()):
            if content:
                self.add(len(content))
                yield content


@contextmanager
def named_damage(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise DamagedInputError with that name for the errors of unpackers, and `errors`."""
    try:
        yield
    except (*_ERRORS, *errors) as error:
        if "memory" in str(error).lower():
            message = f"needs more than {MEMORY_LIMIT >> 20} MB of memory to be unpacked"
            raise DataError(
                message, where=name, hint="unpack it first, as it was packed"
            ) from error
        is_cut = isinstance(error, EOFError)
        message = "compressed data end too early" if is_cut else f"is damaged ({error})"
        raise DamagedInputError(message, where=name, hint="fetch or pack it again") from error
