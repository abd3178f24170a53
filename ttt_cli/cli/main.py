"""The command group: commands are loaded when called; errors become words and exit codes."""

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from ttt_cli import __version__
from ttt_cli.cli import streams
from ttt_cli.cli.bars import WaitBar
from ttt_cli.cli.messages import NORMAL, QUIET, VERBOSE, report_run, say, session
from ttt_cli.support.errors import LookupFailed, OutputError, RunError, TttError
from ttt_cli.support.locks import waiting
from ttt_cli.support.opening import command_files
from ttt_cli.support.progress import listening

COMMANDS: Final = {
    "fit": "Read games, estimate every player's skill, and write a run.",
    "update": "Add games to a run and refit it.",
    "games": "Show what files contain and which games are used.",
    "names": "Decide which similar names are one person; write an alias file.",
    "player": "Show one player's skill through time.",
    "players": "List the players of a run.",
    "top": "Rank players of a period or by peaks; list number ones.",
    "versus": "Compare two players: who would win, and their games.",
    "why": "Show which games move a player's skill most.",
    "doubt": "Show what a run would say without some of its games.",
    "events": "List tournaments and matches: when, how strong, who won.",
    "event": "Show one event: crosstable, points, performances.",
    "records": "Show the record book: performances, streaks, upsets.",
    "tournament": "Show the odds of a tournament: every place of every player.",
    "evidence": "Show how well the games support the parameters.",
    "tune": "Find the parameters with the highest evidence.",
    "compare": "Compare rating systems by their predictions.",
    "plot": "Draw figures: skills, number ones, games, evidence.",
    "report": "Write one page, or a site of linked pages.",
    "export": "Export the tables of a run.",
    "schema": "Print the JSON Schema of what a command prints.",
    "samples": "List the games that come with the program.",
    "config": "List, show, check and describe configs.",
    "simulate": "Simulate games with known skills.",
    "warm": "Compile all code beforehand.",
    "completion": "Print the completion script of a shell.",
}
BROKEN_PIPE: Final = 141
COMPLETING: Final = "_TTT_COMPLETE"  # the variable by which a shell asks for candidates
_COMMON: Final = ("-q", "--quiet", "-v", "--verbose", "--safe-csv")  # options of all commands


class LazyGroup(click.Group):
    """A group of commands that imports `ttt_cli.cli.<name>` on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names, in the order in which they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"ttt_cli.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        commands = {"": command, **(command.commands if isinstance(command, click.Group) else {})}
        for name, subcommand in commands.items():
            path = f"{cmd_name} {name}".strip()
            subcommand.format_epilog = partial(_write_examples, path)  # type: ignore[method-assign]
            if COMPLETING in os.environ:
                from ttt_cli.cli.completion import attach

                attach(subcommand)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and helps of commands, without importing any."""
        completions = [
            CompletionItem(name, help=text)
            for name, text in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return completions or super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A closed pipe ends it quietly."""
        try:
            result = super().invoke(ctx)
            streams.flush_output()
        except BrokenPipeError:
            streams.discard_output(sys.stdout)  # for the flush at exit
            ctx.exit(BROKEN_PIPE)
        return result


def _write_examples(path: str, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG001
    """Write the examples of a command below its help."""
    from ttt_cli.cli.usage import examples_of

    with formatter.section("Examples"):
        for typed, does in examples_of(path):
            indent = " " * formatter.current_indent
            formatter.write(f"{indent}{typed}\n{indent}    {does}\n")


@click.group(
    cls=LazyGroup,
    commands=dict.fromkeys(COMMANDS),  # for similar names when there is no such command
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 unexpected failure, 2 usage or config, 3 input data, 4 written but not"
    " converged, 130 interrupted.",
)
@click.version_option(__version__, prog_name="ttt", message="%(prog)s %(version)s")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors on standard error.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Print more; show where an unexpected error was raised."
)
@click.option(
    "--safe-csv",
    is_flag=True,
    help="Mark texts in CSV and TSV that spreadsheets would take for formulas.",
)
def group(quiet: bool, verbose: bool, safe_csv: bool) -> None:
    """Historical rating runs: from game records to skill histories and evidence.

    Data goes to standard output, everything else to standard error. `ttt help COMMAND` shows the options of a command;
    those below may follow it.
    """
    if verbose:
        session.verbosity = VERBOSE
    else:
        session.verbosity = QUIET if quiet else NORMAL
    session.safe_csv = safe_csv


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit code. `args` default to the process's own."""
    session.reset()
    streams.prepare_streams()
    if os.path.expanduser("~") == "~":  # noqa: PTH111 - Path raises
        os.environ["HOME"] = "/nonexistent"  # libraries require one
    if COMPLETING in os.environ:
        import_module("ttt_cli.cli.completion")  # which tells click about our shells
    signals: list[int] = []
    try:
        with (
            streams.unwinding(signals),
            listening(WaitBar()),
            waiting(say, wait=True),
            command_files(),
        ):
            args = [*(sys.argv[1:] if args is None else args)]
            end = args.index("--") if "--" in args else len(args)
            common = [arg for arg in args[:end] if arg in _COMMON]
            args = [*(arg for arg in args[:end] if arg not in _COMMON), *args[end:]]
            if args[:1] == ["help"]:
                args = [*args[1:2], "--help"]
            code = group.main([*common, *args], prog_name="ttt", standalone_mode=False)
            streams.flush_output()  # of --help
    except Exception as error:
        return _interrupted(signals[0]) if signals else _failed(error, args or sys.argv[1:])
    except KeyboardInterrupt:
        return _interrupted(*signals[:1] or [signal.SIGINT])
    return code if isinstance(code, int) else 0


def _interrupted(number: int) -> int:
    if number == signal.SIGINT:
        say("interrupted", level=QUIET)
    return 128 + number  # as shells report it


def _failed(error: Exception, args: Sequence[str]) -> int:
    """Report an error and return the exit code."""
    advice: str | None = "with -v, or TTT_DEBUG=1, it says where"
    match error:
        case click.Abort() if not isinstance(error.__cause__, EOFError):
            return _interrupted(signal.SIGINT)
        case BrokenPipeError():
            return BROKEN_PIPE
        case click.exceptions.NoArgsIsHelpError():
            code = error.exit_code
            advice = None
            message = error.format_message()
        case click.ClickException():
            from ttt_cli.cli.usage import explained

            path = f"ttt {args[0]}" if args and args[0] in COMMANDS else "ttt"
            if isinstance(error, click.UsageError) and error.ctx is not None:
                path = error.ctx.command_path
            code = error.exit_code
            (wrong, advice) = explained(error, path, args, [*COMMANDS])
            wrong = " ".join(wrong.rstrip(".").split())
            message = f"{path}: {wrong[:1].lower()}{wrong[1:]}"
        case OSError() if error.filename is None and error.errno in streams.UNWRITABLE:
            streams.discard_output(sys.stdout)
            code = OutputError.exit_code
            advice = None
            message = f"ttt: output cannot be written: {error.strerror}"
        case TttError():
            from ttt_cli.cli.usage import as_typed, hint_at_runs, misplaced

            report_run()
            code = error.exit_code
            advice = (
                misplaced(args[0] if args else "", args, [*COMMANDS])
                or hint_at_runs(error)
                or error.hint
            )
            name = session.run_name if isinstance(error, LookupFailed) else ""
            message = f"{name or 'ttt'}: {error}"
            if error.where:
                message = as_typed(error, f"ttt {args[0]}" if args else "ttt", args)
        case _:
            if session.verbosity >= VERBOSE or os.environ.get("TTT_DEBUG"):
                say("".join(traceback.format_exception(error)).rstrip(), level=QUIET)
            code = 1
            first = str(error).partition("\n")[0]
            message = f"ttt: unexpected {type(error).__name__}: {first}"
            if (
                isinstance(error, OSError) and error.filename is not None
            ):  # gone, or too long a name
                code = RunError.exit_code
                message = f"{error.filename}: {error.strerror}"
    say(message, *([f"hint: {advice}"] if advice else []), level=QUIET)
    return code
