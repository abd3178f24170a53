"""Storage of large arrays: in memory, or in memory-mapped files."""

import mmap
import os
import pickle
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet, finalize

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.errors import SetupError
from ttt_cli.support.replacing import temporary_folder, working_folder

T = TypeVar("T")
_ROWS_AT_ONCE: Final = 1 << 19  # of arrays in files, before they are released


class ArrayStorage:
    """Arrays in memory. `rows`: number of rows of arrays to process before they are released; None: all."""

    rows: int | None = None

    def zeros(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:  # noqa: ARG002
        """An array of zeros with a unique name."""
        return np.zeros(shape, dtype)

    def store(self, name: str, array: NDArray[Any]) -> "NDArray[Any] | StoredArray":  # noqa: ARG002
        """Store an array that is later read in slices."""
        return array

    def release(self) -> None:
        """Release memory of arrays in files."""

    def parts(self, count: int) -> Iterator[slice]:
        """Yield slices of rows; each is released before the next."""
        for start in range(0, count, self.rows or max(count, 1)):
            yield slice(start, min(start + (self.rows or count), count))
            self.release()


MEMORY: Final = ArrayStorage()


class StoredArray:
    """An array in its own file, removed with this object."""

    def __init__(self, file: Path, array: NDArray[Any]) -> None:
        self._file = file
        self._length = len(array)
        finalize(self, file.unlink, missing_ok=True)
        np.save(file, array)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        part: NDArray[Any] = np.array(np.load(self._file, mmap_mode="r")[rows])
        return part


class ArrayFiles(ArrayStorage):
    """Arrays in files of a folder, initially zero; a file exists as long as its array."""

    def __init__(self, folder: Path, rows: int | None = None) -> None:
        self.rows = rows or _ROWS_AT_ONCE
        self.folder = folder
        self._files: WeakSet[mmap.mmap] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayFiles, (self.folder, self.rows)

    @property
    def size(self) -> int:
        """Bytes of all arrays in use."""
        return sum(len(file) for file in self._files)

    def zeros(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Zeros in a file of that name. Raises SetupError when the disk is full."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if not size:
            return np.zeros(shape, dtype)
        path = self.folder / name
        for file in self._files:
            if _origins.get(file) == (self, name):  # an array of that name may still be in use
                del _origins[file]
        try:
            path.unlink(missing_ok=True)
            with path.open("wb+") as opened:
                if hasattr(
                    os, "posix_fallocate"
                ):  # without the space, a full disk would kill the process
                    os.posix_fallocate(opened.fileno(), 0, size)
                else:
                    os.truncate(opened.fileno(), size)
                mapped = mmap.mmap(opened.fileno(), size)
        except OSError as error:
            raise no_space(self.folder, error) from error
        self._add(mapped, name)
        return np.ndarray(shape, dtype, mapped)

    def store(self, name: str, array: NDArray[Any]) -> NDArray[Any] | StoredArray:
        """Store the array in an unmapped file, unless all entries are equal. Raises SetupError without space."""
        if not any(array.strides):
            return array
        try:
            return StoredArray(self.folder / f"{name}.npy", array)
        except OSError as error:
            raise no_space(self.folder, error) from error

    def map_file(self, name: str, writable: bool, *layout: Any) -> NDArray[Any]:
        """Map the file of another process's array; `layout`: dtype, shape, offset, strides."""
        dtype, shape, offset, strides = layout
        with (self.folder / name).open("rb+" if writable else "rb") as file:
            mapped = mmap.mmap(
                file.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
            )
        self._add(mapped, name)
        return np.ndarray(shape, dtype, mapped, offset, strides)

    def _add(self, file: mmap.mmap, name: str) -> None:
        self._files.add(file)
        _origins[file] = self, name

    def release(self) -> None:
        """Release the memory; the system writes changes to the files."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for file in self._files:
                file.madvise(mmap.MADV_DONTNEED)


# The storage and the name of the array in each mapped file
_origins: Final[WeakKeyDictionary[mmap.mmap, tuple[ArrayFiles, str]]] = WeakKeyDictionary()


class Shared(Generic[T]):
    """Pickle an object for another process, passing memory-mapped arrays by path."""

    def __init__(self, what: T) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        content = BytesIO()
        _ByPath(content, pickle.HIGHEST_PROTOCOL).dump(self.what)
        return _unpacked, (content.getvalue(),)


def _unpacked(content: bytes) -> Shared[Any]:
    return Shared(pickle.loads(content))


class _ByPath(pickle.Pickler):
    """Pickle arrays in files by path; arrays of equal entries as one number."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return NotImplemented
        if value.size and not any(value.strides):
            return np.broadcast_to, (value.flat[0], value.shape)
        file: Any = value
        while isinstance(file, np.ndarray):
            file = file.base
        if not isinstance(file, mmap.mmap) or file not in _origins:
            return NotImplemented
        storage, name = _origins[file]
        offset = value.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data
        layout = value.dtype, value.shape, offset, value.strides
        return ArrayFiles.map_file, (storage, name, value.flags.writeable, *layout)


@contextmanager
def folder_of_files(scratch: Path | None, name: str) -> Iterator[Path]:
    """Yield a private folder in `scratch`, or a temporary one; removed after the block. Raises SetupError."""
    with ExitStack() as stack:
        try:
            if scratch is None:
                folder = stack.enter_context(temporary_folder(name))
            else:
                scratch.absolute().mkdir(mode=0o700, parents=True, exist_ok=True)
                folder = stack.enter_context(working_folder(scratch.absolute() / name))
        except OSError as error:
            raise no_space(scratch or Path(gettempdir()), error) from error
        yield folder


def no_space(folder: Path, error: OSError) -> SetupError:
    """The error for a full folder."""
    return SetupError(
        f"what does not fit into memory cannot be stored in {folder}: {error.strerror}",
        hint="--scratch FOLDER puts it elsewhere",
    )
