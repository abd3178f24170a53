"""Alias files: both forms, comments, statuses, and what contradicts itself."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.extend import extend_games
from ttt_cli.games.players import read_aliases
from ttt_cli.games.read import read_games
from ttt_cli.reading import input as text
from ttt_cli.support.errors import DataError


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "aliases.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


@each(
    "text, names, by_status, by_years",
    [
        (
            '\ufeff# comment\nTal,"Tal, M.", Tahl,\n\n"Morphy, Paul","Paul  Morphy"\n',
            {"Tal, M.": "Tal", "Tahl": "Tal", "Paul Morphy": "Morphy, Paul"}, {}, {},
        ),
        ("Tal,T\nTal,T,Tal\n", {"T": "Tal", "Tal": "Tal"}, {}, {}),  # the same said twice
        ("# nothing yet\n", {}, {}, {}),
        (
            'Tal (fun),Tal,"Tal, M",Status = Casual\n',
            {}, {("Tal", "casual"): "Tal (fun)", ("Tal, M", "casual"): "Tal (fun)"}, {},
        ),
        (
            "Wilson (old),Wilson,Years = -1900\nWilson (new),Wilson,years=1950-\n",
            {}, {}, {("Wilson", 0, 1900): "Wilson (old)", ("Wilson", 1950, 9999): "Wilson (new)"},
        ),
    ],
)  # fmt: skip
def test_lines_of_main_and_synonyms(
    text: str,
    names: dict[str, str],
    by_status: dict[tuple[str, str], str],
    by_years: dict[tuple[str, int, int], str],
    tmp_path: Path,
) -> None:
    aliases = read_aliases(written(tmp_path, text))
    assert (aliases.names, aliases.by_status, aliases.by_years) == (names, by_status, by_years)
    assert aliases.mains == {*names.values(), *by_status.values(), *by_years.values()}


@each("header", ["spelling,name,games", "name,spelling,status", "as_in_pgn,canonical,n"])
def test_a_line_for_each_spelling(tmp_path: Path, header: str) -> None:
    columns = {
        "spelling": '"Tal,M"',
        "as_in_pgn": '"Tal,M"',
        "name": "Tal",
        "canonical": "Tal",
        "status": "soft",
    }
    row = ",".join(columns.get(name, "12") for name in header.split(","))
    path = tmp_path / "aliases.csv.gz"
    path.write_bytes(gzip.compress(f"{header}\n{row}\n".encode()))
    aliases = read_aliases(str(path))
    if "status" in header:
        assert (aliases.names, aliases.by_status) == ({}, {("Tal, M", "soft"): "Tal"})
    else:
        assert (aliases.names, aliases.by_status) == ({"Tal, M": "Tal"}, {})


@each(
    "text, line, message",
    [
        ("Tal,T\nTimman,T\n", 2, "'T' is 'Tal' in line 1, and 'Timman' here"),
        ("Tal,T,status=soft\n#\nTimman,T,status=soft\n", 3, "'T' is 'Tal' in line 1, and 'Timman' here"),
        ("Tal,T\nTahl,Tal\n", 1, "'T' is 'Tal', which is itself 'Tahl' in line 2"),
        ("Tal\n", 1, "no synonym"),
        ("Tal,status=soft\n", 1, "no synonym"),
        (",T\n", 1, "a name is empty"),
        ("Tal,T,status=a,status=b\n", 1, "more than one status"),
        ("Tal,T,status=a,years=1900-\n", 1, "more than one status or range of years"),
        ("Tal,T,years=soon\n", 1, "'soon' is not a range of years"),
        ("Tal,T,years=1900-\nTimman,T,years=1900-\n", 2, "'T' is 'Tal' in line 1, and 'Timman' here"),
        ('Tal,"T\n', 1, "cannot be read"),
        ("spelling,name\nT\n", 2, "1 fields are too few"),
        ("date,white,black,result\n1900,A,B,1-0\n", 0, "contains games"),
    ],
)
def test_contradictions_have_their_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read_aliases(path)
    assert caught.value.where == (f"{path}:{line}" if line else path)
    assert message in caught.value.message


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_aliases(str(tmp_path / "none.csv"))


def test_the_real_table_is_read(data: Path) -> None:
    aliases = read_aliases(str(data / "player_aliases.csv.gz"))
    assert aliases.names["Aronian, L"] == "Aronian, Levon"
    assert aliases.names["Torre Repetto Carlos"] == "Torre Repetto, Carlos"  # without its country


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_is_no_alias_file() -> None:
    with pytest.raises(DataError, match="/dev/zero: cannot be read: is a device"):
        read_aliases("/dev/zero")


def test_an_alias_file_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_SMALL", 100)
    (tmp_path / "a.csv").write_text("A,B\n" * 30)
    with pytest.raises(DataError, match="takes more than 0 MB"):
        read_aliases(str(tmp_path / "a.csv"))


def test_names_are_split_by_years(tmp_path: Path) -> None:
    file = tmp_path / "games.csv"
    rows = "".join(f"{year},Wilson,Bird,1-0\n" for year in (1890, 1900, 1925, 1950, 1960))
    file.write_text(f"date,white,black,result\n{rows}")
    path = written(tmp_path, 'Wilson (old),Wilson,years=-1900\n"Young, W",Wilson,years=1950-\n')
    data = DataConfig(aliases=path)
    games = read_games([file], data)
    assert [games.players[player] for player in games.white.tolist()] == [
        *["Wilson (old)"] * 2, "Wilson", *["Young, W"] * 2,
    ]  # fmt: skip
    parts = [
        read_games([io.BytesIO(b"date,white,black,result\n" + row.encode())]) for row in rows.splitlines()
    ]
    assert len(extend_games(parts[0], parts[4], data).games.players) == 3


def test_aliases_of_nobody_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "games.csv"
    file.write_text('date,white,black,result\n1858,"Morphy, P.",Anderssen,1-0\n1859,Adolf Bird,"x, Y",1-0\n')
    path = written(
        tmp_path,
        'Morphy,"MORPHY, P",Murphy\n#\nTal,Tahl,Thal,status=soft\nBird,"Bird, Adolf"\nTal,Tall,years=1900-\n',
    )
    for strict in (False, True):
        problems = read_games([file], DataConfig(aliases=path, strict=strict)).report.problems
        assert [(one.place, one.reason, one.action, one.detail) for one in problems] == [
            (f"{path}:1", "aliases of nobody", "kept", "4 of 6 spellings: Murphy; Tahl; Thal; ...")
        ]
