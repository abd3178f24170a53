"""WHR against two other packages, dense matrices, integration and laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import whr_plain
from tests.support.builders import EXACT, fit_rows, make_games, random_rows, skills
from tests.support.strategies import examples
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import whr
from ttt_cli.timeline import build_timeline

SCALE = 400 / math.log(10)
PLAIN = {"prior_mean": 0, "virtual_draws": 1, "tau": math.sqrt(5000)}

DECIDED = [
    (1900, "a", "b", 2), (1900, "a", "b", 2), (1900, "b", "c", 2), (1901, "b", "a", 2), (1901, "c", "a", 0),
    (1903, "c", "b", 2), (1903, "a", "c", 2), (1903, "d", "b", 0), (1904, "d", "a", 0),
]  # fmt: skip
DRAWN = [(1900, "a", "b", 1), (1904, "c", "d", 1), (1903, "b", "c", 1)]


def test_decided_games_as_in_other_packages():
    """Ratings: whr 2.2.0 (w2=5000, virtual_games=2) and whole-history-rating 3.7.1 (w2=5000, initial_prior_wins=1,
    hessian_damping=0), which agree to 1e-12, after 2,000 iterations, a time step a year. Uncertainties, of one player
    with the others known: whole-history-rating 3.7.1, variances in natural units.
    """
    golden = {
        ("a", 1900): (178.3299392939561, 0.7224876455680859),
        ("a", 1901): (174.32376375032624, 0.7422297308047957),
        ("a", 1903): (193.35583669496185, 0.9293852522452409),
        ("a", 1904): (196.8408569540412, 1.060271254001996),
        ("b", 1900): (35.94449388224126, 0.5892398352327691),
        ("b", 1901): (46.17073647105103, 0.6378288220407184),
        ("b", 1903): (27.681068833439763, 0.7753555857132735),
        ("c", 1900): (-64.40274559309869, 0.8371901778850166),
        ("c", 1901): (-59.33121741541964, 0.8615454408006256),
        ("c", 1903): (-37.290432276726065, 0.960887893988469),
        ("d", 1903): (-144.02162308456278, 1.378764488345419),
        ("d", 1904): (-147.5066433436421, 1.4942127897314512),
    }
    found = skills(*fit_rows(DECIDED, "whr", deviations="own", **PLAIN))
    assert found.keys() == golden.keys()
    for node, (mean, variance) in golden.items():
        assert found[node][0] == pytest.approx(mean, abs=1e-6)
        assert found[node][1] == pytest.approx(SCALE * math.sqrt(variance), abs=1e-3)


def test_draws_as_halves_as_in_another_package():
    """whr 2.2.0, w2=5000, virtual_games=2, 2,000 iterations, a time step a year."""
    golden = {
        ("a", 1900): 158.87089508807045, ("a", 1901): 156.78703933822055, ("a", 1903): 177.75747854401604,
        ("a", 1904): 181.97842510192027, ("b", 1900): 38.52529993411165, ("b", 1901): 46.06481066236698,
        ("b", 1903): 23.48745118201457, ("c", 1900): -69.97735711034379, ("c", 1901): -65.65981114589269,
        ("c", 1903): -44.50648898562266, ("c", 1904): -47.618650779993516, ("d", 1903): -122.84986325056285,
        ("d", 1904): -123.95864801409625,
    }  # fmt: skip
    timeline, fit = fit_rows([*DECIDED, *DRAWN], "whr", draws="halves", **PLAIN)
    found = {node: mean for node, (mean, _) in skills(timeline, fit).items()}
    assert found == pytest.approx(golden, abs=1e-6)
    assert math.isnan(fit.log_evidence)
    assert math.isnan(fit.leave_one_out)


@examples(12)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["margin", "halves"]))
def test_it_is_the_maximum_with_the_inverse_of_dense_algebra(seed, draws):
    rows = random_rows(seed, 14, 4, 5, (0.5, 1.0, 3.0), (0.0, 0.0, -163.0))
    numbers = {"tau": 50, "virtual_draws": 1.5, "white_advantage": 25.0, "draws": draws}
    timeline, fit = fit_rows(rows, "whr", draw_margin=90, prior_mean=700, **numbers)
    in_points = [(*row[:5], fit.elo_unit * row[5]) for row in rows]
    expected, evidence = whr_plain.whr(in_points, prior_mean=700, margin=90, **numbers)
    assert fit.status.converged
    found = skills(timeline, fit)
    assert found.keys() == expected.keys()
    for node, value in expected.items():
        assert found[node] == pytest.approx(value, abs=1e-4)
    if draws == "margin":
        assert fit.log_evidence == pytest.approx(evidence, abs=1e-6)


@pytest.mark.parametrize(("weight", "tolerance"), [(1.0, 0.07), (50.0, 0.03)])
def test_the_evidence_is_near_the_integral_and_nearer_with_more_games(weight, tolerance):
    """Two players in one year: the integral over both ratings, by the trapezoidal rule."""
    rows = [(1900, *row, weight) for row in (("a", "b", 2), ("a", "b", 1), ("b", "a", 2))]
    history = whr_plain.History(rows, tau=50, virtual_draws=3.0, margin=100)
    axis = np.linspace(-6, 6, 161)
    density = [
        [math.exp(history.log_density(np.array([x, y])) + 3 * weight) for x in axis] for y in axis
    ]
    integral = math.log(np.sum(density) * (axis[1] - axis[0]) ** 2) - 3 * weight
    fit = fit_rows(rows, "whr", virtual_draws=3, draw_margin=100)[1]
    assert fit.log_evidence == pytest.approx(integral, abs=tolerance)


def test_leave_one_out_is_near_the_real_thing():
    """Each game predicted by a fit of all others, integrated over its lead with the whole covariance."""
    rows = [row[:4] for row in random_rows(9, 40, 4)]
    numbers = {"tau": 40, "virtual_draws": 2.0, "margin": 100}
    total = 0.0
    for g in range(len(rows)):
        ends = [
            (row[0], row[1], row[2], row[3], 1e-9 if i == g else 1.0) for i, row in enumerate(rows)
        ]
        history = whr_plain.History(ends, **numbers)
        r = history.maximum()
        covariance = np.linalg.inv(history.derivatives(r)[1])
        i, j, *_ = history.games[g]
        sd = math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        places, shares = np.polynomial.hermite_e.hermegauss(30)
        lead = r[i] - r[j] + sd * places
        p = whr_plain.outcome_probability(rows[g][3], lead, 100 / SCALE)
        total += math.log(p @ shares / shares.sum())
    fit = fit_rows(rows, "whr", tau=40, virtual_draws=2, draw_margin=100)[1]
    assert fit.leave_one_out == pytest.approx(total, abs=0.02)


def test_a_margin_that_the_games_exclude_is_told():
    drawn = [(1900, "a", "b", 1), (1900, "a", "b", 2)]
    with pytest.raises(ConfigError, match="draw_margin is 0, but there are drawn games"):
        fit_rows(drawn, "whr", draw_margin=0)
    fit_rows(drawn, "whr", draw_margin=0, draws="halves")


def test_a_fit_cut_short_says_how_far_it_is():
    rows = random_rows(13, 60, 8)
    timeline = build_timeline(make_games(rows))
    best = whr.fit(timeline, whr.Params(), EXACT)
    seen = []
    for sweeps in (1, 2, 3):
        solver = EXACT.model_copy(update={"max_sweeps": sweeps})
        fit = whr.fit(timeline, whr.Params(), solver, on_sweep=lambda *told: seen.append(told))
        error = np.abs(fit.mean - best.mean).max()
        assert fit.status.sweeps == len(fit.trace) == sweeps
        assert not fit.status.converged
        assert 0.9 * error <= fit.status.remaining_error < 3 * error
        assert seen[-1] == (sweeps, *fit.trace[-1])
    assert best.status.converged
    assert best.status.remaining_error < 1e-9
    assert [row[1] for row in best.trace] == sorted((row[1] for row in best.trace), reverse=True)


@pytest.mark.parametrize("score", [1.0, 1e5])
def test_the_most_lopsided_results_have_a_maximum(score):
    """Won by everybody against the next, nothing but a trace of virtual games the other way: 7 players, 5 years."""
    rows = [(1900 + y, f"p{i}", f"p{i + 1}", 2, score) for i in range(6) for y in range(5)]
    timeline, fit = fit_rows(rows, "whr", virtual_draws=1e-3, draw_margin=0)
    assert fit.status.converged
    means = [skills(timeline, fit)[f"p{i}", 1904][0] for i in range(7)]
    assert means == sorted(means, reverse=True)
    assert np.isfinite(fit.sd).all()
