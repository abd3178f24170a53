"""The filter against golden numbers of other packages."""

import math

import numpy as np
import pytest

from tests.reference.ttt_ep import tilted
from tests.support.builders import fit_rows, skills

UNITS = {"prior_mean": 25, "prior_sd": 25 / 3, "beta": 25 / 6, "tau": 0}


def test_one_win():
    """29.20522074 / 7.19448142, trueskillthroughtime 1.1.0 and sublee/trueskill without draws."""
    _, fit = fit_rows([(2000, "a", "b", 2)], "trueskill", draw_margin=0, **UNITS)
    assert (fit.mean[0], fit.sd[0]) == pytest.approx((29.20522074, 7.19448142), abs=1e-6)
    assert (fit.mean[1], fit.sd[1]) == pytest.approx((20.79477926, 7.19448142), abs=1e-6)
    assert fit.log_evidence == pytest.approx(math.log(0.5))


def test_one_draw():
    """25 / 6.469481 at a draw probability of .25; margin 1.8776005988 (trueskillthroughtime 1.1.0)."""
    _, fit = fit_rows([(2000, "a", "b", 1)], "trueskill", draw_probability=0.25, **UNITS)
    assert fit.params["draw_margin"] == pytest.approx(
        1.8776005988, abs=2e-7
    )  # its inverse of erfc keeps seven digits
    assert fit.mean == pytest.approx([25, 25])
    assert fit.sd == pytest.approx([6.469481] * 2, abs=1e-6)


def test_equals_of_known_skill_draw_as_often_as_the_margin_says():
    """Evidence of a draw .25, of a win .375."""
    units = {**UNITS, "prior_sd": 1e-6}
    for outcome, probability in ((1, 0.25), (2, 0.375), (0, 0.375)):
        _, fit = fit_rows([(2000, "a", "b", outcome)], "trueskill", draw_probability=0.25, **units)
        assert math.exp(fit.log_evidence) == pytest.approx(probability, abs=1e-6)


def test_a_sequence_equals_updates_by_hand():
    rows = [(1900, "a", "b", 2), (1900, "b", "a", 1), (1903, "a", "b", 0)]
    timeline, fit = fit_rows(rows, "trueskill", beta=300, tau=80, draw_margin=120)
    belief = {"a": (1200.0, 400.0**2), "b": (1200.0, 400.0**2)}
    predicted, last = 0.0, 1900
    for year, white, black, outcome in rows:
        belief = {name: (m, v + 80**2 * (year - last)) for name, (m, v) in belief.items()}
        last = year
        (mw, vw), (mb, vb) = belief[white], belief[black]
        total = vw + vb + 2 * 300**2
        mean, var, log_mass = tilted(mw - mb, total, outcome - 1, 120)
        predicted += log_mass
        for name, m, v, sign in ((white, mw, vw, 1), (black, mb, vb, -1)):
            belief[name] = m + sign * v / total * (mean - mw + mb), v - v * v / total * (1 - var / total)
    found = skills(timeline, fit)
    for name in "ab":
        assert found[name, 1903] == pytest.approx((belief[name][0], math.sqrt(belief[name][1])), abs=1e-8)
    assert fit.log_evidence == pytest.approx(predicted, abs=1e-10)


def test_order_inside_a_year_is_as_given_or_as_the_seed_says():
    rows = [(1900, "a", "b", 2), (1900, "b", "c", 2), (1900, "c", "a", 2), (1900, "a", "b", 1)]
    given = fit_rows(rows, "trueskill")[1].mean
    assert not np.array_equal(given, fit_rows(rows[::-1], "trueskill")[1].mean)
    shuffled = [fit_rows(rows, "trueskill", order="shuffled", seed=seed)[1].mean for seed in (1, 1, 2)]
    assert np.array_equal(shuffled[0], shuffled[1])
    assert not np.array_equal(shuffled[0], shuffled[2])


def test_a_weight_is_so_many_games_in_a_row():
    once = fit_rows([(1900, "a", "b", 2, 3.0), (1900, "a", "b", 1)], "trueskill", draw_margin=200)[1]
    thrice = fit_rows([(1900, "a", "b", 2)] * 3 + [(1900, "a", "b", 1)], "trueskill", draw_margin=200)[1]
    assert np.array_equal(once.mean, thrice.mean)
    assert once.log_evidence == pytest.approx(thrice.log_evidence, rel=1e-14)
    half = fit_rows([(1900, "a", "b", 2, 0.5)], "trueskill", draw_margin=200)[1]
    whole = fit_rows([(1900, "a", "b", 2)], "trueskill", draw_margin=200)[1]
    assert 1200 < half.mean[0] < whole.mean[0]
    assert 1 / half.sd[0] ** 2 - 1 / 400**2 == pytest.approx((1 / whole.sd[0] ** 2 - 1 / 400**2) / 2)


def test_it_never_looks_back():
    early = [(1900, "a", "b", 2)]
    alone = skills(*fit_rows(early, "trueskill", draw_margin=100))
    later = skills(*fit_rows([*early, (1901, "a", "b", 0)], "trueskill", draw_margin=100))
    assert later["a", 1900] == alone["a", 1900]
