"""Glicko against Glickman's worked example, another package, and its plain twin."""

import math

import numpy as np
import pytest
from hypothesis import given

from tests.reference.glicko_plain import glicko, smoothed
from tests.support.builders import fit_rows, plain_games, skills
from tests.support.laid_out import histories
from tests.support.strategies import examples, game_rows
from ttt_cli.kernels.elo import Beliefs, Slopes
from ttt_cli.kernels.glicko import weigh_games
from ttt_cli.systems import glicko as model

games = game_rows(1906, "abcd", (1.0, 1.0, 0.5, 3.0), (0.0, 0.0, 120.0))
few = examples(12)


def weighed(mean, variance):
    """push and pull of node 0 in Glickman's example: a win over node 1, losses to nodes 2 and 3."""
    games = plain_games([0, 2, 0], [1, 0, 3], [2, 2, 0])
    slopes = Slopes(*np.zeros((2, 4)))
    weigh_games(0, 3, games, Beliefs(mean, variance), slopes)
    return slopes.gradient[0], slopes.information[0]


def test_the_worked_example():
    """1464 and 151.4 from a prior of 1500, 200 (M. Glickman, The Glicko system, its worked example)."""
    mean, sd = np.array([1500.0, 1400, 1550, 1700]), np.array([200.0, 30, 100, 300])
    push, pull = weighed(mean, sd**2)
    variance = 1 / (1 / sd[0] ** 2 + pull)
    assert mean[0] + variance * push == pytest.approx(1464, abs=0.5)
    assert math.sqrt(variance) == pytest.approx(151.4, abs=0.05)
    assert math.sqrt(1 / pull) == pytest.approx(231.67, abs=0.05)


def test_the_expected_score_of_the_worked_example():
    """0.376 of 1400, 80 against 1500, 150 (the same note, on expected outcomes)."""
    params = {"draw_margin": 0.0, "white_advantage": 0.0}
    sides = [
        {"mean": np.array([m]), "sd": np.array([s])} for m, s in ((1400.0, 80.0), (1500.0, 150.0))
    ]
    assert model.predict(params, *sides)[0] == pytest.approx([0.624, 0, 0.376], abs=5e-4)


def test_a_sequence_equals_another_package():
    """elote 1.5.1, its formulas applied game by game with c = 60 per period."""
    rows = [(2000, "a", "b", 2), (2001, "c", "a", 1), (2003, "b", "c", 2), (2004, "a", "b", 0)]
    found = skills(*fit_rows(rows, "glicko", tau=60, draw_margin=50))
    assert found["a", 2000] == pytest.approx((1662.2121790106564, 290.23024334413657), abs=2e-3)
    assert found["a", 2001] == pytest.approx((1622.7162983181834, 260.34182443243037), abs=2e-3)
    assert found["c", 2003] == pytest.approx((1356.3367018031545, 261.73906499572655), abs=2e-3)
    assert found["a", 2004] == pytest.approx((1477.3988136366884, 240.17174835419368), abs=2e-3)
    assert found["b", 2004] == pytest.approx((1688.1201497846348, 236.31107677866274), abs=2e-3)


@few
@given(games)
def test_it_equals_its_plain_twin(rows):
    timeline, fit = fit_rows(
        rows, "glicko", tau=90, prior_sd=300, draw_margin=60, white_advantage=30
    )
    slow = glicko([(*row[:5], row[5] + 30) for row in rows], 1500, 300, 90)
    chain = fit.chains["skill"]
    for i in range(timeline.n_nodes):
        key = timeline.players[timeline.node_player[i]], int(timeline.node_period[i])
        assert (chain.before_mean[i], chain.before_sd[i]) == pytest.approx(slow[key][0], abs=1e-8)
        assert (chain.mean[i], chain.sd[i]) == pytest.approx(slow[key][1], abs=1e-8)


@few
@given(games)
def test_smoothing_solves_the_chain_of_each_player(rows):
    """The dense Gaussian posterior of the walk; the ceiling is out of reach."""
    params = {"tau": 40, "prior_sd": 400, "draw_margin": 60}
    timeline, fit = fit_rows([row[:3] + row[3:4] for row in rows], "glicko", smooth=True, **params)
    _, plain = fit_rows([row[:4] for row in rows], "glicko", **params)
    assert (fit.kind, plain.kind) == ("smoothed", "filtered")
    chain, forward = fit.chains["skill"], plain.chains["skill"]
    for player in range(len(timeline.players)):
        nodes = np.flatnonzero(timeline.node_player == player)
        steps = [
            (int(timeline.node_period[i]), *zip(forward.before_mean[[i]], forward.before_sd[[i]], strict=True),
             *zip(forward.mean[[i]], forward.sd[[i]], strict=True))
            for i in nodes
        ]  # fmt: skip
        if any(forward.before_sd[i] == 400 for i in nodes[1:]):
            continue
        mean, covariance = smoothed(steps, 40)
        assert chain.mean[nodes] == pytest.approx(mean, abs=1e-6)
        assert chain.sd[nodes] ** 2 == pytest.approx(np.diag(covariance), rel=1e-8)
        assert chain.covariance[nodes[1:]] == pytest.approx(np.diag(covariance, 1), rel=1e-8)


def test_idle_years_of_a_smoothed_rating_are_bridged():
    rows = [(1900, "a", "b", outcome) for outcome in (1, 2) * 9] + [(1910, "a", "b", 1)] * 30
    timeline, fit = fit_rows(rows, "glicko", smooth=True, tau=90, prior_sd=300)
    history = histories(timeline, fit)
    rows = history.player == 0
    mean, sd = history.columns["mean"][rows], history.columns["sd"][rows]
    assert np.diff(mean, n=2)[1:-1] == pytest.approx(0, abs=1e-9)
    assert sd[5] > max(sd[0], sd[10])
