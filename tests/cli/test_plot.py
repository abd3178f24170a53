from pathlib import Path

import pytest

from ttt_cli.cli import main

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.slow
def test_the_name_of_the_file_decides_the_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["plot", "Anderssen", "Morphy", "-o", "two.svg"]) == 0
    assert (tmp_path / "two.svg").read_text(encoding="utf-8").startswith("<svg")
    out, err = capsys.readouterr()
    assert out == ""
    assert "two.svg written" in err


def test_without_a_file_it_is_a_png_named_by_the_players(tmp_path: Path) -> None:
    assert main.run(["plot", "Anderssen", "Morphy"]) == 0
    assert (tmp_path / "anderssen-morphy.png").read_bytes().startswith(b"\x89PNG")


def test_a_dash_is_svg_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main.run(["plot", "--kind", "games", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"<svg")
