"""Where large arrays live: in memory, or in files that are mapped into it while they are looked at."""

import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import SetupError
from ttt_cli.files import workplace

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

    def __init__(self, folder: Path, rows: int = AT_ONCE) -> None:
        self.rows, self._folder = rows, folder
        self._files: WeakSet[mmap.mmap] = WeakSet()

    @property
    def size(self) -> int:
        """Bytes of all arrays that are in use."""
        return sum(map(len, self._files))

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Zeros in a file of that name. Raises SetupError when there is no room for it."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if not size:
            return np.zeros(shape, dtype)
        place = self._folder / name
        try:
            place.unlink(missing_ok=True)  # an array of that name may still be in use
            with place.open("wb+") as file:
                _reserve(file.fileno(), size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise no_room(self._folder, error) from error
        self._files.add(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def let_go(self) -> None:
        """What was written, the system writes to the files when it likes to."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for file in self._files:
                file.madvise(mmap.MADV_DONTNEED)


@contextmanager
def folder_of_files(scratch: Path | None, name: str) -> Iterator[Path]:
    """A folder in `scratch`, or among temporary files, for as long as the block lasts.

    What processes that were killed left in `scratch` is removed. Raises SetupError when it cannot be made.
    """
    with ExitStack() as stack:
        if scratch is None:
            temporary = TemporaryDirectory(prefix=f"ttt-{name}-", ignore_cleanup_errors=True)
            yield Path(stack.enter_context(temporary))
            return
        try:
            scratch.absolute().mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(workplace(scratch.absolute() / name))
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
