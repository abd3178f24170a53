"""The command group: commands are loaded when called; errors become words and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from types import FrameType
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from ttt_cli import __version__
from ttt_cli.cli.asked import tell_run
from ttt_cli.cli.terminal.bars import WaitBar
from ttt_cli.cli.terminal.console import NORMAL, QUIET, VERBOSE, say, voice
from ttt_cli.errors import TttError, nearest
from ttt_cli.progress import listening

COMMANDS: Final = {
    "fit": "Read games, infer every player's skill, write a run.",
    "update": "Add games to a run and infer all skills anew, from where they stood.",
    "games": "What stands in files of games, and what became of it.",
    "player": "One player's history.",
    "players": "Who is in the run.",
    "top": "The best in a period, at their peaks, or the number ones.",
    "versus": "Two players: who would win, and their games.",
    "evidence": "How well the data support the parameters.",
    "tune": "The parameters that the games prefer, with standard errors.",
    "compare": "Rating systems side by side on the same games.",
    "plot": "Figures: skill curves, games per year, evidence, the top through time.",
    "report": "One self-contained page of everything in a run.",
    "export": "The tables of a run, in any format.",
    "config": "Show, check and describe configs.",
    "simulate": "Make an artificial history with known skills.",
    "completion": "Print the completion script of a shell.",
}
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports `ttt_cli.cli.<name>` when one is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"ttt_cli.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names. Raises UsageError, with the nearest known name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], COMMANDS)
            hint = f"did you mean `ttt {near}`?" if near else f"commands are {', '.join(COMMANDS)}"
            raise UnknownCommand(f"no command {args[0]!r}", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and helps of commands, without importing any."""
        found = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        return found or super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader that went away ends it quietly."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            ctx.exit(BROKEN_PIPE)
        return result


class UnknownCommand(click.UsageError):
    """A command that does not exist."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 unexpected failure, 2 usage or config, 3 input data, 4 written but not"
    " converged, 130 interrupted.",
)
@click.version_option(__version__, prog_name="ttt", message="%(prog)s %(version)s")
def group() -> None:
    """Historical rating runs: from game records to skill histories and evidence.

    Data goes to standard output, everything else to standard error. `ttt COMMAND --help` tells more.
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit code. `args` default to the process's own."""
    voice.level, voice.run, voice.safe_csv = NORMAL, "", False
    _prepare_output()
    try:
        with _unwinding_signals(), listening(WaitBar()):
            code = group.main(None if args is None else list(args), prog_name="ttt", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", level=QUIET)
        return INTERRUPTED
    except click.ClickException as error:
        return _tell_usage(error)
    except TttError as error:
        tell_run()
        _tell(str(error) if error.where else f"ttt: {error}", error.hint)
        return error.exit_code
    except Exception as error:
        return _tell_unexpected(error)
    return code if isinstance(code, int) else 0


def _tell(message: str, hint: str | None) -> None:
    say(message, *([f"hint: {hint}"] if hint else []), level=QUIET)


def _tell_usage(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message(), level=QUIET)
        return error.exit_code
    path = "ttt"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        path = error.ctx.command_path
    hint = getattr(error, "hint", None) or f"`{path} --help` tells more"
    _tell(f"{path}: {error.format_message()}", hint)
    return error.exit_code


def _tell_unexpected(error: Exception) -> int:
    if voice.level >= VERBOSE or os.environ.get("TTT_DEBUG"):
        traceback.print_exception(error)
    message = str(error).partition("\n")[0]
    _tell(f"ttt: unexpected {type(error).__name__}: {message}", "with -v, or TTT_DEBUG=1, it says where")
    return 1


def _prepare_output() -> None:
    """Characters that the output cannot show are escaped and never stop it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _unwinding_signals() -> Iterator[None]:
    """Inside the block, being told to end (SIGTERM, SIGHUP) unwinds like an exit and leaves nothing behind."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise SystemExit(128 + number)
