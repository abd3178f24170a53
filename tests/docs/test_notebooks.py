"""The notebooks run from the first cell to the last, in an empty folder and without the network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from run_blocks import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are plain Python, so that they need no kernel; outputs are not kept in the files."""
    monkeypatch.chdir(tmp_path)
    book = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), f"{notebook.name}:{cell['id']}", "exec"), names)
    assert len(names) > 3
