import re
from collections.abc import Iterator
from importlib import import_module

import click
import pytest

from tests.support.cases import each
from tests.support.commands import Ran
from ttt_cli import __version__
from ttt_cli.cli import main
from ttt_cli.cli.console import voice
from ttt_cli.support.errors import DataError, TttError


@pytest.fixture(autouse=True)
def _voice_restored() -> Iterator[None]:
    level = voice.level
    yield
    voice.level = level


def raising(error: BaseException) -> click.Command:
    @click.command("player")
    def command() -> None:
        raise error

    return command


def run_with(error: BaseException, monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    import ttt_cli.cli.player

    monkeypatch.setattr(ttt_cli.cli.player, "command", raising(error))
    return main.run(["player", *args])


@each("name", main.COMMANDS)
def test_every_command_is_there_with_the_help_of_the_table(name: str, ran: Ran) -> None:
    command = import_module(f"ttt_cli.cli.{name}").command
    assert command.name == name
    out = ran([name, "--help"]).out
    assert out.startswith(f"Usage: ttt {name}")


def test_version(ran: Ran) -> None:
    assert ran("--version").out == f"ttt {__version__}\n"


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
    assert [item.value for item in main.group.shell_complete(context, "e")] == ["evidence", "export"]


@each("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_go_to_stdout_and_their_use_to_stderr(shell: str, ran: Ran) -> None:
    out, err = ran(["completion", shell])
    assert "_TTT_COMPLETE" in out
    assert f"ttt completion {shell} >" in err
    assert "to install" not in out


def test_help_is_a_command_too(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    for words, asked in ((["help", "top"], ["top", "--help"]), (["help"], ["--help"])):
        assert main.run(words) == main.run(asked) == 0
        first, again = capsys.readouterr().out.split("Usage: ")[1:]
        assert first == again
    assert "Did you mean 'top'?" in ran("help tp", 2).err
