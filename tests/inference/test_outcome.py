"""Draws for systems that foresee a score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from ttt_cli.inference.outcome import ELO_SCALE, logistic_margin, logistic_probabilities, predict_ratings
from ttt_cli.systems import registry

LEADS = st.lists(st.floats(-3000, 3000), min_size=1, max_size=5)


@given(LEADS, st.floats(0, 900))
def test_the_expected_score_is_kept(leads, margin):
    difference = np.array(leads)
    loss, draw, win = logistic_probabilities(difference, margin).T
    assert win + draw / 2 == pytest.approx(expit(difference / ELO_SCALE), rel=1e-9, abs=1e-12)
    assert loss + draw + win == pytest.approx(1)
    assert min(loss.min(), draw.min(), win.min()) >= 0


@given(LEADS, st.floats(1, 900))
def test_wins_and_losses_are_those_of_one_lead_and_the_margin(leads, margin):
    """Rao and Kupper: the odds of winning are those of x - margin, of losing those of -x - margin."""
    loss, _, win = logistic_probabilities(np.array(leads), margin).T
    with np.errstate(divide="ignore"):
        x = ELO_SCALE * np.log(win / (1 - win)) + margin
        y = -ELO_SCALE * np.log(loss / (1 - loss)) - margin
    inside = (win < 1 - 1e-7) & (loss < 1 - 1e-7)
    assert x[inside] == pytest.approx(y[inside], abs=1e-3)


def test_any_lead_has_probabilities():
    rows = logistic_probabilities(np.array([-1e9, -5e4, 5e4, 1e9]), 200.0)
    assert rows == pytest.approx(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]), abs=1e-9)


@given(st.floats(0.01, 0.95))
def test_equals_draw_as_often_as_asked(probability):
    (row,) = logistic_probabilities(np.zeros(1), logistic_margin(probability))
    assert row == pytest.approx([(1 - probability) / 2, probability, (1 - probability) / 2])


@given(LEADS, st.floats(0, 900))
def test_turned_about(leads, margin):
    difference = np.array(leads)
    one, other = logistic_probabilities(difference, margin), logistic_probabilities(-difference, margin)
    assert one == pytest.approx(other[:, ::-1], abs=1e-12)


def test_ratings_predict_the_score_they_expect_with_the_advantage_and_nothing_of_their_sds():
    own = {"chessmetrics", "edo", "elo", "elo-historical", "spinrad"}
    assert {name for name in registry.MODULES if registry.load(name).predict is predict_ratings} == own
    white, black = (
        {"mean": np.array([mean] * 2), "sd": np.array([40.0, np.nan])} for mean in (2500.0, 2200.0)
    )
    found = predict_ratings({"draw_margin": 90.0, "white_advantage": 20.0}, white, black)
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found @ [0, 0.5, 1] == pytest.approx([1 / (1 + 10 ** (-(300 + 20) / 400))] * 2)
    turned = predict_ratings({"draw_margin": 90.0, "white_advantage": -20.0}, black, white)
    assert turned == pytest.approx(found[:, ::-1])
