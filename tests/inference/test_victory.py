"""Margins of victory: against the slow twin, gradients, estimates, and what they must not change."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from tests.inference.test_twins import PLAY, given
from tests.reference.ttt_ep import Twin, assert_is_twin
from tests.support.apart import Apart
from tests.support.builders import EXACT, assert_slopes, fit_rows, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.victory import StepPrior, find_steps
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-8, posterior="joint")
STEPS = {2: 120.0, 3: 90.0, 5: 200.0}


def with_margins(rows, seed=0, unknown=0.2):
    """Each decisive game with a margin of 1 to 6, or none."""
    rng = np.random.default_rng(seed)
    return [
        (*row, float(rng.integers(1, 7)) if row[3] != 1 and rng.random() > unknown else 0.0)
        for row in given(rows, weights=(1.0, 3.0), offsets=(0.0, 80.0), neutral=(2,))
    ]


@pytest.mark.parametrize("solver", [EXACT, JOINT], ids=["factorised", "joint"])
@pytest.mark.parametrize("colours", ["known", "unknown"])
def test_beliefs_and_evidence_are_those_of_the_slow_twin(colours, solver):
    timeline = build_timeline(make_games(with_margins(random_rows(3, 14))), colours=colours)
    params = ttt.Params(**PLAY, white_advantage=70.0, margin_steps=STEPS)
    fit = ttt.fit(timeline, params, solver)
    twin = Twin(timeline, params, joint=solver is JOINT, unit=fit.elo_unit).run()
    assert_is_twin(fit, twin, 1e-5)


@pytest.mark.parametrize("solver", [EXACT, JOINT], ids=["factorised", "joint"])
@pytest.mark.parametrize("colours", ["known", "unknown"])
def test_slopes_are_those_of_differences(colours, solver):
    timeline = build_timeline(make_games(with_margins(random_rows(4, 30))), colours=colours)
    params = ttt.Params(**PLAY, white_advantage=70.0, margin_steps=STEPS)
    keys = ("beta", "tau", "draw_margin", "white_advantage")
    assert_slopes(ttt, timeline, params, keys, solver, rel=2e-4)
    slopes = ttt.gradient(timeline, params, ttt.fit(timeline, params, solver))
    for margin, points in STEPS.items():
        low, high = (
            ttt.fit(
                timeline,
                params.model_copy(update={"margin_steps": {**STEPS, margin: points + change}}),
                solver,
            ).log_evidence
            for change in (-0.05, 0.05)
        )
        assert slopes[f"margin_steps.{margin}"] == pytest.approx((high - low) / 0.1, rel=1e-3)


def test_without_margins_of_victory_nothing_changes():
    """Not where the games have them and the model no steps, nor where it has steps and wins have no margins."""
    plain = random_rows(1, 30)
    _, expected = fit_rows(plain, **PLAY)
    _, unused = fit_rows(with_margins(plain, unknown=0.0), **PLAY)
    _, weighted = fit_rows(
        given(plain, weights=(1.0, 3.0), offsets=(0.0, 80.0), neutral=(2,)), **PLAY
    )
    assert np.array_equal(unused.mean, weighted.mean)
    assert unused.log_evidence == weighted.log_evidence
    timeline = build_timeline(make_games(plain))
    timeline = replace(timeline, victory_margin=np.zeros(timeline.n_games))
    fit = ttt.fit(timeline, ttt.Params(**PLAY, margin_steps=STEPS), EXACT)
    assert np.array_equal(fit.mean, expected.mean)
    assert fit.log_evidence == expected.log_evidence


def test_a_wider_win_never_rates_less():
    means = []
    for margin in (1, 2, 3, 4, 5, 20):
        rows = [(1900, "a", "b", 2, 1.0, 0.0, False, float(margin)), (1901, "b", "a", 1)]
        _, fit = fit_rows(rows, **PLAY, margin_steps=STEPS)
        means.append(fit.mean[0])
    assert means == sorted(means)
    assert means[0] < means[1]
    assert means[2] == means[3]  # 3 and 4 are in one interval
    assert means[4] == means[5]  # the last one is open


def test_the_probabilities_of_all_results_of_a_game_sum_to_one():
    evidences = []
    for outcome, margins in ((2, (1, 2, 3, 5)), (0, (1, 2, 3, 5)), (1, (0,))):
        for margin in margins:
            rows = [(1900, "a", "b", outcome, 1.0, 0.0, False, float(margin))]
            timeline = replace(
                build_timeline(make_games(rows)), victory_margin=np.array([float(margin)])
            )
            params = ttt.Params(**PLAY, white_advantage=50.0, margin_steps=STEPS)
            evidences.append(ttt.fit(timeline, params, JOINT).log_evidence)
    assert np.exp(evidences).sum() == pytest.approx(1.0, abs=1e-9)
    spread = math.sqrt(2.0 * (300.0**2 + 400.0**2))
    assert math.exp(evidences[1]) == pytest.approx(
        ndtr((360.0 - 50.0) / spread) - ndtr((270.0 - 50.0) / spread), abs=1e-9
    )


def simulated(seed, games=1500, players=12, steps=(150.0, 100.0)):
    """Games between players of fixed skills, margin 1 to 3 by the difference beyond 150 points."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(1200.0, 400.0, players)
    ends = 150.0 + np.cumsum((0.0, *steps))
    rows = []
    for _ in range(games):
        i, j = rng.choice(players, 2, replace=False)
        d = skill[i] - skill[j] + rng.normal(0.0, 300.0 * math.sqrt(2.0))
        margin = float((abs(d) > ends).sum())
        rows.append(
            (1900, f"p{i}", f"p{j}", 1 + int(np.sign(d)) * (margin > 0), 1.0, 0.0, False, margin)
        )
    return rows


def test_steps_are_found_again_within_their_standard_errors():
    found = []
    for seed in range(4):
        _, fit = fit_rows(simulated(seed), **PLAY, margin_steps={2: "estimate", 3: "estimate"})
        errors = [fit.standard_errors[f"margin_steps.{margin}"] for margin in (2, 3)]
        assert all(3.0 < error < 15.0 for error in errors)
        found += [
            (fit.params[f"margin_steps.{margin}"] - step) / error
            for (margin, step), error in zip({2: 150.0, 3: 100.0}.items(), errors, strict=True)
        ]
    assert np.abs(found).max() < 2.5
    assert math.sqrt(np.mean(np.square(found))) < 1.5


def test_estimated_thresholds_leave_each_class_a_tenth_of_the_wins():
    timeline = build_timeline(make_games(simulated(0)))
    assert [step.margin for step in find_steps("estimate", timeline)] == [2, 3]
    wide = [(*row[:7], row[7] * 30.0 + k % 7) for k, row in enumerate(simulated(0)) if row[3] != 1]
    steps = find_steps("estimate", build_timeline(make_games(wide)))
    margins = np.array([row[7] for row in wide])
    ends = np.array([step.margin for step in steps])
    share = np.bincount(np.searchsorted(ends, margins, side="right")) / len(margins)
    assert len(steps) >= 4
    assert share.min() >= 0.1


def test_slices_of_time_have_the_same_fit():
    timeline = build_timeline(make_games(with_margins(random_rows(5, 60, years=9))))
    params = ttt.Params(**PLAY, white_advantage=30.0, margin_steps={2: 120.0, 3: "estimate"})
    whole = ttt.fit(timeline, params, EXACT)
    apart = ttt.fit(timeline, params, EXACT, placement=Apart([0, 3, 6, 9]))
    error = whole.standard_errors["margin_steps.3"]
    assert apart.params["margin_steps.3"] == pytest.approx(
        whole.params["margin_steps.3"], abs=0.01 * error
    )
    fixed = params.model_copy(update={"margin_steps": STEPS})
    whole = ttt.fit(timeline, fixed, EXACT)
    apart = ttt.fit(timeline, fixed, EXACT, placement=Apart([0, 3, 6, 9]))
    assert apart.mean == pytest.approx(whole.mean, abs=1e-6)
    assert apart.log_evidence == pytest.approx(whole.log_evidence, abs=1e-7)


def test_the_prior_of_a_step_has_the_slopes_of_its_density():
    prior = StepPrior(300.0, "margin_steps.2")
    slope = prior.gradient(120.0)
    assert slope["margin_steps.2"] == pytest.approx(
        (prior.log_density(121.0) - prior.log_density(119.0)) / 2.0
    )
    density = [StepPrior(beta, "margin_steps.2").log_density(120.0) for beta in (299.0, 301.0)]
    assert slope["beta"] == pytest.approx((density[1] - density[0]) / 2.0, rel=1e-4)


@pytest.mark.parametrize(
    "more", [{"draw_margin_drift": 0.1}, {"draw_margin_strength": 0.1}], ids=str
)
def test_what_is_not_fitted_with_margins_of_victory_is_refused(more):
    with pytest.raises(ConfigError, match="margins of victory are not fitted with"):
        fit_rows(with_margins(random_rows(1, 10)), **PLAY, margin_steps=STEPS, **more)


def test_games_without_margins_are_refused():
    with pytest.raises(ConfigError, match="the games have no margins of victory"):
        fit_rows(random_rows(1, 10), **PLAY, margin_steps=STEPS)
