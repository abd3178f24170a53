"""Glicko-2 against Glickman's worked example, other packages, and its plain twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.glicko_plain import UNIT, glicko2
from tests.support.builders import fit_rows, plain_games, skills
from tests.support.strategies import examples, game_rows
from ttt_cli.kernels.elo import Beliefs, PeriodRange, Slopes, Steps

games = game_rows(1906, "abcd", (1.0, 1.0, 0.5, 3.0), (0.0, 0.0, 120.0))


def example(deviation):
    """(rating, deviation, volatility) of Glickman's player after the period of his example."""
    from ttt_cli.kernels.glicko import Volatility, filter_periods

    mean, variance, known = np.empty((3, 8))
    mean[:4], variance[:4], known[:4] = (
        [1500.0, 1400, 1550, 1700],
        [deviation**2, 30.0**2, 1e4, 9e4],
        0.06,
    )
    games = plain_games([4, 4, 4], [5, 6, 7], [2, 0, 0])
    period = PeriodRange(np.array([4, 8]), np.array([0, 3]))
    steps = Steps(np.array([-1] * 4 + [0, 1, 2, 3], np.int32), *np.zeros((2, 8)))
    volatility, slopes = Volatility(known, 0.06, UNIT, 0.5, 350.0**2), Slopes(*np.zeros((2, 8)))
    filter_periods(period, steps, np.zeros(8), volatility, games, Beliefs(mean, variance), slopes)
    return mean[4], math.sqrt(variance[4]), known[4]


def test_the_worked_example():
    """1464.06, 151.52, 0.05999 at tau 0.5 (M. Glickman, Example of the Glicko-2 system, 2013)."""
    mean, sd, volatility = example(200.0)
    assert mean == pytest.approx(1464.06, abs=0.015)  # 1464.05 without the roundings of the note
    assert sd == pytest.approx(151.52, abs=0.005)
    assert volatility == pytest.approx(0.05999, abs=1e-5)  # cut, not rounded, there
    # the same for a newcomer in the tests of the package glicko2 2.1.0
    assert example(350.0) == pytest.approx((1441.53, 193.23, 0.05999), abs=0.01)


def test_periods_equal_another_package():
    """elote 1.5.1, all games of a period at once; a gap of two idle periods before 2004."""
    rows = [
        (2000, "a", "b", 2), (2000, "a", "b", 1), (2000, "b", "c", 2),
        (2001, "a", "c", 0), (2001, "c", "b", 1), (2001, "c", "a", 2),
        (2004, "a", "b", 2), (2004, "c", "a", 1), (2004, "b", "a", 2),
    ]  # fmt: skip
    timeline, fit = fit_rows(rows, "glicko2", draw_margin=50)
    found = skills(timeline, fit)
    expected = {
        ("a", 2000): (1623.6590336110535, 253.40460001668032, 0.05999883192119179),
        ("b", 2000): (1500.0, 227.73539902899606, 0.059998082882948764),
        ("c", 2000): (1337.6891060937023, 290.31896371798047, 0.05999967537233814),
        ("a", 2001): (1325.6247251674404, 213.7521361666131, 0.06000574517336288),
        ("c", 2001): (1673.6240077342306, 206.63945805961583, 0.06000374630935596),
        ("a", 2004): (1418.2061116952084, 168.87099855738404, 0.060004027181733643),
        ("b", 2004): (1422.4226714606987, 173.68410426965008, 0.059994501759389744),
        ("c", 2004): (1612.105123118758, 195.02864611096922, 0.060003481058146436),
    }
    volatility = dict(zip(found, fit.chains["volatility"].mean, strict=True))
    for key, (mean, sd, sigma) in expected.items():
        assert found[key] == pytest.approx((mean, sd), abs=2e-3)
        assert volatility[key] == pytest.approx(sigma, abs=1e-6)


@examples(12)
@given(games, st.sampled_from((0.3, 0.9)))
def test_it_equals_its_plain_twin(rows, change):
    params = {"volatility": 0.3, "volatility_change": change, "prior_sd": 250, "draw_margin": 60}
    timeline, fit = fit_rows(rows, "glicko2", white_advantage=30, **params)
    slow = glicko2([(*row[:5], row[5] + 30) for row in rows], 1500, 250, 0.3, change)
    for i in range(timeline.n_nodes):
        key = timeline.players[timeline.node_player[i]], int(timeline.node_period[i])
        volatility = fit.chains["volatility"].mean[i]
        assert volatility == pytest.approx(
            slow[key][2], rel=2e-5
        )  # the search ends at 1e-6 of its logarithm
        assert (fit.mean[i], fit.sd[i]) == pytest.approx(slow[key][:2], abs=0.01)


def test_quarters_are_periods_of_their_own():
    """Four quarters of growth in an idle year."""
    _, fit = fit_rows(
        [(1900, "a", "b", 1), (1901, "a", "b", 1)], "glicko2", period="quarter", draw_margin=50
    )
    chain, volatility = fit.chains["skill"], fit.chains["volatility"].mean[0]
    assert chain.before_sd[2] ** 2 == pytest.approx(fit.sd[0] ** 2 + 4 * (UNIT * volatility) ** 2)


def test_long_one_sided_matches_stay_finite():
    """The single step of the source overshoots by thousands of points; nothing may become infinite or NaN."""
    rows = [(1900 + k, "a", "b", 2 * (k % 2), 500.0) for k in range(8)]
    _, fit = fit_rows(rows, "glicko2", volatility=0.4, draw_margin=10)
    assert np.isfinite([fit.mean, fit.sd, fit.chains["volatility"].mean]).all()
