"""TTT and TTT-D against their slow twin: all beliefs and the log-evidence."""

import numpy as np
import pytest

from tests.reference.ttt_ep import Twin, assert_is_twin
from tests.support.builders import CAREER, EXACT, make_games, random_rows
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-8, posterior="joint")
PLAY = {"beta": 300.0, "tau": 80.0, "draw_margin": 150.0}
OWN = {
    "beta": 300.0,
    "tau": 80.0,
    "draw_margin_mean": 150.0,
    "draw_margin_sd": 60.0,
    "draw_margin_tau": 20.0,
}
NEWCOMERS = CAREER | {"prior_mean_drift": 40.0}
MANY_ODDS = tuple(np.linspace(-200.0, 300.0, 41))
ODDS = (100.0, 0.0, -250.0, 100.0, -100.0)
APART = [
    (1900, "a", "b", 2), (1903, "b", "a", 1), (1900, "c", "d", 2), (1901, "c", "d", 2), (1905, "e", "f", 0, 3.0),
]  # fmt: skip
DEBUTS = [
    (1850, "a", "b", 2), (1850, "b", "a", 1), (1851, "c", "b", 2), (1853, "a", "c", 0), (1853, "d", "b", 2),
    (1856, "e", "a", 2), (1856, "d", "e", 1), (1860, "a", "b", 2), (1860, "f", "c", 2), (1861, "g", "h", 0),
]  # fmt: skip


def few(seed):
    """Few games of three players, with ties, weights, and years far apart."""
    return random_rows(seed, 2 + seed, players=3, years=4, weights=(1.0, 1.0, 3.0))


def drawn_more(seed, games=40, years=6):
    """Draws grow more frequent from year to year; now and then the same game is played again."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(games):
        i, j = rng.choice(5, 2, replace=False)
        year = int(rng.integers(0, years))
        outcome = 1 if rng.random() < 0.1 + 0.12 * year else 2 * int(rng.integers(0, 2))
        rows += [(1900 + year + 2 * (year > 2), "abcde"[i], "abcde"[j], outcome)] * int(
            rng.integers(1, 3)
        )
    return rows


def given(rows, weights=(1.0,), offsets=(0.0,), neutral=()):
    """With weights, handicaps and neutral ground in turn."""
    return [
        (*row[:4], weights[k % len(weights)], offsets[k % len(offsets)], k % 5 in neutral)
        for k, row in enumerate(rows)
    ]


CASES = {
    "ttt": ("ttt", random_rows(0, 25), {}),
    "ttt again": ("ttt", random_rows(1, 25), {}),
    "advantage": ("ttt", random_rows(5, 25), {"white_advantage": 60.0}),
    "unknown colours": ("ttt", random_rows(6, 25), {"white_advantage": 60.0}, "unknown"),
    "wide unknown colours": ("ttt", random_rows(6, 25), {"white_advantage": 300.0}, "unknown"),
    "odds": ("ttt", given(random_rows(2, 12), offsets=ODDS), {}),
    "as many odds as games": ("ttt", given(random_rows(2, 45), offsets=MANY_ODDS), {"white_advantage": 40.0}),
    "careers without drift": ("ttt", random_rows(4, 20, years=11), CAREER | {"tau": 0.0}),
    "neutral ground of unknown colours": (
        "ttt", given(random_rows(3, 25), neutral=(1, 3)), {"white_advantage": 90.0}, "unknown"),
    "neutral ground": ("ttt", given(random_rows(3, 25), neutral=(1, 3)), {"white_advantage": 90.0}),
    "careers": ("ttt", random_rows(4, 20, years=11), CAREER),
    "newcomers": ("ttt", DEBUTS, NEWCOMERS),
    "newcomers without drift": ("ttt", DEBUTS, NEWCOMERS | {"tau": 0.0}),
    "margins by year": ("ttt", drawn_more(1, 20), {"draw_margin_drift": 0.3}),
    "margins by strength": ("ttt", drawn_more(1, 20), {"draw_margin_strength": 0.4}),
    "lapses": ("ttt", random_rows(0, 25), {"lapse": 0.1, "beta": 150.0}),
    "lapses of unknown colours": ("ttt", random_rows(6, 25), {"white_advantage": 60.0, "lapse": 0.05}, "unknown"),
    "lapses and margins by year": ("ttt", drawn_more(1, 20), {"draw_margin_drift": 0.3, "lapse": 0.05}),
    "all of it": (
        "ttt", given(drawn_more(2, 15), (0.5, 1.0, 3.0), (0.0, 80.0, -150.0)),
        {"white_advantage": 60.0, "draw_margin_drift": 0.2, "draw_margin_strength": 0.3, **CAREER},
    ),
    "all of it, by day": (
        "ttt", given(drawn_more(2, 15), (0.5, 1.0, 3.0), (0.0, 80.0, -150.0)),
        {"white_advantage": 60.0, "draw_margin_drift": 0.2, "draw_margin_strength": 0.3, **CAREER}, "unknown", "day",
    ),
    "ttt-d": ("ttt-d", random_rows(0, 14), {"white_advantage": 40.0}),
    "ttt-d of steady margins": ("ttt-d", random_rows(2, 14), {"white_advantage": 40.0, "draw_margin_tau": 0.0}),
    "ttt-d of unknown colours": ("ttt-d", random_rows(7, 12), {"white_advantage": 200.0}, "unknown"),
    "ttt-d with careers": ("ttt-d", random_rows(4, 9, years=11), CAREER),
    "ttt-d with careers without drift": ("ttt-d", random_rows(4, 9, years=11), CAREER | {"tau": 0.0}),
    "ttt-d of margins by year": (
        "ttt-d", drawn_more(1, 9, 4), {"white_advantage": 40.0, "draw_margin_drift": 0.5, **CAREER}),
    "ttt-d of unknown colours and margins by year": (
        "ttt-d", drawn_more(1, 9, 4), {"white_advantage": 40.0, "draw_margin_drift": 0.5, **CAREER}, "unknown"),
}  # fmt: skip
JOINTLY = {
    "apart": ("ttt", APART, {"white_advantage": 35.0}),
    **{f"few {seed}": ("ttt", few(seed), {"white_advantage": 35.0}) for seed in range(6)},
    "unknown colours and odds": (
        "ttt",
        given(random_rows(2, 12), offsets=ODDS),
        {"white_advantage": 80.0},
        "unknown",
    ),
    "lapses": ("ttt", random_rows(4, 12), {"lapse": 0.1, "beta": 100.0}),
    "rare lapses": ("ttt", random_rows(5, 12), {"lapse": 0.001, "beta": 60.0, "draw_margin": 40.0}),
    "lapses of unknown colours": (
        "ttt",
        given(random_rows(2, 12), offsets=ODDS),
        {"white_advantage": 80.0, "lapse": 0.1},
        "unknown",
    ),
    "careers": ("ttt", random_rows(4, 12, years=11), CAREER),
    "careers without drift": ("ttt", random_rows(4, 12, years=11), CAREER | {"tau": 0.0}),
    "newcomers": ("ttt", DEBUTS, NEWCOMERS),
    "newcomers without drift": ("ttt", DEBUTS, NEWCOMERS | {"tau": 0.0}),
    "ttt-d apart": ("ttt-d", APART, {"white_advantage": 35.0}),
    **{f"ttt-d few {seed}": ("ttt-d", few(seed), {"white_advantage": 35.0}) for seed in (2, 4, 6)},
    "ttt-d with careers": ("ttt-d", random_rows(4, 7, years=11), CAREER),
    "ttt-d with careers without drift": (
        "ttt-d",
        random_rows(4, 7, years=11),
        CAREER | {"tau": 0.0},
    ),
    "ttt-d of newcomers": ("ttt-d", DEBUTS, NEWCOMERS),
    "ttt-d of newcomers and margins by year": (
        "ttt-d",
        DEBUTS[:6],
        NEWCOMERS | {"draw_margin_drift": 0.5},
    ),
}
NIGHTLY = {
    "ttt again", "wide unknown colours", "margins by strength", "ttt-d of steady margins",
    "all of it, by day", "as many odds as games", "few 1", "few 2", "few 4", "few 5", "ttt-d few 4", "ttt-d few 6",
}  # fmt: skip
QUICK = {
    "ttt",
    "advantage",
    "unknown colours",
    "careers",
    "newcomers",
    "newcomers without drift",
    "apart",
    "few 3",
    "ttt-d apart",
}


def each_of(cases):
    return [
        pytest.param(
            *case,
            *("known", "year")[len(case) - 3 :],
            id=name,
            marks=[]
            if name in QUICK
            else pytest.mark.large
            if name in NIGHTLY
            else pytest.mark.slow,
        )
        for name, case in cases.items()
    ]


def fit_and_twin(model, rows, params, colours, period, solver):
    module, timeline = registry.load(model), build_timeline(make_games(rows), period, colours)
    params = module.Params(**(PLAY if model == "ttt" else OWN) | params)
    fit = module.fit(timeline, params, solver)
    assert fit.status.converged
    twin = Twin(timeline, params, joint=fit.posterior == "joint", unit=fit.elo_unit).run()
    return module, fit, twin


@pytest.mark.parametrize(("model", "rows", "params", "colours", "period"), each_of(CASES))
def test_factorised_propagation(model, rows, params, colours, period):
    _, fit, twin = fit_and_twin(model, rows, params, colours, period, EXACT)
    assert_is_twin(fit, twin, 1e-5 if twin.of_margins and twin.drift else 1e-6)
    assert any("approximate" in note for note in fit.notes) == ("draw_margin_strength" in params)


@pytest.mark.parametrize(("model", "rows", "params", "colours", "period"), each_of(JOINTLY))
def test_joint_propagation(model, rows, params, colours, period):
    """Covariances of a player's skills too, and of sums of skills."""
    module, fit, twin = fit_and_twin(model, rows, params, colours, period, JOINT)
    assert fit.posterior == "joint"
    assert_is_twin(fit, twin, 1e-5)
    covariance, line = twin.gaussian()[1], twin.timeline
    later = np.flatnonzero(line.previous >= 0)
    shared = covariance[later, line.previous[later]]
    assert fit.chains["skill"].covariance[later] == pytest.approx(shared, rel=1e-6)
    if model == "ttt":
        contrasts = np.random.default_rng(1).normal(size=(line.n_nodes, 5))
        exact = contrasts.T @ covariance @ contrasts
        posterior = module.through_time(line, twin.params, fit.params["draw_margin"]).posterior(fit)
        assert posterior.covariance(contrasts) == pytest.approx(exact, rel=1e-8)
