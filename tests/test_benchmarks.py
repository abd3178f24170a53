"""Benchmarks measure what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers.py"


@pytest.mark.slow
@pytest.mark.large
def test_this_project_reaches_the_fixed_point_that_others_are_measured_against() -> None:
    """With the joint posterior in the place of the factorised one no other package can reach it."""
    options = ["--games", "500", "--rounds", "1", "--only", "ttt", "ttt-whr"]
    done = subprocess.run(
        [sys.executable, str(PEERS), *options],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    rows = [line for line in done.stdout.splitlines() if "this project" in line]
    assert len(rows) == 2
    assert "given up" not in done.stdout
    assert 'posterior="factorised"' in PEERS.read_text(encoding="utf-8")
