"""Games that chance decides on the command line: the summary, evidence by share, tuning, and predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Ran, rows
from ttt_cli import open_run

SIMULATE = [
    "simulate", "-q", "--players", "12", "--years", "3", "--games", "600", "--seed", "5", "-s", "model.lapse=0.2",
    "-s", "model.beta=150", "-s", "simulate.career_years=50", "-o", "club.csv",
]  # fmt: skip


@pytest.fixture
def club(folder: Path, ran: Ran) -> Path:
    ran(SIMULATE)
    return folder


def fitted(ran: Ran, lapse: str) -> str:
    return ran(
        ["fit", "club.csv", "-c", "ttt", "-s", "model.beta=150", "-s", f"model.lapse={lapse}"]
    ).err


def test_the_evidence_by_share_is_highest_near_the_true_one(club: Path, ran: Ran) -> None:
    assert "lapse 0.1," in fitted(ran, "0.1")
    grid = rows(ran("evidence --jobs 1 --grid lapse=0/0.2/0.45").out)
    assert [float(row["lapse"]) for row in grid] == [0.0, 0.2, 0.45]
    none, true, many = (float(row["log_evidence"]) for row in grid)
    assert true > none
    assert true > many


@pytest.mark.slow
def test_the_share_is_tuned_from_none(club: Path, ran: Ran) -> None:
    fitted(ran, "0")
    tuned = {row["parameter"]: row for row in rows(ran("tune lapse").out)}
    error = float(tuned["lapse"]["standard_error"])
    assert float(tuned["lapse"]["start"]) == pytest.approx(0.02)
    assert abs(float(tuned["lapse"]["tuned"]) - 0.2) < 3.0 * error
    assert "chance decides" in fitted(ran, "estimate")


def test_no_prediction_is_surer_than_chance_allows(club: Path, ran: Ran) -> None:
    """A win of the best against the weakest has at most 1 - l (1 - b), b the share of chance in which he wins."""
    fitted(ran, "0.3")
    ranked = [row["player"] for row in rows(ran("top --everyone").out)]
    best, weakest = ranked[0], ranked[-1]
    meeting = json.loads(ran(["versus", best, weakest, "-f", "json"]).out)
    draws = open_run("club.ttt").meta.params["lapse_draws"]
    most = 1.0 - 0.3 * (1.0 - 0.5 * (1.0 - draws))
    assert 0.5 < meeting["win"] < most
    assert meeting["loss"] >= 0.3 * 0.5 * (1.0 - draws)
    assert meeting["win"] + meeting["draw"] + meeting["loss"] == pytest.approx(1.0)
