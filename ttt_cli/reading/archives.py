"""Archives of files, handed out member by member as they are unpacked; nothing is written to disk."""

import io
import tarfile
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast

from ttt_cli.errors import DataError
from ttt_cli.progress import Bar
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.sources import (
    INNER_ARCHIVE,
    NO_GAMES,
    OTHER_FILE,
    Form,
    named_as_archive,
    skipped_file,
    why_not_games,
)
from ttt_cli.reading.streams import DamagedInputError, Input
from ttt_cli.reading.unpacking import IN_ZIP, STEP, Expansion, Unpacker, errors, refuse_large

_MOST_MEMBERS: Final = 500_000
_LONG_NAME: Final = 1 << 16  # bytes of what a tar archive tells of one member besides its header
Member = Input | Problem  # a file to be read before the next is asked for, or one that was passed over

_DAMAGED: Final = "the archive is damaged: fetch or pack it again"


def members(form: Form, archive: Input, blocks: Iterator[bytes], bar: Bar) -> Generator[Member, None, None]:
    """The members of an archive whose unpacked content is `blocks`, of which none has been read, in their order.

    Members are named `archive/member`; those that are no games by their names, and archives, are passed over.
    Raises DataError when an archive needs random access that there is not; DamagedInputError when it is damaged.
    """
    count = 0
    with closing(_of_tar(archive, blocks) if form == "tar" else _of_zip(archive, bar)) as found:
        for member in found:
            count += 1
            if count > _MOST_MEMBERS:
                said = f"holds more than {_MOST_MEMBERS:,} files"
                raise DataError(said, where=archive.name, hint="unpack it first")
            yield member
    if not count:
        yield skipped_file(archive.name, NO_GAMES, "is empty")


def _of_tar(archive: Input, blocks: Iterator[bytes]) -> Generator[Member, None, None]:
    handle = cast(IO[bytes], _Reader(blocks))
    try:
        with tarfile.open(fileobj=handle, mode="r|", tarinfo=_Entry) as tar:
            while (entry := tar.next()) is not None:
                cast(Any, tar).members.clear()  # which would grow with the archive
                if entry.isdir():
                    continue
                content = tar.extractfile(entry) if entry.isfile() and not entry.issparse() else None
                yield _member(archive.name, entry.name, content)
        deque(blocks, maxlen=0)  # behind the end too, so that damage there is found and all is counted
    except tarfile.TarError as error:
        raise DamagedInputError(f"is damaged ({error})", where=archive.name, hint=_DAMAGED) from error


class _Entry(tarfile.TarInfo):
    """A header whose long names and further fields stay bounded."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        plain = (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE)
        if self.size > _LONG_NAME and self.type in tarfile.SUPPORTED_TYPES and self.type not in plain:
            raise tarfile.ReadError(f"a name of {self.size:,} bytes")
        return cast(tarfile.TarInfo, super()._proc_member(tar))  # type: ignore[misc]


def _of_zip(archive: Input, bar: Bar) -> Generator[Member, None, None]:
    whole = archive.whole
    if whole is None:
        hint = "name the file itself"
        raise DataError("a zip archive cannot be read from a pipe", where=archive.name, hint=hint)
    size = archive.size if isinstance(whole, Path) else whole.seek(0, io.SEEK_END)
    meter = _Meter(bar, archive, size or 0)
    try:
        with zipfile.ZipFile(whole) as packed:
            for entry in packed.infolist():
                if not entry.is_dir():
                    make = IN_ZIP.get(entry.compress_type)
                    with packed.open(_as_stored(entry) if make else entry) as stored:
                        content = cast(IO[bytes], _Reader(_checked(entry, stored, make))) if make else stored
                        meter.share = entry.compress_size / max(entry.file_size, 1)
                        yield _member(archive.name, entry.filename, content, meter)
    except (zipfile.BadZipFile, *errors()) as error:
        raise DamagedInputError(f"is damaged ({error})", where=archive.name, hint=_DAMAGED) from error
    except (RuntimeError, NotImplementedError) as error:  # a password is needed, an unknown method
        raise DataError(f"cannot be unpacked: {error}", where=archive.name, hint="unpack it first") from error
    meter.tell(float(archive.size or 0))


def _as_stored(entry: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """A member that is read as it is packed, since the library would unpack it without bounds."""
    stored = copy(entry)
    stored.compress_type, stored.file_size = zipfile.ZIP_STORED, entry.compress_size
    del stored.CRC
    return stored


def _checked(entry: zipfile.ZipInfo, packed: IO[bytes], make: Callable[[], Unpacker]) -> Iterator[bytes]:
    """The content of a member, which has to be what the archive says."""
    unpacker, size, code = make(), 0, 0
    for piece in iter(lambda: packed.read(STEP), b""):
        for content in unpacker.unpack(piece):
            code, size = zlib.crc32(content, code), size + len(content)
            yield content
    if (size, code) != (entry.file_size, entry.CRC):
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename!r}")


class _Meter:
    """Tells a bar of the bytes of a zip archive as those of its members are read, which must not be too many."""

    def __init__(self, bar: Bar, archive: Input, size: int) -> None:
        self._bar, self._name = bar, Path(archive.name).name
        self._expansion = Expansion(archive.name, size)
        self._told, self._read = float(archive.count), 0.0
        self.share = 1.0  # bytes stored for each byte read

    def add(self, count: int) -> None:
        """Bytes of a member have been read."""
        self._read += count * self.share
        self.tell(self._read)
        self._expansion.add(count)

    def tell(self, stored: float) -> None:
        """So many bytes of the archive have been read."""
        if stored > self._told:
            self._bar.advance(stored - self._told, self._name)
            self._told = stored


def _member(archive: str, name: str, content: IO[bytes] | None, meter: _Meter | None = None) -> Member:
    full = f"{archive}/{name}"
    if named_as_archive(name):
        return skipped_file(full, INNER_ARCHIVE, "unpack it and name it by itself")
    why = "a link, or with holes" if content is None else why_not_games(name)
    if why is not None or content is None:
        return skipped_file(full, OTHER_FILE, why or "")
    return Input(cast(BinaryIO, _Guarded(content, full, meter)), full)


class _Reader:
    """Blocks as something to read from."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        parts: list[memoryview] = []
        while size > 0:
            if not self._rest:
                self._rest = memoryview(next(self._blocks, b""))
                if not self._rest:
                    break
            part, self._rest = self._rest[:size], self._rest[size:]
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class _Guarded(io.RawIOBase):
    """The content of a member, whose damage is told by its name."""

    def __init__(self, content: IO[bytes], name: str, meter: _Meter | None) -> None:
        self._content, self._name, self._meter = content, name, meter

    def read(self, size: int = -1) -> bytes:
        """The next bytes, `size` at most."""
        try:
            piece = self._content.read(size)
        except (tarfile.TarError, zipfile.BadZipFile, *errors()) as error:
            refuse_large(error, self._name)
            raise DamagedInputError(f"is damaged ({error})", where=self._name, hint=_DAMAGED) from error
        if self._meter is not None:
            self._meter.add(len(piece))
        return piece
