"""Groups of scored games, counted by hand; the standard error of a paired difference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.strategies import examples
from ttt_cli.evaluate.compare import earlier_games, groups, paired_difference
from ttt_cli.timeline import build_timeline

ROWS = [
    (1898, "a", "b", 2, 5.0), (1899, "a", "c", 1, 6.0), (1899, "b", "c", 1),
    (1900, "a", "b", 0), (1900, "c", "d", 2), (1911, "a", "c", 1, 90.0), (1912, "c", "a", 1),
]  # fmt: skip

games = st.lists(
    st.tuples(st.permutations(range(6)).map(lambda p: (p[0], p[1])), st.floats(-2, 2), st.floats(0.1, 3)),
    min_size=2,
    max_size=25,
)


def arrays(rows: list[tuple[tuple[int, int], float, float]]) -> tuple[np.ndarray, ...]:
    white, black = np.array([pair for pair, _, _ in rows], np.int32).T
    return np.array([d for _, d, _ in rows]), np.array([w for _, _, w in rows]), white, black


@examples(20)
@given(games)
def test_games_with_a_common_player_are_taken_as_dependent(
    rows: list[tuple[tuple[int, int], float, float]],
) -> None:
    """All pairs of games one by one."""
    difference, weight, white, black = arrays(rows)
    found = paired_difference(difference, weight, white, black)
    mean = sum(w * d for _, d, w in rows) / weight.sum()
    deviation = [w * (d - mean) for _, d, w in rows]
    pairs = [set(pair) for pair, _, _ in rows]
    shared = sum(a * b for a, p in zip(deviation, pairs, strict=True)
                 for b, q in zip(deviation, pairs, strict=True) if p & q)  # fmt: skip
    alone = sum(a * a for a in deviation)
    assert found.mean == pytest.approx(mean, abs=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(max(shared, alone)) / weight.sum(), abs=1e-7)


def test_without_common_players_it_is_that_of_independent_games() -> None:
    rng = np.random.default_rng(1)
    difference = rng.normal(size=400)
    ids = np.arange(800, dtype=np.int32)
    found = paired_difference(difference, np.ones(400), ids[::2], ids[1::2])
    assert found.standard_error == pytest.approx(difference.std() / 20)


def test_the_truth_lies_where_the_standard_error_says() -> None:
    """Differences made of one part per player and one per game: two players in three sds would be far too few."""
    rng = np.random.default_rng(5)
    inside = alone = 0
    for _ in range(200):
        white, black = np.array([rng.permutation(60)[:2] for _ in range(600)], np.int32).T
        skill = rng.normal(size=60)
        difference = skill[white] + skill[black] + rng.normal(size=600)
        found = paired_difference(difference, np.ones(600), white, black)
        inside += abs(found.mean) < 2 * found.standard_error
        alone += abs(found.mean) < 2 * difference.std() / math.sqrt(600)
    assert alone < 120
    assert 180 <= inside <= 200


def test_infinite_losses_and_single_games_have_no_standard_error() -> None:
    one = np.zeros(1, np.int32), np.ones(1, np.int32)
    assert math.isnan(paired_difference(np.array([0.5]), np.ones(1), *one).standard_error)
    players = np.array([0, 1], np.int32), np.array([2, 3], np.int32)
    found = paired_difference(np.array([math.inf, 0.5]), np.ones(2), *players)
    assert found.mean == math.inf
    assert math.isnan(found.standard_error)


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
    found = {name: np.flatnonzero(member).tolist() for name, member in groups(timeline, 1, "experience")}
    assert found == {"0": [0, 1, 3], "1-9": [2, 4], "30-99": [5]}
    every = groups(timeline, 0, "experience")
    assert sum(member.astype(int) for _, member in every).tolist() == [1] * 7


def test_decades_hold_their_years() -> None:
    timeline = build_timeline(make_games(ROWS))
    found = {name: int(member.sum()) for name, member in groups(timeline, 1, "decade")}
    assert found == {"1890s": 2, "1900s": 2, "1910s": 2}
    months = build_timeline(make_games(ROWS), "month")
    assert [name for name, _ in groups(months, 3, "decade")] == ["1910s"]
