"""Careers, and names whose games lie so far apart that they may be two people's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.strategies import examples
from ttt_cli.games.groups import careers_of, long_careers


@examples(16)
@given(
    st.lists(
        st.tuples(st.integers(1800, 1950), st.integers(0, 5), st.integers(1, 5), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    )
)
def test_careers_are_those_of_the_slow_way(rows: list[tuple[int, int, int, int]]) -> None:
    played = [(year, f"p{a}", f"p{(a + d) % 6}", o) for year, a, d, o in rows]
    careers = careers_of(make_games(played))
    for player, name in enumerate(careers.names):
        years = [row[0] for row in played if name in row]
        career = careers[player]
        assert (career.name, career.games, career.first, career.last) == (
            name,
            len(years),
            min(years),
            max(years),
        )


def test_long_careers_are_told_first_the_longest() -> None:
    years = {"Wilson, J": (1862, 2003), "Lasker, E": (1889, 1940), "Stone, J": (1859, 1946)}
    games = make_games(
        [(year, name, f"Opponent of {name} {year}", 2) for name, both in years.items() for year in both]
    )
    assert [(c.name, c.first, c.last) for c in long_careers(games)] == [
        ("Wilson, J", 1862, 2003),
        ("Stone, J", 1859, 1946),
    ]
    assert [c.name for c in long_careers(games, years=50)] == ["Wilson, J", "Stone, J", "Lasker, E"]
