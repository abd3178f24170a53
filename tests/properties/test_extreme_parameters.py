"""Every system at parameters far from its defaults, on small histories of all kinds: numbers or a clear error."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest
from pydantic import ValidationError

from tests.support.builders import fit_rows, make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.support.errors import TttError
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline


@cache
def has_sds(name: str) -> bool:
    """Whether a system has sds: by its fit of two games at its default parameters."""
    _, fit = fit_rows([(1850, "a", "b", 2), (1851, "b", "a", 1)], name)
    return bool(np.isfinite(fit.sd).any())


def random_rows(rng: random.Random) -> list[tuple]:
    """With matches of 5000 games, heavy odds, nothing but wins or draws."""
    names = [f"p{i}" for i in range(rng.choice([2, 2, 3, 5, 9]))]
    years = sorted(rng.sample(range(1800, 2000), rng.choice([1, 1, 2, 3, 6])))
    outcomes = rng.choice([(0, 1, 2), (0, 1, 2), (2,), (1,)])
    weights, odds = (
        rng.choice([(1,), (1, 0.1, 300, 5000)]),
        rng.choice([(0,), (0, 219, -500, 1008)]),
    )
    return [
        (rng.choice(years), *rng.sample(names, 2), rng.choice(outcomes), float(rng.choice(weights)),
         float(rng.choice(odds)))
        for _ in range(rng.choice([1, 3, 10, 30]))
    ]  # fmt: skip


def random_params(rng: random.Random, module):
    params = module.Params()
    wilder = {"draw_margin": [0.0, 3.0, 1000.0], "white_advantage": [-1500.0, 30.0, 1500.0]}
    for name, default in params:
        if rng.random() < 0.5 or isinstance(default, bool) or default is None:
            continue
        value = (
            rng.choice(wilder.get(name, [0.0, 1.0]))
            if rng.random() < 0.3 or name in wilder
            else default
        )
        if isinstance(default, float) and name not in wilder:
            value = rng.choice([0.0, default * 10 ** rng.uniform(-1.5, 1.5)])
        try:
            params = module.Params(**{**params.model_dump(exclude_unset=True), name: value})
        except ValidationError:
            continue
    return params


def unfinished(name: str, module, timeline, params, fit) -> list[str]:
    """What of a fit is no number."""
    found = [] if np.isfinite(fit.mean).all() else ["mean"]
    if has_sds(name) and not np.isfinite(fit.sd).all():
        found.append("sd")
    without = not module.TRAITS.has_evidence or "halves" in params.model_dump().values()
    if (
        not without
        and getattr(params, "deviations", "exact") == "exact"
        and not math.isfinite(fit.log_evidence)
    ):
        found.append("evidence")
    ends = {}
    for chain, own in fit.chains.items():
        ends |= (
            {"mean": own.mean, "sd": own.sd}
            if chain == "skill"
            else {chain: own.mean, f"{chain}_sd": own.sd}
        )
    chances = module.predict(fit.params, ends, {key: column[::-1] for key, column in ends.items()})
    if not (chances > -1e-12).all() or not np.allclose(chances.sum(axis=1), 1.0):
        found.append("predictions")
    gradient = module.gradient(timeline, params, fit) if hasattr(module, "gradient") else {}
    if fit.status.converged and not all(map(math.isfinite, gradient.values())):
        found.append("gradient")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.MODULES)
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 60), marks=pytest.mark.large)])
def test_there_are_numbers_or_an_error_that_says_why(name, seeds):
    module, fitted = registry.load(name), 0
    for seed in seeds:
        rng = random.Random(seed)
        games, params = make_games(random_rows(rng)), random_params(rng, module)
        timeline = build_timeline(games, "year", rng.choice(["known", "known", "unknown"]))
        solver = SolverConfig(tol=rng.choice([1e-9, 0.01, 10.0]), max_sweeps=rng.choice([2, 30]))
        try:
            fit = module.fit(timeline, params, solver)
        except TttError:
            continue
        fitted += 1
        assert unfinished(name, module, timeline, params, fit) == [], (seed, params)
    assert fitted > len(seeds) / 2


def test_an_advantage_of_which_the_games_say_nothing_is_the_best_that_was_tried():
    """Where everything must be a draw the evidence is the same at all advantages, as far as doubles tell."""
    timeline = build_timeline(make_games([(1850, "a", "b", 1), (1850, "b", "a", 1)]))
    for name, margin in (
        ("ttt", "draw_margin"),
        ("trueskill", "draw_margin"),
        ("ttt-d", "draw_margin_mean"),
    ):
        module = registry.load(name)
        params = module.Params(
            **{margin: 7000.0}, prior_sd=10.0, beta=45.0, white_advantage="estimate"
        )
        fit = module.fit(timeline, params, SolverConfig())
        assert fit.log_evidence == pytest.approx(0.0, abs=1e-6)
        assert math.isfinite(fit.params["white_advantage"])
