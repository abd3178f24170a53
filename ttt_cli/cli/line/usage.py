"""What click complains of, in plain words and with the hint that helps."""

import os
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Final

import click

from ttt_cli.cli.line.complete import placeholder
from ttt_cli.cli.line.examples import of_command
from ttt_cli.errors import nearest
from ttt_cli.reading.sources import named_as_games
from ttt_cli.runs.locate import ENDING

_REWORDED: Final = (  # what click says, and what is said instead
    (r"(.*) is not a valid integer( range)?\.", r"\1 is no whole number"),
    (r"(.*) is not a valid float( range)?\.", r"\1 is no number"),
    (r"(\S+) is not in the range (\S+)<=x<=(\S+)\.", r"from \2 to \3, not \1"),
    (r"(\S+) is not in the range x>=(\S+)\.", r"\2 or more, not \1"),
    (r"Got unexpected extra arguments? \((.*)\)", r"nothing can be done with \1 here"),
    (r"No such option '(.*?)'.*", r"there is no option \1"),
    (r"Option '(.*)' requires an argument\.", r"\1 needs a value"),
    (r"Option '(.*)' does not take a value\.", r"\1 takes no value"),
)


def complaint(error: click.ClickException) -> str:
    """What is wrong."""
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument):
        choices = error.param.type.choices if isinstance(error.param.type, click.Choice) else ()
        return f"{placeholder(error.param)} is missing" + (
            f": one of {', '.join(map(str, choices))}" if choices else ""
        )
    said = error.message if isinstance(error, click.BadParameter) and error.param else error.format_message()
    for pattern, words in _REWORDED:
        said = re.sub(f"^{pattern}$", words, said, flags=re.DOTALL)
    return f"{_named(error)}{said}"


def _named(error: click.ClickException) -> str:
    """The parameter whose value is wrong, as it stands in the help."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        return ""
    if isinstance(error.param, click.Argument):
        return f"{placeholder(error.param)}: "
    return f"{', '.join(error.param.opts)}: "


def hint(error: click.ClickException, path: str, args: Sequence[str], commands: Sequence[str]) -> str:
    """What to do instead; `path` is that of the command, `ttt top`."""
    found = next(_hints(error, path.removeprefix("ttt").strip(), args, commands), None)
    more = f"`{path} --help` tells more"
    return f"{found}; {more}" if found and isinstance(error, click.MissingParameter) else found or more


def misplaced(path: str, args: Sequence[str], commands: Sequence[str]) -> str | None:
    """The option with which a run, or games, are named that stand where a command takes none; None: nothing does."""
    options = _options(path) if path in commands else set()
    for before, arg in pairwise(args):
        if before.startswith("-") or "-r" not in options or not os.path.exists(arg):  # noqa: PTH110
            continue
        if arg.endswith(ENDING):
            return f"a run is named with -r {arg}"
        if path == "compare" and named_as_games(arg):
            return f"games are named with --games {arg}"
    return None


def _hints(
    error: click.ClickException, path: str, args: Sequence[str], commands: Sequence[str]
) -> Iterator[str]:
    examples = [f"`{typed}`" for typed, _ in of_command(path)[:2]]
    if named := misplaced(path, args, commands):
        yield named
    match error:
        case click.NoSuchOption():
            yield from _for_option(error, path, args, commands)
        case click.MissingParameter() if isinstance(error.param, click.Argument) and examples:
            yield f"for instance {examples[0]}"
        case click.BadParameter() if error.param is not None and isinstance(error.param.type, click.Choice):
            given = re.match(r"'(.*)' is not one of", error.message)
            if given and (near := nearest(given[1], error.param.type.choices)):
                yield f"did you mean {near}?"
        case click.UsageError() if extra := re.search(
            r"unexpected extra arguments? \((.*?)[ )]", error.message
        ):
            if path == "top" and extra[1][:1].isdigit():
                yield f"the period of a ranking: --at {extra[1]}"
            if path == "config show":
                yield f"a config is named with -c: `ttt config show -c {extra[1]}`"
            if examples:
                quotes = "names of several words stand in quotes; " if path == "versus" else ""
                yield f"{quotes}for instance {' or '.join(examples)}"


def _for_option(
    error: click.NoSuchOption, path: str, args: Sequence[str], commands: Sequence[str]
) -> Iterator[str]:
    name, value = error.option_name, _value(error.option_name, args)
    if file := next((arg for arg in args if arg.startswith(name) and os.path.lexists(arg)), None):
        yield f"a file whose name begins with a hyphen is named ./{file}"
    if name == "--model":
        yield f"a model is chosen with -c {value}"
    if settings := list(_settings(name, value)):
        yield f"keys of a config are set with {' or '.join(settings)}"
    context = error.ctx or click.Context(click.Command("ttt"))
    known = [option for parameter in context.command.params for option in parameter.opts]
    if near := nearest(name, known, cutoff=0.75):
        yield f"did you mean {near}?"
    elsewhere = [command for command in commands if command != path and name in _options(command)]
    if elsewhere and name.startswith("--"):
        yield f"it is an option of {', '.join(f'`ttt {command}`' for command in elsewhere)}"
    if error.possibilities:
        yield f"did you mean {' or '.join(sorted(error.possibilities))}?"


def _options(command: str) -> set[str]:
    parameters = import_module(f"ttt_cli.cli.{command}").command.params
    return {name for parameter in parameters for name in parameter.opts}


def _value(option: str, args: Sequence[str]) -> str:
    """What was given with an option, `...` if nothing."""
    for place, arg in enumerate(args):
        if arg.startswith(f"{option}="):
            return arg.partition("=")[2]
        if arg == option and place + 1 < len(args):
            return args[place + 1]
    return "..."


def _settings(option: str, value: str) -> Iterator[str]:
    """How the keys of a config are set that somebody means by an option that there is not."""
    from ttt_cli.config.document import Section
    from ttt_cli.config.schema import DataConfig, SolverConfig
    from ttt_cli.systems import registry

    name = option.strip("-").replace("-", "_")
    models = [registry.load(system).Params for system in registry.MODULES]
    sections: dict[str, list[type[Section]]] = {
        "data": [DataConfig],
        "solver": [SolverConfig],
        "model": [*models],
    }
    for section, schemas in sections.items():
        if any(name in schema.model_fields for schema in schemas):
            yield f"-s {section}.{name}={value}"
