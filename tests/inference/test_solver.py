"""The loop over sweeps: when it ends."""

from __future__ import annotations

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
        sweep, SolverConfig(posterior="factorised", accelerate=False, tol=100.0, max_sweeps=1_000), None
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
    for params in (module.Params(), module.Params(beta=250, tau=150), module.Params(beta=900, tau=25)):
        fits = [module.fit(timeline, params, solver) for solver in (exact, rough)]
        assert rough.tol > fits[1].status.remaining_error > fits[0].status.remaining_error
        assert fits[1].log_evidence == pytest.approx(fits[0].log_evidence, abs=2e-5)
