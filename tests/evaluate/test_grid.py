"""Evidence over a grid: which points, that none is lost or computed twice, that nothing depends on how it is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

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
    MAX_COUNT,
    Axis,
    EvidenceGrid,
    evidence_grid,
    good_enough,
    grid_points,
    make_chains,
    params_key,
    parse_axes,
)
from ttt_cli.inference.params import Params
from ttt_cli.runs.evidence_points import EvidencePoint
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


def results(grid: EvidenceGrid) -> dict[str, tuple[Any, ...]]:
    return {
        p.point: (p.log_evidence, p.converged, p.sweeps, p.remaining_error) for p in grid.points
    }


def test_a_point_holds_what_a_fit_with_its_parameters_finds(run: Run) -> None:
    for point in evidence_grid(run, "beta=300/700,prior_sd=200/500").points:
        alone = fit(
            games_of(ODD), beta=point.params["beta"], prior_sd=point.params["prior_sd"]
        ).meta
        assert point.log_evidence == pytest.approx(alone.log_evidence, abs=1e-6)
        assert point.params["draw_margin"] == pytest.approx(alone.params["draw_margin"])
        assert point.converged


def test_overrides_change_the_model_and_nothing_else(run: Run) -> None:
    with pytest.raises(ConfigError, match=r"data\.period"):
        evidence_grid(run, SPEC, ["data.period=month"])
    with pytest.raises(ConfigError, match=r"model\.name"):
        evidence_grid(run, SPEC, ["model.name=trueskill"])
    with pytest.raises(ConfigError, match="prior_sd varies over the grid"):
        evidence_grid(run, "prior_sd=200/300", ["model.sigma0=250"])


def test_what_the_run_holds_is_not_computed_again(run: Run, fits: list[Params]) -> None:
    first = evidence_grid(run, SPEC)
    assert (first.stored, len(fits)) == (0, 12)
    again = evidence_grid(open_run(run.path), SPEC)
    assert (again.stored, len(fits)) == (12, 12)
    assert results(again) == results(first)
    wider = evidence_grid(run, "beta=200:1000:5,tau=20:100:3")
    assert (wider.stored, len(fits)) == (12, 15)


def test_the_point_of_the_fit_itself_is_known(run: Run, fits: list[Params]) -> None:
    grid = evidence_grid(run, "beta=480/500")
    assert (grid.stored, len(fits)) == (1, 1)
    assert grid.points[0].log_evidence == run.meta.log_evidence


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
    assert (
        good_enough(stored, SolverConfig(posterior="factorised", tol=0.01, max_sweeps=10)) is kept
    )


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
    assert (grid.stored, len(rest)) == (7, 5)
    assert {params_key(params) for params in rest}.isdisjoint(p.point for p in kept)
    assert len(grid.points) == 12


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
    assert sorted(point.requested["seed"] for point in grid.points) == [0, 1, 2, 3]
    assert all(isinstance(point.requested["seed"], int) for point in grid.points[1:])
    with pytest.raises(ConfigError, match="seed"):
        evidence_grid(run, "seed=0.5/1")


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
    axes = [
        Axis(key, tuple(float(i + 1) for i in range(n))) for key, n in zip(keys, sizes, strict=True)
    ]
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
    assert there.stored == 6
    assert results(there) == results(here)
    assert [p.point for p in there.points] == [p.point for p in here.points]
    assert len(open_run(tmp_path / "b.ttt").evidence_points()) == 25


def test_the_bar_counts_what_is_left_to_do(run: Run) -> None:
    evidence_grid(run, "beta=300/400")
    bar = Recorder()
    evidence_grid(run, "beta=200/300/400/500/600", progress=bar)
    assert bar.told == [("grid, 2 known", 3), 1, 1, 1]
    evidence_grid(run, "beta=300/400", progress=(nothing := Recorder()))
    assert nothing.told == []


PARAMS = {
    "prior_mean": 1200.0,
    "prior_sd": 400.0,
    "beta": 480.0,
    "tau": 60.0,
    "draw_margin": "auto",
}


@each(
    "spec, message, hint",
    [
        ("betta", "unknown parameter 'betta'", "did you mean beta?"),
        ("zzz=1:2:3", "unknown parameter 'zzz'", "parameters are prior_mean, prior_sd"),
        ("beta,,tau", "unknown parameter ''", "parameters are"),
        ("beta,beta=1:2:3", "beta is given twice", "one axis"),
        *(
            (spec, f"{spec} is not a list or a range of numbers", "=START:STOP:COUNT")
            for spec in (
                "prior_sd", "beta=", "beta=x:2:3", "beta=1:inf:3", "beta=200|400", "beta=1:2", "beta=1:2:3:log:4",
                "beta=1:2:0", "beta=1:2:2.5", f"beta=1:2:{MAX_COUNT + 1}", "beta=1:2:1", "beta=2:2:3", "beta=2/2.0",
                "beta=0:2:3:log", "beta=2:-1:3:log", "beta=1:2:3:cubic",
            )
        ),
    ],
)  # fmt: skip
def test_what_is_no_axis_is_refused_with_a_hint(spec: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_axes(spec, PARAMS)
    assert caught.value.where == f"--grid {spec}"
    assert caught.value.message == message
    assert hint in (caught.value.hint or "")


def test_bare_names_take_the_ratios_of_the_paper() -> None:
    beta, tau = parse_axes("beta,tau", PARAMS)
    assert beta == Axis("beta", tuple(float(80 * step) for step in range(1, 11)))
    assert tau == Axis("tau", tuple(float(20 * step) for step in range(1, 11)))
    assert parse_axes("sigma0=1/2", PARAMS, {"sigma0": "prior_sd"}) == (
        Axis("prior_sd", (1.0, 2.0)),
    )
    with pytest.raises(ConfigError, match="beta is not a list"):
        parse_axes("beta", {"beta": 480.0})


def test_ranges_are_linear_or_logarithmic() -> None:
    beta, tau, prior = parse_axes(
        " beta = 200:800:7 , tau=20:320:5:log, prior_sd=400:200:3:linear", PARAMS
    )
    assert beta == Axis("beta", (200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0))
    assert tau == Axis("tau", (20.0, 40.0, 80.0, 160.0, 320.0))
    assert prior == Axis("prior_sd", (200.0, 300.0, 400.0))


def test_values_may_be_listed() -> None:
    assert parse_axes("beta=480/200/4e2", PARAMS) == (Axis("beta", (200.0, 400.0, 480.0)),)
    assert parse_axes("draw_margin=0", PARAMS) == (Axis("draw_margin", (0.0,)),)
    assert parse_axes("beta=5:5:1", PARAMS) == (Axis("beta", (5.0,)),)


@given(
    start=st.floats(1e-3, 1e3),
    ratio=st.floats(1.1, 1e3),
    count=st.integers(2, 60),
    spacing=st.sampled_from(["linear", "log"]),
)
def test_ends_are_exact_and_steps_are_even(
    start: float, ratio: float, count: int, spacing: str
) -> None:
    stop = start * ratio
    (axis,) = parse_axes(f"beta={start!r}:{stop!r}:{count}:{spacing}", PARAMS)
    values = axis.values
    assert (values[0], values[-1], len(values)) == (start, stop, count)
    places = [math.log(value) for value in values] if spacing == "log" else list(values)
    width = (places[-1] - places[0]) / (count - 1)
    steps = [after - before for before, after in pairwise(places)]
    assert steps == pytest.approx([width] * (count - 1), rel=1e-6)
    assert parse_axes(f"beta={stop!r}:{start!r}:{count}:{spacing}", PARAMS)[
        0
    ].values == pytest.approx(values)
