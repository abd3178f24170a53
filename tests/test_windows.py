"""What differs on Windows, as far as doubles tell: locks, signals, streams, what is written out, names."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import filelock  # noqa: F401 - before the platform is changed
import pytest

from ttt_cli.cli import streams
from ttt_cli.cli.streams import unwinding
from ttt_cli.kernels import compile as compiling
from ttt_cli.parallel import processes
from ttt_cli.support.replacing import replacing

ROOT = Path(__file__).parents[1]
POSIX_MODULES = {"fcntl", "pty", "termios", "tty", "pwd", "grp", "resource", "crypt", "syslog"}
POSIX_NAMES = {
    "os": {"fork", "geteuid", "getuid", "getpgid", "kill", "killpg", "chown", "mkfifo", "setsid", "O_CLOEXEC",
           "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "sched_getaffinity", "statvfs", "sysconf", "fchmod"},
    "signal": {"SIGHUP", "SIGKILL", "SIGALRM", "SIGPIPE", "SIGCHLD", "SIGUSR1", "alarm", "setitimer", "pause"},
}  # fmt: skip


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name, and no users."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "geteuid", raising=False)


def test_a_file_is_replaced_and_nothing_stays_beside_it(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    place, fsync = tmp_path / "a.txt", os.fsync

    def synchronised(descriptor: int) -> None:
        if not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_RDWR:
            raise OSError(errno.EBADF, "opened for reading only")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synchronised)
    place.write_text("old")
    with replacing(place) as temporary:
        temporary.write_text("new")
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


def test_a_users_folder_for_kernels_is_private_without_modes(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody, stat = 0o777, Path.lstat
    tmp_path.chmod(everybody)
    monkeypatch.setattr(
        Path,
        "lstat",
        lambda path: SimpleNamespace(
            st_uid=0, st_mode=stat(path).st_mode, st_ino=stat(path).st_ino
        ),
    )
    monkeypatch.setattr(compiling, "_HERE", tmp_path / "no" / "package")
    (tmp_path / "no").write_text("")  # nothing can be kept beside the code
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert compiling.cache_folder("k") == str(tmp_path / "cache" / "ttt" / "k")


@pytest.mark.parametrize("terminal", [False, True])
def test_pipes_and_files_get_what_they_get_elsewhere(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Raw(io.BytesIO):
        def isatty(self) -> bool:
            return terminal

    written = Raw()
    output = io.TextIOWrapper(written, encoding="cp1252", newline="\r\n", line_buffering=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdout", output)
    streams.prepare_streams()
    sys.stdout.write("Filip Đurić\n")
    output.flush()
    assert written.getvalue() == (
        b"Filip \\u0110uri\\u0107\r\n" if terminal else "Filip Đurić\n".encode()
    )


def test_signals_that_are_not_there_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    received: list[int] = []
    with pytest.raises(KeyboardInterrupt), unwinding(received):
        signal.raise_signal(signal.SIGINT)
    assert received == [signal.SIGINT]


def test_processes_are_begun_in_a_group_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **given: asked.update(given))
    processes._Process()
    assert asked["creationflags"] == 512


def test_what_windows_lacks_is_asked_for_only_where_it_is() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "ttt_cli").rglob("*.py")}
    modules = "|".join(POSIX_MODULES)
    assert not [
        file
        for file, text in texts.items()
        if re.search(rf"^(import|from) ({modules})\b", text, re.M)
    ]
    unguarded = [
        f"{file}: {module}.{name}"
        for file, text in texts.items()
        for module, names in POSIX_NAMES.items()
        for name in names
        if f"{module}.{name}" in text
        and re.search(rf"\b{module}\.{name}\b", text)
        and f'hasattr({module}, "{name}")' not in text
    ]
    assert not unguarded
