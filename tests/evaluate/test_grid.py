"""Evidence over a grid: which points, that none is lost or computed twice, that nothing depends on how it is done."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.handmade import RECORDS, games_of, written
from tests.support.recorder import Recorder
from ttt_cli.api import configure, fit
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate import grid as module
from ttt_cli.evaluate.grid import (
    CHAIN,
    Axis,
    EvidenceGrid,
    evidence_grid,
    good_enough,
    grid_points,
    jobs_that_pay,
    make_chains,
    open_ends,
    params_key,
)
from ttt_cli.inference import posterior
from ttt_cli.inference.params import Params
from ttt_cli.inference.solver import LOOSER
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.support.errors import ConfigError, RunError
from ttt_cli.systems import ttt

pytestmark = pytest.mark.slow

SPEC = "beta=200:800:4,tau=20:100:3"
ODD = [
    *RECORDS,
    ("1863", "Morphy, Paul", "Paulsen, Louis", "0-1"),
    ("1866", "New, Man", "Morphy, Paul", "1-0"),
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    place = tmp_path / "a.ttt"
    return open_run(written(place, lambda: fit(games_of(ODD), output=place), "odd"))


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[Params]:
    """The parameters of all fits in this process, as they come."""
    return watch(monkeypatch, lambda _: None)


def watch(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None]) -> list[Params]:
    """Note every fit, and call `before` with its number, from 1."""
    real, seen = ttt.fit, []

    def counted(timeline: Any, params: Any, *args: Any, **rest: Any) -> Any:
        before(len(seen) + 1)
        seen.append(params)
        return real(timeline, params, *args, **rest)

    monkeypatch.setattr(ttt, "fit", counted)
    return seen


def values(grid: EvidenceGrid, *keys: str) -> list[tuple[float, ...]]:
    return [tuple(point.params[key] for key in keys) for point in grid.points]


def results(grid: EvidenceGrid) -> dict[str, tuple[Any, ...]]:
    return {p.point: (p.log_evidence, p.converged, p.sweeps, p.remaining_error) for p in grid.points}


def test_every_combination_is_a_point_and_neighbours_follow(run: Run) -> None:
    grid = evidence_grid(run, SPEC)
    assert grid.keys == ("beta", "tau")
    places = values(grid, "beta", "tau")
    assert len(places) == 12
    assert set(places) == {(b, t) for b in (200, 400, 600, 800) for t in (20, 60, 100)}
    steps = [abs(a - c) / 200 + abs(b - d) / 40 for (a, b), (c, d) in pairwise(places)]
    assert steps == pytest.approx([1.0] * 11)


def test_a_point_holds_what_a_fit_with_its_parameters_finds(run: Run) -> None:
    for point in evidence_grid(run, "beta=300/700,prior_sd=200/500").points:
        alone = fit(games_of(ODD), beta=point.params["beta"], prior_sd=point.params["prior_sd"]).meta
        assert point.log_evidence == pytest.approx(alone.log_evidence, abs=1e-6)
        assert point.params["draw_margin"] == pytest.approx(alone.params["draw_margin"])
        assert point.converged


def test_a_bare_key_takes_the_axis_of_the_paper_and_symbols_are_understood(run: Run) -> None:
    grid = evidence_grid(run, "tau,sigma0=300:400:2", ["model.beta=500"])
    assert grid.keys == ("tau", "prior_sd")
    assert [axis.values for axis in grid.axes] == [tuple(range(20, 201, 20)), (300.0, 400.0)]
    assert {point.params["beta"] for point in grid.points} == {500}


def test_no_point_waits_for_sds(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "LARGE", 0)
    monkeypatch.setattr(posterior, "sampled_histories", None)
    assert all(point.converged for point in evidence_grid(run, "beta=300/700").points)


def test_overrides_change_the_model_and_nothing_else(run: Run) -> None:
    with pytest.raises(ConfigError, match=r"data\.period"):
        evidence_grid(run, SPEC, ["data.period=month"])
    with pytest.raises(ConfigError, match=r"model\.name"):
        evidence_grid(run, SPEC, ["model.name=trueskill"])
    with pytest.raises(ConfigError, match="prior_sd varies over the grid"):
        evidence_grid(run, "prior_sd=200/300", ["model.sigma0=250"])


def test_what_the_run_holds_is_not_computed_again(run: Run, fits: list[Params]) -> None:
    first = evidence_grid(run, SPEC)
    assert (first.known, len(fits)) == (0, 12)
    again = evidence_grid(open_run(run.path), SPEC)
    assert (again.known, len(fits)) == (12, 12)
    assert results(again) == results(first)
    wider = evidence_grid(run, "beta=200:1000:5,tau=20:100:3")
    assert (wider.known, len(fits)) == (12, 15)


def test_the_point_of_the_fit_itself_is_known(run: Run, fits: list[Params]) -> None:
    grid = evidence_grid(run, "beta=480/500")
    assert (grid.known, len(fits)) == (1, 1)
    assert grid.points[0].log_evidence == run.meta.log_evidence


def test_a_finer_tolerance_computes_again(run: Run, fits: list[Params]) -> None:
    evidence_grid(run, "beta=300/400")
    finer = evidence_grid(run, "beta=300/400", ["solver.tol=1e-9"])
    assert (finer.known, len(fits)) == (0, 4)
    assert all(point.remaining_error <= LOOSER * 1e-9 for point in finer.points)
    assert evidence_grid(run, "beta=300/400").known == 2


def test_a_point_that_does_not_converge_is_tried_again_only_with_more_sweeps(
    run: Run, fits: list[Params]
) -> None:
    few = evidence_grid(run, "beta=300/400", ["solver.max_sweeps=1"])
    assert [(point.converged, point.sweeps) for point in few.points] == [(False, 1)] * 2
    assert evidence_grid(run, "beta=300/400", ["solver.max_sweeps=1"]).known == 2
    more = evidence_grid(run, "beta=300/400")
    assert (more.known, len(fits)) == (0, 4)
    assert all(point.converged for point in more.points)


def point(error: float, *, converged: bool, sweeps: int = 10) -> EvidencePoint:
    return EvidencePoint({}, {}, -1.0, converged, sweeps, error)


@each(
    "stored, kept",
    [
        (None, False),
        (point(0.005, converged=True), True),
        (point(0.05, converged=True), False),  # of a wider tolerance
        (point(0.05, converged=False), True),  # ten sweeps were not enough and will not be
        (point(0.05, converged=False, sweeps=9), False),
        (point(0.005, converged=False), False),  # of a finer tolerance
        (point(math.inf, converged=False), True),
    ],
)
def test_which_stored_points_stand(stored: EvidencePoint | None, kept: bool) -> None:
    assert good_enough(stored, SolverConfig(posterior="factorised", tol=0.01, max_sweeps=10)) is kept


@pytest.mark.parametrize("pause", [0.0, math.inf])
def test_an_interrupt_keeps_every_finished_point_and_the_rest_is_done_later(
    run: Run, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    def interrupt(number: int) -> None:
        if number == 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "PAUSE", pause)
    with monkeypatch.context() as patch:
        watch(patch, interrupt)
        with pytest.raises(KeyboardInterrupt):
            evidence_grid(run, SPEC)
    kept = open_run(run.path).evidence_points()[1:]
    assert len(kept) == 7
    rest = watch(monkeypatch, lambda _: None)
    grid = evidence_grid(open_run(run.path), SPEC)
    assert (grid.known, len(rest)) == (7, 5)
    assert {params_key(params) for params in rest}.isdisjoint(p.point for p in kept)
    assert len(grid.points) == 12


def test_points_are_stored_some_at_a_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = Run.store_evidence
    monkeypatch.setattr(
        Run, "store_evidence", lambda self, points: (sizes.append(len(points)), real(self, points))
    )
    now = iter(np.arange(1000) * 0.2)
    monkeypatch.setattr(module, "monotonic", lambda: next(now))
    evidence_grid(run, SPEC)
    assert sum(sizes) == 12
    assert len(sizes) == 5
    assert len(run.evidence_points()) == 13


def test_a_run_that_is_replaced_meanwhile_is_left_alone(run: Run) -> None:
    fit(games_of(RECORDS), output=run.path)
    with pytest.raises(RunError, match="replaced"):
        evidence_grid(run, SPEC)
    assert len(open_run(run.path).evidence_points()) == 1


def test_a_point_that_the_model_cannot_take_is_named_and_the_others_are_kept(run: Run) -> None:
    with pytest.raises(ConfigError) as caught:
        evidence_grid(run, "beta=200/300,draw_margin=0/100")
    assert caught.value.where == "--grid at beta=200, draw_margin=0"
    assert "drawn games" in caught.value.message
    with pytest.raises(ConfigError, match="beta=-100"):
        evidence_grid(run, "beta=-100/100")
    with pytest.raises(ConfigError, match=r"beta=300, draw_margin=0"):
        evidence_grid(run, "beta=300,draw_margin=0/50/100", jobs=2)


def test_a_grid_beyond_reason_is_refused_at_once(run: Run) -> None:
    with pytest.raises(ConfigError, match="10,000,000,000 points"):
        evidence_grid(run, "beta=1:2:10000,tau=1:2:1000,prior_sd=1:2:1000")


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    run = fit(games_of(ODD), model="trueskill", order="shuffled", output=tmp_path / "b.ttt")
    grid = evidence_grid(run, "seed=0:3:4")
    assert sorted(point.asked["seed"] for point in grid.points) == [0, 1, 2, 3]
    assert all(isinstance(point.asked["seed"], int) for point in grid.points[1:])
    with pytest.raises(ConfigError, match="seed"):
        evidence_grid(run, "seed=0.5/1")


def test_ends_that_the_model_closes_are_known() -> None:
    resolved = configure()
    assert open_ends(resolved, Axis("tau", (0.0, 60.0))) == (False, True)
    assert open_ends(resolved, Axis("tau", (1.0, 60.0))) == (True, True)
    assert open_ends(resolved, Axis("prior_mean", (0.0, 1200.0))) == (True, True)


@given(st.integers(1, 300))
def test_chains_hold_every_point_in_order_and_are_short(n: int) -> None:
    points: list[Any] = list(range(n))
    chains = make_chains(points)
    assert [p for chain in chains for p in chain] == points
    assert max(map(len, chains)) <= CHAIN
    assert len(chains) >= min(n, 8)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_a_grid_goes_through_its_box_without_jumps_in_the_last_axis(sizes: list[int]) -> None:
    keys = ["beta", "tau", "prior_sd"][: len(sizes)]
    axes = [Axis(key, tuple(float(i + 1) for i in range(n))) for key, n in zip(keys, sizes, strict=True)]
    found = [tuple(getattr(p, key) for key in keys) for p in grid_points(configure(), axes)]
    assert len(set(found)) == len(found) == math.prod(sizes)
    assert all(abs(a[-1] - b[-1]) <= 1 for a, b in pairwise(found))


def test_evidence_does_not_depend_on_where_chains_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evidence_grid(fit(games_of(ODD)), SPEC)
    for size in (1, 2, 5, 12):
        monkeypatch.setattr(
            module, "make_chains", lambda p: [p[i : i + size] for i in range(0, len(p), size)]
        )
        cut = evidence_grid(fit(games_of(ODD)), SPEC)
        for one, other in zip(cut.points, whole.points, strict=True):
            assert one.params == other.params
            assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-6)


def test_processes_give_the_same_to_the_last_digit_also_when_they_resume(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = "beta=200:800:4,tau=20:120:6"  # eight chains of three points
    here = evidence_grid(run, spec, jobs=1)
    shared = fit(games_of(ODD), output=tmp_path / "b.ttt")

    def interrupt(number: int) -> None:
        if number == 7:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        watch(patch, interrupt)
        with pytest.raises(KeyboardInterrupt):
            evidence_grid(shared, spec, jobs=1)
    there = evidence_grid(shared, spec, jobs=2)
    assert there.known == 6
    assert results(there) == results(here)
    assert [p.point for p in there.points] == [p.point for p in here.points]
    assert len(open_run(tmp_path / "b.ttt").evidence_points()) == 25


def test_processes_are_used_when_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_cores", lambda: 6)
    assert jobs_that_pay(1_000, 100) == 1
    assert jobs_that_pay(1_000_000, 100) == 6


def test_the_bar_counts_what_is_left_to_do(run: Run) -> None:
    evidence_grid(run, "beta=300/400")
    bar = Recorder()
    evidence_grid(run, "beta=200/300/400/500/600", progress=bar)
    assert bar.told == [("grid, 2 known", 3), 1, 1, 1]
    evidence_grid(run, "beta=300/400", progress=(nothing := Recorder()))
    assert nothing.told == []


SCRIPT = """
    import contextlib, sys
    from ttt_cli.api import open_run
    from ttt_cli.evaluate.grid import evidence_grid

    class Telling:
        @contextlib.contextmanager
        def task(self, label, total=None, unit=""):
            yield self
        def advance(self, amount=1, note=""):
            print("point", flush=True)

    if __name__ == "__main__":
        try:
            evidence_grid(open_run(sys.argv[1]), "beta=200:800:3000", jobs=2, progress=Telling())
        except KeyboardInterrupt:
            sys.exit(130)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_an_interrupt_of_processes_keeps_the_points_that_were_told(run: Run, tmp_path: Path) -> None:
    import signal

    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(run.path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(3)]
        os.killpg(process.pid, signal.SIGINT)
        rest, err = process.communicate(timeout=60)
    assert told == ["point\n"] * 3
    assert (process.returncode, err) == (130, "")
    kept = len(open_run(run.path).evidence_points()) - 1
    assert 3 + rest.count("point") <= kept < 3000
