"""Commands run in this process, with what they print."""

from collections.abc import Callable
from typing import NamedTuple


class Printed(NamedTuple):
    """Standard output and standard error."""

    out: str
    err: str


Ran = Callable[..., Printed]  # a command, as a line or as words, and its exit code (0)
