"""Hints for usage errors, and the examples in every help text."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from typing import Final

import click

from ttt_cli.cli.messages import session
from ttt_cli.support.errors import LookupFailed, TttError, nearest

# Words that people try as commands, and that are none.
_RANKINGS: Final = frozenset(
    (
        "best",
        "leader",
        "leaders",
        "leaderboard",
        "number-ones",
        "rank",
        "ranking",
        "rankings",
        "ranks",
    )
)
_NAMED_RUNS: Final = 3
_SPREADSHEETS: Final = frozenset(("excel", "ods", "xls", "xlsx"))
_NO_NUMBER: Final = re.compile(r"is not a valid (float|integer)(?: range)?\b")
_NUMBERS: Final = {"float": "a number", "integer": "a whole number"}
_NO_CHOICE: Final = re.compile(r"'(.*)' is not one of ", re.DOTALL)


def explained(
    error: click.ClickException, path: str, args: Sequence[str], commands: Sequence[str]
) -> tuple[str, str]:
    """What is wrong, and what to do instead; `path` is that of the command, `ttt top`."""
    message = error.format_message()
    more = f"`{path} --help` shows all options"
    command = path.removeprefix("ttt").strip()
    if hint := misplaced(command, args, commands):
        return message, hint
    if isinstance(error, click.NoSuchOption):
        hint = next(_for_option(error, command, args, commands), None)
        return (error.message, hint) if hint else (message, more)  # without the guesses of click
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        in_words = _NO_NUMBER.sub(lambda match: f"is not {_NUMBERS[match[1]]}", message)
        return in_words, _for_value(error) or more
    word = args[0] if args else ""
    if path == "ttt" and word.casefold() in _RANKINGS:
        return (
            f"no such command {word!r}",
            "`ttt top` ranks players, `ttt top --leaders` lists number ones",
        )
    examples = " or ".join(f"`{typed}`" for typed, _ in examples_of(command)[:2])
    quotes = "put names of several words in quotes; " if command == "versus" else ""
    return message, f"{quotes}for instance {examples}; {more}" if examples else more


def _for_value(error: click.BadParameter) -> str | None:
    """A hint for a value that an option does not have: the most similar one."""
    from ttt_cli.cli.output import OUTPUT_FORMATS

    match = _NO_CHOICE.search(error.message)
    if error.param is None or match is None or not isinstance(error.param.type, click.Choice):
        return None
    choices = [str(choice) for choice in error.param.type.choices]
    if match[1].casefold() in _SPREADSHEETS and "csv" in choices:
        return "spreadsheets open CSV: -f csv"
    is_table = match[1] in OUTPUT_FORMATS and error.param.name == "fmt"
    similar = None if is_table else nearest(match[1].casefold(), choices)
    return f"did you mean {similar!r}?" if similar else None


def as_typed(error: TttError, path: str, args: Sequence[str]) -> str:
    """The message of an error; an option that was typed is named instead of the key of the config that it sets."""
    from ttt_cli.cli.options import KEYS

    options_typed = {arg.partition("=")[0] for arg in args}
    where = error.where or ""
    for parameter, key in KEYS.items():
        option = f"--{parameter}"
        if option in options_typed and (where == key or where.startswith(f"-s {key}=")):
            problem = re.sub(rf"^{re.escape(key)}(\[\d+\])?:? ?", "", error.message)
            return f"{path}: invalid value for '{option}': {problem}"
    return str(error)


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
                from ttt_cli.reading.recognition import named_as_games

                if named_as_games(arg):
                    return f"games are named with --games {arg}"
    return None


def _for_option(
    error: click.NoSuchOption, path: str, args: Sequence[str], commands: Sequence[str]
) -> Iterator[str]:
    name = error.option_name
    value = _value_after(name, args)
    if file := next((arg for arg in args if arg.startswith(name) and os.path.lexists(arg)), None):
        yield f"a file whose name begins with a hyphen is named ./{file}"
    if name == "--resume":
        yield "the same command with the same --scratch continues an interrupted fit"
    if name == "--model":
        yield f"a model is chosen with -c {value}"
    takes_keys = path not in commands or "-s" in _options(path)
    keys = [key for key in _keys(name.strip("-").replace("-", "_")) if takes_keys]
    if path != "simulate":
        keys = [key for key in keys if not key.startswith("simulate.")]
    if keys:
        yield f"keys of a config are set with {' or '.join(f'-s {key}={value}' for key in keys)}"
    if name.lstrip("-") in commands:
        yield f"`ttt {name.lstrip('-')}` is a command of its own"
    elsewhere = [command for command in commands if command != path and name in _options(command)]
    if elsewhere and name.startswith("--"):
        yield f"it is an option of {', '.join(f'`ttt {command}`' for command in elsewhere)}"


def _value_after(option: str, args: Sequence[str]) -> str:
    """The value of an option as typed, `...` without one."""
    for position, arg in enumerate(args):
        name, _, value = arg.partition("=")
        if name == option:
            return value or next(iter(args[position + 1 :]), "...")
    return "..."


def _options(command: str) -> set[str]:
    parameters = import_module(f"ttt_cli.cli.{command}").command.params
    return {name for parameter in parameters for name in parameter.opts}


def _keys(name: str) -> Iterator[str]:
    """Keys of a config with a name."""
    from ttt_cli.config.schema import DataConfig, FilterConfig, SolverConfig
    from ttt_cli.evaluate.simulate import Plan
    from ttt_cli.systems import registry

    of_models = {
        key for system in registry.names() for key in registry.load(system).Params.model_fields
    }
    sections = {
        "data": set(DataConfig.model_fields),
        "data.filter": set(FilterConfig.model_fields),
        "solver": set(SolverConfig.model_fields),
        "model": of_models,
        "simulate": set(Plan.model_fields) - of_models,
    }
    for section, keys in sections.items():
        if name in keys:
            yield f"{section}.{name}"


def text_of(name: str) -> str:
    """A text of the command line: its examples, and the scripts of shells."""
    return (files("ttt_cli.cli") / "texts" / name).read_text(encoding="utf-8")


def examples_of(path: str) -> list[tuple[str, str]]:
    """Examples of a command, `top` or `config show`: what is typed, and what it does."""
    examples: list[tuple[str, str]] = []
    for line in text_of("examples.txt").splitlines():
        typed, does = line.split("  # ")
        if path and re.search(rf"^[^|&]*\bttt {path}\b", typed):
            examples.append((typed, does))
    return examples


def hint_at_runs(error: TttError) -> str | None:
    """A hint at other runs here that have a player or an event, where the run was not named; None without such runs."""
    if session.run_is_named or not isinstance(error, LookupFailed):
        return None
    from ttt_cli.runs.search import runs_with, runs_with_event

    if error.player is not None:
        runs = runs_with(error.player)
        files = [run.file for run in runs]
        what = runs[0].player if runs else ""
    elif error.event is not None:
        files = runs_with_event(error.event)
        if session.run_name in [file.name for file in files]:  # in another year: the hint says so
            return None
        what = f"an event {error.event!r}"
    else:
        return None
    if not files:
        return None
    names = " and ".join([file.name for file in files[:_NAMED_RUNS]])
    return (
        f"{what} is in {names}: -r {shlex.quote(str(files[0]))}; "
        "without -r the newest run here is taken"
    )
