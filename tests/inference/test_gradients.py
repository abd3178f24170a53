"""Gradients of the log-evidence against differences, whatever the games and parameters; more: test_registry.py."""

import pytest

from tests.inference.test_twins import DEBUTS, NEWCOMERS, OWN, PLAY, given
from tests.support.builders import CAREER, EXACT, assert_slopes, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-8, posterior="joint")
GAMES = ("white_advantage", "beta", "tau")
CASES = {
    "careers": (random_rows(3, 60, 6, 9), CAREER, ("tau", *CAREER)),
    "careers without drift": (DEBUTS, CAREER | {"tau": 0.0}, ("growth", "growth_years", "decline")),
    "newcomers": (DEBUTS, NEWCOMERS, ("prior_mean_drift", "prior_sd", "tau", "growth", "early")),
    "odds and neutral ground": (
        given(random_rows(4, 40), offsets=(0.0, 0.0, 120.0), neutral=(1, 3)), {"white_advantage": 90.0}, GAMES),
    "unknown colours": (random_rows(9, 25), {"white_advantage": 150.0}, GAMES),
}  # fmt: skip


@pytest.mark.parametrize("solver", [EXACT, JOINT], ids=["factorised", "joint"])
@pytest.mark.parametrize("model", ["ttt", pytest.param("ttt-d", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_slopes_are_those_of_differences(case, model, solver):
    rows, params, keys = CASES[case]
    if keys is GAMES:
        keys = (*GAMES, "draw_margin" if model == "ttt" else "draw_margin_mean")
    module, colours = registry.load(model), "unknown" if case == "unknown colours" else "known"
    params = module.Params(**(PLAY if model == "ttt" else OWN) | params)
    assert_slopes(
        module, build_timeline(make_games(rows), colours=colours), params, keys, solver, rel=2e-4
    )


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_without_advantage_unknown_colours_make_its_slope_nothing(model):
    module, games = registry.load(model), make_games(random_rows(9, 25))
    slopes = []
    for colours in ("known", "unknown"):
        timeline = build_timeline(games, colours=colours)
        params = module.Params(**(PLAY if model == "ttt" else OWN))
        slopes.append(
            module.gradient(timeline, params, module.fit(timeline, params, EXACT))[
                "white_advantage"
            ]
        )
    assert abs(slopes[0]) > 1e-5
    assert slopes[1] == pytest.approx(0, abs=1e-9)
