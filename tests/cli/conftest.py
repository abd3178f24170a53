"""Where commands run, and what they print."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import Printed, Ran
from tests.support.handmade import put_small_run
from ttt_cli.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty; no run is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    return tmp_path


@pytest.fixture
def here(folder: Path) -> Path:
    """The current folder with a small run, which nobody names."""
    put_small_run(folder / "a.ttt")
    return folder


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Ran:
    """Runs a command, checks its exit code, and returns all that was printed since the last time."""

    def run(command: str | Sequence[str], code: int = 0) -> Printed:
        assert main.run(command.split() if isinstance(command, str) else command) == code
        return Printed(*capsys.readouterr())

    return run
