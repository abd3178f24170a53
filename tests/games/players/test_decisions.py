"""Answers about names: an alias file that is complete after each, and that is gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttt_cli.games.players import Aliases, Decision, Decisions, read_aliases
from ttt_cli.support.errors import DataError


def read(decisions: Decisions, folder: Path) -> Aliases:
    file = folder / "aliases.csv"
    file.write_text(decisions.text(), encoding="utf-8")
    return read_aliases(str(file))


def test_answers_are_found_again(tmp_path: Path) -> None:
    decisions = Decisions()
    decisions.add(Decision("yes", "Tal, Mihail", "Tal, M"))
    decisions.add(Decision("no", "Tal, Mihail", "Tahl"))
    decisions.add(Decision("years", "Tal, Mihail", "Tal", "1950-1992"))
    assert decisions.text() == (
        '# yes,"Tal, Mihail","Tal, M"\n"Tal, Mihail","Tal, M"\n# no,"Tal, Mihail",Tahl\n'
        '# years,"Tal, Mihail",Tal,1950-1992\n"Tal, Mihail",Tal,years=1950-1992\n'
    )
    again = Decisions(decisions.text())
    assert again.text() == decisions.text()
    assert len(again) == 3
    assert all(again.answered("Tal, Mihail", name) for name in ("Tal, M", "Tahl", "Tal"))
    assert again.answered("Tal, Bobby", "Tal, M")
    assert not again.answered("Tal, Bobby", "Tahl")
    aliases = read(again, tmp_path)
    assert aliases.names == {"Tal, M": "Tal, Mihail"}
    assert aliases.by_years == {("Tal", 1950, 1992): "Tal, Mihail"}


def test_chains_lead_to_their_end(tmp_path: Path) -> None:
    decisions = Decisions("B,A\n")
    decisions.add(Decision("yes", "C", "B"))
    decisions.add(Decision("yes", "D", "C"))
    assert read(decisions, tmp_path).names == {"A": "D", "B": "D", "C": "D"}
    decisions.add(Decision("yes", "A", "D"))  # which they are by now
    decisions.add(Decision("yes", "A", "E"))
    assert decisions.text()


def test_the_lines_of_others_stay(tmp_path: Path) -> None:
    text = "# mine\nTal,Tahl,Thal\n\nTal (fun),Tal,status=soft\nTal,Tall,years=-1900\n"
    decisions = Decisions(text)
    decisions.add(Decision("yes", "Tal, M", "Tal"))
    found = read(decisions, tmp_path)
    assert found.names == {"Tahl": "Tal, M", "Thal": "Tal, M", "Tal": "Tal, M"}
    assert found.by_status == {("Tal", "soft"): "Tal (fun)"}
    assert found.by_years == {("Tall", 0, 1900): "Tal"}
    assert decisions.text().startswith("# mine\n")


def test_a_table_of_spellings_is_left_alone() -> None:
    with pytest.raises(DataError, match="is a table of spellings and names"):
        Decisions("spelling,name\nTahl,Tal\n", "a.csv")
