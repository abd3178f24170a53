"""Write docs/cli.md and the man pages (`make_man.py`) from the help of the commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ttt_cli.cli.main import COMMANDS, group

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 80
HEAD = """\
# Commands

For users at the command line: exit codes, then the `--help` of every command, as `docs/make_cli.py` wrote it.

Results go to standard output, messages to standard error. `-` is standard input or output. Commands that read a run
use `-r RUN`, else `$TTT_RUN`, else the most recent `*.ttt` in the current folder (of your own). The default format is a
table on a terminal and TSV elsewhere, or follows the file name. `NO_COLOR` turns colours off, `COLUMNS` sets the width
of tables.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | unexpected failure (`-v` or `TTT_DEBUG=1` shows where) |
| 2 | usage, config, an unknown or ambiguous name, an unusable run |
| 3 | unreadable input, or none left |
| 4 | written, but not converged; `ttt compare`: some systems failed |
| 130 | interrupted |
| 141 | the reader of a pipe closed it |
"""


def page() -> str:
    """The page as it should be."""
    shown = (
        _section(path, command.get_help(context), max(2, len(path.split())))
        for path, command, context in commands()
    )
    return "\n".join([HEAD, *shown])


def commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    """All commands by what is typed, each with its context."""
    context = _context(group, "ttt")
    yield "ttt", group, context
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield from _from(command, f"ttt {name}", context)


def _from(
    command: click.Command, path: str, parent: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """A command and those below it."""
    context = _context(command, path.rpartition(" ")[2], parent)
    yield path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _from(below, f"{path} {name}", context)


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    command._help_option = None  # click keeps that of whoever asked first, perhaps without -h
    settings = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.make_context(name, [], parent=parent, resilient_parsing=True, **settings)


def _section(path: str, text: str, level: int) -> str:
    return f"{'#' * level} {path}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    from make_man import write

    PAGE.write_text(page(), encoding="utf-8")
    write()
