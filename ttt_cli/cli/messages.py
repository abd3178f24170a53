"""Messages on standard error, and the settings of a command that they depend on."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass, field
from typing import Final

from ttt_cli.cli.streams import discard_output, terminal_width

QUIET: Final = -1
NORMAL: Final = 0
VERBOSE: Final = 1


@dataclass
class Session:
    """The state of one command.

    `verbosity`: QUIET, NORMAL or VERBOSE. `run_line`: a line on the run until it is printed. `run_name`: its name, for
    error messages. `run_is_named`: whether the command names it. `safe_csv`: texts that spreadsheets would take for
    formulas are marked. `files_written`: outputs so far.
    """

    verbosity: int = NORMAL
    run_line: str = ""
    run_name: str = ""
    run_is_named: bool = True
    safe_csv: bool = False
    files_written: set[str] = field(default_factory=set)

    def reset(self) -> None:
        """Return to the defaults, before a command."""
        vars(self).update(vars(Session()))


session = Session()


def printable(text: str) -> str:
    """The text without control characters, which a terminal would obey; line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def say(*texts: str, level: int = NORMAL) -> None:
    """Print texts on standard error at this level of verbosity; on a terminal lines break between words."""
    if session.verbosity < level or not texts:
        return
    columns = terminal_width()
    try:
        for line in "\n".join([printable(text) for text in texts]).split("\n"):
            text = line
            if sys.stderr.isatty() and len(line) > columns:
                text = _wrapped(line, columns)
            print(text, file=sys.stderr)  # noqa: T201
    except OSError:
        discard_output(sys.stderr)


def _wrapped(line: str, columns: int) -> str:
    """The line broken between words, further lines indented by two."""
    indent = line[: len(line) - len(line.lstrip())]
    wrapper = textwrap.TextWrapper(
        columns,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return wrapper.fill(line)


def report_run() -> None:
    """Report which run is used, once."""
    if session.run_line:
        say(session.run_line)
    session.run_line = ""
