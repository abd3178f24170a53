import re
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli import main

pytestmark = pytest.mark.usefixtures("here")


def test_one_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report"]) == main.run(["report", "page.html", "-q"]) == 0
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    assert capsys.readouterr() == ("", "a.ttt: 7 games 1857-1862\nreport.html written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ttt", "page.html", "report.html"]


def test_a_dash_is_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", "-o", "-", "-q"]) == 0
    out, err = capfd.readouterr()
    assert "Anderssen, Adolf" in out
    assert err == ""


@pytest.mark.parametrize("place", ["site/", "site", "-o site", "."])
def test_a_name_without_html_is_a_site(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    if place == ".":
        (tmp_path / "site").mkdir()
        monkeypatch.setenv("TTT_RUN", str(tmp_path / "a.ttt"))
        place = "site"
    told = ran(["report", *place.split(), "--title", "Old masters"]).err.splitlines()[-1]
    assert re.fullmatch(r"site.index\.html written: \d+ files, 0\.\d MB", told)
    assert "Old masters" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "2 players of fewer games have no page of their own" in ran("report site --pages 1").err
    assert len(list((tmp_path / "site" / "players").iterdir())) == 1


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path: Path, ran: Ran) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear")
    assert "contains files that `ttt report` did not write (diary.txt)" in ran("report mine", 2).err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["diary.txt"]


@pytest.mark.parametrize("name", ["notes.txt/", "notes.txt", "notes", "page.html/"])
def test_a_file_that_is_no_page_is_left_alone(name: str, tmp_path: Path, ran: Ran) -> None:
    place = tmp_path / name.rstrip("/")
    place.write_text("mine")
    assert "is a file, not a folder" in ran(["report", f"{tmp_path}/{name}"], 2).err
    assert place.read_text() == "mine"
