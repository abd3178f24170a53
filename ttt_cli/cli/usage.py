"""Hints for usage errors, the examples in every help text, and renamed options of the previous version."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from typing import Final

import click


def explained(
    error: click.ClickException, path: str, args: Sequence[str], commands: Sequence[str]
) -> tuple[str, str]:
    """What is wrong, and what to do instead; `path` is that of the command, `ttt top`."""
    message = error.format_message()
    more = f"`{path} --help` shows all options"
    command = path.removeprefix("ttt").strip()
    if found := misplaced(command, args, commands):
        return message, found
    if isinstance(error, click.NoSuchOption):
        found = next(_for_option(error, command, args, commands), None)
        return (error.message, found) if found else (message, more)  # without the guesses of click
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return message, more
    examples = " or ".join(f"`{typed}`" for typed, _ in examples_of(command)[:2])
    quotes = "put names of several words in quotes; " if command == "versus" else ""
    return message, f"{quotes}for instance {examples}; {more}" if examples else more


def misplaced(path: str, args: Sequence[str], commands: Sequence[str]) -> str | None:
    """A hint when an argument is a run, games, a period or a config that the command takes as an option."""
    from ttt_cli.runs.run import ENDING

    options = _options(path) if path in commands else set()
    for before, arg in pairwise(args):
        if before.startswith("-"):
            continue
        if path == "config show" and before == "show":
            return f"a config is named with -c: `ttt config show -c {arg}`"
        if path == "top" and arg[:1].isdigit():
            return f"the period of a ranking: --at {arg}"
        if "-r" in options and os.path.exists(arg):  # noqa: PTH110
            if arg.endswith(ENDING):
                return f"a run is named with -r {arg}"
            if path == "compare":
                from ttt_cli.reading.sources import named_as_games

                if named_as_games(arg):
                    return f"games are named with --games {arg}"
    return None


def _for_option(
    error: click.NoSuchOption, path: str, args: Sequence[str], commands: Sequence[str]
) -> Iterator[str]:
    name = error.option_name
    given = iter(args)
    value = next(
        (arg.partition("=")[2] or next(given, "...") for arg in given if arg.split("=")[0] == name), "..."
    )
    if file := next((arg for arg in args if arg.startswith(name) and os.path.lexists(arg)), None):
        yield f"a file whose name begins with a hyphen is named ./{file}"
    if name == "--resume":
        yield "the same command with the same --scratch continues an interrupted fit"
    if name == "--model":
        yield f"a model is chosen with -c {value}"
    if keys := list(_keys(name.strip("-").replace("-", "_"))):
        yield f"keys of a config are set with {' or '.join(f'-s {key}={value}' for key in keys)}"
    if name.lstrip("-") in commands:
        yield f"`ttt {name.lstrip('-')}` is a command of its own"
    elsewhere = [command for command in commands if command != path and name in _options(command)]
    if elsewhere and name.startswith("--"):
        yield f"it is an option of {', '.join(f'`ttt {command}`' for command in elsewhere)}"


def _options(command: str) -> set[str]:
    parameters = import_module(f"ttt_cli.cli.{command}").command.params
    return {name for parameter in parameters for name in parameter.opts}


def _keys(name: str) -> Iterator[str]:
    """Keys of a config with a name."""
    from ttt_cli.config.schema import DataConfig, SolverConfig
    from ttt_cli.systems import registry

    models = [registry.load(system).Params for system in registry.MODULES]
    for section, schemas in (("data", [DataConfig]), ("solver", [SolverConfig]), ("model", models)):
        if any(name in schema.model_fields for schema in schemas):
            yield f"{section}.{name}"


def text_of(name: str) -> str:
    """A text of the command line: its examples, and the scripts of shells."""
    return (files("ttt_cli.cli") / "texts" / name).read_text(encoding="utf-8")


def examples_of(path: str) -> list[tuple[str, str]]:
    """Examples of a command, `top` or `config show`: what is typed, and what it does."""
    found = (tuple(line.split("  # ")) for line in text_of("examples.txt").splitlines())
    return [(typed, does) for typed, does in found if path and re.search(rf"^[^|&]*\bttt {path}\b", typed)]


# Options of the version before, by command, and what replaces them: an option, a KEY of a config (KEY+: a list),
# or KEY=VALUE for a flag
OLD_NAMES: Final[dict[str, dict[str, str]]] = defaultdict(dict)
for _line in text_of("renamed.txt").splitlines():
    _commands, _before, _now = _line.split()
    for _command in _commands.split(","):
        OLD_NAMES[_command][_before] = _now


def renamed(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments with options of the previous version replaced by today's, and a note for each."""
    names = OLD_NAMES.get(args[0], {}) if args else {}
    end = args.index("--") if "--" in args else len(args)
    new: list[str] = []
    notes: list[str] = []
    lists: dict[str, list[str]] = {}
    rest = iter(args[:end])
    for arg in rest:
        name, separator, value = arg.partition("=")
        now = names.get(name, "")
        if not now or ("=" in now and separator):
            new.append(arg)
            continue
        if now.startswith("-"):
            new.append(f"{now}{separator}{value}")
        elif "=" in now:
            new += ["-s", now]
        elif (given := value if separator else next(rest, None)) is None:
            return [*args], []  # click reports the missing value
        elif now.endswith("+"):
            lists.setdefault(now[:-1], []).append(given)
        else:
            new += ["-s", f"{now}={given}"]
        today = now if now.startswith("-") else f"-s {now}" if "=" in now else f"-s {now.rstrip('+')}=VALUE"
        notes.append(f"{name} is now {today}; the next version will not have the old name")
    if lists:
        from ttt_cli.config.schema import flow

        new += [word for key, values in lists.items() for word in ("-s", f"{key}={flow(values)}")]
    return [*new, *args[end:]], notes
