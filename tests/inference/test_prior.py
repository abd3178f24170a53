"""Priors of skills: careers, and one of another kind, plugged in by parameters that say so."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import BaseModel

from tests.reference.ttt_ep import Twin, assert_is_twin
from tests.support.builders import CAREER, EXACT, assert_slopes, fit_rows, make_games, random_rows
from tests.support.laid_out import histories
from ttt_cli.api import configure
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import by_player, spans
from ttt_cli.histories import DECLINE_YEARS, Curve, later_on
from ttt_cli.inference.ep import parts
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, trueskill, ttt, ttt_d, whr
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-7, posterior="joint")
ROWS = [
    (1850, "a", "b", 2), (1850, "b", "a", 1), (1851, "b", "c", 2), (1853, "a", "c", 0), (1853, "c", "b", 1),
    (1860, "a", "b", 2), (1860, "a", "c", 1),
]  # fmt: skip


@pytest.mark.parametrize("model", ["ttt", "ttt-d", "trueskill"])
def test_what_is_switched_off_changes_nothing(model):
    off = {"growth_years": 1.0, "decline_after": 2.0, "early_years": 7.0}
    if model != "trueskill":
        off |= {"draw_margin_drift": 0.0, "draw_margin_strength": 0.0}
    for solver in (EXACT, JOINT):
        (_, plain), (_, same) = (fit_rows(ROWS, model, solver, **given) for given in ({}, off))
        assert np.array_equal(plain.mean, same.mean)
        assert np.array_equal(plain.sd, same.sd)
        assert plain.log_evidence == same.log_evidence
        assert same.draws is None


@pytest.mark.parametrize("solver", [EXACT, JOINT])
@pytest.mark.parametrize("model", ["ttt", "ttt-d", "trueskill"])
def test_between_games_and_after_them_a_skill_is_what_a_node_there_would_have(model, solver):
    """Nodes without games, which a game of no weight brings, change nothing and say what is believed there."""
    margin = {"draw_margin": 110.0}
    if model == "ttt-d":  # nothing keeps it positive
        margin = {"draw_margin_mean": 400.0, "draw_margin_sd": 20.0, "draw_margin_tau": 1.0}
    module, rows = registry.load(model), [*ROWS, (1867, "x", "y", 2)]
    params = module.Params(beta=300.0, tau=70.0, **margin, **CAREER)
    timeline = build_timeline(make_games(rows))
    found = histories(timeline, module.fit(timeline, params, solver), onward=True)
    empty = [(year, "a", "c", 1, 1e-13) for year in (1851, 1852, 1856, 1859, 1863, 1867)]
    dense = build_timeline(make_games([*rows, *empty]))
    expected = module.fit(dense, params, solver)
    for i in range(dense.n_nodes):
        (row,) = np.flatnonzero(
            (found.player == dense.node_player[i]) & (found.period == dense.node_period[i])
        )
        assert found.columns["mean"][row] == pytest.approx(expected.mean[i], abs=1e-5)
        assert found.columns["sd"][row] == pytest.approx(expected.sd[i], abs=1e-5)


@pytest.mark.parametrize(("period", "steps"), [("year", 1), ("month", 12)])
def test_a_decline_ends(period, steps):
    rows = [(1000, "a", "b", 2), (1500, "a", "c", 1), (2000, "d", "a", 1)]
    timeline, fit = fit_rows(
        rows, "ttt", period=period, decline=11.0, decline_after=15.0, prior_mean=1200.0
    )
    assert fit.mean.min() > 1200.0 - DECLINE_YEARS * 11.0 - 400.0
    found = spans(timeline, fit, by_player(timeline))
    last = np.isnan(found["until"])
    ends = {name: column[last] for name, column in found.items()}
    far, farther = (
        later_on(ends, "skill", np.full(last.sum(), years * steps), steps)[0]
        for years in (200, 900)
    )
    assert far == pytest.approx(farther)
    assert far.min() >= ends["mean"].min() - DECLINE_YEARS * 11.0 - 1e-6


def test_newcomers_drift_without_growth_is_refused_with_a_hint():
    with pytest.raises(ConfigError, match="prior_mean_drift: without growth") as caught:
        configure(prior_mean_drift=15.0)
    assert "points" in (caught.value.hint or "")
    configure(prior_mean_drift=15.0, growth=300.0)


class Growth(RandomWalk):
    """A random walk whose mean grows by `growth` points a year, of newcomers `rise` better for every year of time."""

    def __init__(self, timeline, params):
        super().__init__(timeline, params.prior_mean, params.prior_sd, params.tau)
        self._growth, self._rise = params.growth, params.rise
        self.curve = Curve(decline=-params.growth, decline_after=0.0)
        self._since = timeline.node_period - timeline.node_period.min()

    def steps(self):
        _, variance = super().steps()
        return np.where(
            self._previous < 0, self._rise * self._since, self._growth * self._years
        ), variance

    def gradient(self, by_mean, by_variance):
        first = self._previous < 0
        grown = {
            "growth": float(self._years @ by_mean),
            "rise": float(self._since[first] @ by_mean[first]),
        }
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
    first = np.array(
        [np.flatnonzero(timeline.node_player == timeline.node_player[i])[0] for i in range(n)]
    )
    mean = (
        params.prior_mean
        + params.rise * (year[first] - year.min())
        + params.growth * (year - year[first])
    )
    together = np.minimum(year[:, None], year[None]) - year[first]
    covariance = params.prior_sd**2 + params.tau**2 * together
    return mean, np.where(first[:, None] == first[None], covariance, 0.0)


def test_fits_are_those_of_a_twin_with_this_prior(monkeypatch):
    monkeypatch.setattr(parts, "GAMES_EACH", 5)
    params = Params(**GIVEN, draw_margin=100.0)
    timeline = build_timeline(make_games(random_rows(4, 20, 4, 12)))
    fit = ttt.fit(timeline, params, SolverConfig(tol=1e-9, threads=3, posterior="factorised"))
    twin = Twin(timeline, params)
    twin.prior_mean, twin.covariance = dense_prior(timeline, params)
    assert_is_twin(fit, twin.run())
    assert np.ptp(twin.prior_mean) > 300


@pytest.mark.parametrize("module", [ttt, ttt_d])
def test_the_gradient_is_that_of_differences(timeline, module):
    params = {ttt: Params, ttt_d: MarginParams}[module](**GIVEN)
    assert_slopes(module, timeline, params, ("growth", "rise", "tau", "prior_sd", "beta"), abs=1e-6)


def test_a_filter_takes_every_step_of_the_prior(timeline):
    """What is believed before games is what was left after the last ones, a step on, and predictions are by it."""
    params = FilterParams(**GIVEN, draw_margin=100.0)
    fit = trueskill.fit(timeline, params, EXACT)
    chain, previous = fit.chains["skill"], timeline.previous
    first = previous < 0
    since, years = timeline.node_period - timeline.node_period.min(), timeline.gap_years
    newcomer = params.prior_mean + params.rise * since
    assert chain.before_mean == pytest.approx(
        np.where(first, newcomer, chain.mean[previous] + 40.0 * years)
    )
    known = np.where(first, 400.0**2, chain.sd[previous] ** 2 + 70.0**2 * years)
    assert chain.before_sd == pytest.approx(np.sqrt(known))
    alone = build_timeline(
        make_games([(1900, "a", "b", 2), (1910, "a", "c", 2), (1912, "a", "b", 0)])
    )
    fit = trueskill.fit(alone, params, EXACT)
    chain, ends = fit.chains["skill"], (alone.game_white, alone.game_black)
    sides = ({"mean": chain.before_mean[end], "sd": chain.before_sd[end]} for end in ends)
    assert fit.log_evidence == pytest.approx(
        np.log(trueskill.predict(fit.params, *sides)[range(3), alone.outcome]).sum()
    )


def test_whole_histories_grow_with_the_prior(timeline):
    """Of one player against nobody new the games say little: the most probable history rises by the growth."""
    steady, grown = (
        whr.fit(timeline, HistoryParams(tau=1.0, growth=growth), EXACT).mean
        for growth in (0.0, 40.0)
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
