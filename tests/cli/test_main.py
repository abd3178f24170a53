"""The group of commands: help, examples, exit codes, signals, and how the process ends."""

import atexit
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from tests.support.handmade import put_small_run
from ttt_cli import __main__
from ttt_cli.cli import main
from ttt_cli.cli.messages import session
from ttt_cli.cli.usage import examples_of, text_of
from ttt_cli.support.errors import DataError, RunError, TttError
from ttt_cli.views import exports

CONTEXT = click.Context(main.group, info_name="ttt", **main.group.context_settings)
PATHS = (*main.COMMANDS, "config list", "config show", "config check", "config schema")
TYPED = [(path, typed) for path in PATHS for typed, _ in examples_of(path)]
NUMBERS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
needs_signals = pytest.mark.skipif(
    sys.platform == "win32", reason="signals end a process at once there"
)


@pytest.fixture(autouse=True)
def _session_restored() -> Iterator[None]:
    level = session.verbosity
    yield
    session.verbosity = level


def raising(error: BaseException) -> click.Command:
    @click.command("player")
    def command() -> None:
        raise error

    return command


def run_with(error: BaseException, monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    import ttt_cli.cli.player

    monkeypatch.setattr(ttt_cli.cli.player, "command", raising(error))
    return main.run(["player", *args])


def test_help_lists_the_commands_in_order(ran: Ran) -> None:
    out = ran("--help").out
    assert re.findall(r"^  (\w+)  ", out, flags=re.MULTILINE) == list(main.COMMANDS)


def test_no_command_shows_the_help_on_stderr(ran: Ran) -> None:
    out, err = ran("", 2)
    assert out == ""
    assert err.startswith("Usage: ttt")


def test_errors_say_where_and_hint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = DataError("no result", where="games.pgn:1234", hint="look there")
    assert run_with(error, monkeypatch) == 3
    assert capsys.readouterr() == ("", "games.pgn:1234: no result\nhint: look there\n")
    assert run_with(TttError("went wrong"), monkeypatch, "-q") == 1
    assert capsys.readouterr() == ("", "ttt: went wrong\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_130_and_a_word(
    error: BaseException, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_with(error, monkeypatch) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip() == "interrupted"


def test_the_unexpected_is_one_line_and_a_traceback_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TTT_DEBUG", raising=False)
    assert run_with(ZeroDivisionError("by zero\nand more"), monkeypatch) == 1
    err = capsys.readouterr().err
    assert err.splitlines()[0] == "ttt: unexpected ZeroDivisionError: by zero"
    assert "Traceback" not in err
    assert run_with(ZeroDivisionError("by zero"), monkeypatch, "-v") == 1
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("TTT_DEBUG", "1")
    assert run_with(ZeroDivisionError("by zero"), monkeypatch) == 1
    assert "Traceback" in capsys.readouterr().err


def test_completion_of_commands_imports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(name: str) -> None:
        raise AssertionError(f"{name} was imported")

    monkeypatch.setattr(main, "import_module", never)
    context = click.Context(main.group, **main.group.context_settings)
    assert [item.value for item in main.group.shell_complete(context, "ev")] == [
        "events",
        "event",
        "evidence",
    ]


def test_help_is_a_command_too(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    for words, asked in ((["help", "top"], ["top", "--help"]), (["help"], ["--help"])):
        assert main.run(words) == main.run(asked) == 0
        first, again = capsys.readouterr().out.split("Usage: ")[1:]
        assert first == again
    assert "Did you mean 'top'?" in ran("help tp", 2).err


@each("name", main.COMMANDS)
def test_every_help_ends_with_examples(name: str, ran: Ran) -> None:
    usage, _, shown = ran([name, "--help"]).out.partition("\nExamples:\n")
    assert usage.startswith(f"Usage: ttt {name}")
    expected = [
        line for typed, does in examples_of(name) for line in (f"  {typed}", f"      {does}")
    ]
    assert shown.splitlines() == expected
    assert expected


def test_every_example_is_of_a_command(ran: Ran) -> None:
    assert "  ttt config check *.yaml\n" in ran("config check --help").out
    assert {typed for _, typed in TYPED} == {
        line.split("  # ")[0] for line in text_of("examples.txt").splitlines()
    }


@each("path, typed", TYPED)
def test_each_is_understood(path: str, typed: str) -> None:
    """Its options exist, and their values are of the right kind."""
    lines = [
        part
        for part in re.split(r"\||&&|>.*", typed.removeprefix('eval "$(').removesuffix(')"'))
        if part
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


@pytest.fixture
def usual_handlers() -> Iterator[None]:
    """Those of a process that nobody told to ignore them."""
    before = [signal.signal(number, signal.SIG_DFL) for number in NUMBERS]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in zip(NUMBERS, before, strict=True):
        signal.signal(number, handler)


def ended_by(
    number: int, error: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> int | str | None:
    """The exit code of a command that a signal meets, and at which a library raises an error of its own."""

    def table_rows(*args: object) -> None:
        try:
            os.kill(os.getpid(), number)
        except BaseException:
            if error is None:
                raise
        raise error or AssertionError("nothing came")

    put_small_run(tmp_path / "a.ttt")
    monkeypatch.setattr(exports, "export_rows", table_rows)
    try:
        return main.run(["export", "skills", "-r", str(tmp_path / "a.ttt")])
    except SystemExit as end:
        return end.code


@needs_signals
@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "error",
    [
        None,
        RuntimeError("Query interrupted"),
        RunError("INTERRUPT Error: Interrupted!"),
        EOFError(),
    ],
    ids=["none", "RuntimeError", "RunError", "EOFError"],
)
def test_a_signal_gives_its_exit_code_also_where_a_library_makes_an_error_of_it(
    number: signal.Signals,
    error: Exception | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    assert ended_by(number, error, tmp_path, monkeypatch) == 128 + number
    assert [signal.getsignal(number) for number in NUMBERS] == before
    assert capsys.readouterr().err.split() == (["interrupted"] if number == signal.SIGINT else [])


def test_an_end_of_file_in_the_program_is_no_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    def table_rows(*args: object) -> None:
        raise EOFError("Ran out of input")

    put_small_run(tmp_path / "a.ttt")
    monkeypatch.setattr(exports, "export_rows", table_rows)
    assert "unexpected" in ran(["export", "skills", "-r", str(tmp_path / "a.ttt")], 1).err


@pytest.mark.parametrize(
    ("code", "ends"), [(0, 1), (2, 1), (4, 1), (141, 1), (129, 0), (130, 0), (143, 0)]
)
def test_it_leaves_at_once_with_its_code(
    code: int, ends: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What others left to be done at the end is done, but not after a signal: compiled code that still runs in a
    thread while Python and its libraries are taken down ends in a segmentation fault."""
    done: list[object] = []
    monkeypatch.setattr(main, "run", lambda: code)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: done.append("ends"))
    monkeypatch.setattr(os, "_exit", done.append)
    __main__.main()
    assert done == [*["ends"] * ends, code]


def test_nothing_that_was_written_is_lost() -> None:
    """Neither by it nor by what is done at the end."""
    script = (
        "import atexit; from ttt_cli.__main__ import main; atexit.register(print, 'end'); main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1:] == ["end"]
