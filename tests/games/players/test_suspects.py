"""Names that may be one person's, and one name that may be two people's: suggested, with the evidence."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from ttt_cli.games.names import name_key
from ttt_cli.games.suspects import (
    INITIALS,
    SPELLING,
    SURNAME_ONLY,
    Parts,
    count_suspects,
    find_suspects,
    likeness,
    parts_of_key,
)
from ttt_cli.games.table import Games


def parts_of(name: str) -> Parts:
    return parts_of_key(name_key(name))


def history(*careers: tuple[str, int, int]) -> Games:
    """Games of players against people of their own, one in the first year and one in the last."""
    rows = []
    for number, (name, first, last) in enumerate(careers):
        rows += [(first, name, f"Opponent{number}, Zz"), (last, f"Opponent{number}, Zz", name)]
    return make_games([(*row, 2) for row in rows])


def likely(one: str, other: str) -> str | None:
    kind = likeness(parts_of(one), parts_of(other))
    assert kind == likeness(parts_of(other), parts_of(one))
    return kind


@each(
    "one, other, kind",
    [
        ("Morphy, Paul", "Morphy, P", INITIALS),
        ("Morphy, P.", "Morphy, Paul Charles", INITIALS),
        ("Philidor, Francois Andre Dani", "Philidor, Francois", INITIALS),
        ("Blackburne, JH", "Blackburne, Joseph Henry", INITIALS),
        ("Von Bardeleben, Curt", "Bardeleben, C. von", INITIALS),
        ("MacConnell, James", "Mc Connell, J", INITIALS),
        ("Vanderstricht, Geert", "Van der Stricht, G", SPELLING),
        ("De Firmian, Nick", "DeFirmian, N", INITIALS),
        ("Labourdonnais", "de la Bourdonnais", SPELLING),
        ("Labourdonnais", "de la Bourdonnais, Louis", SPELLING),
        ("La Bourdonnais", "Louis de la Bourdonnais", SURNAME_ONLY),
        ("Lasker, Em", "Lasker, Emanuel", INITIALS),
        ("Lasker, Em", "Lasker, Edward", None),
        ("Mueller, Hans", "Müller, Hans", SPELLING),
        ("Loewenthal, J", "Löwenthal, Johann", SPELLING),
        ("Huebner, Juergen", "Hübner, Jürgen", SPELLING),
        ("Morphy", "Morphy, Paul", SURNAME_ONLY),
        ("Boden, Samuel Standidge", "Boden, Samuel Standige", SPELLING),
        ("Karjakin, Sergey", "Karjakin, Sergei", SPELLING),
        ("Tchigorin, Mikhail", "Chigorin, M", SPELLING),
        ("Capablanca, Jose", "Capabalnca, J", SPELLING),
        ("Morphy, Paul", "Morphy, Peter", None),
        ("Morphy, Paul", "Murphy, Paul", SPELLING),
        ("Lee, P", "Lea, P", None),
        ("Berman, M", "Herman, M", None),
        ("Volkov, S1", "Volkov, Sergey", None),
        ("Popov, Ivan RUS", "Popov, I", INITIALS),
        ("Popov, Ivan RUS", "Popov, Ivan P", INITIALS),
        ("Popov, I RUS", "Popov, Ivan UKR", None),
        ("Li Chao2", "Li Chao", None),
        ("Player17, A", "Player18, A", None),
        ("Friedman", "Friedmann", None),
    ],
)
def test_how_names_are_alike(one: str, other: str, kind: str | None) -> None:
    assert likely(one, other) == kind


@each(
    "careers, found",
    [
        ([("Aronian, Levon", 1995, 2025), ("Aronian, L", 2001, 2003), ("Tal, M", 1950, 1960)],
         [("Aronian, Levon", "Aronian, L", INITIALS, 0, 0)]),
        # the likeliest of several explanations
        ([("Roe, Xav", 1900, 1901), ("Roe, Xen", 1850, 1851), ("Roe, X", 1850, 1852)],
         [("Roe, Xen", "Roe, X", INITIALS, 1, 0)]),
        # nobody plays for a century
        ([("Roe, Xav", 1850, 1860), ("Roe, X", 1950, 1950)], []),
        ([("Roe, Xav", 1850, 1860), ("Roe, X", 1900, 1900)], [("Roe, Xav", "Roe, X", INITIALS, 0, 40)]),
        # teams are nobody
        ([("Lee, Al", 1900, 1900), ("Lee, Al/Bo, C", 1900, 1900)], []),
    ],
)  # fmt: skip
def test_suggestions_with_their_evidence(
    careers: list[tuple[str, int, int]], found: list[tuple[object, ...]]
) -> None:
    pairs = find_suspects(history(*careers))
    assert [(one.main.name, one.synonym.name, one.kind, one.others, one.gap) for one in pairs] == found


def test_people_who_met_are_two() -> None:
    assert find_suspects(make_games([(1900, "Roe, Xav", "Roe, X", 2)])) == []


@given(
    st.lists(
        st.sampled_from(
            ["Friedmann, A", "Friedman, Al", "Friedman", "Fridman, A", "Roe, X", "Roe, Xa", "Roe", "De Roe, X"]
        ),
        unique=True,
    )
)  # fmt: skip
def test_no_pair_is_missed(names: list[str]) -> None:
    """Against comparing all with all: each pair that is alike is known, as one or as a further explanation."""
    games = history(*((name, 1900, 1901) for name in names))
    found = find_suspects(games)
    alike = [pair for pair in combinations(names, 2) if likely(*pair)]
    assert sum(1 + suspect.others for suspect in found) == len(alike)
    assert count_suspects(games) == (len(found), 0)
