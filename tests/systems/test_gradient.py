"""Slopes of the log-evidence against differences of it, for every model and parameter."""

import numpy as np
import pytest

from tests.support.builders import EXACT, historical, make_games
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
    ("trueskill", {"beta": 300, "tau": 70}),
    ("trueskill", {"beta": 300, "tau": 70, "draw_margin": 110, "white_advantage": 25}),
    ("trueskill", {"beta": 300, "tau": 70, "growth": 150, "decline": 9, "decline_after": 3.5, "early": 2}),
]  # fmt: skip


@pytest.fixture(scope="module")
def timeline():
    rng = np.random.default_rng(11)
    rows = []
    for _ in range(150):
        i, j = rng.choice(9, 2, replace=False)
        rows.append(
            (
                int(rng.integers(1900, 1912)),
                f"p{i}",
                f"p{j}",
                int(rng.integers(0, 3)),
                float(rng.integers(1, 4)),
            )
        )
    return build_timeline(make_games(rows))


def difference(model, timeline, params, key):
    at = getattr(params, key)
    step = 1e-3 * max(abs(at), 1.0)
    ends = [
        model.fit(timeline, params.model_copy(update={key: at + sign * step}), EXACT).log_evidence
        for sign in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize(("name", "given"), CASES)
def test_slopes_are_those_of_differences(timeline, name, given):
    model = registry.load(name)
    params = model.Params(**given)
    slopes = model.gradient(timeline, params, model.fit(timeline, params, EXACT))
    numeric = {key for key in slopes if isinstance(getattr(params, key), float)}
    assert {"prior_mean", "prior_sd", "beta", "tau", "white_advantage"} <= numeric
    for key in numeric:
        expected = difference(model, timeline, params, key)
        scale = max(1.0, abs(getattr(params, key)))
        assert slopes[key] * scale == pytest.approx(expected * scale, rel=1e-4, abs=1e-4), key


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_slopes_of_moving_draw_margins(name):
    """In the drift to four digits; approximate in the strength, and in all others while margins move."""
    rng = np.random.default_rng(12)
    rows = []
    for _ in range(150):
        i, j = (f"p{k}-{rng.integers(3)}" for k in rng.choice(9, 2, replace=False))
        rows.append((int(rng.integers(1900, 1912)), i, j, int(rng.integers(0, 3))))
    timeline, model = build_timeline(make_games(rows)), registry.load(name)
    params = model.Params(beta=300, tau=70, draw_margin_drift=0.1, draw_margin_strength=0.2)
    slopes = model.gradient(timeline, params, model.fit(timeline, params, EXACT))
    for key, step, close in (
        ("draw_margin_drift", 1e-3, 1e-4),
        ("draw_margin_strength", 1e-3, 5e-2),
        ("tau", 0.1, 5e-2),
    ):
        ends = [
            model.fit(timeline, params.model_copy(update={key: getattr(params, key) + h}), EXACT).log_evidence
            for h in (step, -step)
        ]
        assert slopes[key] == pytest.approx(
            (ends[0] - ends[1]) / (2 * step), rel=close, abs=2e-3 if key == "tau" else None
        ), key


@pytest.mark.slow
def test_slopes_on_real_games(data):
    timeline = build_timeline(make_games(historical(data, "historical_pre1942.csv.gz")))
    for name in ("ttt", "ttt-d"):
        model = registry.load(name)
        params = model.Params()
        slopes = model.gradient(timeline, params, model.fit(timeline, params, SolverConfig()))
        for key in ("beta", "tau", "prior_sd"):
            at = getattr(params, key)
            step = 1e-3 * at
            ends = [
                model.fit(
                    timeline, params.model_copy(update={key: at + sign * step}), SolverConfig()
                ).log_evidence
                for sign in (1, -1)
            ]
            assert slopes[key] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-3), (name, key)
