"""Games at odds: a fixed lead of the player who received them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.ttt_ep import Game, SlowTTT
from tests.support.builders import EXACT, assert_slopes, fit_rows, make_games, skills
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep.merged import merge_games
from ttt_cli.support.errors import DataError
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

MODELS = ("ttt", "ttt-d", "trueskill")
BETA = 300.0
PLAIN = [
    (1850, "a", "b", 2),
    (1850, "b", "c", 1),
    (1851, "c", "a", 0),
    (1853, "a", "b", 1),
    (1853, "b", "a", 2),
    (1853, "b", "a", 2),
]


def at_odds(rows, points):
    return [(*row, 1.0, given) for row, given in zip(rows, points, strict=True)]


MOVING = {
    "growth": 150.0, "early": 2.0, "prior_mean_drift": 20.0, "draw_margin_drift": 0.2, "draw_margin_strength": 0.3,
}  # fmt: skip
CASES = [("trueskill", {}), ("ttt", MOVING), ("ttt-d", MOVING)]


@pytest.mark.parametrize(("model", "more"), CASES)
def test_odds_in_all_games_are_an_advantage_of_white(model, more):
    """Of so many points as are that many Elo points in what is shown."""
    common = {"model": model, "beta": BETA, **more}
    _, given = fit_rows(at_odds(PLAIN, [-150.0] * len(PLAIN)), **common)
    _, white = fit_rows(PLAIN, white_advantage=-150.0 * given.elo_unit, **common)
    assert white.elo_unit == given.elo_unit
    assert given.mean == pytest.approx(white.mean, abs=1e-6)
    assert given.sd == pytest.approx(white.sd, abs=1e-6)
    assert given.log_evidence == pytest.approx(white.log_evidence, abs=1e-8)
    assert given.leave_one_out == pytest.approx(white.leave_one_out, abs=1e-8)


POINTS = (100.0, 0.0, -250.0, 100.0, -100.0, 0.0)


def test_single_games_at_odds_equal_the_slow_twin():
    rows = at_odds(PLAIN, POINTS)
    timeline, fit = fit_rows(rows, beta=BETA, tau=70, draw_margin=110)
    games = [Game(w, b, y, o - 1, lead * fit.elo_unit) for y, w, b, o, _, lead in rows]
    slow = SlowTTT(games, 1200, 400, BETA, 70, 110).run()
    found = skills(timeline, fit)
    for player, year in found:
        assert found[player, year] == pytest.approx(slow.skill(player, year), abs=1e-6)
    assert fit.log_evidence == pytest.approx(slow.log_evidence(), abs=1e-8)


def turned(rows):
    return [
        (year, black, white, 2 - outcome, weight, -lead) for year, white, black, outcome, weight, lead in rows
    ]


@pytest.mark.parametrize("model", MODELS)
def test_whoever_is_named_first_receives_the_same(model):
    rows = at_odds(PLAIN, POINTS)
    _, one = fit_rows(rows, model, beta=BETA)
    _, other = fit_rows(turned(rows), model, beta=BETA)
    assert other.mean == pytest.approx(one.mean, abs=1e-6)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)


def test_the_giver_is_worth_more_for_the_same_result():
    for model in MODELS:
        rows = at_odds([(1850, "a", "b", 1), (1850, "a", "b", 2), (1850, "a", "b", 0)], [-200.0] * 3)
        assert fit_rows(rows, model, beta=BETA)[1].mean[0] > 1230


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_slopes_know_the_odds(model):
    timeline, module = build_timeline(make_games(at_odds(PLAIN, POINTS))), registry.load(model)
    margins = {"ttt": {"draw_margin": 110.0}, "ttt-d": {"draw_margin_mean": 60.0, "draw_margin_sd": 90.0}}
    margin = margins.get(model, {})
    params = module.Params(beta=BETA, tau=70, white_advantage=20, **margin)
    steps = dict.fromkeys(("beta", "white_advantage", *margin), 0.5)
    assert_slopes(module, timeline, params, steps, abs=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_odds_stay_with_the_player_where_colours_are_unknown(model):
    """With White's advantage close to 0 the colouring means nothing, and the odds are as with known colours."""
    module = registry.load(model)
    games = make_games(at_odds(PLAIN, POINTS))
    params = module.Params(beta=BETA, white_advantage=1e-7)
    known, unknown = (
        module.fit(build_timeline(games, "year", colours), params, EXACT) for colours in ("known", "unknown")
    )
    assert unknown.mean == pytest.approx(known.mean, abs=1e-4)


def test_equal_games_at_different_odds_are_kept_apart():
    rows = at_odds([(1850, "a", "b", 2)] * 4, [50.0, 50.0, -50.0, 0.0])
    merged = merge_games(build_timeline(make_games(rows)), colours=True)
    weight = merged.games.weight
    assert sorted(weight) == [1, 1, 2]
    points = merged.handicap[:, 0]
    assert sorted(points) == [-50, 0, 50]
    handicaps = points[merged.games.code >> 3]
    assert {(given, w) for given, w in zip(handicaps, weight, strict=True)} == {(50, 2), (-50, 1), (0, 1)}


def test_too_many_different_odds_are_refused():
    rows = at_odds([(1850, "a", "b", 2)] * 32, np.arange(1.0, 33.0).tolist())
    module = registry.load("ttt")
    with pytest.raises(DataError, match="32 different odds, 31 are possible"):
        module.fit(build_timeline(make_games(rows)), module.Params(), SolverConfig())
