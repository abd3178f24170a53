"""What moves with the years, against dense matrices, integrals and differences; whole fits: test_twins.py."""

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.test_twins import drawn_more
from tests.support.builders import EXACT, fit_rows, make_games
from tests.support.cases import each
from ttt_cli.inference.ep.moving_margins import YearWalk
from ttt_cli.inference.model import NO_LAPSE
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline


def exact_log_evidence(rows, theta, **params):
    """Of given margins by year: a fit of each year's games alone, where skills do not last."""
    return sum(
        fit_rows([r for r in rows if r[0] == year], draw_margin=params["draw_margin"] * math.exp(t), **{
            key: value for key, value in params.items() if key != "draw_margin"
        })[1].log_evidence
        for year, t in theta.items()
    )  # fmt: skip


@pytest.mark.slow
def test_laplace_is_near_the_integral_over_the_years():
    """Players of one year each: the games of years depend on each other through the margins alone."""
    rows = [(y, f"{w}{y}", f"{b}{y}", o) for y, w, b, o in drawn_more(4, games=300, years=2)]
    given = {"beta": 300.0, "draw_margin": 150.0}
    drift = 0.5
    _, fit = fit_rows(rows, draw_margin_drift=drift, **given)
    years = fit.draws.year.tolist()
    assert len(years) == 2
    grid = np.linspace(-2, 2, 41)
    of_year = [[exact_log_evidence(rows, {year: t}, **given) for t in grid] for year in years]
    first, second = np.meshgrid(grid, grid, indexing="ij")
    variance = drift**2 * (years[1] - years[0])
    prior = np.exp(-0.5 * first**2 - 0.5 * (second - first) ** 2 / variance) / (
        2 * math.pi * variance**0.5
    )
    weight = np.exp(np.add.outer(*of_year)) * prior
    exact = math.log(weight.sum() * (grid[1] - grid[0]) ** 2)
    assert fit.log_evidence == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_theta_is_the_maximum_of_the_evidence(posterior):
    """Its score at the joint fixed point is P theta, by differences of the evidence at given margins."""
    rows = [(y, f"{w}{y}", f"{b}{y}", o) for y, w, b, o in drawn_more(5, games=60, years=3)]
    solver = EXACT.model_copy(update={"posterior": posterior, "tol": 1e-8})
    drift = 0.4
    _, fit = fit_rows(rows, solver=solver, beta=300, draw_margin=150, draw_margin_drift=drift)
    years, theta = fit.draws.year, np.log(fit.draws.margin / 150)
    variance = np.append(1.0, drift**2 * np.diff(years))
    u = np.diff(theta, prepend=0.0) / variance
    by_theta = u - np.append(u[1:], 0.0)
    for k, year in enumerate(years.tolist()):
        ends = [
            fit_rows([r for r in rows if r[0] == year], solver=solver, beta=300,
                     draw_margin=150 * math.exp(theta[k] + h))[1].log_evidence
            for h in (1e-3, -1e-3)
        ]  # fmt: skip
        assert by_theta[k] == pytest.approx((ends[0] - ends[1]) / 2e-3, abs=1e-4)


def test_a_walk_of_hardly_any_drift_is_one_factor_for_all_years():
    years = np.array([1900, 1901, 1905], np.int32)
    score, information = np.array([2.0, -0.5, 1.0]), np.array([3.0, 1.0, 2.0])
    walk = YearWalk(years, 1e-9, None)
    walk.step(score, information)
    assert walk.theta == pytest.approx(np.full(3, min(2.5 / 7.0, 0.5)), rel=1e-6)
    assert walk.variance(information) == pytest.approx(np.full(3, 1 / 7), rel=1e-6)


@each("drift", [1e-3, 0.04, 2.0])
def test_a_walk_goes_as_dense_matrices_do(drift):
    rng = np.random.default_rng(3)
    years = np.cumsum(rng.integers(1, 4, 40)).astype(np.int32)
    walk = YearWalk(years, drift, rng.normal(0, 0.01, 40))
    # of some years next to nothing, or nothing
    information = rng.gamma(0.3, 500.0, 40) * (rng.random(40) < 0.8)
    theta, score = walk.theta, rng.normal(0, 0.02, 40) * information
    root = np.tril(np.sqrt(np.append(1.0, drift**2 * np.diff(years))))
    posterior = np.eye(40) + root.T * information @ root
    u = np.diff(theta, prepend=0.0) / np.diag(root)
    move = root @ np.linalg.solve(posterior, root.T @ score - u)
    assert walk.log_evidence(information) == pytest.approx(
        -(u @ u + np.linalg.slogdet(posterior)[1]) / 2
    )
    of_theta = np.diag(root @ np.linalg.solve(posterior, root.T))
    assert walk.variance(information) == pytest.approx(of_theta, rel=1e-9)
    most = np.abs(move).max()
    assert walk.step(score, information) == pytest.approx(min(most, 0.5))
    assert walk.theta == pytest.approx(theta + move * min(1.0, 0.5 / most), abs=1e-12)


def test_steps_accelerate_as_with_dense_matrices():
    """Of a score that does not fall at the rate of the information: the goals with the least combined move."""
    rng = np.random.default_rng(5)
    years = np.arange(1900, 1912, dtype=np.int32)
    walk = YearWalk(years, 0.3, None)
    information = rng.gamma(2.0, 5.0, 12)
    prior_root = np.tril(np.sqrt(np.append(1.0, 0.09 * np.diff(years))))
    prior = np.linalg.inv(prior_root @ prior_root.T)
    root = np.linalg.cholesky(prior + np.diag(information))
    rate, at_zero = 1.5 * information, rng.normal(0.0, 0.3, 12)
    moves, goals, theta = [], [], np.zeros(12)
    for _ in range(4):
        score = at_zero - rate * theta
        moves.append(np.linalg.solve(prior + np.diag(information), score - prior @ theta))
        goals.append(theta + moves[-1])
        assert np.abs(moves[-1]).max() < 0.5
        if len(moves) > 1 and np.linalg.norm(moves[-1] @ root) > np.linalg.norm(moves[-2] @ root):
            moves, goals = moves[-1:], goals[-1:]
        earlier = range(len(moves) - 1)
        changes = np.array([(moves[-1] - moves[step]) @ root for step in earlier]).reshape(-1, 12)
        shares = np.linalg.lstsq(changes.T, moves[-1] @ root, rcond=1e-6)[0]
        theta = goals[-1] - sum(
            (
                share * (goals[-1] - goals[step])
                for step, share in zip(earlier, shares, strict=True)
            ),
            np.zeros(12),
        )
        walk.step(score, information, accelerate=True)
        assert walk.theta == pytest.approx(theta, abs=1e-9)


def test_a_walk_over_many_years_takes_memory_in_proportion():
    """Idle years too: a matrix of 4,000 years by 4,000 would take 128 MB."""
    years = np.arange(1, 4001, dtype=np.int32)
    information = np.zeros(4000)
    information[[0, -1]] = 1.0
    walk = YearWalk(years, 0.04, None)
    tracemalloc.start()
    for _ in range(2):
        walk.step(information * 0.01, information, accelerate=True)
    walk.log_evidence(information)
    assert walk.variance(information)[-1] == pytest.approx(1 / (1 + 1 / (1.6e-3 * 3999 + 1 / 2)))
    assert tracemalloc.get_traced_memory()[1] < 4e6
    tracemalloc.stop()


@each("lapse", [0.1, 0.0])
def test_the_slope_in_the_lapse_has_that_of_the_information_on_years(lapse):
    """At given cavities log|P + F| has the slope tr((P + F)^-1 F'), by dense matrices."""
    timeline = build_timeline(make_games(drawn_more(1, 40, 4)))
    drift = 0.4
    params = ttt.Params(lapse=lapse, draw_margin=150.0, draw_margin_drift=drift)
    fit = ttt.fit(timeline, params, EXACT.model_copy(update={"posterior": "factorised"}))
    inference = ttt.through_time(timeline, params, 150.0).posterior(fit)
    state, merged = inference.slice_state, inference.merged
    kernel = state.pairs.kernels.gradient
    buffers = np.empty((2, len(merged)))
    of_games = kernel(merged.games, merged.balance, state.rule, state.cavities(), *buffers).lapse
    root = np.tril(np.sqrt(np.append(1.0, drift**2 * np.diff(fit.draws.year))))
    low, middle, high = (
        state.margins.information_with_lapse(state, max(lapse + change, 0.0))
        for change in (-1e-4, 0.0, 1e-4)
    )
    slope = (high - low) / (2e-4 if lapse else 1e-4)
    variance = root @ np.linalg.solve(np.eye(len(root)) + root.T * middle @ root, root.T)
    of_years = -0.5 * float(np.diag(variance) @ slope)
    assert abs(of_years) > 0.1
    total = inference.moving.gradient(state, merged, kernel).of_games.lapse
    assert total - of_games == pytest.approx(of_years, rel=0.01)


def test_without_chance_or_walk_the_lapse_has_no_further_slope():
    timeline = build_timeline(make_games(drawn_more(1, 40, 4)))
    for changes in ({"lapse": 0.1}, {"draw_margin_drift": 0.4, "draw_margin": "auto"}):
        params = ttt.Params(**changes)
        fit = ttt.fit(timeline, params, EXACT.model_copy(update={"posterior": "factorised"}))
        through_time = ttt.through_time(timeline, params, fit.params["draw_margin"])
        if "lapse" not in changes:  # as where chance decides no game by definition
            play = replace(through_time.play, lapse_draws=NO_LAPSE)
            through_time = replace(through_time, play=play)
        inference = through_time.posterior(fit)
        state, merged = inference.slice_state, inference.merged
        kernel = state.pairs.kernels.gradient
        buffers = np.empty((2, len(merged)))
        slopes = kernel(merged.games, merged.balance, state.rule, state.cavities(), *buffers)
        total = inference.moving.gradient(state, merged, kernel).of_games.lapse
        assert total == slopes.lapse
