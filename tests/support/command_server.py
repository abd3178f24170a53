"""The command `ttt` without its start: a process that has the libraries loaded forks for every command.

`Server.folder` holds an executable `ttt` that hands its arguments, folder, environment and the three standard
streams over and ends with the command's exit code. All modules and the kernels of a fit are loaded before the fork,
and none has run anything.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import select
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from types import TracebackType
from typing import Final, Literal, NoReturn, Self

LIBRARIES: Final = (
    "duckdb", "numba", "numpy", "pandas", "pydantic", "rich.console", "rich.table", "ruamel.yaml",
    "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "tqdm", "vl_convert",
)  # fmt: skip
_CLIENT: Final = """\
#!{python} -IS
import _socket, marshal, os, sys  # `socket` takes as long to import as Python to start
line = _socket.socket(_socket.AF_UNIX)
line.connect({address!r})
request = marshal.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
line.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
line.sendall(request)
sys.exit(int(line.recv(8) or b"1"))
"""


class Server:
    """A running server, for a `with` statement; those of one folder are the same, and it ends with the last of them."""

    def __init__(self, folder: Path) -> None:
        import fcntl  # Windows has none

        self.folder, self._held = folder, folder / "held"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                self._hold = os.open(self._held, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads what is written there
                self._hold = self._begin()

    def _begin(self) -> int:
        """Start it; what holds it until it is closed, by whomsoever last."""
        address, client = self.folder / "socket", self.folder / "ttt"
        for left in (address, self._held):
            left.unlink(missing_ok=True)
        client.write_text(
            _CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8"
        )
        client.chmod(0o755)
        os.mkfifo(self._held)
        end = os.open(self._held, os.O_RDONLY | os.O_NONBLOCK)
        hold = os.open(self._held, os.O_WRONLY)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(address))
            listener.listen()
            numbers = listener.fileno(), end
            subprocess.run(
                [sys.executable, __file__, *map(str, numbers)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=numbers, check=True,
            )  # fmt: skip
        os.close(end)
        return hold

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._hold)


def serve(listener: socket.socket, held: int) -> None:
    """Fork for every connection, as long as somebody holds the other end of a pipe."""
    _load()
    while True:
        ready, _, _ = select.select([listener, held], [], [])
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if listener not in ready:
            return
        line, _ = listener.accept()
        with line:
            if os.fork() == 0:
                listener.close()
                os.close(held)
                _answer(line)


def _load() -> None:
    import ttt_cli
    from ttt_cli.kernels import warm

    for name in LIBRARIES:
        import_module(name)
    for module in walk_packages(ttt_cli.__path__, f"{ttt_cli.__name__}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name, kernels in (
        (name, kernels) for chain in warm.DEFAULT for name, kernels in chain.items()
    ):
        for kernel in kernels:
            getattr(import_module(f"ttt_cli.kernels.{name}"), kernel).compile()
    gc.collect()
    gc.freeze()


def _answer(line: socket.socket) -> None:
    """Run one command in a process of its own, send its exit code, and end."""
    length, streams, _, _ = socket.recv_fds(line, 8, 3)
    request = line.makefile("rb").read(int.from_bytes(length, "big"))
    child = os.fork()
    if child == 0:
        line.close()
        _run(*marshal.loads(request), streams=streams)
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with suppress(BrokenPipeError):
        line.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _run(
    args: list[str], folder: str, environment: dict[str, str], *, streams: list[int]
) -> NoReturn:
    """Become the command: its streams, folder, environment and arguments."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w")
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)
    sys.argv = ["ttt", *args]
    atexit._clear()  # of the server
    try:
        from ttt_cli.__main__ import main

        main()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _text(number: int, mode: Literal["r", "w"]) -> TextIOWrapper:
    stream = open(number, mode, encoding=os.environ.get("PYTHONIOENCODING", "utf-8"), closefd=False)  # noqa: SIM115
    stream.reconfigure(line_buffering=number == 2 or stream.isatty())
    return stream


def main() -> NoReturn:
    """Serve in a process that whoever began this one need not wait for."""
    if os.fork() == 0:
        serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    os._exit(0)  # with a word from DuckDB about each of its types otherwise


if __name__ == "__main__":
    main()
