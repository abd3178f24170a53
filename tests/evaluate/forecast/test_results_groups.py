"""Groups of scored games, counted by hand."""

from __future__ import annotations

import numpy as np

from tests.support.builders import make_games
from ttt_cli.evaluate.forecast.results import earlier_games, groups
from ttt_cli.timeline import build_timeline

ROWS = [
    (1898, "a", "b", 2, 5.0), (1899, "a", "c", 1, 6.0), (1899, "b", "c", 1),
    (1900, "a", "b", 0), (1900, "c", "d", 2), (1911, "a", "c", 1, 90.0), (1912, "c", "a", 1),
]  # fmt: skip


def test_games_of_earlier_periods_are_counted_with_their_weights() -> None:
    timeline = build_timeline(make_games(ROWS))
    earlier = {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): games
        for i, games in enumerate(earlier_games(timeline).tolist())
    }
    assert earlier == {
        ("a", 1898): 0, ("b", 1898): 0, ("a", 1899): 5, ("b", 1899): 5, ("c", 1899): 0,
        ("a", 1900): 11, ("b", 1900): 6, ("c", 1900): 7, ("d", 1900): 0,
        ("a", 1911): 12, ("c", 1911): 8, ("a", 1912): 102, ("c", 1912): 98,
    }  # fmt: skip


def test_experience_is_that_of_the_less_experienced() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {group.name: np.flatnonzero(group.member).tolist() for group in groups(timeline, 1, "experience")}
    assert found == {"0": [0, 1, 3], "1-9": [2, 4], "30-99": [5]}
    every = groups(timeline, 0, "experience")
    assert sum(group.member.astype(int) for group in every).tolist() == [1] * 7


def test_decades_hold_their_years() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {group.name: int(group.member.sum()) for group in groups(timeline, 1, "decade")}
    assert found == {"1890s": 2, "1900s": 2, "1910s": 2}
    months = build_timeline(make_games(ROWS), "month")
    assert [group.name for group in groups(months, 3, "decade")] == ["1910s"]
