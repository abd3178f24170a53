import contextlib
import io
from collections.abc import Iterator

import pytest

from ttt_cli.cli import console
from ttt_cli.cli.bars import Bars, progress, say_on_terminal
from ttt_cli.cli.console import QUIET, voice
from ttt_cli.progress import SILENT


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _normal_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice, "level", console.NORMAL)


@contextlib.contextmanager
def on_terminal() -> Iterator[Terminal]:
    with contextlib.redirect_stderr(Terminal()) as stream:
        yield stream


def test_bars_on_a_terminal_unless_quiet() -> None:
    with on_terminal():
        assert isinstance(progress(), Bars)
        voice.level = QUIET
        assert progress() is SILENT


def test_a_share_shows_percent_and_note() -> None:
    with on_terminal() as terminal, Bars().task("inference", total=1.0) as bar:
        bar.advance(0.25, "sweep 3")
        bar.advance(0)
        bar._bar.refresh()  # type: ignore[attr-defined]
        shown = terminal.getvalue()
    assert "inference:  25%" in shown
    assert "sweep 3" in shown


def test_bytes_are_counted_in_their_units() -> None:
    with on_terminal() as terminal, Bars().task("reading", total=2_000_000, unit="B") as bar:
        bar.advance(1_000_000)
        bar._bar.refresh()  # type: ignore[attr-defined]
        shown = terminal.getvalue()
    assert "1.00M/2.00M" in shown


def test_no_bar_is_left_behind() -> None:
    with on_terminal() as terminal:
        with Bars().task("games", unit="games") as bar:
            bar.advance(5)
        shown = terminal.getvalue()
    assert "games" in shown
    assert shown.endswith("\r")
    assert shown.rstrip("\r").rpartition("\r")[2].strip() == ""


def test_waits_are_told_on_a_terminal_unless_quiet() -> None:
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        say_on_terminal("compiling")
    assert stream.getvalue() == ""
    with on_terminal() as terminal:
        say_on_terminal("compiling")
        voice.level = QUIET
        say_on_terminal("again")
        assert terminal.getvalue() == "compiling\n"
