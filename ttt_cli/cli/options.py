"""Options that several commands share, as decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from ttt_cli.cli.console import FORMATS, QUIET, VERBOSE, voice

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

READERS: Final = ("scan", "chess")

run_option: Decorator[Any] = click.option(
    "-r", "--run", "run", metavar="RUN", help="The run to ask; default $TTT_RUN, else the newest *.ttt here."
)
format_option: Decorator[Any] = click.option(
    "-f",
    "--format",
    "fmt",
    type=click.Choice(FORMATS, case_sensitive=False),
    help="Form of the output; default table on a terminal, TSV in a pipe, a file's by its name.",
)
scale_option: Decorator[Any] = click.option(
    "--scale",
    "scale",
    metavar="ANCHOR",
    multiple=True,
    help="Ratings instead of points: 'Lasker @ 1900 = 2720', may be repeated; also: matched, points.",
)
output_option: Decorator[Any] = click.option(
    "-o", "--output", "out", metavar="FILE", default="-", help="Where to write; default - (standard output)."
)
config_option: Decorator[Any] = click.option(
    "-c", "--config", "config", metavar="CONFIG", help="A path, - for stdin, or the name of a shipped config."
)
set_option: Decorator[Any] = click.option(
    "-s",
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set one key, for instance model.beta=600; may be repeated.",
)
reader_option: Decorator[Any] = click.option(
    "--reader", type=click.Choice(READERS), help="Read PGN by its tags, or through python-chess."
)


def verbosity_options(command: Command) -> Command:
    """-q and -v: how much is said on standard error (`console.say`); the command itself does not see them."""
    command = click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=_sets(VERBOSE),
        help="Say more; show where an unexpected error arose.",
    )(command)
    return click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_sets(QUIET),
        help="Say nothing but errors.",
    )(command)


def _sets(level: int) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value:
            voice.level = level

    return callback
