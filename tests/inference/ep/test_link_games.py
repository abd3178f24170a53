"""Links of any number of variables in the engine, beside pairs, against dense expectation propagation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.link_histories import FIGURES, History, random_history, sides
from tests.reference.links_dense import FactorisedTwin, JointTwin, performed
from tests.support.cases import each
from tests.support.linked import Linked, as_fit
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep.link_games import defining_links
from ttt_cli.inference.joint.samples import sampled_histories
from ttt_cli.inference.joint.shape import shape_of
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.inference.model import NO_OFFSETS
from ttt_cli.inference.solver import iterate
from ttt_cli.kernels.ep.structures import LinkRows
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt_d

JOINT = SolverConfig(tol=1e-9, posterior="joint", max_sweeps=2000)
FACTORISED = SolverConfig(tol=1e-9, posterior="factorised", max_sweeps=5000)


def with_one_drift(seed, **more) -> History:
    """A random history whose skills all have the same drift, as the engine's walk."""
    history = random_history(seed, **more)
    history.chains = [
        (name, years, sd, drift if " " in name else 60.0)
        for name, years, sd, drift in history.chains
    ]
    return history


@each("name", ["categories", "teams", "sides"])
def test_published_figures(name):
    make, log_z, beliefs = FIGURES[name]
    linked = Linked(make())
    fit, posterior = linked.fit(JOINT)
    assert fit.status.converged
    assert fit.log_evidence == pytest.approx(log_z, abs=1e-7)
    mean, sd = linked.beliefs(fit, posterior)
    for (player, year), (wanted_mean, wanted_sd) in beliefs.items():
        variable = linked.history.number(player, year)
        assert mean[variable] == pytest.approx(wanted_mean, abs=1e-5)
        if wanted_sd is not None:
            assert sd[variable] == pytest.approx(wanted_sd, abs=1e-5)


@each("seed, pairs", [(seed, pairs) for seed in range(5) for pairs in (True, False)])
def test_the_joint_posterior_is_that_of_the_dense_twin(seed, pairs):
    linked = Linked(with_one_drift(seed), pairs=pairs)
    fit, posterior = linked.fit(JOINT)
    twin = JointTwin(*linked.history.prior(), linked.history.links).run()
    assert fit.status.converged
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    assert linked.beliefs(fit, posterior) == pytest.approx(np.array(twin.beliefs()), abs=1e-5)
    weight = np.array([link.weight for link in linked.history.links])
    assert fit.leave_one_out == pytest.approx(weight @ twin.predictive(), abs=1e-6)


@each("seed, pairs", [(seed, pairs) for seed in range(4) for pairs in (True, False)])
def test_messages_reach_the_dense_twin(seed, pairs):
    linked = Linked(with_one_drift(seed), pairs=pairs)
    fit, posterior = linked.fit(FACTORISED)
    history = linked.history
    mean, covariance = history.chain_prior()
    precision = np.zeros((history.size + len(history.sums),) * 2)
    precision[: history.size, : history.size] = np.linalg.inv(covariance)
    full = np.append(mean, np.zeros(len(history.sums)))
    twin = FactorisedTwin(full, precision, linked.links).run()
    assert fit.status.converged
    assert linked.beliefs(fit, posterior) == pytest.approx(np.array(twin.beliefs()), abs=1e-5)
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)


WHOLE_GAMES = (1.0, 2.0, 5.0)  # weights below 1 leave log Z a little below its maximum in the sites


def slope(log_z, step: float) -> float:
    return (log_z(step) - log_z(-step)) / (2.0 * step)


@pytest.mark.slow
@each("seed, solver", [(seed, solver) for seed in (1, 3) for solver in (JOINT, FACTORISED)])
def test_the_gradient_is_that_of_differences(seed, solver):
    history = with_one_drift(seed, weights=WHOLE_GAMES)
    linked = Linked(history)
    _, posterior = linked.fit(solver)
    gradient = posterior.gradient()
    rows, extra = linked.games.rows, linked.games.extra

    def with_rows(**changes) -> float:
        again = Linked(history)
        again.games = replace(linked.games, rows=rows._replace(**changes))
        return again.fit(solver)[0].log_evidence

    rng = np.random.default_rng(seed)
    for name, size in (("offset", 1.0), ("noise", 1000.0), ("low", 1.0), ("high", 1.0)):
        # exact observations are moved by their offset
        moved = np.isfinite(getattr(rows, name)) & (
            (rows.low < rows.high) | (name in ("offset", "noise"))
        )
        moved &= (rows.noise > 0.0) | (name != "noise")
        direction = np.where(moved, rng.normal(0.0, size, len(moved)), 0.0)
        found = getattr(gradient.links.links, name) @ direction
        wanted = slope(lambda h: with_rows(**{name: getattr(rows, name) + h * direction}), 1.0)
        assert found == pytest.approx(wanted, rel=2e-4, abs=1e-8), name
    if len(extra.variance):
        direction = rng.normal(0.0, 100.0, len(extra.variance))

        def with_extra(h: float) -> float:
            again = Linked(history)
            again.games = replace(
                linked.games, extra=replace(extra, variance=extra.variance + h * direction)
            )
            return again.fit(solver)[0].log_evidence

        assert gradient.links.extra.by_variance @ direction == pytest.approx(
            slope(with_extra, 1.0), rel=2e-4
        )

    def with_mean(h: float) -> float:
        again = Linked(history)
        again.history = replace(history, means=[history.means[0] + h, *history.means[1:]])
        return again.fit(solver)[0].log_evidence

    assert gradient.links.origin == pytest.approx(slope(with_mean, 1.0), rel=2e-4, abs=1e-8)
    assert gradient.params["tau"] == pytest.approx(
        slope(lambda h: tau_moved(history, solver, h), 0.1), rel=2e-4
    )


def tau_moved(history, solver, h: float) -> float:
    moved = replace(
        history,
        chains=[
            (name, years, sd, drift + h * (" " not in name))
            for name, years, sd, drift in history.chains
        ],
    )
    return Linked(moved).fit(solver)[0].log_evidence


@pytest.mark.slow
@each("seed", range(3))
def test_newcomers_whose_mean_moves_play_linked_games_too(seed):
    """Their mean is part of the prior covariance of the twin: 1 point at first, then 40 points a year."""
    history = with_one_drift(seed)
    linked = Linked(history)
    fit, posterior = linked.fit(JOINT, prior_mean_drift=40.0, growth=1e-6)
    mean, covariance = history.chain_prior()
    debut = np.concatenate([np.full(len(years), years[0]) for _, years, _, _ in history.chains])
    is_skill = np.concatenate(
        [np.full(len(years), " " not in name) for name, years, _, _ in history.chains]
    )
    first = debut[is_skill].min()
    common = 1.0 + 40.0**2 * (np.minimum.outer(debut, debut) - first)
    covariance = covariance + common * np.outer(is_skill, is_skill)
    twin = JointTwin(
        *performed(mean, covariance, history.sums, history.spread), history.links
    ).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    assert linked.beliefs(fit, posterior) == pytest.approx(np.array(twin.beliefs()), abs=1e-5)


@each("solver", [JOINT, FACTORISED])
def test_a_fit_starts_from_an_earlier_one_of_the_same_links(solver):
    linked = Linked(with_one_drift(2))
    cold, _ = linked.fit(solver)
    warm, _ = linked.fit(solver, cold)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-8)
    assert warm.status.sweeps < cold.status.sweeps
    guessed, _ = linked.fit(solver, replace(cold, state={}))
    assert guessed.log_evidence == pytest.approx(cold.log_evidence, abs=1e-8)


@pytest.mark.slow
def test_sds_by_samples_are_those_of_the_factor():
    linked = Linked(with_one_drift(3))
    inference = linked.through_time().inference(NO_OFFSETS, None, 1)
    iterate(inference.sweep, FACTORISED, None)
    exact = JointInference(inference, shape_of(inference))
    exact.believe()
    wanted = exact.histories()["skill"].sd
    sampled = sampled_histories(inference, 1000)
    assert sampled.chains["skill"].sd == pytest.approx(wanted, rel=4.0 * sampled.error + 1e-3)


def test_a_performance_is_solved_for_whatever_its_coefficient():
    """-2 t + 3 a - b + e = 5 with an offset of 1 and var(e) = 8 says t = (4 - 3 a + b - e) / -2."""
    rows = LinkRows(
        start=np.array([0, 1]),
        row=np.array([0, 3]),
        variable=np.array([2, 0, 1]),
        coefficient=np.array([-2.0, 3.0, -1.0]),
        offset=np.array([1.0]),
        noise=np.array([8.0]),
        low=np.array([5.0]),
        high=np.array([5.0]),
        weight=np.array([1.0]),
        lapse=np.zeros(1),
        base=np.zeros(1),
    )
    defining = defining_links(rows, 2, 1)
    assert defining.constant.tolist() == [-2.0]
    assert defining.coefficient.tolist() == [1.5, -0.5]
    assert defining.noise.tolist() == [2.0]


def test_a_performance_that_nothing_defines_is_an_error():
    linked = Linked(sides())
    rows = linked.games.rows
    unknown = rows._replace(high=np.where(rows.low == rows.high, rows.low + 1.0, rows.high))
    linked.games = replace(linked.games, rows=unknown)
    with pytest.raises(ValueError, match="not defined"):
        linked.fit(JOINT)


def test_links_are_refused_where_players_have_draw_margins():
    linked = Linked(sides())
    params = ttt_d.Params(draw_margin_mean=250.0, draw_margin_sd=100.0, draw_margin_tau=20.0)
    shared = replace(ttt_d.through_time(linked.timeline, params), links=linked.games)
    with pytest.raises(ConfigError, match="need TTT and one slice"):
        shared.fit(as_fit, JOINT, {})
