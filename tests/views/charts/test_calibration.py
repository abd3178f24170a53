"""The calibration figure shows the bins it was given."""

from __future__ import annotations

import pytest

from tests.support.handmade import run_by
from ttt_cli.evaluate.forecast.calibration import CalibrationBin, Reliability
from ttt_cli.runs.run import Run
from ttt_cli.views.charts.calibration import calibration_chart


@pytest.fixture(scope="module")
def run() -> Run:
    return run_by("year")


def test_bins_are_points_with_two_standard_errors(run: Run) -> None:
    found = Reliability(
        "1850",
        5,
        1234.0,
        {
            "win": (CalibrationBin(0.30, 0.35, 400.0, 0.31, 0.4, 0.02),),
            "draw": (CalibrationBin(0.20, 0.25, 9.0, 0.2, 0.3, 0.1),),
            "loss": (CalibrationBin(0.95, 1.0, 50.0, 0.97, 0.99, 0.03),),
        },
    )
    spec = calibration_chart(run, found).to_dict(validate=False)
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
    assert spec["title"]["text"] == "Calibration of ttt"
    assert "1,234 games from 1850 on" in spec["title"]["subtitle"]
    assert "learning every 5 years" in spec["title"]["subtitle"]
