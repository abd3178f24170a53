"""Every help text ends with examples, and each of them is a command line that is understood."""

import re
import shlex

import click

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli.cli import main
from ttt_cli.cli.usage import EXAMPLES, examples_of

CONTEXT = click.Context(main.group, info_name="ttt", **main.group.context_settings)
PATHS = (*main.COMMANDS, "config show", "config check", "config schema")
TYPED = [(path, typed) for path in PATHS for typed, _ in examples_of(path)]


@each("name", main.COMMANDS)
def test_every_help_ends_with_examples(name: str, ran: Ran) -> None:
    shown = ran([name, "--help"]).out.partition("\nExamples:\n")[2]
    expected = [line for typed, does in examples_of(name) for line in (f"  {typed}", f"      {does}")]
    assert shown.splitlines() == expected
    assert expected


def test_so_do_those_of_commands_below(ran: Ran) -> None:
    assert "  ttt config check *.yaml\n" in ran("config check --help").out


def test_every_example_is_of_a_command() -> None:
    assert {typed for _, typed in TYPED} == {line.split("  # ")[0] for line in EXAMPLES.strip().splitlines()}


@each("path, typed", TYPED)
def test_each_is_understood(path: str, typed: str) -> None:
    """Its options exist, and their values are of the right kind."""
    lines = [
        part for part in re.split(r"\||&&|>.*", typed.removeprefix('eval "$(').removesuffix(')"')) if part
    ]
    assert any(line.split()[: 1 + len(path.split())] == ["ttt", *path.split()] for line in lines)
    for line in lines:
        ttt, name, *words = shlex.split(line)
        assert ttt == "ttt"
        command = main.group.get_command(CONTEXT, name)
        assert command is not None
        while isinstance(command, click.Group):
            name, *words = words
            command = command.commands[name]
        command.make_context(name, words, parent=CONTEXT)
