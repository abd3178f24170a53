"""One slice of time: messages along chains and joint means against dense algebra, whatever threads share it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.joint_dense import Problem, Skills, SkillsAndMargins
from tests.reference.joint_dense import joint_means as dense_joint_means
from tests.support.apart import history
from tests.support.builders import make_games, random_rows
from tests.support.strategies import examples
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep import joint_means, messages, parts
from ttt_cli.inference.ep.borders import Borders
from ttt_cli.inference.ep.joint_solution import JointSolver
from ttt_cli.inference.ep.parts import period_cuts
from ttt_cli.inference.ep.results import marginals
from ttt_cli.inference.ep.transport import Exchange, SliceHere
from ttt_cli.inference.model import NO_OFFSETS, Offsets
from ttt_cli.inference.solver import Pace
from ttt_cli.systems import registry, ttt, ttt_d
from ttt_cli.timeline import build_timeline

seeds = st.integers(0, 2**32 - 1)
drifts = st.sampled_from([0.0, 30.0, 90.0])
NOTHING = np.empty((0, 4))
NO_BORDERS = Borders(np.zeros(2, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0))


@pytest.fixture(scope="module", autouse=True)
def small_parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "GAMES_EACH", 1)
        yield


def smoothed(problem, sites, threads):
    """Messages of these sites of variables."""
    state = problem.slice(threads)
    for rows in state.messages:
        rows.fill(np.nan)
    state.messages.marginal[:] = sites
    messages.smooth(state, NOTHING)
    return state.messages


def random_sites(problem):
    size = len(problem.previous)
    return np.stack(
        [problem.rng.exponential(1e-5, size), problem.rng.normal(0, 5e-3, size)], axis=1
    )


@examples(20)
@given(seeds, drifts, st.sampled_from([1, 2]), st.sampled_from([1, 2, 3]))
def test_marginals_are_those_of_all_sites_together(seed, drift, kinds, threads):
    problem = Problem(seed, drift, kinds, players=6, periods=5)
    sites = random_sites(problem)
    forward, backward, marginal = smoothed(problem, sites, threads)
    covariance = problem.covariance()
    posterior = covariance @ np.linalg.inv(np.eye(len(sites)) + sites[:, :1] * covariance)
    assert 1 / marginal[:, 0] == pytest.approx(np.diag(posterior), rel=1e-9)
    assert marginal[:, 1] / marginal[:, 0] == pytest.approx(
        posterior @ sites[:, 1], rel=1e-8, abs=1e-6
    )
    assert forward + backward + sites == pytest.approx(marginal, rel=1e-12, abs=1e-18)
    assert not backward[problem.following < 0].any()
    first = problem.previous < 0
    assert forward[first, 0] == pytest.approx(1 / problem.variance[first], rel=1e-15)


def solver_of(state):
    """What goes through the steps of the joint means of a slice."""
    largest_prior_sd = float(np.sqrt(state.prior_variance.max()))
    return JointSolver(Exchange(SliceHere(state), NO_BORDERS), None, largest_prior_sd)


def begun(state):
    """A slice whose sites are smoothed."""
    messages.begin(state, NO_OFFSETS)
    messages.smooth(state, NOTHING)
    return state


def distance_of(state, *, move=False, tol=1e-10, relative=0.0):
    """The bound on the distance of the joint means from the present ones on, which are moved there or not."""
    solver = solver_of(state)
    coupled = solver.couple([joint_means.prepare(state)])
    solution = solver.solve(coupled, move=move, tol=tol, relative=relative)
    if move:
        assert len(solution.maps) == 1
        messages.smooth(state, NOTHING)
    return solution.distance


def solved(problem, tol, relative, threads=1):
    """The bound, the correction that was found, and the right one."""
    state = begun(problem.slice(threads))
    distance = distance_of(state, tol=tol, relative=relative)
    right = dense_joint_means(problem) - state.workspace.means
    correction = state.workspace.correction
    return distance - np.abs(correction).max(initial=0.0), correction, right


@examples(32)
@given(
    st.sampled_from([Skills, SkillsAndMargins]),
    seeds,
    drifts,
    st.sampled_from([100.0, 10.0, 1.0, 0.1, 1e-9]),
    st.sampled_from([1, 2, 3]),
)
def test_it_solves_what_dense_algebra_solves_and_the_bound_bounds_the_error(
    kind, seed, drift, tol, threads
):
    """Large problems take more steps than the bound looks back over."""
    size = {"players": 25, "periods": 8} if tol > 1e-9 else {}
    bound, found, right = solved(kind(seed, drift, **size), tol, 0.0, threads)
    assert bound < tol + 1e-8
    assert np.abs(found - right).max() <= (bound + 1e-9 if size else 1e-7)


@examples(12)
@given(st.sampled_from([Skills, SkillsAndMargins]), seeds, drifts)
def test_what_bounds_the_error_is_right(kind, seed, drift):
    """Variances before games, and that no eigenvalue of M^-1 A is below the one taken for the least."""
    problem = kind(seed, drift)
    state = begun(problem.slice())
    least = solver_of(state).couple([joint_means.prepare(state)]).least
    covariance, (matrix, _) = problem.covariance(), problem.dense()
    assert state.prior_variance == pytest.approx(np.diag(covariance))
    some = np.eye(len(matrix))
    eigenvalues = np.linalg.eigvals(
        np.linalg.solve(some + covariance * np.diag(matrix), some + covariance @ matrix)
    )
    diagonal = np.diag(matrix) * np.diag(covariance)
    chain = np.unique(covariance != 0.0, axis=0, return_inverse=True)[1].ravel()
    assert least == pytest.approx(1.0 / (1.0 + np.bincount(chain, diagonal).max()))
    assert least <= eigenvalues.real.min() * (1.0 + 1e-9)


def test_rounding_ends_a_solution_that_it_keeps_from_its_tolerance():
    problem = SkillsAndMargins(1, 0.0, players=25, periods=8)
    problem.weight *= np.random.default_rng(1).choice([1.0, 1e2, 1e4], len(problem.weight))
    bound, found, right = solved(problem, 1e-9, 0.0)
    assert np.abs(found - right).max() <= bound + 1e-9 < np.inf


def test_a_share_of_the_whole_can_be_enough():
    problem = Skills(3, 30.0, players=25, periods=8)
    bound, found, right = solved(problem, 1e-9, 0.05)
    error = found - right
    precision = np.linalg.inv(problem.covariance()) + problem.dense()[0]
    assert error @ precision @ error <= 0.05**2 * (right @ precision @ right)
    assert np.abs(error).max() <= bound
    assert bound > 1e-9


def test_nothing_to_solve_is_solved():
    state = begun(Skills(1, 30.0).slice())
    solver = solver_of(state)
    coupled = solver.couple([joint_means.prepare(state)])
    state.workspace.residual.fill(0.0)
    assert solver.solve(coupled, move=False, tol=1e-9, relative=0.0).distance == 0.0
    assert not state.workspace.correction.any()


@pytest.fixture(scope="module")
def timeline():
    return build_timeline(make_games(random_rows(3, 300, 12, 25)))


def test_few_games_are_one_part(timeline, monkeypatch):
    monkeypatch.setattr(parts, "GAMES_EACH", 200)
    assert len(period_cuts(timeline.game_start, 4)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("accelerate", [True, pytest.param(False, marks=pytest.mark.large)])
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_any_number_of_threads_comes_to_the_same(timeline, model, accelerate):
    module = registry.load(model)
    params = module.Params(
        beta=300, tau=70, white_advantage=20, growth=300.0, prior_mean_drift=40.0
    )
    one, *others = (
        module.fit(timeline, params, SolverConfig(tol=1e-8, threads=threads, accelerate=accelerate))
        for threads in (1, 2, 3, 5)
    )
    for other in others:
        assert other.status.converged
        assert other.mean == pytest.approx(one.mean, abs=1e-6)
        assert other.sd == pytest.approx(one.sd, abs=1e-6)
        assert other.chains["skill"].covariance == pytest.approx(
            one.chains["skill"].covariance, rel=1e-6
        )
        assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-7)
        assert other.leave_one_out == pytest.approx(one.leave_one_out, abs=1e-6)
        assert other.status.sweeps <= 3 * one.status.sweeps


def inference_of(model, timeline, tau):
    if model is ttt:
        return ttt.through_time(timeline, ttt.Params(tau=tau), 150.0).inference(Offsets(40.0))
    params = ttt_d.Params(tau=tau, draw_margin_tau=tau / 10, white_advantage=40).resolved()
    return ttt_d.through_time(timeline, params).inference(Offsets(40.0))


@pytest.mark.parametrize("tau", [0.0, 60.0])
@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_the_models_move_to_the_means_that_they_solved_for(model, tau):
    """After a move nothing is left to move, and only means have moved."""
    inference = inference_of(model, history(1, games=40), tau)
    inference.sweep(Pace.PLAIN)
    before = marginals(inference.slice_state)
    distance_of(inference.slice_state, move=True)
    after = marginals(inference.slice_state)
    assert np.array_equal(before[1], after[1])
    assert np.abs(before[0] - after[0]).max() > 1
    assert distance_of(inference.slice_state) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0.0, 60.0])
@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_a_fixed_point_of_the_messages_is_one_of_the_joint_means(model, tau):
    """Departure from the paper: the way changes, the goal does not."""
    inference = inference_of(model, history(2, games=40), tau)
    for _ in range(400):
        inference.sweep(Pace.PLAIN)
    before = marginals(inference.slice_state)
    inference.sweep(Pace.JOINT)
    assert marginals(inference.slice_state) == pytest.approx(before, abs=1e-7)


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
