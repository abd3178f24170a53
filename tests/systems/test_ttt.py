"""TTT against its oracles: a slow twin, quadrature, and runs to many digits."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from tests.reference.ttt_ep import Twin
from tests.support.builders import EXACT, fit_rows, make_games, skills
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

MATCH = [
    (1858, "M", "A", 2), (1858, "M", "A", 2), (1858, "M", "A", 1), (1858, "M", "A", 0),
    (1861, "A", "M", 1), (1861, "M", "A", 2),
]  # fmt: skip
MARGIN = NormalDist().inv_cdf((0.303 + 1) / 2) * math.sqrt(2) * 480


def quadrature(nodes=200):
    """Exact log Z and Morphy's skill in 1858: everything depends on the two differences M - A alone."""
    x, w = hermegauss(nodes)
    w = w / w.sum()
    first, step = math.sqrt(2) * 400, math.sqrt(2 * 3) * 60
    d58, d61 = np.meshgrid(first * x, x, indexing="ij")
    d61 = d58 + step * d61
    noise = NormalDist(0, math.sqrt(2) * 480)
    win = np.vectorize(lambda d: 1 - noise.cdf(MARGIN - d))
    draw = np.vectorize(lambda d: noise.cdf(MARGIN - d) - noise.cdf(-MARGIN - d))
    weight = np.outer(w, w) * win(d58) ** 2 * draw(d58) * win(-d58) * draw(d61) * win(d61)
    z = weight.sum()
    mean = (weight * d58).sum() / z
    variance = (weight * d58**2).sum() / z - mean**2
    return (
        math.log(z),
        1200 + mean / 2,
        math.sqrt((2 * 400**2 + variance) / 4),
    )  # M = (sum + difference) / 2


def test_the_design_oracle():
    """Figures of the project's design, made independently of this code."""
    timeline, fit = fit_rows(MATCH, draw_probability=0.303)
    found = skills(timeline, fit)
    assert fit.log_evidence == pytest.approx(-7.174529414, abs=1e-9)
    assert found["M", 1858] == pytest.approx((1319.49116, 259.43419), abs=1e-5)
    assert found["M", 1861] == pytest.approx((1327.16163, 271.37388), abs=1e-5)


def test_draws_and_evidence_are_those_of_another_package():
    """kickscore 0.2.0: TernaryModel, probit, margin 250 and sds in units of 480 sqrt(2), kernels Constant + Wiener."""
    rows = [
        (1900, "a", "b", 2), (1900, "b", "c", 1), (1901, "c", "a", 0), (1904, "a", "b", 1), (1904, "b", "c", 2),
        (1907, "c", "b", 0), (1907, "b", "a", 1),
    ]  # fmt: skip
    timeline, fit = fit_rows(rows, prior_mean=0, draw_margin=250)
    found = skills(timeline, fit)
    assert fit.log_evidence == pytest.approx(-7.839295718922469, abs=1e-7)
    assert found["a", 1900] == pytest.approx((251.24504676978663, 291.5742334549527), abs=2e-5)
    assert found["a", 1907] == pytest.approx((243.1261841867687, 312.3864173074994), abs=2e-5)
    assert found["b", 1904] == pytest.approx((100.58259057525882, 272.43992538776314), abs=2e-5)
    assert found["c", 1907] == pytest.approx((-356.91789541936845, 326.77171824325666), abs=2e-5)


def test_the_factorised_posterior_is_near_the_exact_one_and_overconfident():
    log_z, mean, sd = quadrature()
    assert (log_z, mean, sd) == pytest.approx((-6.974859010, 1318.13782, 315.51910), abs=5e-5)
    timeline, fit = fit_rows(MATCH, draw_probability=0.303)
    ep_mean, ep_sd = skills(timeline, fit)["M", 1858]
    assert abs(ep_mean - mean) < 2
    assert log_z - 0.25 < fit.log_evidence < log_z
    assert 0.8 * sd < ep_sd < sd


@pytest.mark.parametrize("beta", [60, 200])
def test_a_match_won_to_nil_is_solved_at_once(beta):
    """Equal games that share a site overshoot where each of them moves all: as told by sites of their own."""
    rows = [(1900, "a", "b", 2)] * 40 + [
        (1901, "b", "c", 2),
        (1901, "a", "c", 2),
        (1902, "c", "d", 0),
    ]
    timeline, fit = fit_rows(
        rows, solver=SolverConfig(posterior="factorised"), beta=beta, draw_margin=150
    )
    assert fit.status.converged
    assert fit.status.sweeps < 6
    twin = Twin(timeline, ttt.Params(beta=beta, draw_margin=150)).run(1e-5)
    assert np.array([fit.mean, fit.sd]) == pytest.approx(twin.beliefs(), abs=0.01)


def test_three_players_in_three_steps():
    """Golden numbers of trueskillthroughtime 1.1.0: prior 25, 25/3, beta 25/6, gamma 25/300, one step between games."""
    from dataclasses import replace

    rows = [(1, "a", "b", 2), (2, "a", "c", 0), (3, "b", "c", 2)]
    timeline = build_timeline(make_games(rows))
    timeline = replace(timeline, gap_years=np.minimum(timeline.gap_years, 1.0))
    params = ttt.Params(prior_mean=25, prior_sd=25 / 3, beta=25 / 6, tau=25 / 300, draw_margin=0)
    found = skills(timeline, ttt.fit(timeline, params, EXACT))
    assert found["a", 1] == pytest.approx((25.0002673, 5.41938162), abs=2e-6)
    assert found["b", 1] == pytest.approx((24.999465, 5.419425831), abs=2e-6)
    assert found["b", 3] == pytest.approx((25.00053219, 5.41969679), abs=2e-6)


def test_two_players_with_one_win_each():
    """sigma 6, beta 1, no drift: EP log Z -4.054418, sd 2.395 (exact: -3.294499, 4.290)."""
    _, fit = fit_rows(
        [(1, "a", "b", 2), (1, "b", "a", 2)], prior_sd=6, beta=1, tau=0, draw_margin=0
    )
    assert fit.log_evidence == pytest.approx(-4.054418, abs=1e-6)
    assert fit.sd[0] == pytest.approx(2.395, abs=1e-3)
