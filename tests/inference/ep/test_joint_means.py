"""The solver of joint means against dense algebra, on its own and inside the models."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.joint_dense import Skills, SkillsAndMargins, joint_means
from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.joint_means import JointSolver
from ttt_cli.inference.ep.slices import Slices
from ttt_cli.inference.ep.two_filter import TwoFilter
from ttt_cli.inference.solver import Pace
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import build_timeline

seeds = st.integers(0, 2**32 - 1)
drifts = st.sampled_from([0.0, 30.0, 90.0])


def solver_of(problem, threads=1):
    """A solver that starts from means of zero, and what it needs of the games."""
    parts = Slices(problem.start, problem.game_start, problem.previous[: problem.n], threads)
    solver = JointSolver(TwoFilter(problem.chains, parts), parts)
    matrix, solver.residual[:] = problem.dense()
    solver.diagonal[:] = np.diag(matrix)
    solver.factor()
    games = problem.games, problem.links, problem.weight * problem.links[:, 0]
    return solver, lambda begin, end, *step: problem.link_kernels.add_couplings(begin, end, *games, *step)


@pytest.fixture(scope="module", autouse=True)
def small_slices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "GAMES_EACH", 1)
        yield


@settings(max_examples=60)
@given(st.sampled_from([Skills, SkillsAndMargins]), seeds, drifts, st.sampled_from([1, 2, 3]))
def test_it_solves_what_dense_algebra_solves(kind, seed, drift, threads):
    problem = kind(seed, drift)
    solver, add_couplings = solver_of(problem, threads)
    assert solver.solve(add_couplings, tol=1e-9, relative=0.0) < 1e-9
    assert solver.correction == pytest.approx(joint_means(problem), abs=1e-8)


@settings(max_examples=20)
@given(st.sampled_from([Skills, SkillsAndMargins]), seeds, drifts, st.sampled_from([100.0, 10.0, 1.0, 0.1]))
def test_the_bound_bounds_the_error(kind, seed, drift, tol):
    """On problems that take more steps than the bound looks back over."""
    problem = kind(seed, drift, players=25, periods=8)
    solver, add_couplings = solver_of(problem)
    bound = solver.solve(add_couplings, tol, relative=0.0)
    assert np.abs(solver.correction - joint_means(problem)).max() <= bound < tol


@settings(max_examples=20)
@given(st.sampled_from([Skills, SkillsAndMargins]), seeds, drifts)
def test_what_bounds_the_error_is_right(kind, seed, drift):
    """Variances before games, and that no eigenvalue of M^-1 A is below the one taken for the least."""
    problem = kind(seed, drift)
    solver, _ = solver_of(problem)
    covariance, (matrix, _) = problem.covariance(), problem.dense()
    assert solver._variance == pytest.approx(np.diag(covariance))
    some = np.eye(len(matrix))
    eigenvalues = np.linalg.eigvals(
        np.linalg.solve(some + covariance * np.diag(matrix), some + covariance @ matrix)
    )
    diagonal = np.diag(matrix) * np.diag(covariance)
    chain = np.unique(covariance != 0.0, axis=0, return_inverse=True)[1].ravel()
    least = solver._least
    assert least == pytest.approx(1.0 / (1.0 + np.bincount(chain, diagonal).max()))
    assert least <= eigenvalues.real.min() * (1.0 + 1e-9)


def test_rounding_ends_a_solution_that_it_keeps_from_its_tolerance():
    problem = SkillsAndMargins(1, 0.0, players=25, periods=8)
    problem.weight *= np.random.default_rng(1).choice([1.0, 1e2, 1e4], len(problem.weight))
    solver, add_couplings = solver_of(problem)
    bound = solver.solve(add_couplings, tol=1e-9, relative=0.0)
    assert np.abs(solver.correction - joint_means(problem)).max() <= bound < np.inf


def test_a_share_of_the_whole_can_be_enough():
    problem = Skills(3, 30.0, players=25, periods=8)
    solver, add_couplings = solver_of(problem)
    bound = solver.solve(add_couplings, tol=1e-9, relative=0.05)
    error = solver.correction - joint_means(problem)
    precision = np.linalg.inv(problem.covariance()) + problem.dense()[0]
    x = joint_means(problem)
    assert error @ precision @ error <= 0.05**2 * (x @ precision @ x)
    assert np.abs(error).max() <= bound
    assert bound > 1e-9


def test_nothing_to_solve_is_solved():
    problem = Skills(1, 30.0)
    solver, add_couplings = solver_of(problem)
    solver.residual.fill(0.0)
    assert solver.solve(add_couplings, 1e-9, 0.0) == 0.0
    assert not solver.correction.any()


def random_timeline(seed):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(40):
        i, j = rng.choice(6, 2, replace=False)
        rows.append((int(rng.integers(1900, 1906)), f"p{i}", f"p{j}", int(rng.integers(0, 3))))
    return build_timeline(make_games(rows))


def inference_of(model, timeline, tau):
    if model is ttt:
        return ttt.through_time(timeline, ttt.Params(tau=tau), 150.0).inference(40.0)
    params = ttt_d.Params(tau=tau, draw_margin_tau=tau / 10, white_advantage=40).resolved()
    return ttt_d.through_time(timeline, params).inference(40.0)


def beliefs(inference):
    """Means and sds of all variables."""
    precision, weighted = inference._messages[2].T
    return np.stack([weighted / precision, 1.0 / np.sqrt(precision)])


@pytest.mark.parametrize("tau", [0.0, 60.0])
@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_the_models_move_to_the_means_that_they_solved_for(model, tau):
    """After a move nothing is left to move, and only means have moved."""
    inference = inference_of(model, random_timeline(1), tau)
    inference.sweep(Pace.PLAIN)
    before = beliefs(inference)
    inference._towards_joint_means(True, tol=1e-10, relative=0.0)
    after = beliefs(inference)
    assert np.array_equal(before[1], after[1])
    assert np.abs(before[0] - after[0]).max() > 1
    assert inference._towards_joint_means(False, tol=1e-10, relative=0.0) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0.0, 60.0])
@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_a_fixed_point_of_the_messages_is_one_of_the_joint_means(model, tau):
    """Departure from the paper: the way changes, the goal does not."""
    inference = inference_of(model, random_timeline(2), tau)
    for _ in range(400):
        inference.sweep(Pace.PLAIN)
    before = beliefs(inference)
    inference.sweep(Pace.JOINT)
    assert beliefs(inference) == pytest.approx(before, abs=1e-7)


@pytest.mark.parametrize("first", ["a", "c"])
def test_a_residual_of_nothing_but_rounding_ends_the_solution(first):
    """Without drift the nodes of a player are one: what their residuals add up to may be rounding of any sign."""
    rows = [
        (1900, "a", "b", 1),
        (1900, "b", "c", 0),
        (1950, *(("c", "a") if first == "c" else ("a", "c")), 0),
    ]
    timeline = build_timeline(make_games(rows))
    params = ttt.Params(draw_margin=200, beta=50, tau=0)
    fit = ttt.fit(timeline, params, SolverConfig(tol=1e-9))
    assert fit.status.converged
    assert np.isfinite(fit.mean).all()
