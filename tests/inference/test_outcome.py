"""Draws where a score is foreseen, and Elo points: a lead of 200 is an expected score of 76 % in every system."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtr

from tests.reference.elo_plain import outcome_probability
from tests.support.builders import fit_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.outcome import (
    CLASS,
    ELO_SCALE,
    EXPECTED,
    logistic_margin,
    logistic_probabilities,
    logistic_unit,
    normal_unit,
    normal_unit_growth,
    predict_ratings,
    typical_margin,
)
from ttt_cli.systems import registry

LEADS = st.lists(st.floats(-3000, 3000), min_size=1, max_size=5)


@given(LEADS, st.floats(0, 900))
def test_probabilities_are_those_of_the_plain_twin(leads, margin):
    """Rao and Kupper's, at the lead where the expected score is kept."""
    found = logistic_probabilities(np.array(leads), margin)
    wanted = [
        [outcome_probability(lead, margin, outcome) for outcome in range(3)] for lead in leads
    ]
    assert found == pytest.approx(np.array(wanted), abs=1e-9)
    assert found @ [0, 0.5, 1] == pytest.approx(
        expit(np.array(leads) / ELO_SCALE), rel=1e-9, abs=1e-12
    )
    assert found.min() >= 0


def test_any_lead_has_probabilities():
    rows = logistic_probabilities(np.array([-1e9, -5e4, 5e4, 1e9]), 200.0)
    assert rows == pytest.approx(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]), abs=1e-9)


@given(st.floats(0.01, 0.95))
def test_equals_draw_as_often_as_asked(probability):
    (row,) = logistic_probabilities(np.zeros(1), logistic_margin(probability))
    assert row == pytest.approx([(1 - probability) / 2, probability, (1 - probability) / 2])


def test_ratings_predict_the_score_they_expect_with_the_advantage_and_nothing_of_their_sds():
    by_ratings = {
        name for name in registry.MODULES if registry.load(name).predict is predict_ratings
    }
    assert by_ratings >= {"chessmetrics", "edo", "elo-historical"}
    white, black = (
        {"mean": np.array([mean] * 2), "sd": np.array([40.0, np.nan])} for mean in (2500.0, 2200.0)
    )
    found = predict_ratings({"draw_margin": 90.0, "white_advantage": 20.0}, white, black)
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found @ [0, 0.5, 1] == pytest.approx([1 / (1 + 10 ** (-(300 + 20) / 400))] * 2)
    turned = predict_ratings({"draw_margin": 90.0, "white_advantage": -20.0}, black, white)
    assert turned == pytest.approx(found[:, ::-1])


ROWS = [
    (1850, "a", "b", 2),
    (1850, "b", "a", 1),
    (1851, "b", "c", 2),
    (1851, "c", "a", 0),
    (1852, "a", "c", 2),
]


def test_a_lead_of_200_in_models_with_a_normal_and_a_logistic_noise():
    for margin in [0.0, 1e-09, 80.0, 300.0, 5000.0]:
        lead, sd = CLASS * normal_unit(300.0, margin), math.sqrt(2) * 300
        assert (ndtr((lead - margin) / sd) + ndtr((lead + margin) / sd)) / 2 == pytest.approx(
            EXPECTED, abs=1e-9
        )
        lead, sd = CLASS * logistic_unit(margin), 400 / math.log(10)
        assert (expit((lead - margin) / sd) + expit((lead + margin) / sd)) / 2 == pytest.approx(
            EXPECTED, abs=1e-9
        )


def test_how_the_units_grow():
    for margin in [0.0, 80.0, 300.0, 1500.0]:
        step = 1e-3
        by_beta, by_margin = normal_unit_growth(300.0, margin)
        assert by_beta == pytest.approx(
            math.log(normal_unit(300 + step, margin) / normal_unit(300 - step, margin))
            / (2 * step),
            abs=1e-8,
        )
        ends = normal_unit(300.0, margin + step), normal_unit(300.0, abs(margin - step))
        assert by_margin == pytest.approx(math.log(ends[0] / ends[1]) / (2 * step), abs=1e-8)


def test_every_system_expects_76_percent_of_a_lead_of_200():
    """Draw margins of TTT-D are those of newcomers."""
    for name in registry.MODULES:
        module = registry.load(name)
        _, fit = fit_rows(ROWS, name)
        further = {}
        if name == "ttt-d":
            margin, _, _ = typical_margin(
                fit.params["draw_margin_mean"], fit.params["draw_margin_sd"]
            )
            further = {"draw_margin": np.array([margin]), "draw_margin_sd": np.zeros(1)}
        lead = CLASS * fit.elo_unit
        strong, weak = (
            {"mean": np.array([mean]), "sd": np.zeros(1), **further}
            for mean in (1200.0 + lead, 1200.0)
        )
        _, draw, win = module.predict(fit.params, strong, weak)[0]
        assert win + draw / 2 == pytest.approx(0.5 if name == "naive" else EXPECTED, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in registry.MODULES if name != "naive"])
def test_every_system_takes_a_handicap_in_as_so_many_of_the_points_it_shows(name):
    """White's advantage is in points of the system."""
    _, given = fit_rows([(*row, 1.0, -90.0) for row in ROWS], name)
    _, white = fit_rows(ROWS, name, white_advantage=-90.0 * given.elo_unit)
    assert white.elo_unit == given.elo_unit
    assert given.mean == pytest.approx(white.mean, abs=1e-5)
    assert given.log_evidence == pytest.approx(white.log_evidence, abs=1e-7, nan_ok=True)
    assert given.leave_one_out == pytest.approx(white.leave_one_out, abs=1e-7, nan_ok=True)


# By added draws or few steps
SHRUNK = (
    "naive",
    "chessmetrics",
    "spinrad",
    "elo-historical",
)


@pytest.mark.parametrize("name", [name for name in registry.MODULES if name not in SHRUNK])
def test_equals_at_a_handicap_are_shown_as_far_apart(name):
    """Who gives 219 Elo points and scores 50 % in a thousand games is better by 219, whatever the share of draws."""
    rows = [
        (1900 + year, "a", "b", outcome, 1.0, -219.0)
        for year in range(20)
        for outcome in (0, 1, 2, 1, 2, 1, 0, 2, 1, 0) * 5
    ]
    wide_prior = (
        {"prior_sd": 2000.0} if "prior_sd" in registry.load(name).Params.model_fields else {}
    )
    wide = {"elo": {"k": 5.0}, "whr": {"virtual_draws": 0.01}, "glicko": {}, "glicko2": {}}
    timeline, fit = fit_rows(rows, name, SolverConfig(), **wide.get(name, wide_prior))
    last = np.flatnonzero(timeline.next < 0)
    shown = fit.mean / fit.elo_unit
    assert shown[last[0]] - shown[last[1]] == pytest.approx(219, rel=0.02)
