"""The static checks, run as tests: linter, formatter, types, layers."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))

CHECKS = {
    "ruff check": [sys.executable, "-m", "ruff", "check", "."],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "mypy": [sys.executable, "-m", "mypy"],
    "mypy scripts": [sys.executable, "-m", "mypy", "benchmarks", "docs"],
    "lint-imports": [str(SCRIPTS / "lint-imports"), "--no-cache"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_passes(name: str) -> None:
    result = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"
