"""Newton's method for Edo and WHR from starts far away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.gaussian import factor
from ttt_cli.inference import bradley_terry as newton
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline


@pytest.mark.parametrize("far", [8.0, 30.0])
@pytest.mark.parametrize("model", ["edo", "whr"])
def test_any_start_leads_to_the_same(model, far):
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(60):
        i, j = rng.choice(6, 2, replace=False)
        rows.append((int(rng.integers(1900, 1910)), f"p{i}", f"p{j}", int(rng.integers(0, 3))))
    timeline = build_timeline(make_games(rows))
    module = registry.load(model)
    solver = SolverConfig(tol=1e-6)
    cold = module.fit(timeline, module.Params(), solver)
    wild = replace(
        cold, state={name: far * rng.normal(size=value.shape) for name, value in cold.state.items()}
    )
    found = module.fit(timeline, module.Params(), solver, start=wild)
    assert found.status.converged
    assert found.mean == pytest.approx(cold.mean, abs=1e-4)
    assert found.status.sweeps < 100


@pytest.mark.parametrize("model", ["edo", "whr"])
def test_deviations_that_need_too_much_are_refused_before_the_first_step(model, monkeypatch):
    monkeypatch.setattr(factor, "MOST_FLOPS", 0.0)
    timeline = build_timeline(make_games([(1900, "a", "b", 2), (1900, "b", "a", 2)]))
    module = registry.load(model)
    assert module.fit(timeline, module.Params(deviations="own"), SolverConfig()).status.converged
    monkeypatch.setattr(newton.LogDensity, "at", None)
    with pytest.raises(ConfigError, match="exact deviations of 2 skills need a factor of 3 numbers"):
        module.fit(timeline, module.Params(), SolverConfig())
