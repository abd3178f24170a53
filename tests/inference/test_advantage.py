"""White's advantage: the best one, and games whose colours are unknown; gradients and twins elsewhere."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import bracket as scipy_bracket

from tests.reference.ttt_ep import either, ends_of_game, of_difference
from tests.support.builders import fit_rows, historical, make_games
from ttt_cli.config.documents import parse_document
from ttt_cli.config.load import read_document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.inference import links
from ttt_cli.inference.advantage import bracket
from ttt_cli.kernels import outcomes as codes
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline


def estimate(model, timeline, step=20.0, **params):
    """The estimated advantage and its standard error, both checked by differences of the log posterior."""
    module = registry.load(model)
    solver = SolverConfig(tol=1e-4)
    params = module.Params(white_advantage="estimate", **params)
    best = module.fit(timeline, params, solver)
    at = best.params["white_advantage"]
    prior_sd = params.performance_sd / 3
    evidence, posterior = [], []
    for advantage in (at - step, at, at + step):
        there = params.model_copy(update={"white_advantage": advantage})
        evidence.append(module.fit(timeline, there, solver, start=best).log_evidence)
        posterior.append(evidence[-1] - 0.5 * (advantage / prior_sd) ** 2)
    low, middle, high = posterior
    assert evidence[1] == pytest.approx(best.log_evidence, abs=1e-6)
    error = step / math.sqrt(2 * middle - low - high)
    assert abs((high - low) / (2 * step) * error) < 0.02  # of a standard error from the top
    assert best.standard_errors["white_advantage"] == pytest.approx(error, rel=0.02)
    assert best.status.converged
    return at, error


ESTIMATING = [
    "ttt",
    "ttt-d",
    "trueskill",
    "elo",
    "glicko",
    "glicko2",
    "chessmetrics",
    "naive",
    "whr",
]
SIX_WINS = [(1900 + i // 2, "abcdef"[i], "bcdefa"[i], 2 if i else 1) for i in range(6)]
THREE_LOSSES = [(1900, "a", "b", 0), (1901, "c", "a", 0), (1901, "b", "c", 1)]


@pytest.mark.parametrize("model", ESTIMATING)
@pytest.mark.parametrize(("rows", "sign"), [(SIX_WINS, 1), (THREE_LOSSES, -1)])
def test_a_few_games_say_little_about_the_advantage(model, rows, sign):
    """Without the prior six games gave 972 points, and three -136."""
    timeline, params = build_timeline(make_games(rows)), registry.load(model).Params()
    advantage, error = estimate(model, timeline)
    prior_sd = params.performance_sd / 3
    assert 0 < sign * advantage < 1.2 * prior_sd
    assert 0.7 * prior_sd < error < 1.05 * prior_sd
    _, fit = fit_rows(rows, model, white_advantage="estimate")
    (note,) = [note for note in fit.notes if "too few games to estimate the advantage" in note]
    assert f"+-{prior_sd:.1f} before any game" in note


def test_a_system_without_evidence_for_its_settings_estimates_no_advantage():
    with pytest.raises(ConfigError, match="white_advantage can be estimated only with"):
        fit_rows(SIX_WINS, "whr", white_advantage="estimate", deviations="own")


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_the_estimate_follows_the_tolerance(model):
    """From elsewhere the same estimate is found, as exactly as skills are."""
    rows = [
        (1900 + i % 7, "abcd"[i % 4], "bcda"[i % 3 + (i % 4 == 3)], (2, 1, 0, 2)[i * 5 % 4])
        for i in range(90)
    ]
    rows = [row for row in rows if row[1] != row[2]]
    timeline = build_timeline(make_games(rows))
    module = registry.load(model)
    params = module.Params(white_advantage="estimate")
    solver = SolverConfig(tol=1e-7)
    other = module.fit(timeline, module.Params(white_advantage=-70.0), solver)
    cold = module.fit(timeline, params, solver)
    warm = module.fit(timeline, params, solver, start=other)
    assert warm.params["white_advantage"] == pytest.approx(cold.params["white_advantage"], abs=2e-6)
    assert warm.mean == pytest.approx(cold.mean, abs=2e-6)


@pytest.mark.parametrize(
    ("model", "advantage"),
    [
        ("ttt", -40.0),
        pytest.param("ttt-d", 80.0, marks=pytest.mark.slow),
        ("trueskill", 80.0),
    ],
)
def test_the_best_advantage_is_a_maximum_near_the_truth(model, advantage):
    plan = Plan(players=300, years=20, games=6_000, white_advantage=advantage, seed=5)
    found, error = estimate(model, build_timeline(simulate(plan).games()))
    assert found == pytest.approx(advantage, abs=3 * error)
    assert 4 < error < 15


def test_no_advantage_is_found_where_there_is_none():
    ends = [("a", "b"), ("b", "a")]
    rows = [
        (year, *pair, outcome)
        for year in range(1900, 1910)
        for pair in ends
        for outcome in (0, 1, 2)
    ]
    _, fit = fit_rows(rows, "ttt", white_advantage="estimate")
    assert fit.params["white_advantage"] == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("minimum", [-30.0, -2.0, -0.4, 0.01, 0.7, 1.3, 5.0, 80.0])
@pytest.mark.parametrize("step", [1.0, -0.2])
def test_a_bracket_has_the_minimum_inside_and_costs_more_at_both_ends(minimum, step):
    positions = []

    def cost(position):
        positions.append(position)
        return abs(position - minimum) ** 1.5

    low, high = bracket(cost, 0.0, step)
    best = min(positions, key=lambda position: abs(position - minimum))
    assert low < minimum < high
    assert low < best < high
    assert abs(best - minimum) < min(minimum - low, high - minimum)


@pytest.mark.parametrize("minimum", [-0.5, 0.3, 1.2])
def test_a_near_minimum_is_bracketed_by_the_same_three_positions_as_by_scipy(minimum):
    positions, of_scipy = [], []
    low, high = bracket(lambda x: positions.append(x) or (x - minimum) ** 2, 0.0, 1.0)
    ends = scipy_bracket(lambda x: of_scipy.append(float(x)) or (x - minimum) ** 2, 0.0, 1.0)
    assert positions == of_scipy
    assert [low, high] == sorted(float(end) for end in (ends[0], ends[2]))


def test_a_flat_cost_ends_the_search_for_a_bracket():
    assert bracket(lambda position: 0.0, 2.0, 1.0) == (2.0, pytest.approx(4.618, abs=1e-3))


@pytest.mark.slow
def test_white_was_ahead_before_1942(data):
    """Golden number of this project, at its default parameters: 74.3 +- 5.9 points, 74.45 without a prior."""
    timeline = build_timeline(make_games(historical(data, "historical_pre1942.csv.gz")))
    assert estimate("ttt", timeline) == pytest.approx((74.34, 5.94), abs=0.05)


def test_unknown_colours_equal_updates_by_hand_in_the_filter():
    rows = [(1900, "a", "b", 2), (1900, "b", "a", 1), (1900, "a", "b", 0)]
    given = {"beta": 300, "tau": 80, "draw_margin": 150, "white_advantage": 250}
    _, fit = fit_rows(rows, "trueskill", colours="unknown", **given)
    belief, foreseen = {"a": (1200.0, 400.0**2), "b": (1200.0, 400.0**2)}, 0.0
    for _, white, black, outcome in rows:
        (mw, vw), (mb, vb) = belief[white], belief[black]
        total = vw + vb + 2 * 300**2
        ends = ends_of_game(outcome - 1, 150, {}, 0.0)
        games = [partial(of_difference, ends, 0.0, lead) for lead in (250, -250)]
        log_p, (mean,), ((var,),) = either(games, np.array([mw - mb]), np.array([[total]]))
        foreseen += log_p
        for name, m, v, sign in ((white, mw, vw, 1), (black, mb, vb, -1)):
            belief[name] = (
                m + sign * v / total * (mean - mw + mb),
                v - v * v / total * (1 - var / total),
            )
    assert fit.mean == pytest.approx([belief["a"][0], belief["b"][0]], abs=1e-8)
    assert fit.sd**2 == pytest.approx([belief["a"][1], belief["b"][1]], rel=1e-10)
    assert fit.log_evidence == pytest.approx(foreseen, abs=1e-10)


def test_mixtures_stay_finite_in_the_tails():
    for outcome in (3, 4, 5):
        for t in (-300.0, 0.0, 300.0):
            v, w = codes.game_moments(t, 40.0, 1.0, outcome)
            log_p = codes.game_log_normaliser(t, 40.0, 1.0, outcome)
            assert np.isfinite([v, w, log_p]).all()
    assert codes.log_average(-800.0, -900.0) == pytest.approx(-800 - math.log(2))
    assert codes.first_share(-2000.0, 0.0) == 0.0
    assert codes.first_share(0.0, -2000.0) == 1.0
    assert codes.UNKNOWN == links.UNKNOWN_CODE


def test_mixture_moments_are_derivatives():
    for outcome in [3, 4, 5]:
        step = 1e-4
        for t in (-1.5, 0.0, 0.4, 2.5):
            low, middle, high = (
                codes.game_log_normaliser(t + d, 0.7, 0.3, outcome) for d in (-step, 0.0, step)
            )
            v, w = codes.game_moments(t, 0.7, 0.3, outcome)
            assert (high - low) / (2 * step) == pytest.approx(v, abs=1e-7)
            assert (2 * middle - low - high) / step**2 == pytest.approx(w, abs=1e-5)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_two_peaks_are_skipped_and_counted(model):
    """A draw between two who are known to be equal, with an advantage far beyond all spread: no Gaussian says that."""
    margins = (
        {"draw_margin": 10} if model == "ttt" else {"draw_margin_mean": 10, "draw_margin_sd": 1}
    )
    module = registry.load(model)
    timeline = build_timeline(make_games([(1900, "a", "b", 1)]), colours="unknown")
    params = module.Params(beta=20, prior_sd=5, white_advantage=500, **margins)
    fit = module.fit(timeline, params, SolverConfig(max_sweeps=20))
    assert not fit.status.converged
    assert fit.status.skipped_sites == 1
    assert fit.sd == pytest.approx([5, 5])
    assert np.isfinite(fit.log_evidence)


def test_the_filter_keeps_what_two_peaks_say():
    given = {"beta": 20, "prior_sd": 5, "draw_margin": 150, "white_advantage": 500}
    _, fit = fit_rows([(1900, "a", "b", 1)], "trueskill", colours="unknown", **given)
    assert (fit.sd > 5).all()


def test_an_advantage_cannot_be_estimated_without_colours():
    text = "data:\n  colours: unknown\nmodel:\n  white_advantage: estimate\n"
    with pytest.raises(ConfigError, match="cannot be estimated") as caught:
        resolve(parse_document(text, "run.yaml"))
    assert caught.value.where == "run.yaml:4"
    assert "data.colours: known" in (caught.value.hint or "")
    assert resolve(read_document(None, ["data.colours=unknown", "model.white_advantage=35"])).params
