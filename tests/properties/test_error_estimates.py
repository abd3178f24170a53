"""The estimated remaining error against the true one, at every sweep of fits of small histories of all kinds."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep.results import marginals
from ttt_cli.inference.joint.shape import shape_of
from ttt_cli.inference.joint.sites import JointInference
from ttt_cli.inference.outcome import resolve_margin
from ttt_cli.inference.solver import iterate
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import build_timeline

pytestmark = pytest.mark.slow

UNSEEN = 1e-3  # points: errors as small as those that the joint solution may leave count as none


def random_rows(rng: random.Random) -> list[tuple]:
    """Few players or several, one year or many, even or not, few draws or many, with matches of up to 300 games."""
    names = "abcdef"[: rng.choice([2, 2, 3, 3, 4, 6])]
    years = rng.choice([1, 1, 3, 10, 60])
    strength = {name: rng.gauss(0, rng.choice([0.3, 1, 2])) for name in names}
    drawn = rng.choice([0.05, 0.3, 0.6])
    rows = []
    for _ in range(rng.choice([1, 3, 8, 20, 60])):
        white, black = rng.sample(names, 2)
        wins = rng.random() < 1 / (1 + math.exp(strength[black] - strength[white]))
        outcome = 1 if rng.random() < drawn else 2 * wins
        weight = rng.choice([1, 1, 1, 1, rng.choice([0.3, 5, 40, 300])])
        rows.append((1900 + rng.randrange(years), white, black, outcome, float(weight)))
    return rows


def random_params(rng: random.Random, model) -> dict[str, float]:
    beta = rng.choice([50, 150, 300, 480, 800])
    params = {
        "beta": beta,
        "tau": rng.choice([0, 10, 60, 200]),
        "prior_sd": rng.choice([100, 400, 400, 1000]),
        "white_advantage": rng.choice([0, 0, 60]),
    }
    if model is ttt_d and rng.random() < 0.7:
        params["draw_margin_mean"] = rng.choice([0.1, 0.3, 0.55, 1, 2]) * beta
        params["draw_margin_sd"] = rng.choice([0.05, 0.17, 0.5, 1.3, 3]) * beta
        params["draw_margin_tau"] = rng.choice([0, 0.02, 0.1, 0.3]) * beta
    return params


def inference_of(model, timeline, **given):
    params = model.Params(**given)
    shared = (
        ttt.through_time(timeline, params, resolve_margin(params, timeline))
        if model is ttt
        else ttt_d.through_time(timeline, params.resolved())
    )
    return shared.inference(shared.given_offsets)


def errors_and_estimates(model, rows, given):
    """(true error, estimate) after every sweep on the way to 1e-9, as far as that is reached; points."""
    inference = inference_of(model, build_timeline(make_games(rows)), **given)
    beliefs = []

    def note(*_):
        beliefs.append(marginals(inference.slice_state).ravel())

    pace = (
        {"least_rate": ttt_d.RATES.least, "too_early": ttt_d.RATES.too_early}
        if model is ttt_d
        else {}
    )
    status, trace = iterate(inference.sweep, SolverConfig(tol=1e-9, max_sweeps=300), note, **pace)
    if not status.converged:
        return []
    errors = [np.abs(one - beliefs[-1]).max() for one in beliefs]
    return [(error, estimate) for error, (_, estimate) in zip(errors, trace, strict=True)]


STIFF = {  # joint means that stand still in their solution, slow sds behind fast means, margins that stay a while
    ttt: [847, 848, 1154, 1189, 1253, 1531, 1552, 1868, 2136, 2167, 2207, 2555, 2666, 4223, 5879, 5966, 6061, 6247],
    ttt_d: [658, 770, 1397, 2191, 2207, 2555, 3990, 5478, 6057],
}  # fmt: skip


@pytest.mark.parametrize("model", [ttt, ttt_d])
@pytest.mark.parametrize("seeds", [30, pytest.param(240, marks=pytest.mark.large)])
def test_estimates_are_not_below_the_true_error(model, seeds):
    """Of 12,978 and 13,696 such histories (seeds below 14,600) 4 and 2 have one too low: 1401, ... and 548, 3779."""
    histories, low = 0, []
    for seed in [*range(seeds), *STIFF[model]]:
        rng = random.Random(seed)
        rows = random_rows(rng)
        try:
            found = errors_and_estimates(model, rows, random_params(rng, model))
        except ConfigError:  # nothing but draws, which gives no margin
            continue
        histories += bool(found)
        low += [
            (seed, error / estimate) for error, estimate in found if error > max(estimate, UNSEEN)
        ]
    assert histories > 0.75 * seeds
    assert not low


@pytest.mark.parametrize("results", [(200, 50, 50), (150, 150, 0), (250, 50, 0), (100, 150, 50)])
def test_a_long_match_with_wide_margins_is_not_said_to_have_settled_early(results):
    """Equal games that share a site agree with themselves slowly, where margins may be anything."""
    rows = [
        (1900, "a", "b", outcome, float(n))
        for outcome, n in zip((2, 1, 0), results, strict=True)
        if n
    ]
    given = {"beta": 150, "tau": 10, "draw_margin_mean": 50, "draw_margin_sd": 200}
    found = errors_and_estimates(ttt_d, rows, given)
    assert found
    assert all(error <= estimate for error, estimate in found if error > UNSEEN)


@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_estimates_of_joint_fits_are_not_below_the_true_error(model):
    """Of 400 such histories none of TTT has one too low, of TTT-D two, in rounds 4 to 6: seeds 110 and 145."""
    for seed in {*range(24), 83, 129, 170, 219}:
        rng = random.Random(seed)
        rows, given = random_rows(rng), random_params(rng, model)
        try:
            inference = inference_of(model, build_timeline(make_games(rows)), **given)
        except ConfigError:
            continue
        iterate(inference.sweep, SolverConfig(tol=0.1, max_sweeps=300), None)
        joint = JointInference(inference, shape_of(inference))
        beliefs = []
        status, trace = joint.solve(
            SolverConfig(tol=1e-9, max_sweeps=400),
            lambda *_, to=beliefs, of=joint: to.append(of.beliefs),
            (),
        )
        assert status.converged, seed
        for at, (_, estimate) in zip(beliefs, trace, strict=True):
            assert np.abs(at - beliefs[-1]).max() <= max(estimate, 1e-7), seed
