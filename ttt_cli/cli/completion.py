"""Completion in bash, zsh and fish: candidates, scripts, and the output format of each shell.

Beside click's kinds of items there are `key`, completed without a blank, and `name`, which may contain blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from ttt_cli.cli.messages import say
from ttt_cli.cli.usage import text_of
from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.support.errors import TttError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ttt_cli.runs.run import Run

Items = Iterable["CompletionItem[Any]"]
KEY = "key"
NAME = "name"
_MOST: Final = 50
# Players with a word that begins so
_PLAYERS: Final = """
SELECT player, games FROM players WHERE contains(' ' || folded, ' ' || $1)
ORDER BY games DESC, player LIMIT $2
"""
_EVENTS: Final = """
SELECT text FROM texts WHERE id IN (SELECT event FROM game_texts) AND text <> '' AND starts_with(lower(text), lower($1))
ORDER BY text LIMIT $2
"""
_PERIODS: Final = (
    "SELECT period FROM periods WHERE starts_with(period, $1) ORDER BY period_number LIMIT $2"
)


def configs(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """The shipped configs, and files of YAML."""
    from ttt_cli.config.load import SUFFIXES, installed_configs, shipped_configs

    configs = dict.fromkeys(installed_configs(), "installed") | dict.fromkeys(
        shipped_configs(), "shipped"
    )
    yield from (
        CompletionItem(name, help=help_)
        for name, help_ in configs.items()
        if name.startswith(typed)
    )
    yield from _paths(typed, SUFFIXES)


def keys(context: click.Context, typed: str) -> Items:
    """The keys of a config, those of the model that is chosen there."""
    from ttt_cli.config.load import read_document
    from ttt_cli.config.schema import DataConfig, SolverConfig
    from ttt_cli.systems.resolve import resolve

    model = resolve(read_document(context.params.get("config") or None)).model.Params
    for section, schema in (("model", model), ("solver", SolverConfig), ("data", DataConfig)):
        for key, meaning in _keys(section, schema):
            if key.startswith(typed):
                yield CompletionItem(f"{key}=", type=KEY, help=meaning)


def players(context: click.Context, typed: str) -> Items:
    """Players with a matching name or word, by number of games."""
    from ttt_cli.support.folding import fold

    for player, games in _run(context).select(_PLAYERS, [fold(typed), _MOST])[1]:
        yield CompletionItem(player, type=NAME, help=f"{games:g} games")


def events(context: click.Context, typed: str) -> Items:
    """Names of events that begin so."""
    yield from (
        CompletionItem(event) for (event,) in _run(context).select(_EVENTS, [typed, _MOST])[1]
    )


def periods(context: click.Context, typed: str) -> Items:
    """Periods of the run."""
    yield from (
        CompletionItem(period) for (period,) in _run(context).select(_PERIODS, [typed, _MOST])[1]
    )


def parameters(context: click.Context, typed: str) -> Items:
    """Parameters of the run's model, in a list with commas of which the last is being typed."""
    from ttt_cli.systems import registry

    yield from _of_list(typed, registry.load(_run(context).meta.model).TRAITS.tunable)


def _run(context: click.Context) -> Run:
    from ttt_cli.runs.run import open_run

    return open_run(context.params.get("run"))


def _of_list(typed: str, words: Iterable[str]) -> Items:
    before, comma, last = typed.rpartition(",")
    yield from (CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last))


def _paths(typed: str, suffixes: Iterable[str]) -> Items:
    """Files with these endings, and folders, that extend the typed text."""
    folder = Path(typed).parent if not typed.endswith("/") else Path(typed)
    begin = "" if typed.endswith("/") else Path(typed).name
    for path in sorted(folder.iterdir()):
        if path.name.startswith(begin) and (begin.startswith(".") or not path.name.startswith(".")):
            if path.is_dir():
                yield CompletionItem(f"{path}/", type=KEY)
            elif path.suffix in suffixes:
                yield CompletionItem(str(path), type=NAME)


def _keys(section: str, schema: type[BaseModel]) -> Iterator[tuple[str, str]]:
    from ttt_cli.config.schema import section_of

    for name, info in schema.model_fields.items():
        if inner := section_of(info):
            yield from _keys(f"{section}.{name}", inner)
        else:
            yield f"{section}.{name}", info.description or ""


_WHAT: Final[dict[str, Callable[[click.Context, str], Items]]] = {  # by the placeholder in the help
    # Files and folders as the shell itself completes them
    **dict.fromkeys(
        ("FILE", "FILE...", "ALIASES", "PLACE", "[PAGE.html|SITE/]"),
        lambda _, typed: [CompletionItem(typed, type="file")],
    ),
    **dict.fromkeys(("NAME...", "[NAME]...", "PATTERN...", "A", "B"), players),
    **dict.fromkeys(("CONFIG", "CONFIG..."), configs),
    **dict.fromkeys(("KEYS", "AXES"), parameters),
    "EVENT...": events,
    "FOLDER": lambda _, typed: [CompletionItem(typed, type="dir")],
    "RUN": lambda _, typed: _paths(typed, (".ttt",)),
    "KEY=VALUE": keys,
    "SET,...": lambda _, typed: _of_list(typed, EVENT_SETS),
    "PERIOD": periods,
}


def placeholder(parameter: click.Parameter) -> str:
    """Placeholder of a value in the help."""
    several = "..." if parameter.nargs == -1 else ""
    return parameter.metavar or f"{(parameter.name or '').upper()}{several}"


def attach(command: click.Command) -> None:
    """Attach completion to the parameters of a command, by their placeholders."""
    for parameter in command.params:
        if choices := _WHAT.get(placeholder(parameter)):
            parameter.shell_complete = partial(_completed, choices)  # type: ignore[method-assign]


def _completed(
    choices: Callable[[click.Context, str], Items], ctx: click.Context, incomplete: str
) -> list[CompletionItem[Any]]:
    with suppress(TttError, OSError):  # they would appear in the line being typed
        return list(choices(ctx, incomplete))
    return []


class _Bash(BashComplete):
    source_template = text_of("completion.bash")


class _Zsh(ZshComplete):
    source_template = text_of("completion.zsh")

    def format_completion(self, item: CompletionItem) -> str:
        line = f"{item.value}  -- {' '.join(item.help.split())}" if item.help else item.value
        return f"{item.type}\n{item.value}\n{line}"


class _Fish(FishComplete):
    source_template = text_of("completion.fish")


SHELLS: Final[dict[str, tuple[type[ShellComplete], str]]] = {  # with the place of the script
    "bash": (_Bash, "~/.local/share/bash-completion/completions/ttt"),
    "zsh": (_Zsh, '"${fpath[1]}/_ttt"'),
    "fish": (_Fish, "~/.config/fish/completions/ttt.fish"),
}


for _name, (_shell, _) in SHELLS.items():  # click answers these shells in these forms
    add_completion_class(_shell, _name)


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(list(SHELLS)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL; standard error explains how to install it."""
    complete, script = SHELLS[shell]
    click.echo(complete(context.find_root().command, {}, "ttt", "_TTT_COMPLETE").source(), nl=False)
    say(f"to install it: ttt completion {shell} > {script}, then start a new {shell}")
