"""Weighted EP against a plain twin, TTT, quadrature and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.weighted_ep_plain import Game, Numbers, beliefs
from tests.support.builders import EXACT, fit_rows, make_games, random_rows, small_chess_base
from tests.support.strategies import examples
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import weighted_ep
from ttt_cli.timeline import build_timeline

PARAMS = {
    "prior_sd": 150, "beta": 180, "draw_margin": 90, "white_advantage": 25,
    "opponents_pull": 0.6, "fade_per_year": 0.3, "fade_per_game": 0.05,
}  # fmt: skip
NUMBERS = {
    "prior_sd": 150,
    "beta": 180,
    "margin": 90,
    "pull": 0.6,
    "per_year": 0.3,
    "per_game": 0.05,
}


WEIGHTS, ODDS = (1.0, 1.0, 3.0, 0.4), (0.0, 80.0, -120.0)


def fitted(rows, known="known", solver=EXACT, **params):
    timeline = build_timeline(make_games(rows), colours=known)
    return timeline, weighted_ep.fit(timeline, weighted_ep.Params(**{**PARAMS, **params}), solver)


def around(timeline, fit):
    """{(player, year): (mean, sd, mean before, sd before)}."""
    chain = fit.chains["skill"]
    columns = (chain.mean, chain.sd, chain.before_mean, chain.before_sd)
    return {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): tuple(
            c[i] for c in columns
        )
        for i in range(timeline.n_nodes)
    }


@pytest.mark.parametrize("known", ["known", "unknown"])
def test_all_beliefs_equal_the_plain_twin(known):
    rows = random_rows(1, 14, 4, 4, WEIGHTS, ODDS)
    timeline, fit = fitted(rows, known)
    games = [Game(w, b, y, o - 1, n, lead * fit.elo_unit) for y, w, b, o, n, lead in rows]
    slow = beliefs(games, Numbers(**NUMBERS, advantage=25, colours=known == "known"))
    found = around(timeline, fit)
    assert found.keys() == slow.keys()
    for key, numbers in found.items():
        mean, sd, before, before_sd = slow[key]
        assert numbers == pytest.approx((1200 + mean, sd, 1200 + before, before_sd), abs=1e-6), key


@pytest.mark.parametrize("advantage", [0, 40])
def test_without_fading_and_pull_one_period_is_one_of_ttt(advantage):
    rows = random_rows(3, 25, 4, 1, (1.0, 3.0))
    common = {"prior_sd": 150, "beta": 180, "draw_margin": 90, "white_advantage": advantage}
    none = {"opponents_pull": 0, "fade_per_year": 0, "fade_per_game": 0}
    _, weighted = fit_rows(rows, "weighted-ep", **common, **none)
    _, through_time = fit_rows(rows, "ttt", tau=0, **common)
    assert weighted.mean == pytest.approx(through_time.mean, abs=1e-7)
    assert weighted.sd == pytest.approx(through_time.sd, abs=1e-7)


def grid_posterior(factors, prior_sd, beta, margin, players):
    """Means and sds under prior times powers of likelihoods, factors (i, j, outcome of i, power), by quadrature."""
    from scipy.special import ndtr

    node, weight = np.polynomial.hermite_e.hermegauss(50)
    at = np.meshgrid(*[prior_sd * node] * players, indexing="ij")
    mass = np.ones(())
    for _ in range(players):
        mass = np.multiply.outer(mass, weight)
    for i, j, outcome, power in factors:
        low, high = ((s * margin - at[i] + at[j]) / (math.sqrt(2) * beta) for s in (-1, 1))
        mass = mass * (ndtr(low), ndtr(high) - ndtr(low), 1 - ndtr(high))[outcome] ** power
    mass = mass / mass.sum()
    means = [float((mass * s).sum()) for s in at]
    return means, [
        math.sqrt(float((mass * s * s).sum()) - m * m) for s, m in zip(at, means, strict=True)
    ]


def test_a_faded_game_is_that_power_of_what_a_whole_one_says():
    """Exact moments of the whole game by quadrature."""
    rows = [(1900, "a", "b", 2), (1902, "a", "c", 1)]
    chain = fitted(rows, opponents_pull=0, white_advantage=0)[1].chains["skill"]
    means, sds = grid_posterior([(0, 1, 2, 1.0)], 150, 180, 90, 2)
    power = math.exp(-0.6)
    precision = 150**-2 + power * (sds[0] ** -2 - 150**-2)
    assert chain.before_sd[2] == pytest.approx(precision**-0.5, abs=1e-6)
    assert chain.before_mean[2] == pytest.approx(
        1200 + power * means[0] / sds[0] ** 2 / precision, abs=1e-6
    )


def test_idle_years_lead_from_one_belief_to_the_next():
    rows = [(1900, "a", "b", 2), (1904, "a", "b", 1)]
    chain = fitted(rows)[1].chains["skill"]
    slope, rise, bend, *_ = chain.bridge(np.array([0]), np.array([2]), np.array([4.0]))
    assert (slope[0], bend[0]) == (0, 0)
    assert chain.sd[0] ** 2 + rise[0] == pytest.approx(chain.before_sd[2] ** 2)
    told = (150**2 - chain.sd[2:] ** 2) / (chain.sd[2:] * 150) ** 2 * math.exp(-0.3)
    assert np.hypot(chain.sd[2:], chain.drift[2:]) == pytest.approx((150**-2 + told) ** -0.5)


def test_the_remaining_error_bounds_the_true_one(data):
    """A series of 399 games, a sd of one game that is small beside the prior's."""
    timeline = build_timeline(make_games(small_chess_base(data)))
    for asked in (
        {},
        {"beta": 100, "prior_sd": 200},
        {"opponents_pull": 0.95, "fade_per_year": 0.02},
    ):
        params = weighted_ep.Params(**asked)
        exact = weighted_ep.fit(timeline, params, SolverConfig(tol=1e-8))
        loose = weighted_ep.fit(timeline, params, SolverConfig())
        assert exact.status.converged
        assert np.abs(loose.mean - exact.mean).max() < loose.status.remaining_error < 0.01
        assert len(loose.trace) == loose.status.sweeps < 100


def test_plain_sweeps_end_at_the_same_fixed_point():
    rows = random_rows(13, 14, 4, 4, WEIGHTS)
    fast, plain = (
        fitted(rows, solver=SolverConfig(tol=1e-8, accelerate=a))[1] for a in (True, False)
    )
    assert plain.mean == pytest.approx(fast.mean, abs=1e-6)
    assert plain.sd == pytest.approx(fast.sd, abs=1e-6)
    assert plain.log_evidence == pytest.approx(fast.log_evidence, abs=1e-6)
    assert fast.status.sweeps < plain.status.sweeps


def test_two_peaks_are_skipped_and_counted():
    params = {"beta": 20, "prior_sd": 5, "white_advantage": 500, "draw_margin": 10}
    fit = fitted([(1900, "a", "b", 1)], "unknown", SolverConfig(max_sweeps=20), **params)[1]
    assert (fit.status.converged, fit.status.skipped_sites) == (False, 1)
    assert fit.sd == pytest.approx([5, 5])


@examples(12)
@given(
    st.lists(
        st.tuples(
            st.integers(1850, 1950),
            st.permutations("abcde"),
            st.integers(0, 2),
            st.floats(0.01, 500),
        ),
        min_size=1,
        max_size=12,
    ),
    st.floats(0, 0.97),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_every_history_has_a_fixed_point(history, pull, per_year, per_game):
    rows = [(year, names[0], names[1], outcome, weight) for year, names, outcome, weight in history]
    params = {"opponents_pull": pull, "fade_per_year": per_year, "fade_per_game": per_game}
    fit = fitted(rows, solver=SolverConfig(), **params)[1]
    assert fit.status.converged
    assert np.isfinite([fit.mean, fit.sd]).all()
    assert (fit.sd <= 150 + 1e-9).all()
