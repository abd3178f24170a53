"""The dense twin of links itself: published figures, exact probabilities of a few games, enumeration by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.stats import multivariate_normal

from tests.reference.link_histories import FIGURES, History, against, categories, game, newcomers
from tests.reference.links_dense import FactorisedTwin, JointTwin, Link, performances
from tests.support.cases import each


@each("name", FIGURES)
def test_published_figures(name):
    make, log_z, beliefs = FIGURES[name]
    history = make()
    twin = JointTwin(*history.prior(), history.links).run()
    if log_z is not None:
        assert twin.log_z() == pytest.approx(log_z, abs=1e-7)
    mean, sd = twin.beliefs()
    digits = 5e-4 if name == "newcomers" else 1e-5  # as published
    for (player, year), (wanted_mean, wanted_sd) in beliefs.items():
        variable = history.number(player, year)
        assert mean[variable] == pytest.approx(wanted_mean, abs=digits)
        if wanted_sd is not None:
            assert sd[variable] == pytest.approx(wanted_sd, abs=digits)


def test_the_skill_in_a_category_is_a_sum():
    history = categories()
    mean, _ = JointTwin(*history.prior(), history.links).run().beliefs()
    assert mean[history.number("M", 1861)] + mean[history.number("M rapid", 1861)] == pytest.approx(
        1248.7608, abs=1e-5
    )


def test_three_newcomers_are_those_of_messages_too():
    """Their factor graph is a tree: messages to single variables lose nothing, performances being variables."""
    history = newcomers()
    joint = JointTwin(*history.prior(), history.links).run()
    mean, covariance = history.chain_prior()
    precision = np.zeros((history.size + 3,) * 2)
    precision[: history.size, : history.size] = np.linalg.inv(covariance)
    links = performances(history.sums, history.spread, history.size) + history.links
    apart = FactorisedTwin(np.append(mean, np.zeros(3)), precision, links).run()
    assert apart.log_z() == pytest.approx(joint.log_z(), abs=1e-9)
    assert np.array(apart.beliefs()) == pytest.approx(np.array(joint.beliefs()), abs=1e-7)


def test_one_link_is_exact():
    """Its probability is a normal one, and the posterior that of a truncated difference, by quadrature."""
    history = History()
    for name in "abc":
        history.add_chain(name, [0.0])
    link = game({0: 1.0, 1: 0.5, 2: -1.5}, 0.5, offset=120.0)
    twin = JointTwin(*history.prior(), [link]).run()
    nodes, weights = hermegauss(300)
    spread = 400.0 * math.sqrt(1.0 + 0.25 + 2.25)
    y = spread * nodes
    inside = multivariate_normal(0.0, link.noise)
    p = inside.cdf((link.high - y - 120.0)[:, None]) - inside.cdf((link.low - y - 120.0)[:, None])
    weight = weights / weights.sum() * p
    assert twin.log_z() == pytest.approx(math.log(weight.sum()), abs=1e-9)
    row = link.row(3)
    mean, covariance = twin.gaussian()
    centre = weight @ y / weight.sum()
    assert row @ (mean - 1200.0) == pytest.approx(centre, abs=1e-6)
    assert row @ covariance @ row == pytest.approx(
        weight @ (y - centre) ** 2 / weight.sum(), rel=1e-8
    )
    assert twin.predictive()[0] == pytest.approx(math.log(weight.sum()), abs=1e-9)


@each("outcomes", [(1.0, 1.0), (0.5, 0.0), (1.0, 0.5), (0.0, 1.0)])
def test_two_links_are_nearly_exact(outcomes):
    """log Z against the integral of a two-dimensional normal distribution over a rectangle."""
    history = History()
    for name in "abcd":
        history.add_chain(name, [0.0])
    links = [
        game(against([0, 1], [2]), outcomes[0], players=3),
        game({1: 1.0, 3: -1.0}, outcomes[1], offset=-80.0),
    ]
    mean, covariance = history.prior()
    rows = np.array([link.row(4) for link in links])
    centre = rows @ mean + [link.offset for link in links]
    spread = rows @ covariance @ rows.T + np.diag([link.noise for link in links])
    exact = _rectangle(centre, spread, links)
    assert JointTwin(mean, covariance, links).run().log_z() == pytest.approx(
        math.log(exact), abs=2e-3
    )


def _rectangle(centre, spread, links: list[Link]) -> float:
    normal = multivariate_normal(centre, spread)
    far = 20.0 * math.sqrt(spread.max())
    total = 0.0
    for sign_1, end_1 in ((1.0, links[0].high), (-1.0, links[0].low)):
        for sign_2, end_2 in ((1.0, links[1].high), (-1.0, links[1].low)):
            total += sign_1 * sign_2 * normal.cdf(np.clip([end_1, end_2], -far, far))
    return total
