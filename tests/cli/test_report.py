from pathlib import Path

import pytest

from ttt_cli.cli import main

pytestmark = pytest.mark.usefixtures("here")


def test_one_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report"]) == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    assert capsys.readouterr() == ("", "a.ttt: 7 games 1857-1862\nreport.html written\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ttt", "report.html"]


def test_a_dash_is_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", "-o", "-", "-q"]) == 0
    out, err = capfd.readouterr()
    assert "Anderssen, Adolf" in out
    assert err == ""


def test_a_place_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["report", "-o", "nowhere/report.html"]) == 2
    assert "nowhere/report.html: cannot be written" in capsys.readouterr().err


def test_a_figure_is_refused_before_the_page_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["report", "-o", "a.pdf"]) == 2
    err = capsys.readouterr().err
    assert "'a.pdf': a report is an HTML page, no figure; `ttt plot --kind top -o a.pdf` draws one" in err
    assert [path.name for path in tmp_path.iterdir()] == ["a.ttt"]
