"""A prior of another kind, plugged in by parameters that say so, against a dense Gaussian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pydantic import BaseModel

from tests.support.builders import EXACT, assert_slopes, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import spans
from ttt_cli.histories import Curve, later_on
from ttt_cli.inference.ep import slices, through_time
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.systems import trueskill, ttt, ttt_d, whr
from ttt_cli.timeline import build_timeline

WALK = ("prior_sd", "tau")


class Growth(RandomWalk):
    """A random walk whose mean grows by `growth` points a year, of newcomers `rise` better for every year of time."""

    def __init__(self, timeline, params):
        super().__init__(timeline, params.prior_mean, params.prior_sd, params.tau, WALK)
        self._growth, self._rise = params.growth, params.rise
        self.curve = Curve(decline=-params.growth, decline_after=0.0)
        self._since = timeline.node_period - timeline.node_period.min()

    def steps(self):
        _, variance = super().steps()
        return np.where(self._previous < 0, self._rise * self._since, self._growth * self._years), variance

    def gradient(self, by_mean, by_variance):
        first = self._previous < 0
        grown = {"growth": float(self._years @ by_mean), "rise": float(self._since[first] @ by_mean[first])}
        return super().gradient(by_mean, by_variance) | grown


class Grown(BaseModel):
    """Parameters of the prior, for the parameters of any model."""

    growth: float = 0.0
    rise: float = 0.0

    def skill_prior(self, timeline):
        return Growth(timeline, self)


class Params(Grown, ttt.Params):
    pass


class MarginParams(Grown, ttt_d.Params):
    pass


class FilterParams(Grown, trueskill.Params):
    pass


class HistoryParams(Grown, whr.Params):
    prior_sd: float = 1.0  # of no meaning


GIVEN = {"beta": 300, "tau": 70, "growth": 40.0, "rise": 15.0, "white_advantage": 20.0}


@pytest.fixture(scope="module")
def timeline():
    return build_timeline(make_games(random_rows(4, 60, 7, 12)))


def dense_prior(timeline, params):
    """Mean (nodes,) and covariance (nodes, nodes) of all skills, from the definition."""
    n, year = timeline.n_nodes, timeline.node_period
    first = np.array([np.flatnonzero(timeline.node_player == timeline.node_player[i])[0] for i in range(n)])
    mean = params.prior_mean + params.rise * (year[first] - year.min()) + params.growth * (year - year[first])
    together = np.minimum(year[:, None], year[None]) - year[first]
    covariance = params.prior_sd**2 + params.tau**2 * together
    return mean, np.where(first[:, None] == first[None], covariance, 0.0)


def of_games(inference):
    """Precision matrix and linear term of what the games say, from the links of the fixed point."""
    games, (_, link, _) = inference.merged.games, inference.sites
    n = len(inference.chains.previous)
    matrix, linear = np.zeros((n, n)), np.zeros(n)
    for i, j, w, (q, b) in zip(games.first, games.second, games.weight, link, strict=True):
        u = np.zeros(n)
        u[[i, j]] = 1.0, -1.0
        matrix += w * q * np.outer(u, u)
        linear += w * b * u
    return matrix, linear


@pytest.mark.parametrize("threads", [1, 3])
def test_joint_means_are_those_of_a_dense_gaussian(timeline, threads, monkeypatch):
    """Means of the fit are those of the prior times all links, solved as one Gaussian."""
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    made = []
    monkeypatch.setattr(through_time, "Inference", lambda *given: made.append(Inference(*given)) or made[-1])
    params = Params(**GIVEN)
    solver = SolverConfig(tol=1e-9, threads=threads, posterior="factorised")
    fit = ttt.fit(timeline, params, solver)
    assert fit.status.converged
    mean, covariance = dense_prior(timeline, params)
    matrix, linear = of_games(made[-1])
    posterior = np.linalg.inv(np.linalg.inv(covariance) + matrix)
    expected = mean + posterior @ (linear - matrix @ mean)
    assert fit.mean == pytest.approx(expected, abs=1e-6)
    assert np.ptp(mean) > 300


@pytest.mark.parametrize("module", [ttt, ttt_d])
def test_no_growth_is_the_random_walk(timeline, module):
    params = {ttt: Params, ttt_d: MarginParams}[module]
    found = module.fit(timeline, params(beta=300, tau=70), EXACT)
    expected = module.fit(timeline, module.Params(beta=300, tau=70), EXACT)
    assert np.array_equal(found.mean, expected.mean)
    assert found.log_evidence == expected.log_evidence


@pytest.mark.parametrize("module", [ttt, ttt_d])
def test_acceleration_and_threads_come_to_the_same(timeline, module, monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    params = {ttt: Params, ttt_d: MarginParams}[module](**GIVEN)
    one, two, plain = (
        module.fit(timeline, params, SolverConfig(tol=1e-9, threads=threads, accelerate=accelerate))
        for threads, accelerate in ((1, True), (3, True), (2, False))
    )
    for other in (two, plain):
        assert other.mean == pytest.approx(one.mean, abs=1e-6)
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)


@pytest.mark.parametrize("module", [ttt, ttt_d])
def test_the_gradient_is_that_of_differences(timeline, module):
    params = {ttt: Params, ttt_d: MarginParams}[module](**GIVEN)
    assert_slopes(module, timeline, params, ("growth", "rise", "tau", "prior_sd", "beta"), abs=1e-6)


def test_a_match_of_certain_players_follows_the_growth():
    """Without games that tell anything of it, what is believed later is what the prior says."""
    timeline = build_timeline(make_games([(1900, "a", "b", 2), (1910, "a", "c", 2)]))
    empty = replace(timeline, weight=np.full(2, 1e-12))
    fit = ttt.fit(empty, Params(**GIVEN, draw_margin=100.0), EXACT)
    mean, covariance = dense_prior(timeline, Params(**GIVEN))
    assert fit.mean == pytest.approx(mean, abs=1e-6)
    assert fit.sd == pytest.approx(np.sqrt(np.diag(covariance)), abs=1e-6)


def test_a_filter_takes_every_step_of_the_prior(timeline):
    """What is believed before games is what was left after the last ones, a step on, and predictions are by it."""
    params = FilterParams(**GIVEN, draw_margin=100.0)
    fit = trueskill.fit(timeline, params, EXACT)
    chain, previous = fit.chains["skill"], timeline.previous
    first = previous < 0
    since, years = timeline.node_period - timeline.node_period.min(), timeline.gap_years
    newcomer = params.prior_mean + params.rise * since
    assert chain.before_mean == pytest.approx(np.where(first, newcomer, chain.mean[previous] + 40.0 * years))
    known = np.where(first, 400.0**2, chain.sd[previous] ** 2 + 70.0**2 * years)
    assert chain.before_sd == pytest.approx(np.sqrt(known))
    alone = build_timeline(make_games([(1900, "a", "b", 2), (1910, "a", "c", 2), (1912, "a", "b", 0)]))
    fit = trueskill.fit(alone, params, EXACT)
    chain, ends = fit.chains["skill"], (alone.game_white, alone.game_black)
    sides = ({"mean": chain.before_mean[end], "sd": chain.before_sd[end]} for end in ends)
    assert fit.log_evidence == pytest.approx(
        np.log(trueskill.predict(fit.params, *sides)[range(3), alone.outcome]).sum()
    )


def test_whole_histories_grow_with_the_prior(timeline):
    """Of one player against nobody new the games say little: the most probable history rises by the growth."""
    steady, grown = (
        whr.fit(timeline, HistoryParams(tau=1.0, growth=growth), EXACT).mean for growth in (0.0, 40.0)
    )
    follows = timeline.previous >= 0
    rises = grown[follows] - grown[timeline.previous[follows]]
    assert rises == pytest.approx(40.0 * timeline.gap_years[follows], abs=2.0)
    assert np.ptp(steady[follows] - steady[timeline.previous[follows]]) < 2.0


@pytest.mark.parametrize(("module", "params"), [(ttt, Params), (trueskill, FilterParams)])
def test_a_history_goes_on_growing(timeline, module, params):
    fit = module.fit(timeline, params(**GIVEN), EXACT)
    last = np.flatnonzero(timeline.next < 0)
    found = spans(timeline, fit, last)
    mean, sd = later_on(found, "skill", np.full(len(last), 3), 1.0)
    assert mean == pytest.approx(fit.mean[last] + 3 * GIVEN["growth"], rel=1e-12)
    assert sd == pytest.approx(np.sqrt(fit.sd[last] ** 2 + 3 * GIVEN["tau"] ** 2), rel=1e-12)
