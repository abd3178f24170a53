"""Elo against other packages, a plain twin and its laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfcx

from tests.reference.elo_plain import PlainElo, logistic, normal, outcome_probability
from tests.support.builders import fit_rows, means, plain_games
from tests.support.strategies import by_year, examples, game_rows
from ttt_cli.kernels.elo import Factors, PeriodRange, PlayerStates, by_period, log_outcome
from ttt_cli.systems import elo, spinrad

ROWS = [
    (1900, "a", "b", 2), (1900, "b", "c", 1), (1900, "c", "a", 0),
    (1901, "a", "b", 0), (1901, "c", "b", 2), (1903, "a", "c", 1), (1903, "d", "a", 2),
]  # fmt: skip
WORLD = {"draw_margin": 100}

EXPECTATIONS = ["logistic", "normal"]

games = game_rows(1905, "abcd", (1.0, 2.0, 3.0), (0.0, -180.0, 90.0), 25).map(by_year)
laws = examples(16)


def test_a_history_as_other_packages_rate_it():
    """EloCompetitor of elote 1.5.1 and EloModel of skelo 0.1.5, K 24 from 1500: equal to the last digit shown."""
    found = means(*fit_rows(ROWS, "elo", k=24))
    assert found["a", 1903] == pytest.approx(1497.674210452355, abs=1e-9)
    assert found["b", 1901] == pytest.approx(1489.1546182800437, abs=1e-9)
    assert found["c", 1903] == pytest.approx(1500.8251817439873, abs=1e-9)
    assert found["d", 1903] == pytest.approx(1512.345989523614, abs=1e-9)


def test_a_tournament_as_the_textbook_rates_it():
    """1613 points, K 32: a loss to 1609, a draw with 1477, wins over 1388 and 1586, a loss to 1720 make 1601.

    The example of the article "Elo rating system" in Wikipedia, with 2.5 points where 2.88 were expected.
    """
    rating = np.array([1613.0, 1609.0, 1477.0, 1388.0, 1586.0, 1720.0])
    residual = np.zeros(6)
    by_period(
        PeriodRange(np.array([0, 6]), np.array([0, 5])), np.arange(6, dtype=np.int32),
        plain_games([0] * 5, list(range(1, 6)), [0, 1, 2, 2, 0]), 100.0, False,
        Factors(32.0, 32.0, 32.0, 30.0, 2400.0), 1e9, np.ones(6), residual,
        PlayerStates(rating, np.zeros(6), rating.copy()), np.empty(6),
    )  # fmt: skip
    assert residual[0] == pytest.approx(2.5 - 2.88, abs=0.02)  # its expected scores have two digits
    assert rating[0] == pytest.approx(1601, abs=0.5)


def test_k_by_alpha_is_the_one_of_the_paper():
    """K = alpha beta sqrt(pi), beta 200."""
    _, fit = fit_rows(ROWS, "elo", alpha=0.1)
    assert fit.params["k"] == pytest.approx(0.1 * 200 * math.sqrt(math.pi))
    assert fit.params["k_new"] == fit.params["k_top"] == fit.params["k"]
    assert np.array_equal(fit.mean, fit_rows(ROWS, "elo", k=fit.params["k"])[1].mean)


@laws
@given(
    games,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["game", "period"]),
    st.sampled_from(EXPECTATIONS),
)
def test_it_is_the_plain_twin(rows, colours, fide, update, expectation):
    steps = {"k_new": 40.0, "k_top": 10.0, "new_games": 4} if fide else {}
    sides = "known" if colours else "unknown"
    params = {"update": update, "expectation": expectation, "k": 20, "white_advantage": 30}
    params |= {"top_rating": 1530, "k_limit": 100, **steps, **WORLD}
    timeline, fit = fit_rows(rows, "elo", colours=sides, **params)
    plain = PlainElo(
        k=20.0, top=1530, limit=100.0, margin=100.0, advantage=30.0, colours=colours,
        expect={"normal": normal, "logistic": logistic}[expectation], **steps,
    )  # fmt: skip
    (plain.by_game if update == "game" else plain.by_period)(rows)
    found = means(timeline, fit)
    assert found == pytest.approx(plain.history, abs=1e-9)
    assert fit.log_evidence == pytest.approx(plain.log_evidence, abs=1e-9)


@pytest.mark.parametrize("system", [elo, spinrad])
@pytest.mark.parametrize(("name", "expect"), [("normal", normal), ("logistic", logistic)])
def test_predictions_expect_the_score_of_the_update(system, name, expect):
    """And split it by the draw rule: with `normal` predictions were logistic."""
    leads = np.array([-3000.0, -700.0, -200.0, 0.0, 35.0, 450.0, 1900.0])
    params = {"expectation": name, "white_advantage": 20.0, "draw_margin": 90.0}
    found = system.predict(params, {"mean": leads}, {"mean": np.zeros(7)})
    assert found[:, 2] + 0.5 * found[:, 1] == pytest.approx(
        [expect(lead + 20.0) for lead in leads], abs=1e-12
    )
    for lead, row in zip(leads, found, strict=True):
        plain = [outcome_probability(lead + 20.0, 90.0, outcome, expect) for outcome in range(3)]
        assert row == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("lead", [7_000.0, 7_999.0, 8_001.0, 12_000.0])
def test_log_probabilities_far_apart_are_those_of_the_normal_tail(lead):
    """log erfc(z) = log erfcx(z) - z^2; far out the draw rule loses with 2 E / (t^2 + 1) and draws with the rest."""
    z = 0.5 * lead / 200.0
    t = 10.0 ** (100.0 / 400.0)
    weaker = math.log(0.5 * erfcx(z)) - z * z
    upset = log_outcome(lead, 0.0, 100.0, 0, True)
    drawn = log_outcome(lead, 0.0, 100.0, 1, True)
    # E = P(loss) + P(draw) / 2, and P(draw) = (t^2 - 1) P(loss)
    assert upset == pytest.approx(weaker + math.log(2.0 / (t * t + 1.0)), rel=2e-6)
    assert drawn == pytest.approx(weaker + math.log(2.0 * (t * t - 1.0) / (t * t + 1.0)), rel=2e-6)
