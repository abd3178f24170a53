"""How the command leaves the process."""

import atexit
import os
import subprocess
import sys

import pytest

from ttt_cli import __main__
from ttt_cli.cli import main


@pytest.mark.parametrize(("code", "ends"), [(0, 1), (2, 1), (4, 1), (141, 1), (129, 0), (130, 0), (143, 0)])
def test_it_leaves_at_once_with_its_code(
    code: int, ends: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What others left to be done at the end is done, but not after a signal: compiled code that still runs in a
    thread while Python and its libraries are taken down ends in a segmentation fault."""
    done: list[object] = []
    monkeypatch.setattr(main, "run", lambda: code)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: done.append("ends"))
    monkeypatch.setattr(os, "_exit", done.append)
    __main__.main()
    assert done == [*["ends"] * ends, code]


def test_nothing_that_was_written_is_lost() -> None:
    """Neither by it nor by what is done at the end."""
    script = "import atexit; from ttt_cli.__main__ import main; atexit.register(print, 'end'); main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1:] == ["end"]
