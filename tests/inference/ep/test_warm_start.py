"""Fits that begin from beliefs: they end where all others do, and sooner when the beliefs are good."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.apart import history
from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Line
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.start import start_of
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.systems import registry
from ttt_cli.timeline import Timeline, build_timeline

FINE = SolverConfig(tol=1e-8)
Model = registry.Model
models = pytest.mark.parametrize("name", ["ttt", "ttt-d"])


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return history(5, players=15, years=20, games=400)


def beliefs_of(fit: Fit) -> Fit:
    """What a fit believes, without its sites."""
    chains = {name: Line(chain.mean.copy(), chain.sd.copy()) for name, chain in fit.chains.items()}
    return replace(fit, chains=chains, state={})  # type: ignore[arg-type]


def same(one: Fit, other: Fit) -> None:
    assert one.status.converged
    assert other.status.converged
    for name, chain in one.chains.items():
        assert chain.mean == pytest.approx(other.chains[name].mean, abs=1e-6)
        assert chain.sd == pytest.approx(other.chains[name].sd, abs=1e-6)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-7)


def test_unknown_beliefs_are_the_prior(timeline: Timeline) -> None:
    fit = registry.load("ttt").fit(timeline, registry.load("ttt").Params(), FINE)
    mean, sd = np.full((2, timeline.n_nodes), np.nan)
    mean[:3], sd[:3] = [1300, 1400, 1500], [100, np.nan, 0]
    start = replace(fit, chains={"skill": Line(mean, sd)})
    skill = RandomWalk(timeline, 1200.0, 200.0, 60.0, ("prior_sd", "tau"))
    margin = RandomWalk(timeline, 250.0, 50.0, 5.0, ("draw_margin_sd", "draw_margin_tau"))
    priors = {"skill": skill, "draw_margin": margin}
    assert start_of(None, priors, timeline) is start_of(start, priors, timeline.until(3)) is None
    messages, prior = start_of(start, priors, timeline)
    assert messages[:4].tolist() == pytest.approx(
        np.array([(1e-4, 1e-2), (25e-6, 5e-3), (25e-6, 7.5e-3), (25e-6, 0.0)])
    )
    assert prior.tolist() == [[50.0**-2, 0.0]] * timeline.n_nodes


@models
@pytest.mark.parametrize(("white_advantage", "threads"), [(0.0, 3), (30.0, 1)])
def test_good_beliefs_begin_near_the_end_and_change_nothing(
    timeline: Timeline, name: str, white_advantage: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In parts for threads, too."""
    monkeypatch.setattr(slices, "GAMES_EACH", 50)
    model = registry.load(name)
    params = model.Params(beta=300, tau=70, white_advantage=white_advantage)
    solver = SolverConfig(tol=1e-3, threads=threads)
    fresh = model.fit(timeline, params, solver)
    warm = model.fit(timeline, params, solver, start=beliefs_of(fresh))
    assert warm.status.sweeps <= fresh.status.sweeps
    assert warm.trace[0][0] < 0.3 * fresh.trace[0][0]
    exact = model.fit(timeline, params, FINE)
    same(model.fit(timeline, params, FINE, start=beliefs_of(exact)), exact)
    for chain, true in exact.chains.items():
        assert np.abs(warm.chains[chain].mean - true.mean).max() <= warm.status.remaining_error <= 1e-3


@models
def test_wrong_beliefs_change_nothing(timeline: Timeline, name: str) -> None:
    model = registry.load(name)
    params = model.Params(beta=300, tau=70)
    fresh = model.fit(timeline, params, FINE)
    rng = np.random.default_rng(1)
    for spread, sd in ((50.0, 400.0), (2000.0, 1.0), (3.0, np.nan)):
        skill = Line(rng.normal(1000.0, spread, timeline.n_nodes), np.full(timeline.n_nodes, sd))
        same(
            model.fit(timeline, params, FINE, start=replace(fresh, chains={"skill": skill}, state={})), fresh
        )


@models
def test_a_fit_that_knows_of_no_colours_can_start_one_that_does(timeline: Timeline, name: str) -> None:
    model = registry.load(name)
    blind = model.fit(timeline, model.Params(), FINE)
    params = model.Params(white_advantage=40.0)
    fresh = model.fit(timeline, params, FINE)
    warm = model.fit(timeline, params, FINE, start=blind)
    same(warm, fresh)
    assert warm.trace[0][0] < fresh.trace[0][0]


def test_a_first_site_is_that_of_the_game_between_players_as_believed() -> None:
    """One game, one sweep's worth of work: from the prior as belief, the site is the final one already."""
    timeline = build_timeline(make_games([(1900, "a", "b", 2)]))
    model = registry.load("ttt")
    params = model.Params(draw_margin=0.0)
    fresh = model.fit(timeline, params, FINE)
    prior = Line(np.full(2, 1200.0), np.full(2, 400.0))
    warm = model.fit(timeline, params, FINE, start=replace(fresh, chains={"skill": prior}, state={}))
    assert warm.trace[0][0] == 0.0
    same(warm, fresh)
