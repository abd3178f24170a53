"""The loop over sweeps: when it ends."""

from __future__ import annotations

import math

import pytest

from tests.support.builders import historical, make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.solver import Pace, Sweep, iterate, rough_enough
from ttt_cli.systems import registry, ttt, ttt_d
from ttt_cli.timeline import build_timeline


@pytest.mark.parametrize("model", [ttt, ttt_d])
def test_sweeps_that_go_round_in_circles_end(model):
    """Messages alone let sites used a million times answer to themselves for ever; fast sweeps settle them at once."""
    timeline = build_timeline(make_games([(1850, "a", "b", 2, 1e6), (1851, "a", "b", 1, 1.0)]))
    plain, fast = (
        model.fit(
            timeline, model.Params(), SolverConfig(posterior="factorised", accelerate=accelerate)
        ).status
        for accelerate in (False, True)
    )
    assert not plain.converged
    assert plain.sweeps < 100
    assert fast.converged
    assert fast.sweeps < 6


def test_plain_sweeps_go_on_while_they_still_change_less():
    changes = iter(1000.0 * 0.99**k for k in range(1_000))

    def sweep(pace: Pace) -> Sweep:
        assert pace is Pace.PLAIN
        return Sweep(next(changes))

    status, trace = iterate(
        sweep,
        SolverConfig(posterior="factorised", accelerate=False, tol=100.0, max_sweeps=1_000),
        None,
    )
    assert status.converged
    assert len(trace) > 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "posterior"),
    [
        ("ttt", "factorised"),
        ("ttt-d", "joint"),
        pytest.param("ttt", "joint", marks=pytest.mark.large),
        pytest.param("ttt-d", "factorised", marks=pytest.mark.large),
    ],
)
def test_evidence_hardly_depends_on_the_tolerance(data, model, posterior):
    """It stands still at the fixed point: of half a point left in skills nothing is left in it."""
    rows = [row for row in historical(data, "historical_pre1942.csv.gz") if row[0] < 1900]
    timeline, module = build_timeline(make_games(rows)), registry.load(model)
    exact = SolverConfig(tol=1e-5, posterior=posterior)
    rough = rough_enough(SolverConfig(posterior=posterior))
    for params in (
        module.Params(),
        module.Params(beta=250, tau=150),
        module.Params(beta=900, tau=25),
    ):
        fits = [module.fit(timeline, params, solver) for solver in (exact, rough)]
        assert rough.tol > fits[1].status.remaining_error > fits[0].status.remaining_error
        assert fits[1].log_evidence == pytest.approx(fits[0].log_evidence, abs=2e-5)


def estimates_over_truth(rates, *, warm=False):
    """Estimated over true remaining error after each sweep of moves that shrink by these rates, then by the last."""
    moves = [1.0]
    for rate in rates:
        moves.append(moves[-1] * rate)
    last = rates[-1]
    truth = [sum(moves[k + 1 :]) + moves[-1] * last / (1.0 - last) for k in range(len(moves))]
    sweeps = iter(moves)
    solver = SolverConfig(tol=1e-30, max_sweeps=len(moves))
    _, trace = iterate(lambda _: Sweep(next(sweeps)), solver, None, warm=warm)
    return [estimate / true for (_, estimate), true in zip(trace, truth, strict=True)]


def test_a_steady_rate_is_trusted_to_a_tenth():
    """Moves of a slow geometric series: the rest is known, and a tenth is added since rates still creep up."""
    found = estimates_over_truth([0.9] * 10)
    assert found[5:] == pytest.approx([1.1] * 6)
    assert estimates_over_truth([0.9] * 10, warm=True)[2:] == pytest.approx([1.1] * 9)


def test_rates_that_move_are_trusted_less():
    """Until three rates agree within 35 %, and after moves have grown, estimates are two and a half times as large."""
    early = estimates_over_truth([0.9] * 10)
    assert early[3] == pytest.approx(2.5)  # two rates
    wandering = estimates_over_truth([0.9, 0.9, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    truth = wandering[5] / 2.5  # the 0.6 is among the last three rates
    assert truth == pytest.approx(1.0)
    assert wandering[6] == pytest.approx(1.1)
    grown = estimates_over_truth([0.9, 1.2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    assert grown[7:] == pytest.approx([2.5] * 2)


def test_a_rate_of_one_sweep_or_less_promises_nothing():
    assert estimates_over_truth([0.9] * 4)[:2] == [math.inf, math.inf]
