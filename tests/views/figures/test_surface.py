"""Tiles of evidence: as wide as their steps, without holes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.handmade import put_small_run
from tests.views.figures.test_figure import layers
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import open_run
from ttt_cli.views.evidence import edges
from ttt_cli.views.figures.figure import make_figure
from ttt_cli.views.figures.periods import step_of


@pytest.mark.parametrize("log", [False, True])
def test_tiles_meet_halfway_between_neighbours(log: bool) -> None:
    found = edges([10.0, 20.0, 80.0], log=log)
    assert all(before[1] == pytest.approx(after[0]) for before, after in pairwise(found.values()))
    assert all(low < value < high for value, (low, high) in found.items())
    assert found[20.0] == pytest.approx((math.sqrt(200.0), 40.0) if log else (15.0, 50.0))


def test_a_single_value_has_a_tile_too() -> None:
    assert edges([7.0], log=False) == {7.0: (6.5, 7.5)}


def drawn(tmp_path: Path, places: Sequence[tuple[float, float]]) -> dict[str, Any]:
    run = open_run(put_small_run(tmp_path / "a.ttt"))
    given = [{"beta": beta, "tau": tau} for beta, tau in places]
    run.store_evidence(
        [EvidencePoint(one, one, -10.0 - one["beta"] / one["tau"], True, 5, 0.0) for one in given]
    )
    spec = make_figure(run, "evidence").spec
    marks = [layer for mark in ("rect", "point") for layer in layers(spec, mark)]
    return next(layer for layer in marks if len(layer["values"]) > 1)


def test_tiles_are_as_wide_as_their_steps(tmp_path: Path) -> None:
    layer = drawn(tmp_path, [(beta, tau) for beta in (100.0, 300.0, 600.0) for tau in (10.0, 50.0, 200.0)])
    assert layer["mark"]["type"] == "rect"
    tiles = {(one["beta"], one["tau"]): one for one in layer["values"]}
    assert len(tiles) == 9
    assert (tiles[300.0, 50.0]["left"], tiles[300.0, 50.0]["right"]) == (200.0, 450.0)
    low, high = tiles[300.0, 50.0]["low"], tiles[300.0, 50.0]["high"]  # steps by ratios: logarithmic
    assert (low, high) == pytest.approx((math.sqrt(500.0), 100.0))
    assert layer["encoding"]["y"]["scale"]["type"] == "log"


def test_where_points_are_missing_there_are_no_tiles(tmp_path: Path) -> None:
    layer = drawn(
        tmp_path,
        [
            (100.0, 10.0),
            (100.0, 20.0),
            (100.0, 30.0),
            (200.0, 10.0),
            (200.0, 30.0),
            (400.0, 20.0),
            (400.0, 30.0),
        ],
    )
    assert layer["mark"]["type"] == "point"
    assert len(layer["values"]) == 7


@each("drop, step", [(0.0, "0 to 0.5"), (0.5, "0 to 0.5"), (0.6, "0.5 to 2"), (1e9, "over 10000")])
def test_steps_of_evidence(drop: float, step: str) -> None:
    assert step_of(drop) == step
