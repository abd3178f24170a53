"""Where large arrays live: in memory, or in files that are mapped into it while they are looked at."""

import mmap
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import SetupError
from ttt_cli.files import workplace

T = TypeVar("T")
AT_ONCE: Final = 1 << 19  # rows of arrays in files that are looked at before they are let go


class Room:
    """Memory. `rows`: how many rows of arrays are to be looked at before they are let go; None: all."""

    rows: int | None = None

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:  # noqa: ARG002
        """An array to be filled, which has a name of its own."""
        return np.empty(shape, dtype)

    def let_go(self) -> None:
        """Take no memory for what nobody looks at."""

    def parts(self, count: int) -> Iterator[slice]:
        """So many rows in parts, one after the other; each is let go when the next is asked for."""
        for start in range(0, count, self.rows or max(count, 1)):
            yield slice(start, min(start + (self.rows or count), count))
            self.let_go()


MEMORY: Final = Room()


class FileRoom(Room):
    """Files of a folder. Their arrays are zero at first, and stay as long as anything refers to them."""

    def __init__(self, folder: Path, rows: int | None = None) -> None:
        self.rows, self.folder = rows or AT_ONCE, folder
        self._files: WeakSet[mmap.mmap] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        return FileRoom, (self.folder, self.rows)

    @property
    def size(self) -> int:
        """Bytes of all arrays that are in use."""
        return sum(map(len, self._files))

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Zeros in a file of that name. Raises SetupError when there is no room for it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if not size:
            return np.zeros(shape, dtype)
        place = self.folder / name
        for before in self._files:
            if _homes.get(before) == (self, name):  # an array of that name may still be in use
                del _homes[before]
        try:
            place.unlink(missing_ok=True)
            with place.open("wb+") as file:
                _reserve(file.fileno(), size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise no_room(self.folder, error) from error
        self._add(mapped, name)
        return np.ndarray(shape, dtype, mapped)

    def flush(self) -> None:
        """Have all on the disk."""
        for file in self._files:
            file.flush()

    def found(self, name: str, writable: bool, *layout: Any) -> NDArray[Any]:
        """An array that another process has in the file of that name; `layout`: dtype, shape, offset, strides."""
        dtype, shape, offset, strides = layout
        with (self.folder / name).open("rb+" if writable else "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
        self._add(mapped, name)
        return np.ndarray(shape, dtype, mapped, offset, strides)

    def _add(self, file: mmap.mmap, name: str) -> None:
        self._files.add(file)
        _homes[file] = self, name

    def let_go(self) -> None:
        """What was written, the system writes to the files when it likes to."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for file in self._files:
                file.madvise(mmap.MADV_DONTNEED)


_homes: Final[WeakKeyDictionary[mmap.mmap, tuple[FileRoom, str]]] = WeakKeyDictionary()


class Shared(Generic[T]):
    """Something for another process, which finds the arrays of it that lie in files where they are."""

    def __init__(self, what: T) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        content = BytesIO()
        _ByPlace(content, pickle.HIGHEST_PROTOCOL).dump(self.what)
        return _unpacked, (content.getvalue(),)


def _unpacked(content: bytes) -> Shared[Any]:
    return Shared(pickle.loads(content))


class _ByPlace(pickle.Pickler):
    """Arrays in files as their places, those of equal entries as one."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return NotImplemented
        if value.size and not any(value.strides):
            return np.broadcast_to, (value.flat[0], value.shape)
        file: Any = value
        while isinstance(file, np.ndarray):
            file = file.base
        if not isinstance(file, mmap.mmap) or file not in _homes:
            return NotImplemented
        room, name = _homes[file]
        offset = value.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data
        layout = value.dtype, value.shape, offset, value.strides
        return FileRoom.found, (room, name, value.flags.writeable, *layout)


@contextmanager
def folder_of_files(
    scratch: Path | None, name: str, keeps: Callable[[Path], bool] = lambda _: False
) -> Iterator[Path]:
    """A folder in `scratch`, emptied or taken again (`workplace`), or a temporary one. Raises SetupError."""
    with ExitStack() as stack:
        if scratch is None:
            temporary = TemporaryDirectory(prefix=f"ttt-{name}-", ignore_cleanup_errors=True)
            yield Path(stack.enter_context(temporary))
            return
        try:
            scratch.absolute().mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(workplace(scratch.absolute() / name, keeps))
        except OSError as error:
            raise no_room(scratch, error) from error
        yield folder


def no_room(folder: Path, error: OSError) -> SetupError:
    """The error for a folder that takes no more files."""
    return SetupError(
        f"what does not fit into memory cannot be stored in {folder}: {error.strerror}",
        hint="--scratch FOLDER puts it elsewhere",
    )


def _reserve(file: int, size: int) -> None:
    """Zeros that are sure to have room: a mapped file that finds none later would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)
