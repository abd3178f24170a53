"""Covariances of skills in runs of teams, orders of finish and categories, against the dense twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.reference.links_dense import JointTwin
from tests.support.cases import each
from tests.support.handmade import CONFIG
from tests.support.random_sides import OFFSETS, PARAMS, as_history, random_rows
from tests.support.sides import games_of_sides
from ttt_cli.config.schema import SolverConfig
from ttt_cli.runs.columns import player_columns
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import write_run
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-9, posterior="joint", max_sweeps=2000)


@each("seed", [0, 1, 2])
def test_covariances_are_those_of_the_dense_twin(seed: int, tmp_path: Path) -> None:
    """Of skills, and of skills in a category, of the joint Gaussian without its performances."""
    rows, categories = random_rows(seed)
    games = games_of_sides(rows, categories)
    timeline = build_timeline(games, "year", "known")
    offsets = OFFSETS if "rapid" in categories else {}
    params = ttt.Params(**{**PARAMS, "white_advantage": 35.0}, offsets=offsets)
    fit = ttt.fit(timeline, params, JOINT)
    history = as_history(timeline, params, fit.elo_unit)
    exact = JointTwin(*history.prior(), history.links).run().gaussian()[1]
    write_run(tmp_path / "games.ttt", games, timeline, fit, CONFIG)
    skills = [
        (timeline.players[player], timeline.label(int(period)))
        for player, period in zip(timeline.node_player, timeline.node_period, strict=True)
    ]
    variables = [history.number(name, int(year)) for name, year in skills]
    with open_run(tmp_path / "games.ttt") as run:
        covariance = run.covariance(skills).to_numpy()
    assert covariance == pytest.approx(exact[np.ix_(variables, variables)], rel=1e-5, abs=0.02)
    if not offsets:
        return
    in_rapid = [
        (index, history.number(f"{name} rapid", int(year)))
        for index, (name, year) in enumerate(skills)
        if history.has(f"{name} rapid", int(year))
    ]
    weights = np.zeros((len(exact), len(in_rapid)))
    for column, (index, variable) in enumerate(in_rapid):
        weights[[variables[index], variable], column] = 1.0
    with open_run(tmp_path / "games.ttt", category="rapid") as run:
        covariance = run.covariance([skills[index] for index, _ in in_rapid]).to_numpy()
    assert covariance == pytest.approx(weights.T @ exact @ weights, rel=1e-5, abs=0.02)


@pytest.mark.parametrize("pairs", [25, 60])
def test_records_of_members_of_many_teams(pairs: int) -> None:
    """More players than a byte counts: each of four in a game has its result."""
    rows = [
        (1900, f"a{number} / b{number}", f"c{number} / d{number}", 2) for number in range(pairs)
    ]
    columns = player_columns(games_of_sides(rows))
    for name, wins, losses in zip(
        columns["player"], columns["wins"], columns["losses"], strict=True
    ):
        assert (wins, losses) == ((1.0, 0.0) if name[0] in "ab" else (0.0, 1.0))
