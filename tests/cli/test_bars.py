import contextlib
import io
import os
from collections.abc import Iterator

import pytest

from tests.support.commands import Terminal
from ttt_cli.cli import console
from ttt_cli.cli.console import QUIET, Bars, WaitBar, progress, voice
from ttt_cli.support.progress import SILENT, Wait


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


def test_waits_are_shown_below_the_bars_on_a_terminal_unless_quiet() -> None:
    waits = [
        Wait("compiling", 0, over=False),
        Wait("compiling", 7, over=False),
        Wait("compiling", 8, over=True),
    ]

    def show() -> None:
        shown = WaitBar()
        for wait in waits:
            shown(wait)

    with contextlib.redirect_stderr(io.StringIO()) as stream:
        show()
    assert stream.getvalue() == ""
    with on_terminal() as terminal:
        with Bars().task("reading", total=2.0, unit="B"):
            show()
            shown = terminal.getvalue()
            assert "reading:   0%" in shown
            below = shown.partition("\n")[2]
            assert "compiling: 0, " in below
            assert below.index("compiling: 7, ") < below.index("compiling: 8, ")
            assert below.rpartition("compiling: 8, ")[2].replace("00:00", "").split() == ["\x1b[A"] * 2
        voice.level = QUIET
        before = terminal.getvalue()
        show()
        assert terminal.getvalue() == before


def test_a_wait_goes_on_counting_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_terminal() as terminal:
        shown = WaitBar()
        shown._seconds["compiling"] = 61.0
        shown(Wait("compiling", 9, over=False))
        assert "compiling: 9, 01:01" in terminal.getvalue()
        shown(Wait("compiling", 10, over=True))
        assert 61.0 <= shown._seconds["compiling"] < 100.0


def test_a_wait_without_parts_counts_none() -> None:
    with on_terminal() as terminal:
        shown = WaitBar()
        shown(Wait("inverting", None, over=False))
        assert "inverting, 00:00" in terminal.getvalue()
        shown(Wait("inverting", None, over=True))


def test_processes_begun_by_this_one_show_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = WaitBar()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with on_terminal() as terminal:
        shown(Wait("compiling", 1, over=True))
    assert terminal.getvalue() == ""
