import io
import re
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.commands import Terminal
from ttt_cli.cli.console import SHOWN_ROWS, format_column, print_table
from ttt_cli.views.rows import Rows

PLAYERS = Rows(
    ("player", "period", "mean", "sd", "games"),
    [("Morphy, Paul", "1858", 1885.4152, 75.43, 80), ("Capablanca, Jose Raul", "1921", 1931.25, 50.06, 14)],
    title=("A title with [brackets] and :smile: that is longer than a narrow terminal",),
    decimals={"mean": 1, "sd": 1},
)


def show(
    rows: Rows, width: int, monkeypatch: pytest.MonkeyPatch, **environment: str
) -> tuple[str, list[str]]:
    stream = Terminal()
    for key in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(key, raising=False)
    for key, value in {"COLUMNS": str(width), "TERM": "xterm-256color", **environment}.items():
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
    assert show(PLAYERS, 40, monkeypatch)[1] == ["too narrow for games"]


def test_text_gives_way_to_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("name", "value"), [("abcdefghijklmnop", 12345678901234567)])
    assert "12345678901234567" in plain(show(rows, 32, monkeypatch)[0])


def test_numbers_that_cannot_fit_are_folded_and_keep_every_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("a", "b"), [(11111111111111111, 22222222222222222)])
    shown = plain(show(rows, 20, monkeypatch)[0])
    assert (shown.count("1"), shown.count("2")) == (17, 17)


def test_hidden_columns_are_in_the_title_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(PLAYERS.columns, PLAYERS.rows, hidden=frozenset({"player"}))
    text, _ = show(rows, 80, monkeypatch)
    assert "Morphy" not in text


def test_no_color_means_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = show(PLAYERS, 80, monkeypatch, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", text)


def test_control_characters_never_reach_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = show(Rows(("player",), [("evil\x1b[31mname\x07",)], title=("\x1b]0;x\x07",)), 80, monkeypatch)
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


def test_a_report_is_a_list_of_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("log_evidence", "converged"), [(-17.25, True)], single=True, decimals={"log_evidence": 2})
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
