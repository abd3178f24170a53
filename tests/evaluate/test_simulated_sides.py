"""Artificial games of teams and orders of finish: who takes part, ranks, and files that are read back."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.config.validation import validate
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.evaluate.simulated_files import check_targets, save
from ttt_cli.evaluate.simulated_sides import draw_participants, ranks_by_performance
from ttt_cli.games.read import read_games
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

PLAN = Plan(players=30, years=3, games=60, seed=2, career_years=20.0)
DOUBLES = PLAN.changed(team_size=2)
RACES = PLAN.changed(sides=5, draw_margin=100.0)
RELAYS = PLAN.changed(sides=3, team_size=2, team="mean")


def test_players_of_a_game_are_different_even_where_all_take_part() -> None:
    cluster = np.repeat([0, 1], [3, 4])
    activity = np.array([1e-6, 1.0, 100.0, 1.0, 1.0, 1.0, 1.0])
    rng = np.random.default_rng(0)
    for size in (2, 4, 7):
        players = draw_participants(cluster, activity, 0.3, (200, size), rng)
        assert all(len({*row}) == size for row in players.tolist())
    pairs = draw_participants(cluster, activity, 0.0, (200, 3), rng)
    assert np.all(cluster[pairs] == cluster[pairs[:, :1]])


def test_equal_ranks_are_ties_and_the_next_rank_counts_them() -> None:
    performance = np.array([[10.0, 100.0, 95.0, 50.0], [0.0, 3.0, 6.0, 100.0]])
    assert ranks_by_performance(performance, 5.0).tolist() == [[4, 1, 1, 3], [2, 2, 2, 1]]
    assert ranks_by_performance(performance, 0.0).tolist() == [[4, 1, 2, 3], [4, 3, 2, 1]]


def test_results_of_teams_have_the_chances_of_the_model() -> None:
    """Ten thousand games of two players each side, at one skill: wins and draws as the noise of four players says."""
    plan = Plan(
        players=40, years=1, games=10_000, team_size=2, prior_sd=1e-6, beta=100.0, draw_margin=80.0
    )
    outcome = simulate(plan.changed(white_advantage=50.0)).outcome
    chance = NormalDist(50.0, 200.0)  # sqrt(4) beta
    win = 1.0 - chance.cdf(80.0 * 2**0.5)
    draw = chance.cdf(80.0 * 2**0.5) - chance.cdf(-80.0 * 2**0.5)
    for code, probability in ((2, win), (1, draw)):
        assert np.mean(outcome == code) == pytest.approx(
            probability, abs=4.0 * (probability * (1 - probability) / 10_000) ** 0.5
        )
    averaged = simulate(plan.changed(team="mean")).outcome
    singles = NormalDist(0.0, 2**0.5 * 100.0)
    assert np.mean(averaged == 1) == pytest.approx(1.0 - 2.0 * singles.cdf(-80.0), abs=0.02)


@each("plan", [DOUBLES, RACES, RELAYS])
def test_files_are_read_back_as_the_games_that_were_drawn(tmp_path: Path, plan: Plan) -> None:
    simulated = simulate(plan)
    for _ in range(2):  # the second replaces the first
        save(simulated, tmp_path / "games.csv")
    read = build_timeline(read_games([tmp_path / "games.csv"]), colours="known")
    drawn = build_timeline(simulated.games(), colours="known")
    params = ttt.Params(team=plan.team, draw_margin=plan.margin, white_advantage=0.0)
    solver = SolverConfig(posterior="factorised", tol=1e-6)
    of_read, of_drawn = (ttt.fit(timeline, params, solver) for timeline in (read, drawn))
    assert read.n_games == drawn.n_games == 60 * (plan.sides - 1)
    assert of_read.log_evidence == pytest.approx(of_drawn.log_evidence, abs=1e-5)


def test_pgn_is_for_two_players() -> None:
    with pytest.raises(ConfigError, match="PGN is for games of two players"):
        check_targets(Path("games.pgn"), of_sides=True)


@each(
    "wrong, words",
    [
        ({"sides": 8, "players": 7}, "a game has 8 players, more than there are"),
        ({"sides": 3, "lapse": 0.1}, "model.lapse are for games of two sides"),
        ({"team_size": 2, "opponents_sd": 100.0}, "opponents_sd are for games of two players"),
    ],
)
def test_what_is_drawn_for_two_players_only(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        validate(Plan, wrong, Document(), ("simulate",))
