"""Only regular files, pipes and standard streams are opened; what is read is remembered."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ttt_cli.cli.main import run as ttt
from ttt_cli.support import opening
from ttt_cli.support.errors import OutputError
from ttt_cli.support.opening import (
    check_special,
    command_files,
    open_input,
    open_stream,
    remember_output,
)

GAMES = "date,white,black,result\n1900-01-01,Lasker,Steinitz,1-0\n1901-01-01,Lasker,Steinitz,0-1\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="devices and descriptors of Linux")
posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with a run, games and a pipe that nobody opens; pipes are not waited for."""
    monkeypatch.setattr(opening, "PIPE_LIMIT", 0.0)
    (here / "games.csv").write_text(GAMES, encoding="utf-8")
    os.mkfifo(here / "pipe")
    return here


@contextmanager
def other_end(path: Path, code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that opens a pipe as `pipe` and runs `code`."""
    command = [sys.executable, "-c", f"import sys; {code}", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process
        process.communicate()


def test_regular_files_folders_and_the_null_device_pass(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for path in (tmp_path / "a", tmp_path, os.devnull):
        check_special(path)
    with pytest.raises(FileNotFoundError):
        check_special(tmp_path / "nothing")


@linux
@pytest.mark.parametrize(
    "path",
    [
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/proc/kmsg",
        "/proc/self/mem",
        "/proc/self/environ",
        "/sys/kernel/notes",
    ],
)
def test_devices_and_files_of_the_system_do_not(path: str) -> None:
    if not Path(path).exists():
        pytest.skip(f"there is no {path}")
    with pytest.raises(OSError, match=r"is a (device|file of the system)") as refused:
        check_special(path)
    assert refused.value.errno == errno.ENOTSUP


@linux
def test_a_socket_does_not(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError, match="is a socket"):
            check_special(tmp_path / "socket")


@linux
def test_a_descriptor_of_a_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("content")
    with (tmp_path / "a").open() as file:
        for name in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            with command_files(), open_input(name, "games") as opened:
                assert opened.read() == b"content"
                with pytest.raises(OutputError, match="this command reads it"):
                    remember_output(str(tmp_path / "a"))


@posix
def test_a_pipe_between_processes_is_read_without_a_limit(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"content")
    os.close(writing)
    with open_input(f"/dev/fd/{reading}", "games") as opened:
        assert opened.read() == b"content"
    os.close(reading)


@posix
def test_a_named_pipe_is_read_if_another_process_writes_to_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = tmp_path / "pipe"
    with (
        other_end(pipe, "open(sys.argv[1], 'w').write('content')"),
        open_input(pipe, "games") as opened,
    ):
        assert opened.read() == b"content"


@posix
def test_a_silent_writer_is_waited_for_and_a_missing_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PIPE_LIMIT", 0.0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a pipe that nobody wrote to for 0 seconds"):
        open_input(tmp_path / "pipe", "games")
    holding = (
        "import os; pipe = os.open(sys.argv[1], os.O_RDWR); print('open', flush=True); "
        "sys.stdin.read(1); os.write(pipe, b'content')"
    )
    with other_end(tmp_path / "pipe", holding) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with open_input(tmp_path / "pipe", "games") as opened:
            assert writer.stdin is not None
            writer.stdin.write(b"\n")
            writer.stdin.flush()
            assert opened.read() == b"content"


@posix
def test_a_named_pipe_is_written_if_another_process_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with other_end(tmp_path / "pipe", "print(open(sys.argv[1]).read())") as reader:
        with open_stream(tmp_path / "pipe") as opened:
            opened.write(b"content")
        assert reader.communicate()[0] == b"content\n"
    monkeypatch.setattr(opening, "PIPE_LIMIT", 0.0)
    with pytest.raises(OSError, match="is a pipe that nobody read for 0 seconds"):
        open_stream(tmp_path / "pipe")


SPECIAL = ("pipe", "/dev/zero", "/proc/kmsg", "/proc/self/mem", "/dev/fd/99", "/proc/self/fd/99")
READING = (
    "games {}",
    "games games.csv --aliases {}",
    "games games.csv -s data.aliases={}",
    "games games.csv -c {}",
    "fit {} -o b",
    "fit games.csv -o b -c {}",
    "fit games.csv -o b --start {}",
    "update {} games.csv",
    "update a.ttt {}",
    "update a.ttt games.csv -s data.aliases={}",
    "names {} --sure -o new.csv",
    "top -r {}",
    "plot Morphy --with {} -o b.svg",
    "plot Morphy --beside {} -o b.svg",
    "report b.html --beside {}",
    "compare elo --games {}",
    "compare {}",
    "config check {}",
    "simulate -c {} -o b.csv",
)  # fmt: skip
WRITING = (
    "fit games.csv -o {}",
    "update a.ttt games.csv -o {}",
    "games games.csv --list -f csv -o {}",
    "games games.csv --suggest {}",
    "names games.csv --sure -o {}",
    "top -f csv -o {}",
    "export skills -f parquet -o {}",
    "plot Morphy -f svg -o {}",
    "report -o {}",
    "tune beta -o {}",
    "simulate --games 20 --players 5 -o {}",
    "simulate --games 20 --players 5 -o b.csv --truth {}",
)  # fmt: skip


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


@linux
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("command", [*READING, *WRITING])
def test_every_command_refuses_special_files_wherever_they_are_named(
    command: str, special: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _files(folder)
    assert ttt(command.format(special).split()) in {2, 3}
    assert special in capsys.readouterr().err
    if special != "pipe" or command in READING:  # to a pipe, others are written first
        assert _files(folder) == before


@linux
def test_a_run_that_names_a_pipe_as_its_alias_file_is_updated_or_refused_but_never_waited_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "aliases.csv").write_text("Lasker,Emanuel Lasker\n")
    assert ttt(["fit", "games.csv", "-c", "elo", "--aliases", "aliases.csv", "-o", "b", "-q"]) == 0
    (folder / "aliases.csv").unlink()
    os.mkfifo(folder / "aliases.csv")
    (folder / "more.csv").write_text(GAMES.replace("190", "191"))
    assert ttt(["update", "b", "more.csv"]) == 3
    assert "aliases.csv: cannot be read: is a pipe that nobody wrote to" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals of POSIX")
def test_a_terminal_is_read_as_a_standard_stream_only() -> None:
    controller, terminal = os.openpty()
    stdin = os.dup(0)
    try:
        name = os.ttyname(terminal)
        with pytest.raises(OSError, match="is a device"):
            check_special(name)
        os.dup2(terminal, 0)
        assert stat.S_ISCHR(check_special(name).st_mode)
    finally:
        os.dup2(stdin, 0)
        for descriptor in (controller, terminal, stdin):
            os.close(descriptor)
