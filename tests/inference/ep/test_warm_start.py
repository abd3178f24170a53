"""Fits that begin from beliefs: they end where all others do, and sooner when the beliefs are good."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.apart import history
from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, Line
from ttt_cli.inference.ep import parts
from ttt_cli.inference.ep.start import beliefs_of_start
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
    assert (
        beliefs_of_start(None, priors, timeline)
        is beliefs_of_start(start, priors, timeline.until(3))
        is None
    )
    messages, prior = beliefs_of_start(start, priors, timeline)
    assert messages[:4].tolist() == pytest.approx(
        np.array([(1e-4, 1e-2), (25e-6, 5e-3), (25e-6, 7.5e-3), (25e-6, 0.0)])
    )
    assert prior.tolist() == [[50.0**-2, 0.0]] * timeline.n_nodes


@models
@pytest.mark.parametrize(("white_advantage", "threads"), [(0.0, 3), (30.0, 1)])
def test_good_beliefs_begin_near_the_end_and_change_nothing(
    timeline: Timeline,
    name: str,
    white_advantage: float,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In parts for threads, too."""
    monkeypatch.setattr(parts, "GAMES_EACH", 50)
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
        assert (
            np.abs(warm.chains[chain].mean - true.mean).max() <= warm.status.remaining_error <= 1e-3
        )


@pytest.mark.parametrize("name", ["ttt", pytest.param("ttt-d", marks=pytest.mark.slow)])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_wherever_a_fit_starts_it_ends_at_the_same(
    name: str, posterior: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At other parameters, earlier games, right and wrong beliefs, in parts for threads; all that can move does."""
    monkeypatch.setattr(parts, "GAMES_EACH", 5)
    timeline, model = history(5, years=10), registry.load(name)
    nothing = model.Params(growth=700.0)
    moving = {"growth": 150.0, "early": 2.0, "prior_mean_drift": 20.0, "draw_margin_drift": 0.2}
    params = model.Params(
        beta=300, tau=70, white_advantage=40.0, draw_margin_strength=0.2, **moving
    )
    solver = SolverConfig(posterior=posterior, tol=1e-6, threads=1)
    cold = model.fit(timeline, params, solver)
    near = model.fit(timeline, params.model_copy(update={"beta": 310.0}), solver)
    starts = [
        near,
        model.fit(timeline, nothing, solver),
        model.fit(timeline.until(8), params, solver),
    ]
    for spread, sd in ((50.0, 400.0), (2000.0, 1.0), (3.0, np.nan)):
        skill = np.random.default_rng(1).normal(1000.0, spread, timeline.n_nodes)
        starts.append(
            replace(cold, chains={"skill": Line(skill, np.full(timeline.n_nodes, sd))}, state={})
        )
    for start in (None, beliefs_of(cold), *starts):
        found = model.fit(timeline, params, solver.model_copy(update={"threads": 3}), start=start)
        assert found.status.converged
        assert found.status.sweeps <= cold.status.sweeps or start is not near
        assert found.mean == pytest.approx(cold.mean, abs=1e-4)
        assert found.sd == pytest.approx(cold.sd, abs=1e-4)
        assert found.draws.margin == pytest.approx(cold.draws.margin, abs=1e-4)
        assert found.newcomers.mean == pytest.approx(cold.newcomers.mean, abs=1e-4)
        assert found.log_evidence == pytest.approx(cold.log_evidence, abs=1e-6)


def test_a_first_site_is_that_of_the_game_between_players_as_believed() -> None:
    """One game, one sweep's worth of work: from the prior as belief, the site is the final one already."""
    timeline = build_timeline(make_games([(1900, "a", "b", 2)]))
    model = registry.load("ttt")
    params = model.Params(draw_margin=0.0)
    fresh = model.fit(timeline, params, FINE)
    prior = Line(np.full(2, 1200.0), np.full(2, 400.0))
    warm = model.fit(
        timeline, params, FINE, start=replace(fresh, chains={"skill": prior}, state={})
    )
    assert warm.trace[0][0] == 0.0
    same(warm, fresh)
