"""The command group: commands are loaded when called; errors become words and exit codes."""

import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from ttt_cli import __version__
from ttt_cli.cli.line.complete import VARIABLE, attach, register
from ttt_cli.cli.line.examples import epilog
from ttt_cli.cli.terminal import streams
from ttt_cli.cli.terminal.bars import WaitBar
from ttt_cli.cli.terminal.console import NORMAL, QUIET, VERBOSE, report_run, say, voice
from ttt_cli.errors import ConfigError, LookupFailed, OutputError, RunError, TttError, suggested
from ttt_cli.progress import listening

COMMANDS: Final = {
    "fit": "Read games, infer every player's skill, write a run.",
    "update": "Add games to a run and refit it from where it stood.",
    "games": "What stands in files of games, and what became of it.",
    "names": "Go through the names that may be one person's, and write an alias file.",
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
    "warm": "Compile everything beforehand.",
    "completion": "Print the completion script of a shell.",
}
BROKEN_PIPE: Final = 141


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports `ttt_cli.cli.<name>` when one is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`help COMMAND` is `COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:2], "--help"] if args[:1] == ["help"] else args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"ttt_cli.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        for path, one in ((cmd_name, command), *_below(cmd_name, command)):
            one.epilog = epilog(path)
            attach(one)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names. Raises ConfigError, with the nearest known name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = suggested(args[0], COMMANDS, f"commands are {', '.join(COMMANDS)}", "`ttt {}`")
            raise ConfigError(f"no command {args[0]!r}", hint=hint)
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
            streams.flush_output()
        except BrokenPipeError:
            streams.give_up(sys.stdout)  # for the flush at exit
            ctx.exit(BROKEN_PIPE)
        return result


def _below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """The commands below one, by what is typed."""
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield f"{path} {name}", below


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 unexpected failure, 2 usage or config, 3 input data, 4 written but not"
    " converged, 130 interrupted.",
)
@click.version_option(__version__, prog_name="ttt", message="%(prog)s %(version)s")
def group() -> None:
    """Historical rating runs: from game records to skill histories and evidence.

    Data goes to standard output, everything else to standard error. `ttt help COMMAND` tells more.
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit code. `args` default to the process's own."""
    voice.level, voice.run, voice.asked, voice.safe_csv = NORMAL, "", "", False
    streams.prepare_streams()
    streams.prepare_home()
    if VARIABLE in os.environ:
        register()
    signals: list[int] = []
    try:
        with streams.unwinding(signals), listening(WaitBar()):
            code = group.main(None if args is None else list(args), prog_name="ttt", standalone_mode=False)
            streams.flush_output()  # of --help
    except Exception as error:
        return _interrupted(signals[0]) if signals else _failed(error, args or sys.argv[1:])
    except KeyboardInterrupt:
        return _interrupted(*signals[:1] or [signal.SIGINT])
    return code if isinstance(code, int) else 0


def _interrupted(number: int) -> int:
    if number == signal.SIGINT:
        say("interrupted", level=QUIET)
    return streams.exit_code(number)


def _failed(error: Exception, args: Sequence[str]) -> int:
    """Report what went wrong, and give the exit code."""
    match error:
        case click.Abort() if not isinstance(error.__cause__, EOFError):
            return _interrupted(signal.SIGINT)
        case click.ClickException():
            return _report_usage(error, args)
        case BrokenPipeError():
            return BROKEN_PIPE
        case OSError() if error.filename is None and error.errno in streams.UNWRITABLE:
            streams.give_up(sys.stdout)
            _report(f"ttt: output cannot be written: {error.strerror}", None)
            return OutputError.exit_code
        case TttError():
            report_run()
            asked = voice.asked if isinstance(error, LookupFailed) else ""
            from ttt_cli.cli.line.usage import misplaced

            hint = misplaced(args[0] if args else "", args, [*COMMANDS]) or error.hint
            _report(str(error) if error.where else f"{asked or 'ttt'}: {error}", hint)
            return error.exit_code
    return _report_unexpected(error)


def _report(message: str, hint: str | None) -> None:
    say(message, *([f"hint: {hint}"] if hint else []), level=QUIET)


def _report_usage(error: click.ClickException, args: Sequence[str]) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message(), level=QUIET)
        return error.exit_code
    from ttt_cli.cli.line.usage import complaint, hint

    path = f"ttt {args[0]}" if args and args[0] in COMMANDS else "ttt"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        path = error.ctx.command_path
    _report(f"{path}: {complaint(error)}", hint(error, path, args, [*COMMANDS]))
    return error.exit_code


def _report_unexpected(error: Exception) -> int:
    if voice.level >= VERBOSE or os.environ.get("TTT_DEBUG"):
        say("".join(traceback.format_exception(error)).rstrip(), level=QUIET)
    hint = "with -v, or TTT_DEBUG=1, it says where"
    if isinstance(error, OSError) and error.filename is not None:  # a file went away, its name is too long
        _report(f"{error.filename}: {error.strerror}", hint)
        return RunError.exit_code
    message = str(error).partition("\n")[0]
    _report(f"ttt: unexpected {type(error).__name__}: {message}", hint)
    return 1
