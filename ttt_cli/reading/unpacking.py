"""Compressed bytes unpacked in bounded steps, whatever they claim to hold."""

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ttt_cli.errors import DataError

STEP: Final = 1 << 18  # bytes that a step gives, except that zstd has blocks of up to 2 MB
MEMORY: Final = 1 << 27  # bytes that an unpacker may take for itself
_PLENTY: Final = 1 << 25  # bytes up to which anything may be as small as it likes when packed
_MOST: Final = 250  # times its size beyond that; games take up to 30 times as much
_LZMA_HEAD: Final = struct.Struct("<xxHBI")  # of zip: version, size of what follows, properties, dictionary


class Unpacker:
    """One compressed stream, whose content comes in pieces; `inner` unpacks it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def eof(self) -> bool:
        """Whether it has ended."""
        return bool(self._inner.eof)

    @property
    def rest(self) -> bytes:
        """What stands behind its end."""
        return bytes(self._inner.unused_data)

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes hold: of unpackers of the standard library that keep what has not been asked for."""
        yield self._inner.decompress(data, STEP)
        while not (self._inner.eof or self._inner.needs_input):
            yield self._inner.decompress(b"", STEP)


class Expansion:
    """How much more has been unpacked than there was; raises DataError for what cannot be games."""

    def __init__(self, name: str, packed: int = 0) -> None:
        self._name = name
        self.packed = packed
        self._unpacked = 0

    def add(self, count: int) -> None:
        """So many more bytes have been unpacked."""
        self._unpacked += count
        if self._unpacked > _PLENTY and self._unpacked > _MOST * self.packed:
            said = f"unpacks to more than {_MOST} times its size, as games never do"
            hint = "if they are games nevertheless, unpack the file first and name what comes out"
            raise DataError(said, where=self._name, hint=hint)


def errors() -> tuple[Any, ...]:
    """What unpackers raise for damaged data."""
    import zstandard

    return (zlib.error, lzma.LZMAError, zstandard.ZstdError, struct.error, OSError, EOFError, ValueError)


def refuse_large(error: Exception, name: str) -> None:
    """Raise DataError where an unpacker gave up since it would need more than MEMORY."""
    if "memory" in str(error).lower():
        said = f"needs more than {MEMORY >> 20} MB of memory to be unpacked"
        raise DataError(said, where=name, hint="unpack it first, as it was packed") from error


class _Zlib(Unpacker):
    def __init__(self) -> None:
        super().__init__(zlib.decompressobj(31))

    def unpack(self, data: bytes) -> Iterator[bytes]:
        content = b""
        while (data or len(content) == STEP) and not self._inner.eof:
            content = self._inner.decompress(data, STEP)
            data = self._inner.unconsumed_tail
            yield content


class _Zstd(Unpacker):
    """zstd block by block, each of which holds 128 KB, or 2 MB if it lies; see RFC 8878, 3.1.1."""

    def __init__(self) -> None:
        import zstandard

        super().__init__(zstandard.ZstdDecompressor(max_window_size=MEMORY).decompressobj())
        self._held = b""  # of a header that is not complete
        self._left = 0  # bytes up to the next header
        self._begun = self._checked = False

    @property
    def rest(self) -> bytes:
        return super().rest + self._held

    def unpack(self, data: bytes) -> Iterator[bytes]:
        data = self._held + data
        at = 0
        while at < len(data) and not self._inner.eof:
            if not self._left:
                self._left = (
                    self._block(data[at : at + 3]) if self._begun else self._frame(data[at : at + 18])
                )
                if not self._left:
                    break
            stop = min(at + self._left, len(data))
            self._left -= stop - at
            yield self._inner.decompress(data[at:stop])
            at = stop
        self._held = data[at:]

    def _frame(self, head: bytes) -> int:
        """Bytes of the header of a frame, 0 when it is not complete."""
        if len(head) >= 4 and head[:4] != _ZSTD_MAGIC:  # a frame to be skipped
            self._begun = len(head) >= 8
            return 8 + int.from_bytes(head[4:8], "little") if self._begun else 0
        if len(head) < 5:
            return 0
        flags = head[4]
        single, self._checked = flags >> 5 & 1, bool(flags >> 2 & 1)
        size = 6 - single + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        self._begun = len(head) >= size
        return size if self._begun else 0

    def _block(self, head: bytes) -> int:
        """Bytes of a block with its header, and the checksum behind the last; 0 when the header is not complete."""
        if len(head) < 3:
            return 0
        number = int.from_bytes(head, "little")
        body = 1 if number >> 1 & 3 == 1 else number >> 3
        return 3 + body + 4 * (number & 1 and self._checked)


class _ZipLzma(Unpacker):
    """LZMA as it stands in a zip archive, its properties first."""

    def __init__(self) -> None:
        super().__init__(None)
        self._head = b""

    @property
    def eof(self) -> bool:
        return self._inner is not None and bool(self._inner.eof)

    def unpack(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            self._head += data
            if len(self._head) < _LZMA_HEAD.size:
                return
            self._inner, data = _raw_lzma(self._head), self._head[_LZMA_HEAD.size :]
        yield from super().unpack(data)


def _raw_lzma(head: bytes) -> Any:
    size, properties, dictionary = _LZMA_HEAD.unpack_from(head)
    if size != _LZMA_HEAD.size - 4 or properties >= 9 * 5 * 5:
        raise lzma.LZMAError("wrong properties")
    if dictionary > MEMORY:
        raise lzma.LZMAError("memory limit exceeded")
    lc, lp, pb = properties % 9, properties // 9 % 5, properties // 45
    one = {"id": lzma.FILTER_LZMA1, "dict_size": max(dictionary, 4096), "lc": lc, "lp": lp, "pb": pb}
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[one])


def _bzip2() -> Unpacker:
    return Unpacker(bz2.BZ2Decompressor())


def _xz() -> Unpacker:
    return Unpacker(lzma.LZMADecompressor(memlimit=MEMORY))


_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
UNPACKERS: Final[dict[bytes, Callable[[], Unpacker]]] = {  # by the first bytes
    b"\x1f\x8b\x08": _Zlib,
    b"BZh": _bzip2,
    b"\xfd7zXZ\x00": _xz,
    _ZSTD_MAGIC: _Zstd,
}
IN_ZIP: Final[dict[int, Callable[[], Unpacker]]] = {12: _bzip2, 14: _ZipLzma, 93: _Zstd, 95: _xz}  # by method


def unpacked(pieces: Iterable[bytes], make: Callable[[], Unpacker], expansion: Expansion) -> Iterator[bytes]:
    """The content of one or more compressed streams that follow each other; NUL padding between them is skipped.

    Raises one of `errors()` for damaged data, EOFError when they end too early; DataError as `Expansion` does.
    """
    unpacker: Unpacker | None = None
    for piece in pieces:
        expansion.packed += len(piece)
        rest = piece
        while rest := rest if unpacker else rest.lstrip(b"\0"):
            unpacker = unpacker or make()
            for content in unpacker.unpack(rest):
                if content:
                    expansion.add(len(content))
                    yield content
            rest = b""
            if unpacker.eof:
                rest, unpacker = unpacker.rest, None
    if unpacker is not None:
        raise EOFError
