"""The mean of newcomers by year, against dense twins, the design's figures, and differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.ttt_ep import skill_prior
from tests.support.builders import CAREER, EXACT, assert_slopes, fit_rows, make_games, skills
from ttt_cli import read_games
from ttt_cli.api import configure
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import Forecaster, find_step
from ttt_cli.inference.newcomers import NewcomersOfSlice
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt
from ttt_cli.timeline import build_timeline, calendar

JOINT = SolverConfig(tol=1e-8, posterior="joint")
MOVES = CAREER | {"prior_mean_drift": 40.0}
FIGURES = {"growth": 200.0, "decline": 10.0, "early": 3.0}  # of the design
PLAY = {"beta": 300.0, "tau": 70.0}
ROWS = [
    (1850, "a", "b", 2), (1850, "b", "a", 1), (1851, "c", "b", 2), (1853, "a", "c", 0), (1853, "d", "b", 2),
    (1856, "e", "a", 2), (1856, "d", "e", 1), (1860, "a", "b", 2), (1860, "f", "c", 2), (1861, "g", "h", 0),
]  # fmt: skip
RETURNING = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1853, "d", "b", 2), (1853, "a", "c", 0), (1854, "e", "a", 2),
    (1858, "d", "e", 1), (1858, "f", "b", 2), (1860, "f", "g", 0), (1860, "a", "b", 1),
]  # fmt: skip


@pytest.mark.parametrize("solver", [EXACT, JOINT])
def test_what_is_believed_of_the_years_is_what_the_skills_say(solver):
    """m given all skills is Gaussian: its mean is linear in those of newcomers, which the fit has."""
    timeline, fit = fit_rows(ROWS, solver=solver, **PLAY, **MOVES)
    found, first = fit.newcomers, np.flatnonzero(timeline.previous < 0)
    year = timeline.node_period[first]
    assert found.year.tolist() == sorted(set(year.tolist()))
    prior = 1.0 + 40.0**2 * (np.minimum.outer(found.year, found.year) - found.year[0])
    of = np.equal.outer(found.year, year).astype(float)
    expected = np.linalg.solve(
        np.linalg.inv(prior) + of @ of.T / 400**2, of @ (fit.mean[first] - 1200) / 400**2
    )
    assert found.mean == pytest.approx(expected, abs=1e-5)
    assert (found.sd < np.sqrt(np.diag(prior)) + 1e-9).all()


def test_a_drift_of_nearly_nothing_is_one_common_level():
    """N(0, 1) for all: of a level no game tells, so that only that much is added."""
    given = PLAY | CAREER | {"draw_margin": 110.0}
    for solver in (EXACT, JOINT):
        (_, plain), (_, moved) = (fit_rows(ROWS, solver=solver, **given, **more) for more in (
            {}, {"prior_mean_drift": 1e-6}))  # fmt: skip
        assert moved.log_evidence == pytest.approx(plain.log_evidence, abs=1e-4)
        assert moved.mean == pytest.approx(plain.mean, abs=0.01)


@pytest.mark.parametrize("solver", [EXACT, JOINT])
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_the_gradient_is_that_of_differences(model, solver):
    module = registry.load(model)
    params = module.Params(**{**PLAY, **MOVES, "prior_sd": 350.0})
    keys = ("prior_mean_drift", "prior_sd", "tau", "growth", "early")
    assert_slopes(module, build_timeline(make_games(ROWS)), params, keys, solver, rel=2e-4)


def test_without_growth_it_is_refused_with_a_hint():
    with pytest.raises(ConfigError, match="prior_mean_drift: without growth") as caught:
        configure(prior_mean_drift=15.0)
    assert "points" in (caught.value.hint or "")
    configure(prior_mean_drift=15.0, growth=300.0)


@pytest.mark.slow
def test_the_figures_of_the_design(data):
    """Made independently of this code."""
    timeline = build_timeline(read_games(data / "historical_pre1942.csv.gz", filter={"exclude": []}))
    params = ttt.Params(**FIGURES, prior_mean_drift=15.0)
    fit = ttt.fit(timeline, params, SolverConfig(posterior="factorised"))
    assert fit.log_evidence == pytest.approx(-19312.0084, abs=0.002)
    found = skills(timeline, fit)
    assert found["Morphy, Paul", 1858][0] == pytest.approx(2149.2092, abs=0.01)
    assert found["Lasker, Emanuel", 1896][0] == pytest.approx(1927.6342, abs=0.01)
    place = fit.newcomers.year.tolist().index(1900)
    assert fit.newcomers.mean[place] == pytest.approx(51.9435, abs=0.01)
    assert fit.newcomers.sd[place] == pytest.approx(33.3137, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, 1.014993), (FIGURES, 1.014964), (FIGURES | {"prior_mean_drift": 15.0}, 1.013041)],
)
def test_predictions_are_those_of_the_design(data, given, expected):
    """The log-loss of 1930, foreseen from all games before; made independently of this code."""
    timeline = build_timeline(read_games(data / "historical_pre1942.csv.gz", filter={"exclude": []}))
    step = find_step(timeline, "1930")
    games = slice(int(timeline.game_start[step]), int(timeline.game_start[step + 1]))
    params = ttt.Params(draw_margin=250.0, **given)
    forecaster = Forecaster(timeline, ttt, params, SolverConfig(posterior="factorised"))
    predicted = forecaster.predict(step, step + 1)[range(games.stop - games.start), timeline.outcome[games]]
    assert len(predicted) == 429
    assert -np.log(predicted).mean() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("tau", [70.0, 0.0])
@pytest.mark.parametrize("margins", [False, True])
def test_levels_complete_products_with_the_prior_and_are_solved_for(tau, margins):
    """Without games, A is the prior's precision; draw margins, behind the skills, have no levels."""
    rng = np.random.default_rng(3)
    timeline = build_timeline(make_games(RETURNING))
    prior = ttt.Params(tau=tau, prior_mean_drift=25.0, **CAREER).skill_prior(timeline)
    n, first = timeline.n_nodes, prior.newcomers.first
    mean, variance = prior.steps()
    own_chains = Chains(timeline.node_start, timeline.previous, timeline.next, mean, variance)
    place = np.repeat(calendar(timeline)[1], np.diff(timeline.node_start))
    messages = Messages(*np.empty((3, n, 2)))
    of_years = NewcomersOfSlice(slice(0, n), place, prior.newcomers.calendar, 400, own_chains, messages)
    prior.newcomers.collect([of_years.levels()])

    def precondition(residual, z, az):
        by, more, apart = prior.newcomers.correction(*of_years.sums(residual, z, az))
        of_years.correct(by, z, az)
        return more, apart

    variance[first] *= rng.uniform(0.5, 1.5, len(first))  # as messages of others have them
    size = (1 + margins) * n
    residual, z, az = rng.normal(size=(3, size))
    if not tau:
        before, added = z.copy(), az.copy()
        assert precondition(residual, z, az)[0] == 0.0
        assert np.array_equal(z, before)
        assert np.flatnonzero(az != added).tolist() == first.tolist()
        return
    own, shared = (ttt.Params(tau=tau, **CAREER, prior_mean_drift=drift) for drift in (0.0, 25.0))
    m, precision = (np.linalg.inv(skill_prior(timeline, params)[1]) for params in (own, shared))
    steps = 1.0 / variance[first]
    m[first, first] += steps - 400**-2
    residual[:n] = m @ z[:n]
    z[n:], az[:] = 0.0, residual
    alone = z.copy()
    more, apart = precondition(residual, z, az)
    assert az[:n] == pytest.approx(precision @ z[:n], rel=1e-7, abs=1e-12)
    assert np.array_equal(az[n:], residual[n:])
    assert more == pytest.approx(residual @ (z - alone), rel=1e-9)
    assert residual @ alone + more + apart == pytest.approx(z[:n] @ precision @ z[:n], rel=1e-7)
    of_year = np.equal.outer(np.unique(timeline.node_period), timeline.node_period).astype(float)
    level = np.linalg.solve(of_year @ precision @ of_year.T, of_year @ residual[:n])
    assert z[:n] - alone[:n] == pytest.approx(of_year.T @ level, rel=1e-7)
