"""Where commands find a small run that nobody names."""

from pathlib import Path

import pytest

from tests.support.handmade import put_small_run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    put_small_run(tmp_path / "a.ttt")
    return tmp_path
