"""Chessmetrics against the examples of its author and its plain twin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.chessmetrics_plain import list_at, rating_of
from tests.support.builders import EXACT, fit_rows, make_games, skills
from tests.support.strategies import examples, game_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import chessmetrics as model
from ttt_cli.timeline import build_timeline

FORMULA = {"points": 850, "near": 4, "far": 3, "reference": 2300, "window": 4}
games = game_rows(1908, "abcde", (1.0, 1.0, 0.5, 30.0), (0.0, 0.0, 120.0))
LINARES = {  # points of 12 in the double round robin of 2005, and the level that twelve rounds of raw ratings give
    "Kasparov": (8.0, 2864), "Topalov": (8.0, 2864), "Anand": (6.5, 2773), "Leko": (6.0, 2743),
    "Adams": (5.5, 2713), "Kasimdzhanov": (4.0, 2622), "Vallejo": (4.0, 2622),
}  # fmt: skip


def round_robin(points):
    """A cross table with these points and two games for every pair: each pair shares its two as it can."""
    rows, left = [], {name: value - (len(points) - 1) for name, (value, _) in points.items()}
    names = sorted(points, key=lambda name: -left[name])
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            shift = min(max(left[one], 0.0), max(-left[other], 0.0), 1.0)
            left[one] -= shift
            left[other] += shift
            rows += [
                (2005, one, other, 1 + int(shift > 0)),
                (2005, other, one, 1 - int(shift > 0.5)),
            ]
    assert not any(left.values())
    return rows


def test_raw_ratings_of_a_tournament_settle_as_published():
    """The table of Linares 2005 on the page Formulas of chessmetrics.com, rounded to points; mean held at 2743."""
    free = {"opponents_games": 0, "reference_games": 1e-9, "reference_rating": 2743, "bonus": 0}
    found = skills(*fit_rows(round_robin(LINARES), "chessmetrics", draw_margin=60, **free))
    for name, (_, rating) in LINARES.items():
        assert found[name, 2005][0] == pytest.approx(rating, abs=0.55)


def test_the_padded_performance_of_a_tournament():
    """Kasparov's 8 of 12 against 2733 give 2797 (the same page): tests the twin, to which the lists are held."""
    assert rating_of(12, 8, 2733, 850, 4, 3, 2300) + 43 == pytest.approx(2797, abs=0.5)


@examples(15)
@given(games, st.sampled_from((4, 1.4)))
def test_it_equals_its_plain_twin(rows, window):
    """Windows of whole years and others: of a year of which months are left these still count."""
    timeline, fit = fit_rows(
        rows, "chessmetrics", draw_margin=60, white_advantage=30, window=window
    )
    assert fit.status.converged
    slow, formula = [(*row[:5], row[5] + 30) for row in rows], FORMULA | {"window": window}
    chain = fit.chains["skill"]
    for i in range(timeline.n_nodes):
        name, year = timeline.players[timeline.node_player[i]], int(timeline.node_period[i])
        before = list_at([game for game in slow if game[0] < year], year - 1, **formula)
        after = list_at(slow, year, **formula)
        assert chain.before_mean[i] == pytest.approx(before.get(name, 2300) + 43, abs=1e-4)
        assert chain.mean[i] == pytest.approx(after[name] + 43, abs=1e-4)
    assert np.isnan([chain.sd, chain.before_sd]).all()


@pytest.mark.parametrize("weight", [90.0, 0.4])
def test_the_error_is_bounded_as_it_says(weight):
    """A long chain of pairs, which settles slowly when they have many games."""
    rows = [(1900, f"p{k:02}", f"p{k + 1:02}", 2 if k % 5 else 0, weight) for k in range(40)]
    _, exact = fit_rows(rows, "chessmetrics", draw_margin=60, solver=SolverConfig(tol=1e-8))
    for steps in (1, 2, 3):
        _, stopped = fit_rows(
            rows, "chessmetrics", draw_margin=60, solver=SolverConfig(max_sweeps=steps)
        )
        error = np.abs(stopped.mean - exact.mean).max()
        assert error <= stopped.status.remaining_error
        assert stopped.status.converged == (stopped.status.remaining_error <= 0.01)
        assert stopped.status.sweeps == steps


def test_months_are_those_of_the_published_formula():
    """A win in January and one in December: at the end of December they count 37/48 and 48/48."""
    days = [
        np.datetime64(f"1900-{month}-10", "D") - np.datetime64("1970-01-01", "D")
        for month in ("01", "12")
    ]
    dated = replace(make_games([(1900, "a", "b", 2)] * 2), date=np.array(days).astype(np.int32))
    fit = model.fit(build_timeline(dated, "month"), model.Params(draw_margin=60), EXACT)
    w = 1 + 37 / 48
    counted = w / (w + 4)
    assert fit.mean[-2] - fit.mean[-1] == pytest.approx(
        2 * counted * 425 * w / (counted * (w + 7) + w)
    )
