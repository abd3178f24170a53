"""The alias file is an input of a run: stored with its digest, and no file of games."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ttt_cli.api import configure, fit, open_run, read_games, update
from ttt_cli.cli import main
from ttt_cli.reading.reports import InputFile
from ttt_cli.runs.run import Run
from ttt_cli.updating import Extended

pytestmark = pytest.mark.slow

ALIASES = '"Morphy, Paul",Morphy\n'
HEADER = "date,white,black,result\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text(ALIASES)
    (tmp_path / "old.csv").write_text(HEADER + "1858,Morphy,B,1-0\n1859,B,C,0-1\n")
    (tmp_path / "new.csv").write_text(HEADER + '1860,"Morphy, Paul",C,1-0\n')
    return tmp_path


def made(*files: str, aliases: str | None = "names.txt", output: str | None = "a.ttt") -> Run:
    config = configure(overrides=[] if aliases is None else [f"data.aliases={aliases}"])
    return fit(read_games(*files, aliases=aliases), config, output=output)


def inputs(run: Run) -> list[tuple[object, ...]]:
    return [tuple(row) for row in run.select("SELECT path, kind, digest, size, rows, used FROM inputs")[1]]


def alias_row(content: str) -> tuple[object, ...]:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return ("names.txt", "aliases", digest, len(content.encode()), 0, 0)


def test_path_and_digest_stand_behind_the_files_of_games(here: Path) -> None:
    run = made("old.csv", "new.csv")
    assert [row[0] for row in inputs(run)] == ["old.csv", "new.csv", "names.txt"]
    assert inputs(run)[-1] == alias_row(ALIASES)
    games = run.stored_games()
    assert games.report == read_games("old.csv", "new.csv", aliases="names.txt").report
    assert [file.path for file in games.report.files] == ["old.csv", "new.csv"]
    assert isinstance(games.report.aliases, InputFile)
    assert [row[1] for row in inputs(made("old.csv", aliases=None, output=None))] == ["csv"]


@pytest.mark.parametrize("content", [ALIASES, ALIASES + "B,Bee\n"])
def test_update_reads_it_anew_and_tells_when_it_has_changed(content: str, here: Path) -> None:
    run = made("old.csv")
    (here / "names.txt").write_text(content)
    seen: list[Extended] = []
    after = update(run, "new.csv", on_read=lambda extended, _: seen.append(extended))
    assert seen[0].aliases_changed == (content != ALIASES)
    assert [row[0] for row in inputs(after)] == ["old.csv", "new.csv", "names.txt"]
    assert inputs(after)[-1] == alias_row(content)


def test_update_says_so_and_takes_another_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made("old.csv")
    assert main.run(["update", "a.ttt", "new.csv", "-o", "b.ttt"]) == 0
    assert "alias file" not in capsys.readouterr().err
    (here / "names.txt").write_text(ALIASES + "B,Bee\n")
    assert main.run(["update", "a.ttt", "new.csv", "-o", "b.ttt"]) == 0
    assert "alias file has changed" in capsys.readouterr().err
    (here / "other.txt").write_text("B,Bee\n")
    after = update(open_run("a.ttt"), "new.csv", overrides=["data.aliases=other.txt"])
    assert [row[0] for row in inputs(after)] == ["old.csv", "new.csv", "other.txt"]
