"""Games that chance decides: against quadrature and importance sampling, gradients, and shares found again."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta

from tests.inference.test_twins import PLAY, drawn_more, given
from tests.reference.ttt_ep import skill_prior
from tests.support.apart import Apart
from tests.support.builders import EXACT, assert_slopes, fit_rows, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.inference.lapse import PRIOR_GAMES, LapsePrior
from ttt_cli.inference.outcome import OutcomeProbabilities, predict, with_lapse
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-8, posterior="joint")
UPSETS = [
    (1900, "a", "b", 2), (1900, "b", "c", 2), (1900, "c", "d", 2), (1900, "a", "c", 2), (1901, "d", "a", 2),
    (1901, "a", "b", 2), (1902, "b", "d", 1), (1902, "c", "a", 0), (1902, "d", "a", 2),
]  # fmt: skip


def chances(params, difference, outcome, draws):
    """The probability of an outcome at these differences of skill, with that of chance."""
    scale = math.sqrt(2.0) * params.beta
    win, loss = (
        ndtr((difference - params.draw_margin) / scale),
        ndtr((-difference - params.draw_margin) / scale),
    )
    by_skill = (loss, 1.0 - win - loss, win)[outcome]
    by_chance = (0.5 * (1.0 - draws), draws, 0.5 * (1.0 - draws))[outcome]
    return (1.0 - params.lapse) * by_skill + params.lapse * by_chance


@pytest.mark.parametrize("outcome", [0, 1, 2])
def test_one_game_is_exact(outcome):
    """A difference of two skills by quadrature: the evidence, the mean and the variance."""
    rows = [(1900, "a", "b", outcome)]
    timeline, fit = fit_rows(
        rows, solver=JOINT, lapse=0.2, beta=100.0, draw_margin=60.0, white_advantage=500.0
    )
    params = ttt.Params(lapse=0.2, beta=100.0, draw_margin=60.0)
    x, step = np.linspace(-6000.0, 6000.0, 400_001, retstep=True)
    sd = math.sqrt(2.0) * 400.0
    density = np.exp(-0.5 * (x / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi)) * step
    density *= chances(params, x + 500.0, outcome, float(np.mean(timeline.outcome == 1)))
    mass = density.sum()
    mean = density @ x / mass
    variance = density @ (x - mean) ** 2 / mass
    assert fit.log_evidence == pytest.approx(math.log(mass), abs=1e-7)
    assert fit.mean - 1200.0 == pytest.approx([0.5 * mean, -0.5 * mean], abs=1e-4)
    assert fit.sd**2 == pytest.approx((variance + sd**2) / 4.0, rel=1e-6)


def sampled(timeline, params, draws, samples=400_000):
    """(log Z, means, sds) by samples from the prior, weighted by the likelihood."""
    mean, covariance = skill_prior(timeline, params)
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(mean)))
    rng = np.random.default_rng(0)
    total, first, second = 0.0, 0.0, 0.0
    for _ in range(4):
        x = rng.standard_normal((samples // 4, len(mean))) @ root.T + mean
        weight = np.ones(len(x))
        for white, black, outcome, times in zip(
            timeline.game_white, timeline.game_black, timeline.outcome, timeline.weight, strict=True
        ):
            weight *= chances(params, x[:, white] - x[:, black], outcome, draws) ** times
        total += weight.sum()
        first += weight @ x
        second += weight @ x**2
    first /= total
    return math.log(total / samples), first, np.sqrt(second / total - first**2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lapse", "beta"), [(0.1, 480.0), (0.3, 480.0), (0.02, 250.0), (0.2, 250.0)]
)
@pytest.mark.parametrize(
    "rows", [UPSETS, random_rows(0, 12, players=4, years=3)], ids=["upsets", "random"]
)
def test_few_games_agree_with_importance_sampling(rows, lapse, beta):
    """With little chance in a game, upsets make two peaks, which no Gaussian is: then sds are less exact."""
    params = {"lapse": lapse, "beta": beta, "draw_margin": 150.0}
    timeline, fit = fit_rows(rows, solver=SolverConfig(tol=1e-6, posterior="joint"), **params)
    log_evidence, mean, sd = sampled(timeline, ttt.Params(**params), fit.params["lapse_draws"])
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.02)
    assert fit.mean == pytest.approx(mean, abs=6.0 if beta > 400.0 else 10.0)
    assert fit.sd == pytest.approx(sd, abs=6.0 if beta > 400.0 else 20.0)


@pytest.mark.parametrize("colours", ["known", "unknown"])
def test_slopes_are_those_of_differences(colours):
    rows = given(random_rows(4, 30, 4), weights=(1.0, 2.0), offsets=(0.0, 0.0, 120.0))
    timeline = build_timeline(make_games(rows), colours=colours)
    params = ttt.Params(**PLAY | {"beta": 120.0, "white_advantage": 60.0, "lapse": 0.1})
    assert_slopes(
        ttt,
        timeline,
        params,
        ("lapse", "beta", "tau", "draw_margin", "white_advantage"),
        JOINT,
        rel=2e-4,
    )


def test_factorised_slopes_are_exact_without_surprises_and_close_with_them():
    timeline = build_timeline(make_games(random_rows(0, 30, 4)))
    for lapse, near in ((0.001, 2e-4), (0.1, 0.1)):
        params = ttt.Params(**PLAY | {"beta": 480.0 if lapse < 0.01 else 150.0, "lapse": lapse})
        assert_slopes(ttt, timeline, params, ("lapse", "beta"), rel=near)


def test_the_slope_follows_margins_by_year():
    """All but how skills follow the margins' uncertainty."""
    timeline = build_timeline(make_games(drawn_more(1, 100, 6)))
    params = ttt.Params(**PLAY | {"lapse": 0.1, "draw_margin_drift": 0.2})
    assert_slopes(ttt, timeline, params, ("lapse",), JOINT, rel=0.1)


def test_the_slope_at_no_lapse_is_that_of_what_chance_adds():
    timeline, fit = fit_rows(UPSETS, solver=JOINT, lapse=1e-9, draw_margin=150.0)
    params = ttt.Params(lapse=1e-9, draw_margin=150.0)
    slope = ttt.gradient(timeline, params, fit)["lapse"]
    more = fit_rows(UPSETS, solver=JOINT, lapse=1e-4, draw_margin=150.0)[1].log_evidence
    none = fit_rows(UPSETS, solver=JOINT, draw_margin=150.0)[1].log_evidence
    assert slope == pytest.approx((more - none) / 1e-4, rel=1e-3)


def test_no_lapse_is_the_model_without_it():
    rows = random_rows(3, 30)
    without = fit_rows(rows, solver=JOINT)[1]
    tiny = fit_rows(rows, solver=JOINT, lapse=1e-13)[1]
    assert "lapse_draws" not in without.params
    assert without.params["lapse"] == 0.0
    assert tiny.mean == pytest.approx(without.mean, abs=1e-6)
    assert tiny.log_evidence == pytest.approx(without.log_evidence, abs=1e-9)


def test_contradictory_games_stay_a_proper_gaussian():
    """Surprises of players of whom little else is known: their sites together would take all precision away."""
    rng = np.random.default_rng(17)
    rows = []
    for year, first, second, _, weight in random_rows(
        17, 60, players=6, years=6, weights=(1.0, 1.0, 2.0)
    ):
        upset = rng.random() < 0.1
        stronger = 2 if (first < second) != upset else 0
        rows.append((year, first, second, stronger if rng.random() < 0.8 else 1, weight))
    for lapse in (0.05, 0.001):
        _, fit = fit_rows(
            rows, solver=SolverConfig(posterior="joint", max_sweeps=60), lapse=lapse, beta=50.0
        )
        assert np.isfinite(fit.log_evidence)
        assert (fit.sd > 0.0).all()


@pytest.mark.parametrize(("seed", "lapse"), [(0, 0.05), (0, 0.2), (8, 0.17)])
def test_many_surprises_have_a_fixed_point(seed, lapse):
    """Their sites go round in circles or agree with no copies of theirs where all take away what they would."""
    plan = Plan(players=40, years=6, games=3000, seed=seed, lapse=0.2, beta=150.0)
    params = ttt.Params(beta=150.0, lapse=lapse, draw_margin=plan.margin)
    timeline = build_timeline(simulate(plan).games())
    fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"), evidence_only=True)
    assert fit.status.converged
    factorised = ttt.fit(timeline, params, SolverConfig(posterior="factorised"), evidence_only=True)
    assert fit.log_evidence == pytest.approx(factorised.log_evidence, abs=30.0)


def test_a_prediction_is_between_the_two():
    side = {"mean": np.array([1500.0, 1200.0]), "sd": np.array([50.0, 80.0])}
    other = {"mean": np.array([1000.0, 1250.0]), "sd": np.array([50.0, 10.0])}
    params = {"beta": 480.0, "draw_margin": 200.0, "white_advantage": 30.0}
    by_skill = predict(params, side, other)
    mixed = predict({**params, "lapse": 0.2, "lapse_draws": 0.4}, side, other)
    assert mixed == pytest.approx(0.8 * by_skill + 0.2 * np.array([0.3, 0.4, 0.3]))
    assert mixed.sum(axis=1) == pytest.approx(1.0)
    assert with_lapse(OutcomeProbabilities(0.2, 0.3, 0.5), 0.0, 0.4) == (0.2, 0.3, 0.5)


def test_draws_of_games_that_chance_decides_are_as_frequent_as_all():
    plan = Plan(players=50, years=10, games=40_000, seed=3, lapse=0.5, white_advantage=400.0)
    without = simulate(plan.changed(lapse=0.0))
    outcome = simulate(plan).outcome
    assert np.mean(outcome == 1) == pytest.approx(np.mean(without.outcome == 1), abs=0.01)
    score, score_without = np.mean(outcome) / 2.0, np.mean(without.outcome) / 2.0
    assert score == pytest.approx(0.5 + 0.5 * (score_without - 0.5), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.15])
def test_the_share_of_a_simulated_history_is_found_again(share):
    plan = Plan(
        players=80,
        years=10,
        games=8_000,
        seed=1,
        lapse=share,
        prior_sd=400.0,
        beta=250.0,
        tau=40.0,
        draw_margin=60.0,
    )
    timeline = build_timeline(simulate(plan).games())
    params = ttt.Params(beta=250.0, tau=40.0, draw_margin=60.0, lapse="estimate")
    fit = ttt.fit(timeline, params, SolverConfig(posterior="factorised"))
    if not share:
        assert fit.params["lapse"] < 0.02
        return
    assert abs(fit.params["lapse"] - share) < 2.5 * fit.standard_errors["lapse"]
    assert fit.standard_errors["lapse"] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("beta", [150.0, 480.0])
def test_shares_are_found_on_average_in_the_joint_posterior(beta):
    """The mean estimate of ten histories, with the draw margin that they were drawn with."""
    estimates = []
    for seed in range(10):
        plan = Plan(players=40, years=6, games=3000, seed=seed, lapse=0.2, beta=beta)
        params = ttt.Params(beta=beta, lapse="estimate", draw_margin=plan.margin)
        timeline = build_timeline(simulate(plan).games())
        fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"))
        estimates.append(fit.params["lapse"])
    error = np.std(estimates, ddof=1) / math.sqrt(len(estimates))
    assert error < 0.02
    assert abs(np.mean(estimates) - 0.2) < 2.5 * error


def test_few_games_say_that_they_are_few():
    _, fit = fit_rows(
        UPSETS, solver=SolverConfig(), lapse="estimate", beta=250.0, draw_margin=150.0
    )
    note = next(note for note in fit.notes if "lapse" in note)
    assert "too few games to estimate lapse" in note
    assert f"+-{100 * LapsePrior().sd:.1f} % before any game" in note


def test_the_prior_is_that_of_nine_games_of_skill():
    """Beta(1, 10)."""
    assert LapsePrior().sd == pytest.approx(beta(1, PRIOR_GAMES + 1).std())
    slope = (beta(1, 10).logpdf(0.2 + 1e-6) - beta(1, 10).logpdf(0.2 - 1e-6)) / 2e-6
    assert LapsePrior().gradient(0.2) == {"lapse": pytest.approx(slope)}


def test_no_lapse_is_said_to_be_preferred():
    _, fit = fit_rows(
        random_rows(1, 40, 4), solver=SolverConfig(), lapse="estimate", draw_margin=150.0
    )
    assert fit.params["lapse"] == 0.0
    assert "lapse is 0: the evidence prefers that chance decides no games" in fit.notes


@pytest.mark.slow
@pytest.mark.parametrize(("margin", "is_noted"), [("auto", True), (60.0, False)])
def test_a_share_beside_a_margin_that_follows_draws_is_noted(margin, is_noted):
    _, fit = fit_rows(
        UPSETS, solver=SolverConfig(), lapse="estimate", beta=60.0, draw_margin=margin
    )
    assert any("ttt tune lapse,beta,draw_margin" in note for note in fit.notes) == is_noted


def test_ttt_d_refuses_it():
    from ttt_cli.config.documents import Document

    with pytest.raises(ConfigError, match="ttt-d has no lapse; ttt has"):
        resolve(Document(values={"model": {"name": "ttt-d", "lapse": 0.1}}))
    assert "lapse" not in ttt_d.TRAITS.tunable


def test_slices_of_time_have_the_same_lapses():
    timeline = build_timeline(make_games(random_rows(5, 60, years=9)))
    fixed = ttt.Params(**PLAY, lapse=0.05)
    whole = ttt.fit(timeline, fixed, EXACT)
    apart = ttt.fit(timeline, fixed, EXACT, placement=Apart([0, 3, 6, 9]))
    assert apart.mean == pytest.approx(whole.mean, abs=1e-6)
    assert apart.log_evidence == pytest.approx(whole.log_evidence, abs=1e-7)
