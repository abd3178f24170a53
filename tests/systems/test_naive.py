"""The naive model: the same probabilities for everybody, as the evidence report has them."""

import math

import numpy as np
import pytest

from tests.reference.elo_plain import outcome_probability
from tests.support.builders import fit_rows
from ttt_cli.systems import naive
from ttt_cli.views.evidence import naive_log_evidence

ROWS = [
    (1900, "a", "b", 2), (1900, "b", "c", 1, 2.0), (1902, "c", "a", 0, 1.0, 150.0), (1903, "a", "d", 2, 0.5),
]  # fmt: skip


def predicted(fit, n=1, white=0.0, black=0.0):
    return naive.predict(
        fit.params,
        {"mean": np.full(n, white), "sd": np.full(n, np.nan)},
        {"mean": np.full(n, black), "sd": np.full(n, np.nan)},
    )


def test_the_evidence_is_that_of_the_report_and_of_the_share_of_draws():
    _, fit = fit_rows(ROWS, "naive")
    share = 2 / 4.5
    assert fit.log_evidence == pytest.approx(naive_log_evidence(4.5, share), abs=1e-12)
    assert fit.log_evidence == pytest.approx(
        2 * math.log(share) + 2.5 * math.log((1 - share) / 2), abs=1e-12
    )
    assert fit.leave_one_out == fit.log_evidence


def test_it_predict_the_share_of_draws_and_halves_the_rest():
    _, fit = fit_rows(ROWS, "naive")
    for white, black in ((1500.0, 1500.0), (2500.0, 1500.0)):
        assert predicted(fit, 2, white, black) == pytest.approx(
            np.tile([5 / 18, 4 / 9, 5 / 18], (2, 1))
        )
    _, fit = fit_rows(ROWS, "naive", draw_probability=0.3)
    assert predicted(fit)[0] == pytest.approx([0.35, 0.3, 0.35])


def test_white_may_have_an_advantage_that_unknown_colours_even_out():
    _, fit = fit_rows(ROWS, "naive", white_advantage=50, draw_margin=80)
    loss, draw, win = predicted(fit)[0]
    assert (loss, draw, win) == pytest.approx(
        [outcome_probability(50, 80, outcome) for outcome in range(3)]
    )
    assert win + draw / 2 == pytest.approx(1 / (1 + 10 ** (-50 / 400)))
    assert fit.log_evidence == pytest.approx(
        1.5 * math.log(win) + 2 * math.log(draw) + math.log(loss)
    )
    _, even = fit_rows(ROWS, "naive", colours="unknown", white_advantage=50, draw_margin=80)
    assert even.log_evidence == pytest.approx(2.5 * math.log((loss + win) / 2) + 2 * math.log(draw))
