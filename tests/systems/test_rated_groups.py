"""Who can be rated, against the removal that Edwards describes and a search by hand."""

from hypothesis import given
from hypothesis import strategies as st

from tests.reference.edo_plain import ratable
from tests.support.builders import make_games
from ttt_cli.inference.bradley_terry import rated_groups
from ttt_cli.timeline import build_timeline

PLAYERS = "abcdef"
rows = st.lists(
    st.tuples(
        st.integers(1900, 1903), st.sampled_from(PLAYERS), st.sampled_from(PLAYERS), st.integers(0, 2)
    ).filter(lambda row: row[1] != row[2]),
    max_size=20,
)


def found_groups(games):
    timeline = build_timeline(make_games(games))
    return dict(zip(timeline.players, rated_groups(timeline).tolist(), strict=True))


def reachable(games, name):
    """Whom a chain of points leads to from `name`."""
    seen, waiting = {name}, [name]
    while waiting:
        player = waiting.pop()
        for _, white, black, outcome in games:
            for scorer, other, score in ((white, black, outcome), (black, white, 2 - outcome)):
                if scorer == player and score and other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return seen


@given(rows)
def test_a_group_is_joined_by_points_both_ways(games):
    found = found_groups(games)
    reach = {name: reachable(games, name) for name in found}
    for name in found:
        mates = {other for other in found if other in reach[name] and name in reach[other]} - {name}
        same = {other for other in found if found[other] == found[name] >= 0} - {name}
        assert same == mates
        assert (found[name] < 0) == (not mates)


@given(rows)
def test_whom_the_source_removes_is_in_no_group(games):
    _, removed = ratable(games)
    found = found_groups(games)
    assert all(found[name] < 0 for name in removed)


def test_the_largest_group_comes_first():
    pair = [(1900, "x", "y", 1)]
    three = [(1900, "a", "b", 2), (1900, "b", "c", 2), (1900, "c", "a", 2)]
    assert found_groups([*pair, *three]) == {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1}
    assert found_groups([]) == {}
