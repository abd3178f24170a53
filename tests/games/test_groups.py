"""Groups of players and their weak ties, and careers, against searches that try every pair and every player."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.sides import games_of_sides
from tests.support.strategies import examples
from ttt_cli.games.groups import (
    Career,
    careers_of,
    find_groups,
    find_loose_parts,
    label_groups,
    long_careers,
)
from ttt_cli.games.table import Games

EDGES = st.lists(
    st.tuples(
        st.integers(1850, 1860), st.sampled_from("ABCDEFGH"), st.sampled_from("ABCDEFGH")
    ).filter(lambda edge: edge[1] != edge[2]),
    min_size=1,
    max_size=14,
)


def history(rows: list[tuple[int, str, str]]) -> Games:
    return make_games([(*row, 2) for row in rows])


def parts(players: set[str], pairs: set[frozenset[str]]) -> list[set[str]]:
    """Connected parts, by spreading from each player."""
    left, found = set(players), []
    while left:
        part = {min(left)}
        while more := {p for pair in pairs if pair & part for p in pair if p in left} - part:
            part |= more
        found.append(part)
        left -= part
    return found


def test_groups_with_their_players_and_years() -> None:
    rows = [(1850, "A", "B"), (1852, "B", "C"), (1852, "C", "B"), (1900, "X", "Y")]
    found = find_groups(history(rows))
    assert [(g.players, g.games, g.first, g.last, g.leading) for g in found.groups] == [
        (3, 3, 1850, 1852, ("B", "C", "A")),
        (2, 1, 1900, 1900, ("X", "Y")),
    ]
    assert found.label.tolist() == [0, 0, 0, 1, 1]
    assert found.warning == (
        "2 groups of players without games between them: their levels are not comparable; "
        "the largest has 3 players, 2 are outside it: X; Y"
    )
    apart = [(1900, f"X{number}", f"Y{number}") for number in range(4)]
    several = find_groups(history([*rows, *apart])).warning
    assert several is not None
    assert several.endswith("10 are outside it: X; Y; X0; Y0; X1 and 5 more")


def test_one_group_and_no_games() -> None:
    nothing = history([])
    assert len(find_groups(nothing)) == 0
    assert (
        find_groups(nothing).warning
        is find_groups(history([(1850, "A", "B"), (1851, "B", "C")])).warning
        is None
    )
    assert find_loose_parts(nothing) == []


def test_players_without_games_come_last() -> None:
    one = np.array([3], np.int32)
    assert label_groups(one, one + 1, 5).tolist() == [1, 2, 3, 0, 0]


@examples(20)
@given(EDGES)
def test_groups_by_spreading(rows: list[tuple[int, str, str]]) -> None:
    games = history(rows)
    expected = parts(set(games.players), {frozenset(row[1:]) for row in rows})
    found = find_groups(games)
    by_label = [
        {p for p, label in zip(games.players, found.label, strict=True) if label == i}
        for i in range(len(found))
    ]
    assert sorted(map(sorted, by_label)) == sorted(map(sorted, expected))
    assert [g.players for g in found.groups] == [len(part) for part in by_label]
    sizes = [(g.players, g.games) for g in found.groups]
    assert sizes == sorted(sizes, reverse=True)


@examples(40)
@given(EDGES)
def test_ties_by_leaving_out_each_player(rows: list[tuple[int, str, str]]) -> None:
    """A part hangs on a player when it falls off without him, and off the group's most active player."""
    games = history(rows)
    pairs = {frozenset(row[1:]) for row in rows}
    played = {p: sum(p in row for row in rows) for p in games.players}
    expected = set()
    for group in parts(set(games.players), pairs):
        root = max(sorted(group), key=lambda p: (played[p], -games.players.index(p)))
        for player in group:
            rest = parts(group - {player}, {pair for pair in pairs if player not in pair})
            for part in rest:
                met = [row for row in rows if player in row[1:] and part & set(row[1:])]
                if (
                    root not in part
                    and 2 * len(part) <= len(group)
                    and len(met) <= 3
                    and len(part) >= 2
                ):
                    expected.add((len(part), player, len(met)))
    found = find_loose_parts(games, players=2, at_most=3)
    assert {(part.players, part.linked_through, part.games) for part in found} == expected
    for part in found:
        assert part.leading in {games.players[member] for member in part.members}


def test_a_long_chain_does_not_exhaust_the_stack() -> None:
    names = [f"{i:05}" for i in range(20_000)]
    rows = [(1850, one, other) for one, other in pairwise(names)]
    loose_parts = find_loose_parts(history(rows), players=9_990)
    assert len(loose_parts) > 0
    assert all(part.games == 1 for part in loose_parts)


@examples(16)
@given(EDGES)
def test_careers_are_those_of_the_slow_way(rows: list[tuple[int, str, str]]) -> None:
    careers = careers_of(history(rows))
    for player, name in enumerate(careers.names):
        years = [year for year, *both in rows if name in both]
        assert careers[player] == Career(name, len(years), min(years), max(years))


def test_long_careers_are_told_first_the_longest() -> None:
    years = {"Wilson, J": (1862, 2003), "Lasker, E": (1889, 1940), "Stone, J": (1859, 1946)}
    games = history(
        [
            (year, name, f"Opponent of {name} {year}")
            for name, both in years.items()
            for year in both
        ]
    )
    longest = [Career("Wilson, J", 2, 1862, 2003), Career("Stone, J", 2, 1859, 1946)]
    assert list(long_careers(games)) == longest
    assert list(long_careers(games, years=50)) == [*longest, Career("Lasker, E", 2, 1889, 1940)]


def test_a_game_of_teams_is_one_game_of_a_group() -> None:
    games = games_of_sides(
        [(1900, "A / B", "C / D", 2), (1901, "A / B", "C", 1), (1901, "X", "Y", 2)]
    )
    assert [(group.players, group.games) for group in find_groups(games).groups] == [(4, 2), (2, 1)]
