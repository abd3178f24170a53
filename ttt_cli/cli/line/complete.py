"""What stands to choose from where a shell completes a command line: files, configs, runs, keys, players."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from ttt_cli.errors import TttError

if TYPE_CHECKING:
    from pydantic import BaseModel

Items = Iterable["CompletionItem[Any]"]

KEY, NAME = "key", "name"  # kinds of items (`shells`): no blank follows; a name that may hold blanks
_MOST: Final = 50


def files(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """Files, as the shell itself completes them."""
    yield CompletionItem(typed, type="file")


def folders(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """Folders, as the shell itself completes them."""
    yield CompletionItem(typed, type="dir")


def runs(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """Files `*.ttt`, and folders on the way to them."""
    yield from _paths(typed, (".ttt",))


def configs(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """The shipped configs, and files of YAML."""
    from ttt_cli.config.load import SUFFIXES, shipped_configs

    yield from (CompletionItem(name, help="shipped") for name in shipped_configs() if name.startswith(typed))
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
    """Players of the run with a word that begins like this, or whose names do; those of most games first."""
    from ttt_cli.folding import fold
    from ttt_cli.runs.run import open_run

    begin = fold(typed)
    found = open_run(context.params.get("run")).query(
        "SELECT player, games FROM players WHERE starts_with(folded, ?) OR contains(' ' || folded, ' ' || ?)"
        f" ORDER BY games DESC, player LIMIT {_MOST}",
        [begin, begin],
    )[1]
    yield from (CompletionItem(player, type=NAME, help=f"{games:g} games") for player, games in found)


def periods(context: click.Context, typed: str) -> Items:
    """Periods of the run."""
    from ttt_cli.runs.run import open_run

    found = open_run(context.params.get("run")).query(
        f"SELECT period FROM periods WHERE starts_with(period, ?) ORDER BY period_number LIMIT {_MOST}",
        [typed],
    )[1]
    yield from (CompletionItem(period) for (period,) in found)


def event_sets(context: click.Context, typed: str) -> Items:  # noqa: ARG001
    """Ready-made sets of events, the last of some with commas between."""
    from ttt_cli.reading.reasons import EVENT_SETS

    yield from _of_list(typed, EVENT_SETS)


def parameters(context: click.Context, typed: str) -> Items:
    """Parameters of the run's model, the last of some with commas between."""
    from ttt_cli.runs.run import open_run
    from ttt_cli.systems import registry

    traits = registry.load(open_run(context.params.get("run")).meta.model).TRAITS
    yield from _of_list(typed, traits.tunable)


def _of_list(typed: str, words: Iterable[str]) -> Items:
    before, comma, last = typed.rpartition(",")
    yield from (CompletionItem(f"{before}{comma}{word}") for word in words if word.startswith(last))


def _paths(typed: str, suffixes: Iterable[str]) -> Items:
    """Files with these endings and folders that go on from what is typed."""
    folder = Path(typed).parent if not typed.endswith("/") else Path(typed)
    begin = "" if typed.endswith("/") else Path(typed).name
    for path in sorted(folder.iterdir()):
        if path.name.startswith(begin) and (begin.startswith(".") or not path.name.startswith(".")):
            if path.is_dir():
                yield CompletionItem(f"{path}/", type=KEY)
            elif path.suffix in suffixes:
                yield CompletionItem(str(path), type=NAME)


def _keys(section: str, schema: type[BaseModel]) -> Iterator[tuple[str, str]]:
    from ttt_cli.config.document import section_of

    for name, info in schema.model_fields.items():
        if inner := section_of(info):
            yield from _keys(f"{section}.{name}", inner)
        else:
            yield f"{section}.{name}", info.description or ""


_WHAT: Final[dict[str, Callable[[click.Context, str], Items]]] = {  # by the placeholder in the help
    **dict.fromkeys(("FILE", "FILE...", "ALIASES", "OUTPUT", "PLACE", "[PAGE.html|SITE/]"), files),
    **dict.fromkeys(("NAME...", "[NAME]...", "PATTERN...", "A", "B"), players),
    **dict.fromkeys(("CONFIG", "CONFIG..."), configs),
    **dict.fromkeys(("KEYS", "AXES"), parameters),
    "FOLDER": folders,
    "RUN": runs,
    "KEY=VALUE": keys,
    "SET,...": event_sets,
    "PERIOD": periods,
}


def placeholder(parameter: click.Parameter) -> str:
    """What stands for a value in the help."""
    several = "..." if parameter.nargs == -1 else ""
    return parameter.metavar or f"{(parameter.name or '').upper()}{several}"


def attach(command: click.Command) -> None:
    """Let the parameters of a command be completed, each as its placeholder in the help says."""
    for parameter in command.params:
        if choices := _WHAT.get(placeholder(parameter)):
            parameter.shell_complete = partial(_completed, choices)  # type: ignore[method-assign]


def _completed(
    choices: Callable[[click.Context, str], Items], ctx: click.Context, incomplete: str
) -> list[CompletionItem[Any]]:
    """What goes wrong would stand in the middle of what is being typed, and is not said."""
    try:
        return list(choices(ctx, incomplete))
    except (TttError, OSError):
        return []
