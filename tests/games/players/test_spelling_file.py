"""Scid's spelling file as an alias file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.players import read_aliases, spellings_in
from ttt_cli.games.read import read_games

FILE = """### A list of spellings
@PLAYER "., -_*"

### Players
Kasparov, Garry #GM RUS [2812] 1963.04.13 i
   %Bio Title GM:1980 IM:1979
   = Kasparov, Gary
   = Kasparov, Garri # as in Baku
Kasparov, Georgy #-  RUS [1406] 2006 i
Ivanov, Igor #-
   = Ivanov, I
Ivanov, Ilya #-
   = Ivanov, I
   = Ivanov, Igor
@SITE "., -_()"
London
   = Londres
"""


def test_the_section_of_players_is_read() -> None:
    assert spellings_in(FILE) == {"Kasparov, Gary": "Kasparov, Garry", "Kasparov, Garri": "Kasparov, Garry"}


def test_alias_files_are_none() -> None:
    assert spellings_in('"Tal, Mihail",Tal\n# @PLAYER\n') is None


def test_spellings_are_united_by_it(tmp_path: Path) -> None:
    (tmp_path / "spelling.ssp").write_text(FILE)
    rows = '1985,Gary Kasparov,Karpov,1-0\n1986,"Kasparov, Garri",Karpov,1-0\n2001,"Ivanov, I",Karpov,1-0\n'
    (tmp_path / "a.csv").write_text(f"date,white,black,result\n{rows}")
    aliases = str(tmp_path / "spelling.ssp")
    games = read_games([tmp_path / "a.csv"], DataConfig(aliases=aliases))
    assert games.players == ("Ivanov, I", "Karpov", "Kasparov, Garry")
    assert not games.report.problems
    assert games.report.aliases is not None


def test_the_file_of_debian() -> None:
    file = Path("/usr/share/scid/data/spelling.ssp")
    if not file.exists():
        pytest.skip(f"{file} is not installed: it is in Debian's scid-spell-data")
    assert read_aliases(str(file)).names["Kasparov, Gary"] == "Kasparov, Garry"
