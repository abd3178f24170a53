"""Random histories for property tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st

BY_DAY = 40  # examples of a law that says nothing of their number, as in conftest.py
Row = tuple[int, str, str, int, float, float]


def examples(number: int) -> settings:
    """So many examples, and five times as many every night, when others are drawn."""
    return settings(max_examples=number * settings.default.max_examples // BY_DAY)


def game_rows(
    last: int, players: str, weights: Sequence[float], offsets: Sequence[float], most: int = 20
) -> st.SearchStrategy[list[Row]]:
    """Lists of one to `most` games (year, white, black, outcome, weight, offset) from 1900 to `last`, in any order."""
    game = st.tuples(
        st.integers(1900, last),
        st.permutations(players).map(lambda p: (p[0], p[1])),
        st.integers(0, 2),
        st.sampled_from(weights),
        st.sampled_from(offsets),
    ).map(lambda row: (row[0], *row[1], *row[2:]))
    return st.lists(game, min_size=1, max_size=most)


def by_year(rows: list[Row]) -> list[Row]:
    """The games in the order of their years."""
    return sorted(rows, key=lambda row: row[0])
