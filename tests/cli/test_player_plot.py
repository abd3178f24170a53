from pathlib import Path

import pytest

from tests.support.handmade import put_small_run
from ttt_cli.cli import main


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_small_run(tmp_path / "a.ttt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTT_RUN", "a.ttt")


def test_the_history_is_drawn_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["player", "Anderssen", "-f", "csv", "--plot", "a.svg"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("player,period,mean,sd,games")
    assert "a.svg written" in err
    assert "Anderssen, Adolf" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["a.bmp", "-"])
def test_a_figure_that_cannot_be_is_a_usage_error_before_anything_else(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["player", "Anderssen", "--plot", place]) == 2
    out, _ = capsys.readouterr()
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["a.ttt"]
