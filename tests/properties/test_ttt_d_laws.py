"""What a draw margin means; the laws that TTT-D shares with TTT are in test_ttt_laws.py."""

import math
from functools import partial
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.properties import test_ttt_laws as laws_of_both
from tests.support.strategies import examples
from ttt_cli.kernels.ep.ttt_d import apart, game_log_probability
from ttt_cli.systems import ttt_d

pytestmark = pytest.mark.slow

PARAMS = laws_of_both.PARAMS["ttt-d"]
NEAR = laws_of_both.NEAR
laws = examples(16)
fitted = partial(laws_of_both.fitted, model="ttt-d")


@laws
@given(laws_of_both.games)
def test_margins_stay_positive_and_spreads_within_the_prior(rows):
    for mean, sd, margin, margin_sd in fitted(rows)[0].values():
        assert np.isfinite(mean)
        assert 0 < sd < np.hypot(400, np.sqrt(6) * 70)
        assert margin > 0
        assert 0 < margin_sd < np.hypot(60, np.sqrt(6) * 15)


@laws
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8))
def test_turning_the_results_of_two_players_lets_them_change_places(outcomes):
    """Margins too: unlike skills they are not mirrored, as a win is about the loser's margin and no other."""
    (one, evidence), (other, turned_evidence) = (
        fitted([(1900, "a", "b", outcome) for outcome in turned])
        for turned in (outcomes, [2 - outcome for outcome in outcomes])
    )
    assert other["b", 1900] == pytest.approx(one["a", 1900], abs=NEAR)
    assert other["a", 1900] == pytest.approx(one["b", 1900], abs=NEAR)
    assert evidence == pytest.approx(turned_evidence, abs=1e-7)


def test_a_win_speaks_about_the_losers_margin_only():
    found, _ = fitted([(1900, "a", "b", 2)])
    mean, sd = PARAMS["draw_margin_mean"], PARAMS["draw_margin_sd"]
    at_zero = mean / sd  # a normal margin that is known to be positive
    hazard = NormalDist().pdf(at_zero) / NormalDist().cdf(at_zero)
    positive_mean = mean + sd * hazard
    positive_sd = sd * math.sqrt(1 - hazard * (at_zero + hazard))
    assert found["a", 1900][2:] == pytest.approx([positive_mean, positive_sd], abs=1e-6)
    assert found["b", 1900][2] < positive_mean - 1
    assert found["b", 1900][3] < positive_sd


@laws
@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8))
def test_one_draw_more_raises_both_margins(wins, losses, draws):
    def margins(drawn):
        counts = ((2, wins), (0, losses), (1, drawn))
        rows = [(1900, "a", "b", outcome, float(count)) for outcome, count in counts if count]
        found, _ = fitted(rows)
        return found["a", 1900][2], found["b", 1900][2]

    assume(wins + losses + draws)
    before, after = margins(draws), margins(draws + 1)
    assert after[0] > before[0]
    assert after[1] > before[1]


skills = st.floats(-1500, 1500)
spreads = st.floats(1, 200)
margin_means = st.floats(50, 500)


@given(
    skills,
    spreads,
    spreads,
    margin_means,
    margin_means,
    st.floats(1, 40),
    st.floats(5, 200),
    st.floats(-80, 80),
)
def test_a_player_with_a_higher_margin_draws_more_at_the_cost_of_the_opponents_wins(
    lead, sd, other_sd, own, margin, margin_sd, more, advantage
):
    """White wins when the lead exceeds Black's margin, so that alone moves; Black's wins depend on White's."""

    def odds(black_margin):
        sides = (
            {"mean": lead, "sd": sd, "draw_margin": own, "draw_margin_sd": margin_sd},
            {"mean": 0.0, "sd": other_sd, "draw_margin": black_margin, "draw_margin_sd": margin_sd},
        )
        white, black = ({key: np.array([value]) for key, value in side.items()} for side in sides)
        return ttt_d.predict({"beta": 200.0, "white_advantage": advantage}, white, black)[0]

    (loss, draw, win), (new_loss, new_draw, new_win) = odds(margin), odds(margin + more)
    assert new_win < win or win < 1e-12
    assert new_loss == pytest.approx(loss, rel=1e-12)
    assert new_draw - draw == pytest.approx(win - new_win, abs=1e-12)


@given(skills, margin_means, margin_means, st.floats(1, 60))
def test_so_do_the_sides_of_a_game_inside_inference(lead, own, margin, margin_sd):
    def log_p(outcome, black_margin):
        spread = apart(8e4, 2e4, margin_sd**2, margin_sd**2)
        return game_log_probability(outcome, lead + own, black_margin - lead, 0.0, spread)

    assert log_p(2, margin + 20) < log_p(2, margin)
    assert log_p(1, margin + 20) > log_p(1, margin) or log_p(1, margin) > -1e-9
    assert log_p(0, margin + 20) == log_p(0, margin)
    whole = sum(np.exp(log_p(outcome, margin)) for outcome in (0, 1, 2))
    assert whole == pytest.approx(1, abs=0.02)
