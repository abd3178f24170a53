"""Covariances of skills in runs of teams, orders of finish and categories, against the dense twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.inference.test_categories import games_in_categories
from tests.inference.test_categories import random_rows as random_games
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


@pytest.mark.slow
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


@each("seed, way", [(1, "pairs"), (2, "pairs"), (0, "teams")])
def test_covariances_of_correlated_offsets(seed: int, way: str, tmp_path: Path) -> None:
    """Of skills in both categories, of merged games of two players and of teams and orders of finish."""
    games = {
        "pairs": lambda: games_in_categories(random_games(seed)),
        "teams": lambda: games_of_sides(*random_rows(seed)),
    }[way]()
    timeline = build_timeline(games, "year", "known")
    offsets = {"rapid": {"sd": 90.0, "tau": 40.0}, "blitz": {"sd": 140.0, "tau": 25.0}}
    params = ttt.Params(**PARAMS, offsets=offsets, offset_correlation=0.6)
    fit = ttt.fit(timeline, params, JOINT)
    history = as_history(timeline, params, fit.elo_unit)
    exact = JointTwin(*history.prior(), history.links).run().gaussian()[1]
    write_run(tmp_path / "games.ttt", games, timeline, fit, CONFIG)
    labels = [
        (timeline.players[player], timeline.label(int(period)))
        for player, period in zip(timeline.node_player, timeline.node_period, strict=True)
    ]
    for name in offsets:
        skills = [
            (player, year) for player, year in labels if history.has(f"{player} {name}", int(year))
        ]
        weights = np.zeros((len(exact), len(skills)))
        for column, (player, year) in enumerate(skills):
            weights[history.number(player, int(year)), column] = 1.0
            weights[history.number(f"{player} {name}", int(year)), column] = 1.0
        with open_run(tmp_path / "games.ttt", category=name) as run:
            covariance = run.covariance(skills).to_numpy()
        assert covariance == pytest.approx(weights.T @ exact @ weights, rel=1e-5, abs=0.02)
