"""Lapses of teams, in orders of finish and in categories: the dense twin, importance sampling, gradients, no lapse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.inference.test_categories import games_in_categories
from tests.inference.test_categories import random_rows as rows_in_categories
from tests.reference.links_dense import JointTwin, by_importance
from tests.support.builders import assert_slopes
from tests.support.cases import each
from tests.support.random_sides import PARAMS, as_history, random_rows
from tests.support.sides import games_of_sides, race
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.fitted import Fit
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

JOINT = SolverConfig(tol=1e-9, posterior="joint", max_sweeps=2000)
OFFSETS = {"rapid": {"sd": 90.0, "tau": 40.0}, "blitz": {"sd": 140.0, "tau": 25.0}}
LAPSE = {"lapse": 0.15, "beta": 300.0, "draw_margin": 150.0}


def upsets(times: int = 1) -> Timeline:
    """Sides that won before lose to such that lost."""
    rows = []
    for number in range(1, 2 * times, 2):
        rows += [
            (1900, "a / b", "c / d", 2), (1900, "a", "c", 2), (1900, "b", "d", 2), (1901, "c / d", "a / b", 2),
            *race(1901, number, ["a", "b", "c", "d"]), *race(1902, number + 1, ["d", "c / a", "b"]),
        ]  # fmt: skip
    return build_timeline(games_of_sides(rows), "year", "known")


def of_sides(seed: int) -> Timeline:
    """Teams, orders of finish and games of two, in three categories."""
    return build_timeline(games_of_sides(*random_rows(seed)), "year", "known")


def of_pairs(seed: int) -> Timeline:
    """Games of two, in three categories."""
    return build_timeline(games_in_categories(rows_in_categories(seed, 25)), "year", "known")


TIMELINES = {"sides": of_sides, "pairs": of_pairs}


def fitted(timeline: Timeline, **params) -> tuple[ttt.Params, Fit]:
    of_fit = ttt.Params(**{**PARAMS, **LAPSE, **params})
    fit = ttt.fit(timeline, of_fit, JOINT)
    assert fit.status.converged
    assert fit.posterior == "joint"
    return of_fit, fit


def variables_of(timeline: Timeline, history) -> list[int]:
    """The variables of all nodes."""
    return [
        history.number(timeline.players[player], int(timeline.label(int(period))))
        for player, period in zip(timeline.node_player, timeline.node_period, strict=True)
    ]


@each(
    "kind, seed, team, correlation",
    [
        ("sides", 0, "sum", 0.0),
        ("sides", 1, "mean", 0.0),
        ("sides", 3, "sum", 0.5),
        ("pairs", 1, "sum", 0.0),
        ("pairs", 2, "sum", 0.5),
    ],
)
def test_the_dense_twin(kind, seed, team, correlation):
    """Its sites have the moments of the mixture; some take precision away."""
    timeline = TIMELINES[kind](seed)
    categories = set(timeline.category.values) - {""}
    offsets = {name: setting for name, setting in OFFSETS.items() if name in categories}
    params, fit = fitted(timeline, team=team, offsets=offsets, offset_correlation=correlation)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    mean, sd = twin.beliefs()
    variables = variables_of(timeline, history)
    assert fit.mean == pytest.approx(mean[variables], abs=1e-5)
    assert fit.sd == pytest.approx(sd[variables], abs=1e-5)
    weight = np.array([link.weight for link in history.links])
    assert fit.leave_one_out == pytest.approx(weight @ twin.predictive(), abs=1e-6)


def test_sites_of_surprises_take_precision_away():
    timeline = upsets()
    params, fit = fitted(timeline, beta=150.0)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert (twin.q < 0.0).any()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    variables = variables_of(timeline, history)
    assert fit.sd == pytest.approx(twin.beliefs()[1][variables], abs=1e-5)


@pytest.mark.slow
@each("lapse, beta", [(0.1, 480.0), (0.3, 480.0), (0.2, 250.0)])
def test_importance_sampling(lapse, beta):
    """Of teams and orders of finish with upsets; with little chance and noise these make two peaks."""
    timeline = upsets()
    params, fit = fitted(timeline, lapse=lapse, beta=beta)
    history = as_history(timeline, params, fit.elo_unit)
    sampled = by_importance(*history.prior(), history.links)
    variables = variables_of(timeline, history)
    assert fit.log_evidence == pytest.approx(sampled.log_z, abs=0.06)
    assert fit.mean == pytest.approx(sampled.mean[variables], abs=10.0)
    assert fit.sd == pytest.approx(sampled.sd[variables], abs=10.0)


@each("kind", [*TIMELINES])
def test_slopes_are_those_of_differences(kind):
    timeline = TIMELINES[kind](1)
    params = ttt.Params(**{**PARAMS, **LAPSE, "white_advantage": 35.0}, offsets=OFFSETS)
    keys = ("lapse", "beta", "tau", "draw_margin", "white_advantage")
    assert_slopes(ttt, timeline, params, keys, JOINT, rel=2e-4)


@each("kind", [*TIMELINES])
def test_the_slope_at_no_lapse_is_that_of_what_chance_adds(kind):
    timeline = TIMELINES[kind](1)
    params, fit = fitted(timeline, lapse=0.0)
    slope = ttt.gradient(timeline, params, fit)["lapse"]
    _, more = fitted(timeline, lapse=1e-7)
    assert slope == pytest.approx((more.log_evidence - fit.log_evidence) / 1e-7, rel=1e-3)


@each("kind", [*TIMELINES])
def test_the_factorised_posterior_takes_no_precision_away(kind):
    """It has no proper Gaussian without games of others, whatever sites there are; the slope is close."""
    factorised = SolverConfig(tol=1e-10, posterior="factorised", max_sweeps=5000)
    timeline = TIMELINES[kind](2)
    params = ttt.Params(**{**PARAMS, **LAPSE}, offsets=OFFSETS)
    fit = ttt.fit(timeline, params, factorised)
    assert fit.status.converged
    assert np.all(fit.sd <= 400.0 + 60.0 * np.sqrt(5.0))
    assert_slopes(ttt, timeline, params, ("lapse",), factorised, rel=0.1)


def test_the_share_is_estimated():
    """At its maximum by the evidence and the prior, which the slopes of both say."""
    timeline = upsets(3)
    _, fit = fitted(timeline, lapse="estimate", beta=200.0)
    share = fit.params["lapse"]
    assert 0.01 < share < 0.5
    params = ttt.Params(**{**PARAMS, **LAPSE, "lapse": share, "beta": 200.0})
    slope = ttt.gradient(timeline, params, ttt.fit(timeline, params, JOINT))["lapse"]
    assert slope == pytest.approx(9.0 / (1.0 - share), abs=0.2)


@pytest.mark.slow
def test_the_share_of_simulated_teams_is_found_again():
    """With the beta and the draw margin that they were drawn with."""
    plan = Plan(
        players=60, years=4, games=3_000, seed=3, team_size=2, lapse=0.2, beta=300.0, draw_margin=150.0,
        career_years=20.0,
    )  # fmt: skip
    timeline = build_timeline(simulate(plan).games(), "year", "known")
    params = ttt.Params(beta=300.0, draw_margin=150.0, lapse="estimate")
    fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"))
    assert fit.standard_errors["lapse"] < 0.04
    assert abs(fit.params["lapse"] - 0.2) < 2.5 * fit.standard_errors["lapse"]


@pytest.mark.parametrize("seed", [0, 8])
def test_many_surprises_of_teams_have_a_fixed_point(seed):
    plan = Plan(
        players=40, years=6, games=2_000, seed=seed, team_size=2, lapse=0.2, beta=150.0
    )  # fmt: skip
    params = ttt.Params(beta=150.0, lapse=0.17, draw_margin=plan.margin)
    timeline = build_timeline(simulate(plan).games(), "year", "known")
    fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"), evidence_only=True)
    assert fit.status.converged
    factorised = ttt.fit(timeline, params, SolverConfig(posterior="factorised"), evidence_only=True)
    assert factorised.status.converged
    assert fit.log_evidence == pytest.approx(factorised.log_evidence, abs=30.0)


STEPS = {"2": 100.0, "3": 80.0}


def with_margins(seed: int) -> Timeline:
    """Games of two, in three categories, of which three in four of the decided ones have margins of 1 to 3."""
    rows = [
        (*row, False, float(number % 4) if row[4] != 1 else 0.0)
        for number, row in enumerate(rows_in_categories(seed, 25))
    ]
    return build_timeline(games_in_categories(rows), "year", "known")


@each("seed, offsets", [(1, {}), (2, OFFSETS)])
def test_margins_of_victory(seed, offsets):
    """Of the dense twin: the base rate of a win is divided by how frequent its margin is; slopes by differences."""
    timeline = with_margins(seed)
    params, fit = fitted(timeline, margin_steps=STEPS, offsets=offsets)
    history = as_history(timeline, params, fit.elo_unit)
    assert len({link.base for link in history.links}) > 3
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    mean, sd = twin.beliefs()
    variables = variables_of(timeline, history)
    assert fit.mean == pytest.approx(mean[variables], abs=1e-5)
    assert fit.sd == pytest.approx(sd[variables], abs=1e-5)
    keys = ("lapse", "beta", "tau", "draw_margin")
    gradient = assert_slopes(ttt, timeline, params, keys, JOINT, rel=2e-4)
    ends = [
        ttt.fit(
            timeline,
            params.model_copy(update={"margin_steps": {**STEPS, "2": 100.0 + step}}),
            JOINT,
        ).log_evidence
        for step in (-0.5, 0.5)
    ]
    assert gradient["margin_steps.2"] == pytest.approx(ends[1] - ends[0], rel=2e-4)


def test_margins_of_victory_near_no_lapse_are_those_without():
    timeline = with_margins(3)
    _, without = fitted(timeline, margin_steps=STEPS, lapse=0.0)
    _, near = fitted(timeline, margin_steps=STEPS, lapse=1e-9)
    assert near.log_evidence == pytest.approx(without.log_evidence, abs=1e-6)
    assert near.mean == pytest.approx(without.mean, abs=1e-4)
    assert near.sd == pytest.approx(without.sd, abs=1e-4)


@each(
    "make, more",
    [
        (of_sides, {}), (of_pairs, {"offsets": OFFSETS}), (with_margins, {"margin_steps": STEPS}),
        (of_pairs, {"offsets": OFFSETS, "lapse": 0.1}),
    ],
)  # fmt: skip
def test_doubtful_records(make, more):
    """Each has a share of its own: the dense twin, and the slope in the share of lapses."""
    timeline = make(1)
    doubt = np.random.default_rng(1).choice([0.0, 0.2, 0.7], timeline.n_games)
    timeline = replace(timeline, doubt=doubt)
    params, fit = fitted(timeline, **{"lapse": 0.0, **more})
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    variables = variables_of(timeline, history)
    assert fit.mean == pytest.approx(twin.beliefs()[0][variables], abs=1e-5)
    if params.lapse:
        assert_slopes(ttt, timeline, params, ("lapse", "beta"), JOINT, rel=2e-4)
