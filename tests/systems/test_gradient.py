"""Slopes of the log-evidence against differences of it, for every model and parameter."""

import numpy as np
import pytest

from tests.support.builders import EXACT, assert_slopes, historical, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

CASES = [
    ("ttt", {"beta": 300, "tau": 70}),
    ("ttt", {"beta": 300, "tau": 70, "draw_margin": 110, "white_advantage": 25}),
    ("ttt", {"beta": 300, "tau": 70, "draw_probability": 0.4}),
    ("ttt-d", {"beta": 300, "tau": 70}),
    ("ttt-d", {"beta": 300, "tau": 70, "white_advantage": -20, "draw_margin_mean": 150, "draw_margin_sd": 60,
               "draw_margin_tau": 15}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), CASES)
def test_slopes_are_those_of_differences(name, given):
    timeline = build_timeline(make_games(random_rows(11, 150, 9, 12, (1.0, 2.0, 3.0))))
    model = registry.load(name)
    params = model.Params(**given)
    slopes = model.gradient(timeline, params, model.fit(timeline, params, EXACT))
    numeric = [key for key in slopes if isinstance(getattr(params, key), float)]
    assert {"prior_mean", "prior_sd", "beta", "tau", "white_advantage"} <= {*numeric}
    for key in numeric:
        near = 1e-4 / max(1.0, abs(getattr(params, key)))
        assert_slopes(model, timeline, params, [key], abs=near)


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_slopes_of_moving_draw_margins(name):
    """Approximate while margins move, where tuning takes differences."""
    rng = np.random.default_rng(12)
    rows = []
    for _ in range(150):
        i, j = (f"p{k}-{rng.integers(3)}" for k in rng.choice(9, 2, replace=False))
        rows.append((int(rng.integers(1900, 1912)), i, j, int(rng.integers(0, 3))))
    timeline, model = build_timeline(make_games(rows)), registry.load(name)
    params = model.Params(beta=300, tau=70, draw_margin_drift=0.1, draw_margin_strength=0.2)
    assert_slopes(model, timeline, params, {"draw_margin_strength": 1e-3}, rel=5e-2)
    assert_slopes(model, timeline, params, {"tau": 0.1}, rel=5e-2, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_slopes_on_real_games(data, name):
    timeline = build_timeline(make_games(historical(data, "historical_pre1942.csv.gz")))
    model = registry.load(name)
    keys = ("beta", "tau", "prior_sd") if name == "ttt" else ("tau",)  # the others on random games above
    assert_slopes(model, timeline, model.Params(), keys, SolverConfig(), rel=1e-3)
