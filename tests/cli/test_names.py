"""`ttt names`: asked on a terminal, answered letter by letter, gone on with later."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.support.commands import Ran, Terminal
from ttt_cli.cli import main
from ttt_cli.games.aliases import read_aliases

Capture = pytest.CaptureFixture[str]
ROWS = """date,white,black,result
1995,"Aronian, Levon",A,1-0
2005,"Aronian, Levon",B,1-0
2001,"Aronian, L",C,1-0
1900,"Mueller, Hans",D,1-0
1901,"Müller, Hans",E,1-0
1890,"Bird, Henry",F,1-0
1900,"Bird, H E",G,1-0
"""


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "games.csv").write_text(ROWS, encoding="utf-8")
    return folder


def answer(monkeypatch: pytest.MonkeyPatch, *answers: str, options: tuple[str, ...] = ()) -> int:
    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{one}\n" for one in answers)))
    return main.run(["names", "games.csv", *options])


def test_answers_are_kept_and_not_asked_again(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(monkeypatch, "y", "s", "x", "q") == 0
    shown = capsys.readouterr()
    assert (
        "1 of 3 (sure): initials, overlapping years\n  Aronian, Levon: 2 games 1995-2005\n"
        in shown.out
    )
    assert "1 answers in aliases.csv: --aliases aliases.csv uses them" in shown.err
    assert read_aliases("aliases.csv").names == {"Aronian, L": "Aronian, Levon"}
    assert answer(monkeypatch, "n", "d", "soon", "1800", "-1901") == 0
    shown = capsys.readouterr()
    assert "Aronian" not in shown.out
    assert "1 of 2: " in shown.out
    assert "'soon' is not a range of years" in shown.out
    assert "has no games in 1800" in shown.out
    aliases = read_aliases("aliases.csv")
    assert (len(aliases.names), len(aliases.by_years)) == (1, 1)
    assert "# no," in Path("aliases.csv").read_text(encoding="utf-8")
    assert answer(monkeypatch) == 0
    assert "One person?" not in capsys.readouterr().out
    assert main.run(["fit", "games.csv", "-q", "--aliases", "aliases.csv"]) == 0


def test_a_file_too_large_for_answers_is_refused(here: Path, ran: Ran) -> None:
    Path("large.csv").write_text('# no,"Tal, Mihail",Tal\n' * 400_000, encoding="utf-8")
    printed = ran("names games.csv --sure -o large.csv", 2)
    assert "large.csv takes more than 8 MB" in printed.err


def test_names_that_no_alias_file_can_express_are_not_asked_about(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = '1900,"Status=Bird, A",Bird,1-0\n1901,"Status=Bird, Al",Wren,1-0\n'
    Path("games.csv").write_text(f"date,white,black,result\n{rows}", encoding="utf-8")
    assert answer(monkeypatch, "y", options=("--sure",)) == 0
    assert "0 answers in aliases.csv" in capsys.readouterr().err


def test_what_is_sure_is_taken_at_once(
    here: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert "answers come from a terminal" in ran("names games.csv", 2).err
    assert main.run(["names", "games.csv", "--sure", "-o", "sure.csv"]) == 0
    assert read_aliases("sure.csv").names == {"Aronian, L": "Aronian, Levon"}
