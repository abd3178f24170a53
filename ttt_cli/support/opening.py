"""Opens the files that users name: regular files, pipes and standard streams only; remembers what a command reads.

Devices and files of /proc and /sys are refused, since reading them may never end. A file that a command reads is no
output of it, in whatever way either is named: files are compared by device and inode.
"""

import errno
import os
import select
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ttt_cli.support.errors import OutputError

PIPE_LIMIT = 10.0  # seconds in which another process must open the other end of a named pipe
# Windows has no named pipes in folders, so it needs no such flag.
_NONBLOCKING: Final = os.O_NONBLOCK if hasattr(os, "O_NONBLOCK") else 0
_POLL: Final = 0.05  # seconds between two tries to open a pipe for writing
_SYSTEM_FOLDERS: Final = ("/proc", "/sys")
_BINARY: Final = getattr(os, "O_BINARY", 0)
STANDARD_OUTPUT: Final = "standard output"


class FileId(NamedTuple):
    """A file whatever its names: the device that it is on, and its inode."""

    device: int
    inode: int


def file_id(status: os.stat_result) -> FileId | None:
    """Identity of a regular file; None for other files and on file systems without inodes."""
    if not stat.S_ISREG(status.st_mode) or not status.st_ino:
        return None
    return FileId(status.st_dev, status.st_ino)


@dataclass(frozen=True)
class _Output:
    """An output of the command: its name, and the kind of input that it `continues`.

    An input of this kind may be the same file, since the output keeps its lines: `ttt names` continues aliases.
    """

    name: str
    continues: str

    def refused(self, input_name: str) -> OutputError:
        """The error for an output that the command reads."""
        if self.name == STANDARD_OUTPUT:
            message = f"standard output goes to {input_name}, which this command reads"
            return OutputError(message, hint="redirect it to another file")
        message = f"{self.name} cannot be written: this command reads it"
        return OutputError(message, hint="name another file for the output")


@dataclass(eq=False)
class _CommandFiles:
    """Files that one command reads, by kind (`games`, `aliases`, `config`), and files that it is going to write."""

    # names of inputs by their kinds
    inputs: dict[FileId, dict[str, str]] = field(default_factory=dict)
    outputs: dict[FileId, _Output] = field(default_factory=dict)


_running: list[_CommandFiles] = []  # of the commands under way, the innermost last


@contextmanager
def command_files() -> Iterator[None]:
    """Remember files that are read and written inside the block, and refuse outputs that are read."""
    files = _CommandFiles()
    _running.append(files)
    try:
        standard_output = _stream_id(1)
        if standard_output is not None:
            files.outputs[standard_output] = _Output(STANDARD_OUTPUT, continues="")
        yield
    finally:
        _running.remove(files)


def remember_input(status: os.stat_result, name: str, kind: str) -> None:
    """Remember a file that the command reads. Raises OutputError if it is an output of the command."""
    identity = file_id(status)
    if not _running or identity is None:
        return
    files = _running[-1]
    output = files.outputs.get(identity)
    if output is not None and output.continues != kind:
        raise output.refused(name)
    files.inputs.setdefault(identity, {})[kind] = name


def remember_output(name: str, continues: str = "") -> None:
    """Remember a file that the command is going to write, if it exists. Raises OutputError if the command reads it."""
    if not _running:
        return
    try:
        identity = file_id(Path(name).stat())
    except OSError:
        return
    if identity is None:
        return
    files = _running[-1]
    output = _Output(name, continues)
    for kind, input_name in files.inputs.get(identity, {}).items():
        if kind != continues:
            raise output.refused(input_name)
    files.outputs[identity] = output


def check_special(path: str | os.PathLike[str]) -> os.stat_result:
    """Status of a regular file, a folder, a pipe, a standard stream or the null device; OSError for other files."""
    status = Path(path).stat()
    mode = status.st_mode
    if stat.S_ISREG(mode) and in_system_folder(path):
        raise OSError(
            errno.ENOTSUP, "is a file of the system, neither a regular file nor a pipe", str(path)
        )
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_stream(status)):
        raise OSError(errno.ENOTSUP, "is a device", str(path))
    if stat.S_ISSOCK(mode):
        raise OSError(errno.ENOTSUP, "is a socket", str(path))
    return status


def in_system_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads into /proc or /sys. Descriptors of regular files lead to the files themselves."""
    folders = Path(os.path.realpath(path)).parents
    return any(Path(folder) in folders for folder in _SYSTEM_FOLDERS)


def _is_stream(device: os.stat_result) -> bool:
    """Whether a character device is the null device or a standard stream of this process."""
    if device.st_rdev == Path(os.devnull).stat().st_rdev:
        return True
    for descriptor in (0, 1, 2):
        try:
            if os.path.samestat(os.fstat(descriptor), device):
                return True
        except OSError:  # closed
            continue
    return False


def _stream_id(descriptor: int) -> FileId | None:
    try:
        return file_id(os.fstat(descriptor))
    except OSError:  # closed
        return None


def open_input(path: str | os.PathLike[str], kind: str) -> BinaryIO:
    """Open a file to read, and remember it as an input of the command. Raises OSError, OutputError."""
    status = check_special(path)
    if stat.S_ISFIFO(status.st_mode) and _has_name(path):
        descriptor = _open_pipe_to_read(path)
    else:
        descriptor = os.open(path, os.O_RDONLY | _BINARY)
    file = os.fdopen(descriptor, "rb")
    try:
        remember_input(os.fstat(descriptor), os.fspath(path), kind)
    except BaseException:
        file.close()
        raise
    return file


def remember_stream(stream: BinaryIO, name: str, kind: str) -> None:
    """Remember the file that a stream reads, for instance standard input, if it is one. Raises OutputError."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):  # not of the operating system
        return
    remember_input(status, name, kind)


def open_stream(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a pipe, a standard stream or the null device to write. Raises OSError."""
    status = check_special(path)
    if stat.S_ISFIFO(status.st_mode) and _has_name(path):
        descriptor = _open_pipe_to_write(path)
    else:
        descriptor = os.open(path, os.O_WRONLY | _BINARY)
    return os.fdopen(descriptor, "wb")


def _has_name(pipe: str | os.PathLike[str]) -> bool:
    """Whether a pipe is in a folder, unlike those between processes (/dev/fd/63)."""
    return Path(os.path.realpath(pipe)).exists()


def _open_pipe_to_read(path: str | os.PathLike[str]) -> int:
    descriptor = os.open(path, os.O_RDONLY | _NONBLOCKING)
    try:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        has_bytes_or_end = bool(waiting.poll(1000 * PIPE_LIMIT))
        if not has_bytes_or_end and not _has_writer(
            descriptor
        ):  # a writer may take longer to its first byte
            raise OSError(
                errno.ENXIO, f"is a pipe that nobody wrote to for {PIPE_LIMIT:g} seconds", str(path)
            )
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _has_writer(descriptor: int) -> bool:
    """Whether an empty pipe is open for writing."""
    try:
        os.read(descriptor, 1)  # nothing: there is no writer
    except BlockingIOError:
        return True
    return False


def _open_pipe_to_write(path: str | os.PathLike[str]) -> int:
    end = time.monotonic() + PIPE_LIMIT
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | _NONBLOCKING)
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        if time.monotonic() >= end:
            raise OSError(
                errno.ENXIO, f"is a pipe that nobody read for {PIPE_LIMIT:g} seconds", str(path)
            )
        time.sleep(_POLL)
    os.set_blocking(descriptor, True)
    return descriptor
