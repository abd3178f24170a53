"""No output replaces a file that is read, or a file of another kind; what is replaced is reported."""

import shlex
from pathlib import Path

import pytest

from ttt_cli.cli.main import run as ttt
from ttt_cli.support.files import content_kind

GAMES = "date,white,black,result\n1900-01-01,Lasker,Steinitz,1-0\n1901-01-01,Lasker,Steinitz,0-1\n"
FILES = {
    "games.csv": GAMES,
    "moves.pgn": '% by hand\n[Event "x"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n',
    "aliases.csv": '# yes,"Lasker, Emanuel",Lasker\n"Lasker, Emanuel",Lasker\n',
    "mine.csv": '"Lasker, Emanuel",Lasker\nSteinitz,"Steinitz, William"\n',
    "table.csv": "player,period,mean\nLasker,1900,2700.5\n",
    "empty_table.tsv": "period\tmargin\tsd\n",
    "table.json": '[\n{"player": "Lasker"}\n]\n',
    "mine.yaml": "# mine\nmodel:\n  beta: 500\n",
    "page.html": "<!doctype html><html></html>",
    "curve.svg": '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    "notes.txt": "Lasker beat Steinitz.\n",
    "rated.csv": "player,period,rating\nMorphy,1858,2690\n",
}
KINDS = {
    "games.csv": "games", "moves.pgn": "games", "aliases.csv": "aliases", "mine.csv": "aliases",
    "table.csv": "table", "empty_table.tsv": "table", "table.json": "table", "mine.yaml": "config",
    "page.html": "page", "curve.svg": "picture", "notes.txt": "text", "rated.csv": "table", "a.ttt": "run",
}  # fmt: skip
REFUSED = (
    "tune beta -r a.ttt -o a.ttt",
    *(f"{command} -r a.ttt -f csv -o a.ttt -q"
      for command in ("player Morphy", "top", "players", "export skills", "versus Morphy Paulsen", "evidence")),
    "compare elo glicko -f csv -o a.ttt",
    "plot Morphy -f png -o a.ttt",
    "player Morphy --plot curve.svg -o curve.svg -f csv",
    "report -o games.csv",
    "names games.csv -o games.csv --sure",
    "names games.csv -o moves.pgn --sure",
    "names games.csv -o table.csv --sure",
    "games games.csv --suggest moves.pgn",
    "games games.csv --suggest a.ttt",
    "games games.csv --only players -f csv -o games.csv",
    "games games.csv --only players -f csv -o mine.csv",
    "games games.csv --only players --aliases table.csv -f csv -o table.csv",
    "top -o games.csv",
    "top -o mine.yaml -f csv",
    "top -o notes.txt -f csv",
    "tune beta -o mine.csv",
    "tune beta -o page.html",
    "plot Morphy -o page.html -f png",
    "plot Morphy --beside rated.csv -f png -o rated.csv",
    "simulate --games 20 --players 5",
    "simulate --games 20 --players 5 -o aliases.csv",
    "simulate --games 20 --players 5 -o new.csv --truth notes.txt",
)  # fmt: skip


@pytest.fixture
def folder(here: Path) -> Path:
    for name, text in FILES.items():
        (here / name).write_text(text, encoding="utf-8")
    return here


def test_the_kind_of_a_file_is_read_from_its_content(folder: Path) -> None:
    assert {name: content_kind(folder / name) for name in KINDS} == KINDS
    (folder / "empty").touch()
    assert content_kind(folder / "empty") == ""


@pytest.mark.slow
def test_no_output_replaces_what_is_read_or_of_another_kind(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    wrong = []
    for line in REFUSED:
        code, message = ttt(shlex.split(line)), capsys.readouterr().err
        after = {path: path.read_bytes() for path in sorted(folder.iterdir())}
        if code != 2 or after != before or "\nhint: " not in message:
            wrong.append((line, code, message))
        for path in after.keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            path.write_bytes(content)
    assert not wrong


@pytest.mark.slow
def test_a_file_of_the_same_kind_is_replaced_and_that_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, name in (
        ("top -o table.csv", "table.csv"),
        ("top -o table.json", "table.json"),
        ("export games -o games.csv", "games.csv"),
        ("games games.csv --suggest mine.csv", "mine.csv"),
        ("report -o page.html", "page.html"),
        ("plot Morphy -o curve.svg", "curve.svg"),
        ("tune beta -o mine.yaml", "mine.yaml"),
        ("simulate --games 20 --players 5 -o games.csv", "games.csv"),
    ):
        before = (folder / name).read_bytes()
        assert ttt(shlex.split(line)) in {0, 4}, line
        assert f"{name} replaced" in capsys.readouterr().err, line
        assert (folder / name).read_bytes() != before, line


def test_a_link_to_a_file_that_is_read_is_that_file(folder: Path) -> None:
    (folder / "same.csv").symlink_to("games.csv")
    assert ttt(["games", "games.csv", "--list", "-o", "same.csv"]) == 2
    assert (folder / "games.csv").read_text(encoding="utf-8") == GAMES
