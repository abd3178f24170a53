"""The calibration figure shows the bins it was given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.handmade import run_by
from ttt_cli.evaluate.forecast import CalibrationBin
from ttt_cli.runs.run import Run
from ttt_cli.views.figures.figure import render
from ttt_cli.views.figures.periods import calibration_figure


@pytest.fixture(scope="module")
def run() -> Run:
    return run_by("year")


def test_bins_are_points_with_two_standard_errors(run: Run) -> None:
    found: Any = SimpleNamespace(
        first="1850",
        every=5,
        games=1234.0,
        bins={
            "win": (CalibrationBin(0.30, 0.35, 400.0, 0.31, 0.4, 0.02),),
            "draw": (CalibrationBin(0.20, 0.25, 9.0, 0.2, 0.3, 0.1),),
            "loss": (CalibrationBin(0.95, 1.0, 50.0, 0.97, 0.99, 0.03),),
        },
    )
    spec = calibration_figure(run, found)
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    records = (
        spec["datasets"][points["data"]["name"]] if "name" in points["data"] else points["data"]["values"]
    )
    assert records == [
        {
            "outcome": "White wins",
            "predicted": 0.31,
            "observed": 0.4,
            "low": 0.36,
            "high": 0.44,
            "games": 400.0,
        },
        {
            "outcome": "Black wins",
            "predicted": 0.97,
            "observed": 0.99,
            "low": 0.93,
            "high": 1.0,
            "games": 50.0,
        },
    ]
    assert render(spec, "svg").startswith(b"<svg")
    assert spec["title"]["text"] == "Calibration of ttt"
    assert "1,234 games from 1850 on" in spec["title"]["subtitle"]
    assert "learning every 5 years" in spec["title"]["subtitle"]
