"""How much work a fit is: sweeps, passes over the games, steps of the joint solution, bytes. Counts only, no clock.

The limits are what was counted when they were written, with a little room for other processors and versions of numpy,
whose rounding and random numbers may differ. What does more work than this has become slower.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.games.read import read_games
from ttt_cli.inference.links import merge_games
from ttt_cli.kernels import factor
from ttt_cli.kernels.ep import ttt, ttt_d
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

SAMPLE = Path(__file__).parents[2] / "sample_pgn" / "classics.pgn"
PLANS: dict[str, dict[str, Any]] = {
    "weak ties": {
        "games": 4000,
        "players": 400,
        "years": 40,
        "clusters": 20,
        "mixing": 0.01,
        "seed": 1,
    },
    "many nodes": {"games": 20_000, "players": 10_000, "years": 40, "clusters": 200, "seed": 1},
    "many games": {"games": 20_000, "players": 60, "years": 10, "clusters": 1, "seed": 1},
}
SWEEP = {"ttt": ttt, "ttt-d": ttt_d}
ONE_THREAD = SolverConfig(posterior="factorised", threads=1)
SPARE = 1 << 16  # bytes that do not depend on the games

# History to model to (sweeps, passes over the periods, steps of the joint solution).
# TTT-D passes over the nodes without their games, too, to normalise its evidence.
MOST = {
    "classics": {"ttt": (3, 6, 60), "ttt-d": (4, 16, 96)},
    "weak ties": {"ttt": (4, 8, 42), "ttt-d": (4, 14, 54)},
    "many nodes": {"ttt": (4, 8, 32), "ttt-d": (4, 14, 43)},
    "many games": {"ttt": (3, 6, 48), "ttt-d": (4, 14, 86)},
}
# With newcomers' mean and with margins that move: so many sweeps more, so many times the steps.
MOVING: dict[str, dict[str, float]] = {
    "nothing": {},
    "newcomers": {"growth": 200.0, "prior_mean_drift": 15.0},
    "margins": {"draw_margin_drift": 0.04, "draw_margin_strength": 0.15},
}
MORE = {
    "nothing": {"ttt": (0, 1.0), "ttt-d": (0, 1.0)},
    "newcomers": {"ttt": (1, 1.6), "ttt-d": (1, 1.3)},
    "margins": {"ttt": (1, 1.35), "ttt-d": (7, 1.8)},
}
PER_GAME = {"ttt": 70, "ttt-d": 70}  # bytes, while equal games are merged
PER_PAIR = {"ttt": 84, "ttt-d": 136}  # bytes of the fit that follows
PER_NODE = {"ttt": 216, "ttt-d": 750}
CASES = [(name, model) for name in MOST for model in SWEEP]


@pytest.fixture(scope="module")
def games():
    drawn = {name: simulate(Plan(**plan)).games() for name, plan in PLANS.items()}
    return {"classics": read_games([SAMPLE]), **drawn}


@pytest.fixture(scope="module")
def timelines(games):
    return {name: build_timeline(table) for name, table in games.items()}


class Calls:
    """Stands in for functions and counts their calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self.of: dict[str, int] = {}

    def count(self, module: Any, name: str) -> None:
        function = getattr(module, name)
        self.of[name] = 0

        def counted(*args: Any) -> Any:
            self.of[name] += name != "add_couplings" or args[1] > args[0]  # of some games
            return function(*args)

        self._patch.setattr(module, name, counted)


def fitted(timeline, name, solver=ONE_THREAD, params=MappingProxyType({}), **keys):
    model = registry.load(name)
    return model.fit(timeline, model.Params(**params), solver, **keys)


def holds_at_most(most: int, work) -> bool:
    """True if work needs at most so many bytes beyond those held before.

    The first call may load kernels. Threads of other tests, a cluster's client among them, can add to one
    measurement, never to all of them: the least of up to four counts.
    """
    work()
    return any(peak_bytes(work) <= most for _ in range(4))


def peak_bytes(work) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "model"), CASES)
@pytest.mark.parametrize("moving", MORE)
def test_sweeps_passes_and_steps_did_not_grow(timelines, moving, name, model, monkeypatch):
    """TTT-D's fit without games, which normalises its evidence, is among them."""
    calls = Calls(monkeypatch)
    calls.count(SWEEP[model], "sweep")
    calls.count(SWEEP[model], "add_couplings")
    found = fitted(timelines[name], model, params=MOVING[moving])
    assert found.status.converged
    sweeps, passes, steps = MOST[name][model]
    further, factor = MORE[moving][model]
    assert found.status.sweeps <= sweeps + further
    assert 2 * found.status.sweeps <= calls.of["sweep"] <= passes + 2 * further
    assert 0 < calls.of["add_couplings"] <= factor * steps


def test_a_sweep_updates_every_site_twice_and_no_more(timelines, monkeypatch):
    timeline = timelines["many games"]
    calls = Calls(monkeypatch)
    calls.count(ttt, "sweep")
    calls.count(ttt, "evidence")
    plain = SolverConfig(
        posterior="factorised", threads=1, accelerate=False, tol=1e-300, max_sweeps=5
    )
    fitted(timeline, "ttt", plain)
    assert calls.of == {"sweep": 2 * 5, "evidence": 1}
    pairs = merge_games(timeline, colours=False)
    assert (
        len(pairs) <= 0.21 * timeline.n_games
    )  # a site is held and updated once for all equal games


@pytest.mark.parametrize("model", SWEEP)
def test_a_fit_that_starts_at_the_end_has_little_to_do(timelines, model):
    timeline = timelines["weak ties"]
    assert fitted(timeline, model, start=fitted(timeline, model)).status.sweeps <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "most"),
    [("ttt", (4, 3, 3)), pytest.param("ttt-d", (9, 4, 4), marks=pytest.mark.large)],
)
def test_a_joint_fit_for_its_evidence_stops_early_and_sooner_near_another(
    timelines, model, most, monkeypatch
):
    """So many factors; the evidence is that of a fit to the last digits all the same."""
    solver, near = SolverConfig(posterior="joint", tol=0.5), None
    for drift, rounds in zip((60.0, 90.0, 120.0), most, strict=True):
        calls = Calls(monkeypatch)
        calls.count(factor, "factorise")
        params = {"tau": drift}
        near = fitted(
            timelines["classics"], model, solver, start=near, params=params, evidence_only=True
        )
        assert calls.of["factorise"] <= rounds
        exact = fitted(
            timelines["classics"],
            model,
            SolverConfig(posterior="joint", tol=1e-5),
            start=near,
            params=params,
        )
        assert near.log_evidence == pytest.approx(exact.log_evidence, abs=1e-5)


@pytest.mark.parametrize(("name", "model"), CASES)
def test_the_memory_of_a_fit_did_not_grow(timelines, name, model):
    timeline = timelines[name]
    pairs = len(merge_games(timeline, colours=False))
    most = max(
        PER_GAME[model] * timeline.n_games,
        PER_PAIR[model] * pairs + PER_NODE[model] * timeline.n_nodes,
    )
    assert holds_at_most(most + SPARE, lambda: fitted(timeline, model))


@pytest.mark.parametrize("name", MOST)
def test_the_memory_of_a_timeline_did_not_grow(games, timelines, name):
    most = 25 * len(games[name]) + 45 * timelines[name].n_nodes
    assert holds_at_most(most + SPARE, lambda: build_timeline(games[name]))
