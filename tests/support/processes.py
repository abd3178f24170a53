"""Processes of Python that hold a run until they are released."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def holding(script: str, place: str | Path) -> Iterator[Callable[[], object]]:
    """Another process runs `script` with the place as its argument, and ends when it is released, at the latest here.

    The script prints `held` and waits for a line.
    """
    command = [sys.executable, "-c", script, str(place)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield lambda: holder.communicate("\n")
        if holder.poll() is None:
            holder.communicate("\n")
