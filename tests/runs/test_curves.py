"""What a run keeps of careers and of the mean of newcomers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run, write_run

ROWS = [(1850, "a", "b", 2), (1853, "c", "b", 2), (1857, "a", "d", 0), (1860, "d", "c", 1)]
CAREER = {"growth": 300.0, "growth_years": 2.0, "decline": 9.0, "decline_after": 10.0, "early": 2.0}


def run_of(**given: float) -> Run:
    timeline, fit = fit_rows(ROWS, **given)
    return memory_run(make_games(ROWS), timeline, fit, CONFIG)


def test_the_mean_of_newcomers_is_kept(tmp_path: Path) -> None:
    timeline, fit = fit_rows(ROWS, **CAREER, prior_mean_drift=30.0)
    write_run(tmp_path / "a.ttt", make_games(ROWS), timeline, fit, CONFIG)
    found, curve = open_run(tmp_path / "a.ttt").newcomers(), fit.newcomers
    assert found["year"].tolist() == [1850, 1853, 1857]
    assert found["mean"].tolist() == curve.mean.tolist()
    assert found["sd"].tolist() == curve.sd.tolist()


def test_without_there_is_nothing_in_them() -> None:
    run = run_of()
    assert len(run.newcomers()) == len(run.career()) == 0
    assert list(run.newcomers()) == ["year", "mean", "sd"]
    assert list(run.career()) == ["years", "mean", "sd"]


def test_the_curve_of_careers_is_that_of_the_parameters() -> None:
    run = run_of(**CAREER, tau=50.0)
    found = run.career().set_index("years")
    assert found.loc[0.0].tolist() == [0.0, 0.0]
    assert found.index[-1] == 40.0
    assert found.loc[12.0, "mean"] == pytest.approx(300 * (1 - math.exp(-6)) - 18)
    assert found.loc[12.0, "sd"] == pytest.approx(50 * math.sqrt(12 + 6 * (1 - math.exp(-4))))
