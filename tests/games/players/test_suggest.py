"""Suggested spellings: a file that is always read back, and unites nobody who cannot be one person."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders import make_games
from ttt_cli.games.players.aliases import alias_row, read_aliases
from ttt_cli.games.players.suggest import alias_lines
from ttt_cli.games.players.suspects import Suspect, find_suspects
from ttt_cli.games.table import Games

Career = tuple[str, int, int]


def history(*careers: Career, opponents: dict[str, int] | None = None) -> Games:
    """Games of players, one in the first year and one in the last, against people of their own.

    Of those in `opponents` some more, against as many strangers whom all of these meet.
    """
    rows = []
    for number, (name, first, last) in enumerate(careers):
        rows += [(first, name, f"Opponent{number}, Zz"), (last, f"Opponent{number}, Zz", name)]
        rows += [(last, name, f"Stranger{i}, Zz") for i in range((opponents or {}).get(name, 0))]
    return make_games([(*row, 2) for row in rows])


def lines_of(games: Games) -> list[str]:
    return list(alias_lines(games, find_suspects(games).pairs))


def applied(lines: list[str], folder: Path) -> dict[str, str]:
    """What the lines say as an alias file."""
    (folder / "a.csv").write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
    return dict(read_aliases(str(folder / "a.csv")).names)


def test_each_suggestion_stands_below_its_evidence() -> None:
    games = history(("Aronian, Levon", 1995, 2025), ("Aronian, L", 2001, 2003), ("Tal, M", 1950, 1960))
    assert lines_of(games) == [
        "# Aronian, Levon: 2 games 1995-2025; Aronian, L: 2 games 2001-2003; initials, overlapping years",
        '"Aronian, Levon","Aronian, L"',
    ]


def test_what_may_be_several_is_a_comment(tmp_path: Path) -> None:
    games = history(("Tal, Mihail", 1950, 1990), ("Tal, M", 1995, 1996), ("Roe, X Y", 1900, 1901),
                    ("Roe, X Z", 1900, 1901), ("Roe, X", 1900, 1901))  # fmt: skip
    lines = lines_of(games)
    assert applied(lines, tmp_path) == {"Tal, M": "Tal, Mihail"}
    assert lines[0].endswith("initials, 5 years apart")
    assert lines[2:] == [
        "# Roe, X Z: 2 games 1900-1901; Roe, X: 2 games 1900-1901; initials, overlapping years, or one of 1 others",
        '# "Roe, X Z","Roe, X"',
    ]


@pytest.mark.parametrize(
    ("careers", "opponents", "expected"),
    [
        # the one whose years the synonym's overlap, whoever else has the initial
        ([("Roe, Xaver", 1850, 1900), ("Roe, Xenia", 1950, 1960), ("Roe, X", 1890, 1895)], {}, "Roe, Xaver"),
        # opponents in common tell between two whose years both fit
        (
            [("Kasparov, Gary", 1976, 1999), ("Kasparov, Georgy", 2013, 2013), ("Kasparov, G", 2000, 2021)],
            {"Kasparov, Gary": 9, "Kasparov, Georgy": 1, "Kasparov, G": 8},
            "Kasparov, Gary",
        ),
        (
            [("Kasparov, Gary", 1976, 1999), ("Kasparov, Georgy", 2013, 2013), ("Kasparov, G", 2000, 2021)],
            {"Kasparov, Gary": 4, "Kasparov, Georgy": 3, "Kasparov, G": 8},
            None,
        ),
        ([("Smith, Murray", 1911, 1911), ("Smith, M", 1992, 1992)], {}, None),  # 81 years apart
        ([("Roe, Xaver", 1900, 1910), ("Roe, X", 1925, 1926)], {}, None),
        (
            [("Sokolov, Andrei", 1981, 1999), ("Sokolov, And", 2001, 2003)],
            {},
            None,
        ),  # cut short to tell him apart
        (
            [("Sokolov, Andrei", 1981, 1999), ("Sokolov, And", 2001, 2003)],
            {"Sokolov, Andrei": 4, "Sokolov, And": 3},
            "Sokolov, Andrei",
        ),
        ([("Popov, Ivan", 1990, 2010), ("Popov, I RUS", 2000, 2005)], {}, None),
        (
            [("Akopian, Vladimir", 1990, 2010), ("Akobian, V", 2000, 2005)],
            {"Akopian, Vladimir": 9, "Akobian, V": 9},
            None,
        ),
        (
            [("Morphy, Paul", 1850, 1869), ("Morphy", 1855, 1858)],
            {"Morphy, Paul": 5, "Morphy": 5},
            "Morphy, Paul",
        ),
        ([("Morphy, Paul", 1850, 1869), ("Morphy", 1855, 1858)], {}, None),
    ],
)
def test_what_is_sure(
    careers: list[Career], opponents: dict[str, int], expected: str | None, tmp_path: Path
) -> None:
    names = applied(lines_of(history(*careers, opponents=opponents)), tmp_path)
    assert names == ({careers[-1][0]: expected} if expected else {})


def test_chains_lead_to_one_name(tmp_path: Path) -> None:
    games = history(("Gross, David Emil", 1992, 1998), ("Gross, David", 1993, 1995), ("Gross, D", 1994, 1996),
                    opponents={"Gross, David Emil": 5, "Gross, David": 5, "Gross, D": 5})  # fmt: skip
    pairs = [suspect(games, "Gross, David", "Gross, D"), suspect(games, "Gross, David Emil", "Gross, David")]
    assert applied(list(alias_lines(games, pairs)), tmp_path) == {
        "Gross, D": "Gross, David Emil",
        "Gross, David": "Gross, David Emil",
    }


def suspect(games: Games, main: str, synonym: str) -> Suspect:
    from ttt_cli.games.players.careers import careers_of

    careers = careers_of(games)
    ours, theirs = (careers[games.players.index(name)] for name in (main, synonym))
    return Suspect(ours, theirs, "initials", 0, 0, sure=True)


def test_nobody_meets_himself_or_plays_for_a_century(tmp_path: Path) -> None:
    games = make_games(
        [(1900, "Roe, Xaver", "Poe, A", 2), (1901, "Roe, X", "Roe, Xa", 2), (1960, "Roe, Xav", "Poe, A", 2)]
    )
    pairs = [suspect(games, "Roe, Xaver", name) for name in ("Roe, X", "Roe, Xa", "Roe, Xav")]
    assert applied(list(alias_lines(games, pairs)), tmp_path) == {
        "Roe, X": "Roe, Xaver",
        "Roe, Xav": "Roe, Xaver",
    }
    circle = [suspect(games, "Roe, Xaver", "Roe, X"), suspect(games, "Roe, X", "Roe, Xaver")]
    assert applied(list(alias_lines(games, circle)), tmp_path) == {"Roe, X": "Roe, Xaver"}


def test_the_lines_are_csv() -> None:
    row = alias_row('O"Roe, Xaver', 'O"Roe, X')
    assert row is not None
    assert next(csv.reader([row])) == ['O"Roe, Xaver', 'O"Roe, X']


@pytest.mark.parametrize(
    ("main", "synonym"),
    [("A\nB", "A"), ("A", "A\rB"), ("A", "status=x"), ("name", "spelling"), ("A", "A &amp; B"), ("", "A"),
     ("\udce9", "A"), (" A", "B"), ("A", "B ")],
)  # fmt: skip
def test_what_no_line_can_say(main: str, synonym: str) -> None:
    assert alias_row(main, synonym) is None


def test_a_name_may_look_like_a_comment() -> None:
    assert alias_row("#1", "One") == '"#1","One"'


WORD = st.sampled_from(["Roe", "Roes", "Friedmann", "Friedman", "X", "Xa", "Xaver", "Xav", "#", '"', "&amp;", "\n",
                        "status=", "name", "spelling", "\ud800", "Dr.", "é", "-", "(GER)", "\x00"])  # fmt: skip
NAME = (
    st.lists(WORD, min_size=1, max_size=3).map(" ".join)
    | st.builds("{}, {}".format, WORD, WORD)
    | st.text(max_size=4)
)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(NAME, min_size=2, max_size=8, unique=True),
    st.data(),
)
def test_whatever_the_names_the_file_is_accepted(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    """Whether they are players' names as read or not, and whichever of the suggestions are sure."""
    careers = [(name, 1900 + data.draw(st.integers(0, 50)), 1950) for name in names]
    games = history(*careers)
    pairs = [
        Suspect(one.main, one.synonym, one.kind, one.others, one.shared, sure=data.draw(st.booleans()))
        for one in find_suspects(games).pairs
    ]
    further = data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=4))
    pairs += [suspect(games, *pair) for pair in further if pair[0] != pair[1]]
    folder = tmp_path_factory.mktemp("aliases")
    for found in (find_suspects(games).pairs, pairs):
        names_of = applied(list(alias_lines(games, found)), folder)
        assert not set(names_of) & set(names_of.values())
