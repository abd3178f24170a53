"""Files and streams as blocks of unpacked bytes, counted and digested."""

import hashlib
import os
import re
import sys
from collections.abc import Generator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import BinaryIO, Final

from ttt_cli.reading.samples import sample_file
from ttt_cli.reading.text import decode, strip_mark
from ttt_cli.reading.unpacking import (
    LONGEST_MAGIC,
    STEP,
    Expansion,
    named_damage,
    peek,
    unpacker_for,
)
from ttt_cli.support.errors import DataError, nearest
from ttt_cli.support.opening import check_special, open_input, remember_input, remember_stream
from ttt_cli.support.progress import SILENT, Bar

STDIN: Final = "<stdin>"
_ADDRESS: Final = re.compile("(https?|ftp):/+(.+)")
_LARGEST_LIST: Final = 1 << 26  # bytes of a list of names or ratings


class Input:
    """One file, stream, sample (`@classics`) or standard input (`-`), read once.

    `size` is that of the stored file, if known, `count` the bytes read so far, `kind` what the command reads it as.
    Raises DataError for a file that does not exist or cannot be opened, OutputError for an output of the command.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        name: str | None = None,
        kind: str = "games",
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
            self._path = sample_file(source) or Path(source)
            self.name = printable_path(os.fspath(source))
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
            head, pieces = peek(stored, LONGEST_MAGIC)
            unpack = unpacker_for(head)
            if unpack is None:
                yield from pieces
            else:
                with named_damage(self.name):
                    yield from Expansion(self.name).unpacked(pieces, unpack)

    def _stored(self, bar: Bar) -> Generator[bytes, None, None]:
        """The bytes as they are stored."""
        try:
            with (
                open_input(self._path, self._kind)
                if self._path
                else nullcontext(self._handle) as handle
            ):
                while piece := handle.read(STEP):
                    self.count += len(piece)
                    self._digest.update(piece)
                    bar.advance(len(piece), Path(self.name).name)
                    yield piece
        except OSError as error:
            raise DataError(
                f"cannot be read: {error.strerror or error}", where=self.name
            ) from error

    def text(self, expected: str) -> str:
        """The whole text of a plain or packed file. Raises DataError for one too long to be what is `expected`."""
        content = bytearray()
        with closing(self.blocks(SILENT)) as blocks:
            for block in blocks:
                content += block
                if len(content) > _LARGEST_LIST:
                    message = f"takes more than {_LARGEST_LIST >> 20} MB"
                    raise DataError(message, where=self.name, hint=f"is it {expected}?")
        return decode(strip_mark(bytes(content)))


def printable_path(path: str) -> str:
    """A path as printable text: bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


def _size_of(path: Path, kind: str) -> int | None:
    """Size of a regular file, None for pipes and the like; the command remembers the file as an input."""
    where = printable_path(str(path))
    try:
        if path.is_dir():
            raise DataError(
                "is a directory", where=where, hint=f"name the files in it: {path}/*.pgn"
            )
        status = check_special(path)
        remember_input(status, where, kind)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=where) from error
    return status.st_size if path.is_file() else None


def _missing(path: Path) -> DataError:
    """The error for a file that does not exist, with the most similar name in its folder as a hint."""
    address = _ADDRESS.match(str(path))
    if address:
        url = printable_path(f"{address[1]}://{address[2]}")
        return DataError(
            "is an address, not a file", where=url, hint=f"download it first: curl -LO {url}"
        )
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    similar = nearest(path.name, [name for name in names if not name.startswith(".")])
    hint = f"did you mean {str(path.parent / similar)!r}?" if similar else None
    return DataError("there is no such file", where=printable_path(str(path)), hint=hint)
