"""Odds of tournaments against exact matches, enumeration and a simulation of its own."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import each
from tests.views.test_records import random_games
from ttt_cli import fit
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.systems import ttt
from ttt_cli.views import tournament
from ttt_cli.views.tournament import (
    Simulation,
    TournamentPlan,
    play_round_robin,
    play_swiss,
    tournament_rows,
)
from ttt_cli.views.versus import versus_view

SAMPLES = 40_000
NAMES = ["p00", "p03", "p05", "p08"]


@pytest.fixture(scope="module")
def run() -> Run:
    return fit(random_games(), model="ttt", white_advantage=30.0)


def odds(run: Run, names: list[str], plan: TournamentPlan, **options: object) -> dict[str, dict]:
    rows = tournament_rows(run, names, plan, **options).rows
    return {record["player"]: record for record in rows.records()}


def fixed(skills: list[float], samples: int = SAMPLES, seed: int = 1) -> Simulation:
    """Tournaments of players with certain skills."""
    params = {"beta": 400.0, "draw_margin": 150.0, "white_advantage": 40.0}
    skill = np.tile(np.array(skills), (samples, 1))
    return Simulation(ttt.predict, params, skill, {}, np.random.default_rng(seed))


def chances(simulation: Simulation, white: int, black: int) -> list[float]:
    pair = [np.full(simulation.size, player) for player in (white, black)]
    return simulation._chance(*pair)[0].tolist()


@each(
    "kind, detail",
    [
        ("round-robin", "1 game of each pair"),
        ("double", "2 games of each pair"),
        ("match", "12 games of each pair"),
        ("knockout", "matches of 2 games"),
        ("swiss", "2 rounds"),
    ],
)
def test_how_many_games_are_played_by_default(kind: str, detail: str, run: Run) -> None:
    plan = TournamentPlan(kind)
    table = tournament_rows(run, ["p00", "p05"], plan, at=1905, samples=100).rows
    assert table.title[0].startswith(f"{kind} of 2 players, {detail}")


@each("games", [1, 2, 7, 24])
def test_a_match_is_as_the_exact_one(games: int, run: Run) -> None:
    plan = TournamentPlan("match", games)
    found = odds(run, ["p00", "p05"], plan, at=1905, samples=200_000)["p00"]
    (row,) = versus_view(run, "p00", "p05", at=1905, games=games).report.records()
    exact = (row["match_win"], row["match_win"] + row["match_draw"] / 2.0, row["match_points"])
    assert (found["p_alone"], found["p_first"]) == pytest.approx(exact[:2], abs=0.005)
    assert found["points"] == pytest.approx(exact[2], abs=0.01 * games)


def test_a_round_robin_of_three_is_as_enumerated() -> None:
    simulation = fixed([1500.0, 1400.0, 1200.0], samples=200_000)
    pairs = [(1, 0), (2, 0), (2, 1)]
    alone = np.zeros(3)
    first = np.zeros(3)
    for results in product(range(3), repeat=3):
        probability = 1.0
        score = np.zeros(3)
        for (a, b), result in zip(pairs, results, strict=True):
            by_lot = (
                chances(simulation, a, b)[result] + chances(simulation, b, a)[2 - result]
            ) / 2.0
            probability *= by_lot
            score[a] += result
            score[b] += 2 - result
        winners = np.flatnonzero(score == score.max())
        first[winners] += probability / len(winners)
        if len(winners) == 1:
            alone[winners] += probability
    played = play_round_robin(simulation, 1)
    assert (played.rank == 0).mean(axis=0) == pytest.approx(first, abs=0.004)
    assert played.is_sole_first.mean(axis=0) == pytest.approx(alone, abs=0.004)


@pytest.mark.slow
def test_a_double_round_robin_is_as_400_000_tournaments_played_game_by_game(run: Run) -> None:
    """With skills from the covariances of the run, and probabilities by the formula of the model."""
    found = odds(run, NAMES, TournamentPlan("double"), at=1905)
    size = 400_000
    rng = np.random.default_rng(7)
    skills = run.skills().set_index(["player", "period"])
    means = np.array([skills.loc[(name, "1905"), "mean"] for name in NAMES])
    covariance = run.covariance([(name, 1905) for name in NAMES]).to_numpy()
    drawn = rng.multivariate_normal(means, covariance, size)
    params = run.meta.params
    score = np.zeros((size, 4))
    for white, black in product(range(4), repeat=2):
        if white != black:
            noise = rng.normal(0.0, math.sqrt(2.0) * params["beta"], size)
            ahead = drawn[:, white] - drawn[:, black] + params["white_advantage"] + noise
            score[:, white] += np.where(
                ahead > params["draw_margin"], 1.0, 0.5 * (ahead > -params["draw_margin"])
            )
            score[:, black] += np.where(
                ahead < -params["draw_margin"], 1.0, 0.5 * (ahead < params["draw_margin"])
            )
    place = np.argsort(np.argsort(-(score + 1e-3 * rng.random(score.shape)), axis=1), axis=1)
    for index, name in enumerate(NAMES):
        expected = np.bincount(place[:, index], minlength=4) / size
        assert [found[name][f"place_{number}"] for number in range(1, 5)] == pytest.approx(
            expected, abs=0.01
        )
        assert found[name]["points"] == pytest.approx(score[:, index].mean(), abs=0.03)


@each("kind", ["round-robin", "double", "knockout", "swiss"])
def test_places_are_probabilities(kind: str, run: Run) -> None:
    found = odds(run, NAMES, TournamentPlan(kind), samples=2000)
    table = np.array([[row[f"place_{place}"] for place in range(1, 5)] for row in found.values()])
    assert table.sum(axis=0) == pytest.approx(np.ones(4))
    assert table.sum(axis=1) == pytest.approx(np.ones(4))
    assert all(row["p_first"] == row["place_1"] >= row["p_alone"] for row in found.values())
    if kind == "knockout":
        assert {row["points"] for row in found.values()} == {None}
    else:
        pairs = {"round-robin": 6, "double": 12, "swiss": 6}[kind]
        assert sum(row["points"] for row in found.values()) == pytest.approx(pairs)


def test_equal_players_have_equal_odds() -> None:
    simulation = fixed([1200.0] * 5)
    for played in (play_round_robin(simulation, 1), play_swiss(simulation, 3, 1)):
        assert (played.rank == 0).mean(axis=0) == pytest.approx([0.2] * 5, abs=0.01)


def test_in_a_swiss_nobody_meets_an_opponent_twice_and_each_has_one_bye() -> None:
    """Three rounds of three players are a round robin with a bye for each: scores of sure results say who met."""
    simulation = fixed([20000.0 * number for number in range(3)], samples=50)
    played = play_swiss(simulation, 3, 1)
    assert played.half_points is not None
    assert {tuple(row) for row in played.half_points.tolist()} == {(2, 4, 6)}


def test_a_knockout_is_won_by_who_wins_all_matches(run: Run) -> None:
    """Of two players it is a match in which draws are played on."""
    found = odds(run, ["p00", "p05"], TournamentPlan("knockout", 1), at=1905, samples=200_000)[
        "p00"
    ]
    (row,) = versus_view(run, "p00", "p05", at=1905).report.records()
    played_on = row["draw"] * row["win"] / (row["win"] + row["loss"])
    assert found["p_first"] == pytest.approx(row["win"] + played_on, abs=0.02)


def test_equal_seeds_give_equal_odds_and_the_error_is_that_of_samples(run: Run) -> None:
    plan = TournamentPlan()
    first = odds(run, NAMES, plan, samples=4000, seed=3)
    assert first == odds(run, NAMES, plan, samples=4000, seed=3)
    assert first != odds(run, NAMES, plan, samples=4000, seed=4)
    p = first["p00"]["p_first"]
    assert first["p00"]["error"] == pytest.approx(math.sqrt(p * (1.0 - p) / 4000))


def test_names_may_stand_in_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("p00\n# nobody\n\np03 # the third\n", encoding="utf-8")
    assert odds(run, [str(path)], TournamentPlan(), samples=200).keys() == {"p00", "p03"}
    assert odds(run, ["p00; p03"], TournamentPlan(), samples=200).keys() == {"p00", "p03"}


@each("model", ["elo", "ttt-d", "glicko", "whr"])
def test_other_systems_have_odds(model: str) -> None:
    run = fit(random_games(), model=model)
    found = odds(run, NAMES, TournamentPlan(), samples=20_000)
    assert sum(row["p_first"] for row in found.values()) == pytest.approx(1.0)
    assert found["p00"]["p_first"] > found["p08"]["p_first"]


@each(
    "plan, names, message",
    [
        (TournamentPlan("swis"), NAMES, "no kind of tournament 'swis'"),
        (TournamentPlan("match"), NAMES, "a match is of 2 players, not 4"),
        (TournamentPlan("knockout"), NAMES[:3], "a knockout is of 2, 4, 8, ... players, not 3"),
        (TournamentPlan(rounds=3), NAMES, "rounds are those of a swiss"),
        (TournamentPlan("double", 3), NAMES, "a double round robin has 2 games"),
    ],
)
def test_what_cannot_be_played(
    plan: TournamentPlan, names: list[str], message: str, run: Run
) -> None:
    with pytest.raises(ConfigError, match=message):
        tournament_rows(run, names, plan)


def test_one_player_is_no_tournament(run: Run) -> None:
    with pytest.raises(LookupFailed, match=r"2 players or more are needed, not 1 \(p00\)"):
        tournament_rows(run, ["p00", "p00"], TournamentPlan())


def test_a_tournament_is_at_most_so_large() -> None:
    with pytest.raises(ConfigError, match="at most 128 players"):
        tournament._check(TournamentPlan(), 200)
