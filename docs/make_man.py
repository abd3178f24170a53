"""The man pages in docs/man, from the help and the examples of the commands; the wheel installs them.

`make_cli.py` writes them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from make_cli import commands

from ttt_cli import __version__
from ttt_cli.cli.main import COMMANDS, group
from ttt_cli.cli.usage import examples_of

Entry = tuple[str, str]  # a term and what it is
FOLDER = Path(__file__).with_name("man")


def write() -> None:
    """Put them where they belong, and take away those of commands that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.1"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The pages as they should be, by their names."""
    found = {}
    for path, command, context in commands():
        name = path.replace(" ", "-")
        found[f"{name}.1"] = "\n".join(_page(name, path, command, context)) + "\n"
    return found


def _page(name: str, path: str, command: click.Command, context: click.Context) -> Iterator[str]:
    text = inspect.cleandoc(command.help or "")
    below = path.removeprefix("ttt").strip()
    summary = COMMANDS.get(below) or " ".join(text.partition("\n\n")[0].split())
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f'.TH "{name.upper()}" "1" "" "ttt {__version__}" "ttt"', ".ad l")
    yield from (".SH NAME", rf"{_text(name)} \- {_text(summary)}")
    yield from (".SH SYNOPSIS", rf"\fB{_text(path)}\fR {_text(usage)}")
    yield from (".SH DESCRIPTION", *_paragraphs(text))
    yield from _listed("OPTIONS", _options(command, context))
    if command is group:
        yield from _listed(
            "COMMANDS", [(f"ttt-{name}(1)", text) for name, text in COMMANDS.items()]
        )
    yield from _listed("EXAMPLES", examples_of(below))
    if command is group:
        yield from (".SH EXIT STATUS", _text(" ".join((group.epilog or "").split())))
    else:
        yield from (".SH SEE ALSO", r"\fBttt\fR(1)")


def _options(command: click.Command, context: click.Context) -> list[Entry]:
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    return [record for one in options if (record := one.get_help_record(context))]


def _listed(title: str, entries: Sequence[Entry]) -> Iterator[str]:
    if entries:
        yield f".SH {title}"
    for term, text in entries:
        yield from (".TP", rf"\fB{_text(term)}\fR", _text(" ".join(text.split())))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs filled, but for those that are indented: command lines as they are typed."""
    for paragraph in text.strip("\n").split("\n\n"):
        if paragraph.startswith("    "):
            yield from (
                ".PP",
                ".EX",
                *(f"    {_text(line.strip())}" for line in paragraph.splitlines()),
                ".EE",
            )
        elif paragraph.strip():
            yield from (".PP", _text(" ".join(paragraph.split())))


def _text(text: str) -> str:
    """Text as troff takes it, with what stands between backticks in bold."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    marked = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", escaped)
    return rf"\&{marked}" if marked.startswith((".", "\\(aq")) else marked
