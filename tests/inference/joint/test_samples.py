"""Sds by samples where newcomers' mean moves, against the inverse of a dense matrix."""

from functools import partial

import numpy as np
import pytest

from tests.inference.test_twins import DEBUTS, NEWCOMERS
from tests.reference.ttt_ep import Twin, newcomers_mean
from tests.support.builders import fit_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.gaussian import factor
from ttt_cli.inference.joint import choose, samples
from ttt_cli.systems import registry

GIVEN = NEWCOMERS | {"beta": 300.0, "tau": 70.0}
SAMPLES = 1000
SAMPLED = SolverConfig(tol=1e-7, posterior="joint")


@pytest.fixture(autouse=True)
def no_factor(monkeypatch):
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)


def dense(timeline, fit):
    """The covariance of all skills, and margins, from their prior and what the fit keeps of its sites."""
    n = timeline.n_nodes
    margins = "draw_margin" in fit.chains
    prior = Twin(timeline, registry.load(fit.model).Params(**fit.params))
    precision = np.linalg.inv(prior.covariance)
    if margins:
        precision[n:, n:] += np.diag(fit.links.positive)
    for i, j, q in zip(fit.links.first, fit.links.second, fit.links.precision.T, strict=True):
        u = np.zeros((1 + margins, len(precision)))
        u[0, [i, j]] = 1.0, -1.0
        if margins:
            u[0, n + i], u[1, [i, j, n + j]] = 1.0, (-1.0, 1.0, 1.0)
        precision += u.T @ (q[[[0, 1], [1, 2]]] if margins else q[:, None]) @ u
    return np.linalg.inv(precision)


def years_sd(timeline, fit, covariance):
    params = registry.load(fit.model).Params(**fit.params)
    return newcomers_mean(timeline, params, fit.mean, covariance)[1]


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_levels_of_newcomers_are_solved_for(model):
    timeline, fit = fit_rows(DEBUTS, model, SAMPLED, **GIVEN)
    assert fit.posterior == "joint sds"
    assert fit.newcomers.sd == pytest.approx(
        years_sd(timeline, fit, dense(timeline, fit)), rel=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ttt", pytest.param("ttt-d", marks=pytest.mark.large)])
def test_samples_know_newcomers_mean(model, monkeypatch):
    """With the slowest wave alone solved for, within four standard errors of many samples."""
    monkeypatch.setattr(samples, "MOST_SAMPLED", 1.0)
    monkeypatch.setattr(samples, "MOST_WAVES", 1)
    many = partial(samples.sampled_histories, samples=SAMPLES)
    monkeypatch.setattr(choose, "sampled_histories", many)
    timeline, fit = fit_rows(DEBUTS, model, SAMPLED, **GIVEN)
    covariance = dense(timeline, fit)
    later = np.flatnonzero(timeline.previous >= 0)
    found = np.concatenate([chain.sd for chain in fit.chains.values()])
    sd = np.sqrt(np.diag(covariance))
    assert np.abs(np.log(found / sd)).max() < 4 / np.sqrt(2 * SAMPLES)
    exact = years_sd(timeline, fit, covariance)
    assert np.abs(np.log(fit.newcomers.sd / exact)).max() < 4 / np.sqrt(2 * SAMPLES)
    before = timeline.previous[later]
    away = fit.chains["skill"].covariance[later] - covariance[before, later]
    assert np.abs(away / (sd[before] * sd[later])).max() < 4 / np.sqrt(SAMPLES)


def test_sds_do_not_depend_on_the_number_of_threads():
    one, three = (
        fit_rows(DEBUTS, "ttt", SAMPLED.model_copy(update={"threads": threads}), **GIVEN)[1]
        for threads in (1, 3)
    )
    assert one.posterior == "joint sds"
    assert np.array_equal(one.chains["skill"].sd, three.chains["skill"].sd)
    assert np.array_equal(one.chains["skill"].covariance, three.chains["skill"].covariance)
