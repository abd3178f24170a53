"""TTT-D against its oracles: figures of the design, quadrature, a slow twin, and runs to many digits."""

import numpy as np
import pytest

from tests.reference.ttt_d_exact import log_evidence
from tests.reference.ttt_ep import Twin
from tests.support.builders import EXACT, fit_rows, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import ttt_d
from ttt_cli.timeline import build_timeline

MATCH = [
    (1858, "M", "A", 2), (1858, "M", "A", 2), (1858, "M", "A", 1), (1858, "M", "A", 0),
    (1861, "A", "M", 1), (1861, "M", "A", 2),
]  # fmt: skip
MARGINS = {"draw_margin_mean": 265, "draw_margin_sd": 150, "draw_margin_tau": 30}
EXACT_MATCH = (((1, 1, 0, -1), (0, 1)), 3, 400, 480, 60, 265, 150, 30)  # the same for `ttt_d_exact`


def beliefs(timeline, fit):
    """{(player, year): (skill, sd, margin, sd)}."""
    margin = fit.chains["draw_margin"]
    return {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): (
            fit.mean[i], fit.sd[i], margin.mean[i], margin.sd[i],
        )
        for i in range(timeline.n_nodes)
    }  # fmt: skip


def test_the_design_oracle():
    """Figures of the project's design, made independently of this code."""
    timeline, fit = fit_rows(MATCH, "ttt-d", **MARGINS)
    assert fit.log_evidence == pytest.approx(-7.308606529, abs=1e-9)
    expected = (1320.59528, 260.99694, 301.36590, 125.81292)
    assert beliefs(timeline, fit)["M", 1858] == pytest.approx(expected, abs=1e-5)


def test_the_evidence_without_games_is_that_of_the_design():
    timeline = build_timeline(make_games(MATCH))
    params = ttt_d.Params(**MARGINS)
    assert Twin(timeline, params, games=False).run().log_z() == pytest.approx(
        -0.141203200, abs=1e-9
    )
    nothing = ttt_d.through_time(timeline, params).without_games(EXACT.tol)
    assert nothing.log_evidence()[0] == pytest.approx(-0.141203200, abs=1e-9)


@pytest.mark.slow
def test_exact_evidence_by_quadrature():
    exact = log_evidence(*EXACT_MATCH)
    assert exact == pytest.approx(log_evidence(*EXACT_MATCH, nodes=30), abs=2e-5)
    assert exact == pytest.approx(-7.0907, abs=0.0005)  # of the design


def test_the_factorised_evidence_is_below_the_exact_one_by_what_the_docs_say():
    _, fit = fit_rows(MATCH, "ttt-d", **MARGINS)
    assert log_evidence(*EXACT_MATCH) - fit.log_evidence == pytest.approx(0.2183, abs=1e-4)


@pytest.mark.parametrize("beta", [60, 200])
def test_a_match_won_to_nil_is_solved_at_once(beta):
    """Equal games that share a site overshoot where each of them moves all: messages of single games do not."""
    match, rest = (1900, "a", "b", 2), [(1901, "b", "c", 2), (1901, "a", "c", 1)]
    apart = [(*match, 1.0, 1e-9 * k) for k in range(30)]
    numbers = {"beta": beta, "draw_margin_mean": 100, "draw_margin_sd": 30, "draw_margin_tau": 10}
    truth = beliefs(*fit_rows([*apart, *rest], "ttt-d", **numbers))
    timeline, fit = fit_rows(
        [match] * 30 + rest, "ttt-d", solver=SolverConfig(posterior="factorised"), **numbers
    )
    assert fit.status.converged
    assert fit.status.sweeps < 8
    for key, found in beliefs(timeline, fit).items():
        assert found == pytest.approx(truth[key], abs=0.01)


def test_known_equal_margins_give_ttt():
    """With margins certain, both models are the same, draw by draw."""
    rows = random_rows(7, 30, 4)
    _, one = fit_rows(rows, "ttt", draw_margin=200, beta=300)
    _, other = fit_rows(
        rows, "ttt-d", beta=300, draw_margin_mean=200, draw_margin_sd=1e-4, draw_margin_tau=0
    )
    assert other.mean == pytest.approx(one.mean, abs=1e-4)
    assert other.sd == pytest.approx(one.sd, abs=1e-4)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)
    assert other.leave_one_out == pytest.approx(one.leave_one_out, abs=1e-6)


def test_margins_left_out_follow_beta():
    params = ttt_d.Params(beta=240).resolved()
    assert (params.draw_margin_mean, params.draw_margin_sd, params.draw_margin_tau) == (132, 40, 4)
    assert ttt_d.Params(beta=240, varsigma=7).resolved().draw_margin_tau == 7
    assert ttt_d.Params(draw_margin_tau=0).resolved().draw_margin_tau == 0


def side(mean, sd, margin, margin_sd):
    values = {"mean": mean, "sd": sd, "draw_margin": margin, "draw_margin_sd": margin_sd}
    return {name: np.array([float(value)]) for name, value in values.items()}


def test_predictions_with_impossible_margins_are_still_probabilities():
    odds = ttt_d.predict(
        {"beta": 1.0, "white_advantage": 0.0}, side(0, 1, -50, 1), side(0, 1, -50, 1)
    )[0]
    assert odds == pytest.approx([0.5, 0, 0.5])
