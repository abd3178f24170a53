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

Written by `python docs/make_cli.py` from the commands' own help.

Data goes to standard output, everything else to standard error. `-` is standard input or output. A command that asks
a run takes `-r RUN`, else `$TTT_RUN`, else the `*.ttt` in the current folder that was fitted last, unless
another user put it there; which one answers is said unless `-r` names it. `-f` chooses `table`, `csv`, `tsv`, `json`,
`jsonl` or `parquet`; the default is a table on a terminal and TSV in a pipe or a file, or what the file's name says.
`NO_COLOR` turns colours off, `COLUMNS` sets the width of tables.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | unexpected failure (`-v`, or `TTT_DEBUG=1`, shows where) |
| 2 | usage, config, a name that is not there or not unique, a run that cannot be used |
| 3 | input data that cannot be read or yields nothing |
| 4 | written, but not converged; of `ttt compare` also: without the systems that were lost |
| 130 | interrupted |
| 141 | the reader of a pipe went away |
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


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    command._help_option = None  # click keeps that of whoever asked first, perhaps without -h
    settings = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    return command.make_context(name, [], parent=parent, resilient_parsing=True, **settings)


def _section(path: str, text: str, level: int) -> str:
    return f"{'#' * level} {path}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    from make_man import write

    PAGE.write_text(page(), encoding="utf-8")
    write()
