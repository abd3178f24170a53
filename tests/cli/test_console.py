"""The console: messages, files, tables and progress bars."""

import contextlib
import io
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import duckdb
import pytest

from tests.support.cases import each
from tests.support.commands import Terminal
from ttt_cli.cli import bars, streams
from ttt_cli.cli.bars import Bars, WaitBar, progress
from ttt_cli.cli.messages import NORMAL, QUIET, VERBOSE, printable, say, session
from ttt_cli.cli.output import emit
from ttt_cli.cli.tables import SHOWN_ROWS, format_column, print_table
from ttt_cli.support.progress import SILENT, Wait, announce, listening
from ttt_cli.views.rows import Rows

ROWS = Rows(("player", "mean"), [("Müller", 1234.56789)], decimals={"mean": 1})


@pytest.fixture(autouse=True)
def _normal_verbosity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "verbosity", NORMAL)


def test_tsv_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    emit(ROWS)
    assert capsys.readouterr().out == "player\tmean\nMüller\t1234.56789\n"


def test_a_table_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "on_terminal", lambda: True)
    emit(ROWS)
    out = capsys.readouterr().out
    assert "1234.6" in out
    assert "1234.56789" not in out


@each(
    "name, fmt, start",
    [
        ("a.csv", None, "player,mean"),
        ("a.tsv", None, "player\tmean"),
        ("a.json", None, "["),
        ("a.dat", None, "player\t"),
        ("b.csv", "jsonl", '{"player"'),
    ],
)
def test_the_format_is_that_asked_for_or_of_the_name(
    tmp_path: Path, name: str, fmt: str | None, start: str
) -> None:
    emit(ROWS, fmt, out=str(tmp_path / name))
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_parquet_to_a_file_and_to_a_pipe(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    emit(ROWS, out=str(tmp_path / "a.parquet"))
    emit(ROWS, "parquet")
    (tmp_path / "b.parquet").write_bytes(capfdbinary.readouterr().out)
    with duckdb.connect() as database:
        for name in ("a.parquet", "b.parquet"):
            rows = database.execute(
                "SELECT * FROM read_parquet(?)", [str(tmp_path / name)]
            ).fetchall()
            assert rows == [("Müller", 1234.56789)]


def test_parquet_is_not_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "on_terminal", lambda: True)
    with pytest.raises(click.UsageError, match="binary"):
        emit(ROWS, "parquet")


def test_an_interrupted_file_does_not_replace_the_old(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text("player,mean\nold,1\n")

    def rows() -> object:
        yield ("Müller", 1.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        emit(Rows(("player", "mean"), rows()), out=str(place))  # type: ignore[arg-type]
    assert place.read_text() == "player,mean\nold,1\n"
    assert list(tmp_path.iterdir()) == [place]


def test_devices_are_written_to_and_not_replaced() -> None:
    emit(ROWS, "csv", out="/dev/null")
    assert Path("/dev/null").is_char_device()


@each(
    "level, said",
    [(QUIET, "error\n"), (NORMAL, "error\nline\n"), (VERBOSE, "error\nline\nmore\n")],
)
def test_how_much_is_said(level: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    session.verbosity = level
    say("error", level=QUIET)
    say("line")
    say("more", level=VERBOSE)
    assert capsys.readouterr() == ("", said)


def test_what_is_said_cannot_command_the_terminal() -> None:
    assert (
        printable("a\x1b[2Jb\nc\x07")
        == "a\N{REPLACEMENT CHARACTER}[2Jb\nc\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.parametrize("fmt", ["csv", "tsv", "json"])
def test_control_characters_are_escaped_on_a_terminal_only(
    fmt: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(("player",), [("M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller\x1b[31m\x9b",)])
    emit(rows, fmt)
    assert "\x9b" in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    emit(rows, fmt)
    out = capsys.readouterr().out
    assert "M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller" in out
    assert "\\x9b" in out
    assert not {"\x1b", "\x9b"} & set(out)


PLAYERS = Rows(
    ("player", "period", "mean", "sd", "games"),
    [
        ("Morphy, Paul", "1858", 1885.4152, 75.43, 80),
        ("Capablanca, Jose Raul", "1921", 1931.25, 50.06, 14),
    ],
    title=("A title with [brackets] and :smile: that is longer than a narrow terminal",),
    decimals={"mean": 1, "sd": 1},
)


def show(rows: Rows, width: int, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    stream = Terminal()
    for key in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(key, raising=False)
    for key, value in {"COLUMNS": str(width), "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(key, value)
    remarks = print_table(rows, stream)
    return stream.getvalue(), remarks


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_wide_terminal_shows_everything_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    text, remarks = show(PLAYERS, 100, monkeypatch)
    assert remarks == []
    lines = plain(text).splitlines()
    assert lines[0] == PLAYERS.title[0]
    assert [line.split() for line in lines[3:]] == [
        ["Morphy,", "Paul", "1858", "1885.4", "75.4", "80"],
        ["Capablanca,", "Jose", "Raul", "1921", "1931.2", "50.1", "14"],
    ]


@pytest.mark.parametrize("width", [16, 20, 24, 30, 36, 40, 60])
def test_a_narrow_terminal_never_cuts_a_number(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    text, remarks = show(PLAYERS, width, monkeypatch)
    lines = plain(text).splitlines()
    assert max(map(len, lines)) <= width
    table = "\n".join(lines)
    for column, numbers in (
        ("mean", ("1885.4", "1931.2")),
        ("sd", ("75.4", "50.1")),
        ("games", ("80", "14")),
    ):
        left_out = any(column in remark for remark in remarks)
        assert all((number in table) != left_out for number in numbers)
    assert "…" not in table


def test_text_is_folded_before_a_column_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(PLAYERS, 41, monkeypatch)[1] == []
    assert show(PLAYERS, 40, monkeypatch)[1] == [
        "not shown, because the terminal is too narrow: games"
    ]


def test_a_text_that_must_not_be_folded_leaves_room_for_the_columns_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = Rows(
        ("no", "player", "results", "points", "note", "games"),
        [(1, "Anderssen, Adolf", "+5 +4 +3 " * 9, 15.0, "long words " * 20, 21)],
        unfolded=frozenset({"results"}),
    )
    text, remarks = show(rows, 45, monkeypatch)
    assert "15.0" in plain(text)
    assert "21" in plain(text)
    assert remarks == ["not shown, because the terminal is too narrow: results"]
    assert show(rows, 44, monkeypatch)[1] == [
        "not shown, because the terminal is too narrow: results, games"
    ]


def test_a_column_without_values_is_not_shown_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("a", "empty", "b"), [(1, None, "x"), (2, "", None)])
    assert "empty" not in plain(show(rows, 80, monkeypatch)[0])
    assert "empty" not in plain(show(Rows(("a", "empty"), [(1, None)]), 80, monkeypatch)[0])
    nothing = Rows(("empty",), [(None,)])
    assert "empty" in plain(show(nothing, 80, monkeypatch)[0])


def test_numbers_that_cannot_fit_are_folded_and_keep_every_digit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = Rows(("a", "b"), [(11111111111111111, 22222222222222222)])
    shown = plain(show(rows, 20, monkeypatch)[0])
    assert (shown.count("1"), shown.count("2")) == (17, 17)


def test_hidden_columns_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(PLAYERS.columns, PLAYERS.rows, hidden=frozenset({"player"}))
    text, _ = show(rows, 80, monkeypatch)
    assert "Morphy" not in text


def test_control_characters_never_reach_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = show(
        Rows(("player",), [("evil\x1b[31mname\x07",)], title=("\x1b]0;x\x07",)), 80, monkeypatch
    )
    assert "\x1b[31m" not in text
    assert "\x1b]" not in text
    assert "\x07" not in text


def test_a_long_table_is_cut_on_a_terminal_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("n",), [(i,) for i in range(SHOWN_ROWS + 5)])
    text, remarks = show(rows, 80, monkeypatch)
    assert str(SHOWN_ROWS - 1) in text
    assert str(SHOWN_ROWS) not in text
    assert remarks
    assert "only the first" in remarks[0]


def test_in_a_pipe_nothing_is_cut_or_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    name = "A very long name indeed " * 10
    stream = io.StringIO()
    rows = Rows(("player", "n"), [(name, i) for i in range(SHOWN_ROWS + 5)])
    assert print_table(rows, stream) == []
    lines = stream.getvalue().splitlines()
    assert len(lines) == SHOWN_ROWS + 5 + 2
    assert lines[-1].split() == [*name.split(), str(SHOWN_ROWS + 4)]
    assert "\x1b" not in stream.getvalue()


def test_only_columns_that_are_shown_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(
        ("player", "mean", "lead"),
        [("a" * 12, 1234.5, 1.5)],
        ("title", "mean: of skills", "lead: over the others", "run"),
    )
    wide, _ = show(rows, 80, monkeypatch)
    assert plain(wide).splitlines()[-3:] == ["mean: of skills", "lead: over the others", "run"]
    narrow, remarks = show(rows, 22, monkeypatch)
    assert remarks == ["not shown, because the terminal is too narrow: lead"]
    assert plain(narrow).splitlines()[-2:] == ["mean: of skills", "run"]


def test_a_report_is_a_list_of_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(
        ("log_evidence", "converged"), [(-17.25, True)], single=True, decimals={"log_evidence": 2}
    )
    text, _ = show(rows, 40, monkeypatch)
    assert [line.split() for line in plain(text).splitlines() if line] == [
        ["log_evidence", "-17.25"],
        ["converged", "yes"],
    ]


@each(
    "values, decimals, shown",
    [
        ([1234.567, 1.0], None, ["1234.6", "1.0"]),
        ([12.345, 1.0], None, ["12.35", "1.00"]),
        ([0.12345, None], None, ["0.1235", ""]),
        ([-17193.26320954], 3, ["-17193.263"]),
        ([1, 200000], None, ["1", "200000"]),
        ([True, False], None, ["yes", "no"]),
        ([float("inf"), 2.0], 1, ["inf", "2.0"]),
    ],
)
def test_numbers_of_a_column_have_equal_decimals(
    values: list[Any], decimals: int | None, shown: list[str]
) -> None:
    assert [cell.strip() for cell in format_column(values, decimals)] == shown


@contextlib.contextmanager
def on_terminal() -> Iterator[Terminal]:
    with contextlib.redirect_stderr(Terminal()) as stream:
        yield stream


def test_bars_on_a_terminal_unless_quiet() -> None:
    with on_terminal():
        assert isinstance(progress(), Bars)
        session.verbosity = QUIET
        assert progress() is SILENT


def test_a_clock_draws_its_bar_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing is reported for long."""
    monkeypatch.setattr(bars, "_TICK", 0.0)
    drawn = threading.Event()
    clock = bars.Clock(SimpleNamespace(refresh=drawn.set))  # type: ignore[arg-type]
    assert drawn.wait(60)
    clock.stop()
    drawn.clear()
    assert not drawn.is_set()  # nothing draws any more


def test_where_no_bars_are_shown_each_long_step_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []

    class LongTimer:
        """A timer whose time is over at once."""

        daemon = False

        def __init__(self, seconds: float, call: Callable[..., None], arguments: list[str]) -> None:
            begun.append(seconds)
            self.start = lambda: call(*arguments)

        def cancel(self) -> None:
            """Do nothing: it is over."""

    monkeypatch.setattr(bars, "Timer", LongTimer)
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        steps = progress()
        for _ in range(2):
            with steps.task("inference", 1.0) as bar:
                bar.advance(0.5)
    assert begun == [bars.LONG_STEP] * 2
    assert stream.getvalue() == "inference takes more than 30 seconds\n"


@each(
    "total, unit, amount, shown",
    [
        (1.0, "", 0.25, "task:  25%"),
        (1.0, "", 0.25, "sweep 3"),
        (2_000_000, "B", 1_000_000, "1.00M/2.00M"),
    ],
)
def test_shares_notes_and_bytes_are_shown(
    total: float, unit: str, amount: float, shown: str
) -> None:
    with on_terminal() as terminal, Bars().task("task", total, unit) as bar:
        bar.advance(amount, "sweep 3")
        bar._bar.refresh()  # type: ignore[attr-defined]
        assert shown in terminal.getvalue()


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
            assert (
                below.rpartition("compiling: 8, ")[2].replace("00:00", "").split() == ["\x1b[A"] * 2
            )
        session.verbosity = QUIET
        before = terminal.getvalue()
        show()
        assert terminal.getvalue() == before


def test_child_processes_show_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = WaitBar()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with on_terminal() as terminal:
        shown(Wait("compiling", 1, over=True))
    assert terminal.getvalue() == ""


def test_announcements_reach_those_who_listen_and_nobody_else() -> None:
    first: list[Wait] = []
    second: list[Wait] = []
    waits = [Wait("compiling", done, over=done == 3) for done in range(4)]
    announce(waits[0])
    with listening(first.append):
        announce(waits[1])
        with listening(second.append):
            announce(waits[2])
    announce(waits[3])
    assert (first, second) == ([waits[1], waits[2]], [waits[2]])
