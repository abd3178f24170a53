"""Archives of files, handed out member by member as they are unpacked; nothing is written to disk."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from ttt_cli.errors import DataError
from ttt_cli.games.detect import Form, named_as_archive
from ttt_cli.games.sources import INNER_ARCHIVE, NO_GAMES, OTHER_FILE, skipped_file, why_not_games
from ttt_cli.games.streams import DamagedInputError, Input
from ttt_cli.games.table import Problem
from ttt_cli.progress import Bar

Member = Input | Problem  # a file to be read before the next is asked for, or one that was passed over

_ERRORS: Final = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError)
_UNREADABLE: Final = (RuntimeError, NotImplementedError)  # of zip: a password is needed, an unknown method
_DAMAGED: Final = "the archive is damaged: fetch or pack it again"


def members(form: Form, archive: Input, blocks: Iterator[bytes], bar: Bar) -> Iterator[Member]:
    """The members of an archive whose unpacked content is `blocks`, of which none has been read, in their order.

    Members are named `archive/member`; those that are no games by their names, and archives, are passed over. Raises
    DataError when an archive needs random access that there is not; DamagedInputError when it, or later a member, is
    damaged.
    """
    found = False
    for member in _of_tar(archive, blocks) if form == "tar" else _of_zip(archive, bar):
        found = True
        yield member
    if not found:
        yield skipped_file(archive.name, NO_GAMES, "is empty")


def _of_tar(archive: Input, blocks: Iterator[bytes]) -> Iterator[Member]:
    handle = cast(IO[bytes], _Reader(blocks))
    try:
        with tarfile.open(fileobj=handle, mode="r|") as tar:
            for entry in tar:
                if entry.isdir():
                    continue
                content = tar.extractfile(entry) if entry.isfile() else None
                yield _member(archive.name, entry.name, content)
        deque(blocks, maxlen=0)  # behind the end too, so that damage there is found and all is counted
    except tarfile.TarError as error:
        raise DamagedInputError(f"is damaged ({error})", where=archive.name, hint=_DAMAGED) from error


def _of_zip(archive: Input, bar: Bar) -> Iterator[Member]:
    whole = archive.whole
    if whole is None:
        hint = "name the file itself"
        raise DataError("a zip archive cannot be read from a pipe", where=archive.name, hint=hint)
    meter = _Meter(bar, archive)
    try:
        with zipfile.ZipFile(whole) as packed:
            for entry in packed.infolist():
                if not entry.is_dir():
                    with packed.open(entry) as content:
                        meter.share = entry.compress_size / max(entry.file_size, 1)
                        yield _member(archive.name, entry.filename, content, meter)
    except zipfile.BadZipFile as error:
        raise DamagedInputError(f"is damaged ({error})", where=archive.name, hint=_DAMAGED) from error
    except _UNREADABLE as error:
        raise DataError(f"cannot be unpacked: {error}", where=archive.name, hint="unpack it first") from error
    meter.finish()


class _Meter:
    """Tells a bar of the bytes of a zip archive as those of its members are read."""

    def __init__(self, bar: Bar, archive: Input) -> None:
        self._bar = bar
        self._archive = archive
        self._told = float(archive.count)
        self._read = 0.0
        self.share = 1.0  # bytes stored for each byte read

    def add(self, count: int) -> None:
        """Bytes of a member have been read."""
        self._read += count * self.share
        self._tell(self._read)

    def finish(self) -> None:
        """The archive has been read to its end."""
        self._tell(float(self._archive.size or 0))

    def _tell(self, stored: float) -> None:
        if stored > self._told:
            self._bar.advance(stored - self._told, Path(self._archive.name).name)
            self._told = stored


def _member(archive: str, name: str, content: IO[bytes] | None, meter: _Meter | None = None) -> Member:
    full = f"{archive}/{name}"
    if named_as_archive(name):
        return skipped_file(full, INNER_ARCHIVE, "unpack it and name it by itself")
    why = "a link" if content is None else why_not_games(name)
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
        self._content = content
        self._name = name
        self._meter = meter

    def read(self, size: int = -1) -> bytes:
        """The next bytes, `size` at most."""
        try:
            piece = self._content.read(size)
        except _ERRORS as error:
            raise DamagedInputError(f"is damaged ({error})", where=self._name, hint=_DAMAGED) from error
        if self._meter is not None:
            self._meter.add(len(piece))
        return piece

    def seekable(self) -> bool:
        """Whether it can be read from anywhere; it is read once."""
        return False
