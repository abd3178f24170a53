"""Margins of victory on the command line: from a file to tuning, evidence, comparison and simulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Ran, rows

SIMULATE = [
    "simulate", "-q", "--players", "12", "--years", "3", "--games", "400", "--seed", "3", "-s",
    "model.margin_steps={2: 200, 3: 150}", "-s", "simulate.career_years=50", "-o",
]  # fmt: skip
FIT = ["fit", "league.csv", "-c", "ttt", "-s", "data.margin=margin"]


@pytest.fixture
def league(folder: Path, ran: Ran) -> Path:
    ran([*SIMULATE, "league.csv"])
    return folder


def test_a_simulated_league_in_every_command(league: Path, ran: Ran) -> None:
    lines = (league / "league.csv").read_text().splitlines()
    assert lines[0] == "date,white,black,result,margin"
    assert {line.split(",")[4] for line in lines[1:]} == {"0", "1", "2", "3"}
    said = ran([*FIT, "-s", "model.margin_steps=estimate"]).err
    assert "margins of victory: " in said
    assert "a win by 2 or more takes a performance " in said
    ran([*FIT, "-s", "model.margin_steps={2: 200, 3: 150}", "-o", "league.ttt"])
    grid = rows(ran("evidence --jobs 1 --grid margin_steps.2=100/200/400").out)
    assert [float(row["margin_steps.2"]) for row in grid] == [100.0, 200.0, 400.0]
    assert float(grid[1]["log_evidence"]) > float(grid[2]["log_evidence"])


@pytest.mark.slow
def test_steps_are_tuned_and_estimated_for_forecasts(league: Path, ran: Ran) -> None:
    ran([*FIT, "-s", "model.margin_steps=estimate"])
    steps = {row["parameter"]: row for row in rows(ran("tune margin_steps.2,beta").out)}
    assert {"margin_steps.2", "margin_steps.3", "beta", "log_evidence"} == steps.keys()
    assert float(steps["margin_steps.2"]["tuned"]) == pytest.approx(200.0, abs=150.0)
    data = "data: {margin: margin}"
    (league / "plain.yaml").write_text(f"model: {{name: ttt, beta: 300}}\n{data}\n")
    (league / "wide.yaml").write_text(
        f"model: {{name: ttt, beta: 300, margin_steps: estimate}}\n{data}\n"
    )
    loss = {
        row["system"]: float(row["log_loss"])
        for row in rows(ran("compare plain.yaml wide.yaml").out)
    }
    assert 0.0 < abs(loss["plain"] - loss["wide"]) < 0.1


def test_pgn_has_a_tag_of_margins(folder: Path, ran: Ran) -> None:
    ran([*SIMULATE, "league.pgn"])
    assert '[Margin "3"]' in (folder / "league.pgn").read_text()
    said = ran(
        [
            "fit",
            "league.pgn",
            "-c",
            "ttt",
            "-s",
            "data.margin=Margin",
            "-s",
            "model.margin_steps={2: 200}",
        ]
    ).err
    assert "margins of victory: " in said


def test_games_without_margins_get_a_hint(league: Path, ran: Ran) -> None:
    error = ran(["fit", "league.csv", "-c", "ttt", "-s", "model.margin_steps=estimate"], 2).err
    assert "the games have no margins of victory" in error
    assert "data.margin: score" in error


def test_careers_name_what_is_to_be_set(league: Path, ran: Ran) -> None:
    error = ran(
        [
            "fit",
            "league.csv",
            "-c",
            "ttt-career",
            "-s",
            "data.margin=margin",
            "-s",
            "model.margin_steps={2: 200}",
        ],
        2,
    ).err
    assert "set model.draw_margin_drift: 0" in error
