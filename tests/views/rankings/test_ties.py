"""Players whose skills are equal are ranked by name, in every ranking, whatever order the database has them in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.support.handmade import CONFIG, Record, fit_of, games_of
from ttt_cli.fitted import Walk
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import leader_rows, number_ones
from ttt_cli.views.rankings.peaks import best_years, most_dominant, peaks
from ttt_cli.views.rankings.period import ranking

NAMES = tuple(sorted(f"{first}{second}" for first in "ktcz" for second in "qbxmaf"))
EVERYBODY = Eligible()


@pytest.fixture(scope="module")
def run() -> Run:
    """Everybody has the same skill and as many games in 1900 and in 1901."""
    records: list[Record] = []
    for year in ("1900", "1901"):
        records += [
            (year, white, black, "1/2-1/2") for white, black in pairwise([*NAMES, NAMES[0]])
        ]
    games = games_of(records)
    timeline = build_timeline(games)
    n = timeline.n_nodes
    equal = Walk(np.full(n, 1200.0), np.full(n, 50.0), np.full(n, 1500.0), 60.0)
    return memory_run(games, timeline, replace(fit_of(timeline), chains={"skill": equal}), CONFIG)


@pytest.mark.parametrize("by", ["mean", "lower", "dominance"])
def test_the_ranking_of_a_period(run: Run, by: str) -> None:
    assert [row[1] for row in ranking(run, "1900", EVERYBODY, None, by=by).rows] == list(NAMES)
    assert [row[1] for row in ranking(run, "1900", EVERYBODY, 3, by=by).rows] == list(NAMES[:3])


@pytest.mark.parametrize("by", ["mean", "lower"])
def test_peaks(run: Run, by: str) -> None:
    assert [row[1:3] for row in peaks(run, EVERYBODY, None, by).rows] == [
        (name, "1900") for name in NAMES
    ]


def test_the_best_years(run: Run) -> None:
    ranked = [row[:2] for row in best_years(run, EVERYBODY, 2, None).rows]
    assert ranked == list(enumerate(NAMES, 1))
    assert {row[2:4] for row in best_years(run, EVERYBODY, 1, None).rows} == {("1900", "1900")}


def test_dominance(run: Run) -> None:
    assert [row[1:3] for row in most_dominant(run, EVERYBODY, None).rows] == [
        (name, "1900") for name in NAMES
    ]


def test_number_ones(run: Run) -> None:
    assert [row[1] for row in leader_rows(run, EVERYBODY).rows] == [NAMES[0], NAMES[0]]
    assert [leader[2] for leader in number_ones(run, EVERYBODY)] == [NAMES[0], NAMES[0]]
