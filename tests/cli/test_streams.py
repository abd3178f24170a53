"""Being told to end gives the exit code of the signal, whatever was at work."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import put_small_run
from ttt_cli.cli import main
from ttt_cli.support.errors import RunError
from ttt_cli.views import run as run_views

NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals end a process at once there")


@pytest.fixture(autouse=True)
def _usual_handlers() -> Iterator[None]:
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
    monkeypatch.setattr(run_views, "table_rows", table_rows)
    try:
        return main.run(["export", "skills", "-r", str(tmp_path / "a.ttt")])
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "error",
    [None, RuntimeError("Query interrupted"), RunError("INTERRUPT Error: Interrupted!"), EOFError()],
    ids=["none", "RuntimeError", "RunError", "EOFError"],
)
def test_a_signal_gives_its_exit_code_also_where_a_library_makes_an_error_of_it(
    number: signal.Signals,
    error: Exception | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended_by(number, error, tmp_path, monkeypatch) == 128 + number
    assert capsys.readouterr().err.split() == (["interrupted"] if number == signal.SIGINT else [])


def test_handlers_are_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    ended_by(signal.SIGTERM, RuntimeError("lost"), tmp_path, monkeypatch)
    assert [signal.getsignal(number) for number in NUMBERS] == before


def test_an_end_of_file_in_the_program_is_no_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    def table_rows(*args: object) -> None:
        raise EOFError("Ran out of input")

    put_small_run(tmp_path / "a.ttt")
    monkeypatch.setattr(run_views, "table_rows", table_rows)
    assert "unexpected" in ran(["export", "skills", "-r", str(tmp_path / "a.ttt")], 1).err
