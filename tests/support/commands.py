"""Commands run in this process, with what they print."""

import csv
import io
from collections.abc import Callable
from typing import NamedTuple


class Printed(NamedTuple):
    """Standard output and standard error."""

    out: str
    err: str


Ran = Callable[..., Printed]  # a command, as a line or as words, and its exit code (0)


def rows(text: str) -> list[dict[str, str]]:
    """The rows of a table in a pipe."""
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


class Terminal(io.StringIO):
    """A terminal that keeps what was shown."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True
