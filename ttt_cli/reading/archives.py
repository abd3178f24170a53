"""Members of tar and zip archives, one after the other, in bounded memory."""

import io
import re
import tarfile
import zipfile
from collections import deque
from collections.abc import Generator, Iterator
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, Final, cast

from ttt_cli.reading.input import Input, printable_path
from ttt_cli.reading.recognition import (
    ARCHIVE_SUFFIXES,
    GAMES_SUFFIXES,
    OFFICE_FILE,
    named_as_games,
    suffix_of,
)
from ttt_cli.reading.reports import Problem
from ttt_cli.reading.unpacking import STEP, BlockReader, Expansion, named_damage
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import Bar

SKIPPED: Final = "skipped"  # the action for a file that does not contain games
OTHER_FILE: Final = "not named as games"
INNER_ARCHIVE: Final = "archive in an archive"
_LONG_NAME: Final = 1 << 16  # bytes of the extra information on one member of a tar archive
_ZIP_START: Final = re.compile(rb"PK\x03\x04|PK\x05\x06")
Member = Input | Problem  # a file to be read before the next is requested, or a skipped one


def skipped(name: str, reason: str, why: str) -> Problem:
    """The note on a file that is not read."""
    return Problem(printable_path(name), 1, reason, why, SKIPPED)


def why_not_games(name: str) -> str | None:
    """Why a file in a folder or an archive is skipped because of its name; None if it is read."""
    if any(part.startswith(".") or part == "__MACOSX" for part in PurePath(name).parts):
        return "hidden"
    if named_as_games(name):
        return None
    *suffixes, last = GAMES_SUFFIXES
    return f"named neither {', '.join(suffixes)} nor {last}"


def members_of(
    archive: Input, head: bytes, blocks: Iterator[bytes], bar: Bar
) -> Generator[Member, None, None] | None:
    """The members of an archive that begins with `head`; None for a file that is no archive.

    Raises DataError for a zip archive from a pipe, DamagedInputError when the archive is damaged.
    """
    if _ZIP_START.match(head) and not OFFICE_FILE.match(head):
        return _members_of_zip(archive, bar)
    if head[257:262] == b"ustar":
        return _members_of_tar(archive, blocks)
    return None


def _members_of_tar(archive: Input, blocks: Iterator[bytes]) -> Generator[Member, None, None]:
    handle = cast(IO[bytes], BlockReader(blocks))
    with (
        named_damage(archive.name, tarfile.TarError),
        tarfile.open(fileobj=handle, mode="r|", tarinfo=_BoundedTarInfo) as tar,
    ):
        while (entry := tar.next()) is not None:
            cast(Any, tar).members.clear()  # which would grow with the archive
            if entry.isdir():
                continue
            content = tar.extractfile(entry) if entry.isfile() and not entry.issparse() else None
            steps = _steps(content, f"{archive.name}/{entry.name}") if content else None
            yield _member(archive.name, entry.name, steps)
        deque(blocks, maxlen=0)  # read to the end, to find damage there and to count all bytes


class _BoundedTarInfo(tarfile.TarInfo):
    """A tar header with bounded names and extra fields."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        plain = (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE)
        if (
            self.size > _LONG_NAME
            and self.type in tarfile.SUPPORTED_TYPES
            and self.type not in plain
        ):
            raise tarfile.ReadError(f"a name of {self.size:,} bytes")
        return cast(tarfile.TarInfo, super()._proc_member(tar))  # type: ignore[misc]


def _members_of_zip(archive: Input, bar: Bar) -> Generator[Member, None, None]:
    source = archive.seekable
    note = Path(archive.name).name
    if source is None:
        hint = "name the file itself"
        raise DataError("a zip archive cannot be read from a pipe", where=archive.name, hint=hint)
    size = archive.size if isinstance(source, Path) else source.seek(0, io.SEEK_END)
    expansion = Expansion(archive.name, size or 0)
    position = archive.count

    def unpacked(handle: IO[bytes]) -> Iterator[bytes]:
        nonlocal position
        for piece in _steps(handle, f"{archive.name}/{handle.name}"):
            expansion.add(len(piece))
            reached = cast(IO[bytes], packed.fp).tell()
            if reached > position:
                bar.advance(reached - position, note)
                position = reached
            yield piece

    try:
        with named_damage(archive.name, zipfile.BadZipFile), zipfile.ZipFile(source) as packed:
            for entry in packed.infolist():
                if entry.is_dir():
                    continue
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise NotImplementedError("it is not packed by the usual method, deflate")
                with packed.open(entry) as handle:
                    yield _member(archive.name, entry.filename, unpacked(handle))
    except RuntimeError as error:  # a password is needed, an unknown method
        raise DataError(
            f"cannot be unpacked: {error}", where=archive.name, hint="unpack it first"
        ) from error
    if archive.size and archive.size > position:
        bar.advance(archive.size - position, note)


def _steps(handle: IO[bytes], name: str) -> Iterator[bytes]:
    with named_damage(name, tarfile.TarError, zipfile.BadZipFile):
        while piece := handle.read(STEP):
            yield piece


def _member(archive: str, name: str, content: Iterator[bytes] | None) -> Member:
    path = f"{archive}/{name}"
    if suffix_of(name) in ARCHIVE_SUFFIXES:
        return skipped(path, INNER_ARCHIVE, "unpack it and name it by itself")
    if content is None:
        return skipped(path, OTHER_FILE, "a link, or with holes")
    why = why_not_games(name)
    if why is not None:
        return skipped(path, OTHER_FILE, why)
    return Input(cast(BinaryIO, BlockReader(content)), path)
