"""White's advantage in all models: mirrors, the best one, and games whose colours are unknown."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.reference.ttt_ep import either, of_difference
from tests.support.builders import EXACT, assert_slopes, fit_rows, historical, make_games, random_rows
from ttt_cli import api
from ttt_cli.config.load import parse_document, read_document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.inference.ep import merged as pairs
from ttt_cli.kernels import outcomes as codes
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline

MODELS = ["ttt", "ttt-d", "trueskill"]
PARAMS = {
    "ttt": {"draw_margin": 150},
    "ttt-d": {"draw_margin_mean": 150, "draw_margin_sd": 60, "draw_margin_tau": 20},
    "trueskill": {"draw_margin": 150},
}


def fit_of(model, rows, known="known", **params):
    module = registry.load(model)
    timeline = build_timeline(make_games(rows), colours=known)
    asked = module.Params(**{"beta": 300, "tau": 80, **PARAMS[model], **params})
    return timeline, module.fit(timeline, asked, EXACT)


def swapped(rows):
    return [(year, black, white, 2 - outcome, *rest) for year, white, black, outcome, *rest in rows]


def assert_same(one, other):
    assert list(one.chains) == list(other.chains)
    for name, chain in one.chains.items():
        assert chain.mean == pytest.approx(other.chains[name].mean, abs=1e-7)
        assert chain.sd == pytest.approx(other.chains[name].sd, abs=1e-7)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)
    assert one.leave_one_out == pytest.approx(other.leave_one_out, abs=1e-9)


def test_without_advantage_colours_do_not_count():
    for model in MODELS:
        rows = random_rows(4, 25)
        blind = fit_of(model, rows)[1]
        assert_same(blind, fit_of(model, swapped(rows))[1])
        assert_same(blind, fit_of(model, rows, "unknown")[1])
        nearly = fit_of(model, rows, white_advantage=1e-9)[1]  # goes through games with colours, one by one
        assert nearly.mean == pytest.approx(blind.mean, abs=1e-6)
        assert nearly.log_evidence == pytest.approx(blind.log_evidence, abs=1e-8)


# the best advantage


def estimate(model, timeline, **params):
    """The fit at the best advantage; its standard error and the slope there, by differences of the evidence."""
    module = registry.load(model)
    solver = SolverConfig(tol=1e-4)
    best = module.fit(timeline, module.Params(white_advantage="estimate", **params), solver)
    at, step = best.params["white_advantage"], 20.0
    low, middle, high = (
        module.fit(timeline, module.Params(white_advantage=g, **params), solver, start=best).log_evidence
        for g in (at - step, at, at + step)
    )
    assert middle == pytest.approx(best.log_evidence, abs=1e-6)
    error = step / math.sqrt(2 * middle - low - high)
    return best, error, (high - low) / (2 * step)


@pytest.fixture(scope="module")
def artificial():
    plan = Plan(players=500, years=25, games=10_000, white_advantage=80.0, seed=2)
    return build_timeline(simulate(plan).games())


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_best_advantage_is_a_maximum_near_the_truth(artificial, model):
    best, error, slope = estimate(model, artificial)
    assert 4 < error < 11
    assert abs(slope * error) < 0.02  # of a standard error from the top
    assert best.params["white_advantage"] == pytest.approx(80, abs=3 * error)
    assert best.status.converged


def test_no_advantage_is_found_where_there_is_none_and_a_negative_one_too():
    plan = Plan(players=300, years=20, games=6_000, white_advantage=-40.0, seed=5)
    timeline = build_timeline(simulate(plan).games())
    best, error, slope = estimate("ttt", timeline)
    assert best.params["white_advantage"] == pytest.approx(-40, abs=3 * error)
    assert abs(slope * error) < 0.02
    mirror = [(year, "a", "b", outcome) for year in range(1900, 1910) for outcome in (0, 1, 2)]
    _, fit = fit_rows([*mirror, *swapped(mirror)], "ttt", white_advantage="estimate")
    assert fit.params["white_advantage"] == pytest.approx(0, abs=0.1)


@pytest.mark.slow
def test_white_was_ahead_before_1942(data):
    """Golden number of this project, at its default parameters: 74.5 +- 5.9 points."""
    timeline = build_timeline(make_games(historical(data, "historical_pre1942.csv.gz")))
    best, error, slope = estimate("ttt", timeline)
    assert best.params["white_advantage"] == pytest.approx(74.45, abs=0.05)
    assert error == pytest.approx(5.95, abs=0.05)
    assert abs(slope * error) < 0.02


# unknown colours


def test_unknown_colours_equal_updates_by_hand_in_the_filter():
    rows = [(1900, "a", "b", 2), (1900, "b", "a", 1), (1900, "a", "b", 0)]
    _, fit = fit_of("trueskill", rows, "unknown", white_advantage=250)
    belief, foreseen = {"a": (1200.0, 400.0**2), "b": (1200.0, 400.0**2)}, 0.0
    for _, white, black, outcome in rows:
        (mw, vw), (mb, vb) = belief[white], belief[black]
        total = vw + vb + 2 * 300**2
        games = [partial(of_difference, outcome - 1, 150, 0.0, lead) for lead in (250, -250)]
        log_p, (mean,), ((var,),) = either(games, np.array([mw - mb]), np.array([[total]]))
        foreseen += log_p
        for name, m, v, sign in ((white, mw, vw, 1), (black, mb, vb, -1)):
            belief[name] = m + sign * v / total * (mean - mw + mb), v - v * v / total * (1 - var / total)
    assert fit.mean == pytest.approx([belief["a"][0], belief["b"][0]], abs=1e-8)
    assert fit.sd**2 == pytest.approx([belief["a"][1], belief["b"][1]], rel=1e-10)
    assert fit.log_evidence == pytest.approx(foreseen, abs=1e-10)


def test_with_unknown_colours_neither_they_nor_the_sign_of_the_advantage_count():
    for model in MODELS:
        rows = random_rows(8, 25)
        rng = np.random.default_rng(1)
        shuffled = [swapped([row])[0] if rng.random() < 0.5 else row for row in rows]
        one = fit_of(model, rows, "unknown", white_advantage=120)[1]
        assert_same(one, fit_of(model, shuffled, "unknown", white_advantage=-120)[1])
        assert abs(one.log_evidence - fit_of(model, rows, white_advantage=120)[1].log_evidence) > 1e-3


@pytest.mark.slow
def test_mixtures_stay_finite_in_the_tails():
    for outcome in (3, 4, 5):
        for t in (-300.0, 0.0, 300.0):
            v, w = codes.game_moments(t, 40.0, 1.0, outcome)
            log_p = codes.game_log_normaliser(t, 40.0, 1.0, outcome)
            assert np.isfinite([v, w, log_p]).all()
    assert codes.log_average(-800.0, -900.0) == pytest.approx(-800 - math.log(2))
    assert codes.first_share(-2000.0, 0.0) == 0.0
    assert codes.first_share(0.0, -2000.0) == 1.0
    assert codes.UNKNOWN == pairs.UNKNOWN


@pytest.mark.slow
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
    margins = {"draw_margin": 10} if model == "ttt" else {"draw_margin_mean": 10, "draw_margin_sd": 1}
    module = registry.load(model)
    timeline = build_timeline(make_games([(1900, "a", "b", 1)]), colours="unknown")
    params = module.Params(beta=20, prior_sd=5, white_advantage=500, **margins)
    fit = module.fit(timeline, params, SolverConfig(max_sweeps=20))
    assert not fit.status.converged
    assert fit.status.skipped_sites == 1
    assert fit.sd == pytest.approx([5, 5])
    assert np.isfinite(fit.log_evidence)


def test_the_filter_keeps_what_two_peaks_say():
    _, fit = fit_of("trueskill", [(1900, "a", "b", 1)], "unknown", white_advantage=500, beta=20, prior_sd=5)
    assert (fit.sd > 5).all()


def test_an_advantage_cannot_be_estimated_without_colours():
    text = "data:\n  colours: unknown\nmodel:\n  white_advantage: estimate\n"
    with pytest.raises(ConfigError, match="cannot be estimated") as caught:
        resolve(parse_document(text, "run.yaml"))
    assert caught.value.where == "run.yaml:4"
    assert "data.colours: known" in (caught.value.hint or "")
    assert resolve(read_document(None, ["data.colours=unknown", "model.white_advantage=35"])).params


@pytest.mark.parametrize("known", ["known", "unknown"])
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_gradients_count_both_colourings(model, known):
    """Against differences of the evidence; without advantage, unknown colours make its slope 0."""
    module, margin = registry.load(model), PARAMS[model]
    timeline = build_timeline(make_games(random_rows(9, 25)), colours=known)
    params = module.Params(**{"beta": 300.0, "tau": 80.0, "white_advantage": 150.0, **margin})
    assert_slopes(module, timeline, params, ("beta", "tau", "white_advantage", next(iter(margin))))
    none = params.model_copy(update={"white_advantage": 0.0})
    slope = module.gradient(timeline, none, module.fit(timeline, none, EXACT))["white_advantage"]
    assert slope == pytest.approx(0, abs=1e-9) if known == "unknown" else abs(slope) > 1e-5


@pytest.mark.parametrize("system", ["ttt", "ttt-d", "trueskill"])
def test_lists_that_name_the_winner_first_say_nothing_of_white(system: str, tmp_path: Path) -> None:
    """With known colours the advantage ran to 36,000 points and the evidence to 0."""
    pairs = [(a, b) for a in range(6) for b in range(6) if a < b]
    rows = "".join(f"{1900 + year},p{a},p{b},1-0\n" for year in range(3) for a, b in pairs)
    (tmp_path / "a.csv").write_text(f"date,white,black,result\n{rows}")
    games = api.read_games(tmp_path / "a.csv")
    assert [(one.reason, one.detail) for one in games.report.problems] == [
        ("winner named first", "in all 45 decisive records")
    ]
    run = api.fit(games, model=system, white_advantage="estimate")
    assert run.meta.params["white_advantage"] == 0.0
    assert run.meta.log_evidence < -10
    assert any("colours are taken as unknown" in note for note in run.meta.notes)
    told = api.fit(games, api.configure(model=system, overrides=["data.colours=known"]))
    assert not any("colours" in note for note in told.meta.notes)
    known = api.read_games(tmp_path / "a.csv", colours="known")
    assert not known.report.problems
