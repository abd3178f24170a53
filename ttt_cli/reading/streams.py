"""Inputs as blocks of bytes: opened by name or given, unpacked by their first bytes, counted and digested."""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from ttt_cli.errors import DataError, nearest
from ttt_cli.files import refuse_device
from ttt_cli.progress import Bar
from ttt_cli.reading.unpacking import UNPACKERS, Expansion, Unpacker, errors, refuse_large, unpacked

STDIN: Final = "<stdin>"
_ADDRESS: Final = re.compile("(https?|ftp):/+(.+)")
_PIECE: Final = 1 << 18  # bytes read at a time
_LONGEST_MAGIC: Final = max(map(len, UNPACKERS))


class DamagedInputError(DataError):
    """Compressed data that end too early or make no sense; what came before has been handed over."""


class Input:
    """One file, stream or standard input (`-`), read once; `size` as stored, if known, `count` read so far, in bytes.

    Raises DataError when a file is not there or cannot be opened.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, name: str | None = None) -> None:
        self.size: int | None = None
        self.count = 0
        self._digest = hashlib.sha256()
        if isinstance(source, str | os.PathLike):
            self._path: Path | None = Path(os.fspath(source))
            self.name = shown(os.fspath(source))
            if self.name == "-":
                self.name, self._path = STDIN, None
                self._handle = sys.stdin.buffer
            else:
                self.size = _size_of(self._path)
        else:
            self.name = str(getattr(source, "name", "<stream>"))
            self._path = None
            self._handle = source
        self.name = name or self.name

    @property
    def whole(self) -> Path | BinaryIO | None:
        """What gives random access to the bytes as stored; None when they can be read only once."""
        return self._path or (self._handle if self._handle.seekable() else None)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes read so far, hexadecimal."""
        return self._digest.hexdigest()

    def blocks(self, bar: Bar) -> Generator[bytes, None, None]:
        """The content, unpacked, in blocks that are never empty.

        Raises DataError when reading fails, DamagedInputError when compressed data are damaged or cut short.
        """
        with closing(self._stored(bar)) as pieces:
            first = next(pieces, b"")
            while first and len(first) < _LONGEST_MAGIC and (more := next(pieces, b"")):
                first += more
            unpacker = next((make for magic, make in UNPACKERS.items() if first.startswith(magic)), None)
            if unpacker is None:
                if first:
                    yield first
                yield from pieces
            else:
                yield from _unpacked(self.name, first, pieces, unpacker)

    def _stored(self, bar: Bar) -> Generator[bytes, None, None]:
        try:
            if self._path is not None:
                self._handle = self._path.open("rb")
            try:
                while piece := self._handle.read(_PIECE):
                    self.count += len(piece)
                    self._digest.update(piece)
                    bar.advance(len(piece), Path(self.name).name)
                    yield piece
            finally:
                if self._path is not None:
                    self._handle.close()
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", where=self.name) from error


def shown(path: str) -> str:
    """A path as text that can be written anywhere: bytes that are not UTF-8 are escaped."""
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
        siblings = [name for name in there if not name.startswith(".")]
        near = nearest(path.name, siblings)
        hint = f"did you mean {str(path.parent / near)!r}?" if near else None
        raise DataError("there is no such file", where=shown(str(path)), hint=hint) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", where=shown(str(path))) from error
    return status.st_size if path.is_file() else None


def _unpacked(
    name: str, first: bytes, pieces: Iterator[bytes], make: Callable[[], Unpacker]
) -> Iterator[bytes]:
    try:
        yield from unpacked(chain([first], pieces), make, Expansion(name))
    except EOFError as error:
        hint = "the file was cut short: fetch or pack it again"
        raise DamagedInputError("compressed data end too early", where=name, hint=hint) from error
    except errors() as error:
        refuse_large(error, name)
        hint = "the file is damaged: fetch or pack it again"
        raise DamagedInputError(f"compressed data are damaged ({error})", where=name, hint=hint) from error
