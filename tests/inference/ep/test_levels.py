"""The levels of years in joint means, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.test_careers import CAREER, curve
from tests.reference.joint_ep import chains as dense_chains
from tests.reference.joint_ep import with_newcomers
from tests.support.builders import make_games
from ttt_cli.inference.ep.levels import Levels, YearLevels
from ttt_cli.inference.prior import Debuts
from ttt_cli.kernels.ep.structures import Chains, Messages
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline, calendar


def levels_of(timeline, newcomers, chains, debuts):
    """The levels of a timeline that is one slice, and their sums."""
    place = np.repeat(calendar(timeline)[1], np.diff(timeline.node_start))
    of_years = YearLevels(slice(0, timeline.n_nodes), place, newcomers.calendar, chains, debuts)
    return Levels(newcomers, [of_years.known()]), of_years


def debuts_of(newcomers, chains):
    """Newcomers of a whole timeline."""
    messages = Messages(*np.empty((3, len(chains.previous), 2)))
    year = newcomers.place[newcomers.year]
    return Debuts(newcomers.first, year, newcomers.calendar, newcomers.sd, chains, messages)


ROWS = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1853, "d", "b", 2), (1853, "a", "c", 0), (1854, "e", "a", 2),
    (1858, "d", "e", 1), (1858, "f", "b", 2), (1860, "f", "g", 0), (1860, "a", "b", 1),
]  # fmt: skip


@pytest.mark.parametrize("tau", [70.0, 0.0])
@pytest.mark.parametrize("margins", [False, True])
def test_they_complete_products_with_the_prior_and_are_solved_for(tau, margins):
    """Without games, A is the prior's precision; draw margins, behind the skills, have no levels."""
    rng = np.random.default_rng(3)
    timeline = build_timeline(make_games(ROWS))
    prior = ttt.Params(tau=tau, prior_mean_drift=25.0, **CAREER).skill_prior(timeline)
    n, first = timeline.n_nodes, prior.newcomers.first
    mean, variance = prior.steps()
    chains = Chains(timeline.node_start, timeline.previous, timeline.next, mean, variance)
    debuts = debuts_of(prior.newcomers, chains)
    levels, of_years = levels_of(timeline, prior.newcomers, chains, debuts)

    def precondition(residual, z, az):
        by, more, apart = levels.correction(*of_years.sums(residual, z, az))
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
    own, steps = dense_chains(timeline, 1200, 400, tau, curve(**CAREER)), 1.0 / variance[first]
    precision, _ = with_newcomers(timeline, *own, 25.0)
    m = own[0].copy()
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
