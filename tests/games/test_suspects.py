"""Names that may be one person's: suggested with the evidence, in an alias file that is always read back."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, groupby
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.aliases import alias_row, read_aliases
from ttt_cli.games.groups import careers_of
from ttt_cli.games.names import clean_name, name_key
from ttt_cli.games.read import read_games
from ttt_cli.games.similar_names import INITIALS, likeness, parts_of_key
from ttt_cli.games.suspects import Suspect, alias_lines, count_suspects, find_suspects
from ttt_cli.games.table import Games


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
        ([("Roe, Xav", 1850, 1860), ("Roe, X", 1935, 1935)], [("Roe, Xav", "Roe, X", INITIALS, 0, 75)]),
        ([("Roe, Xav", 1850, 1860), ("Roe, X", 1936, 1936)], []),
        ([("Roe, Xav", 1850, 1860), ("Roe, X", 1900, 1900)], [("Roe, Xav", "Roe, X", INITIALS, 0, 40)]),
        # teams are nobody
        ([("Lee, Al", 1900, 1900), ("Lee, Al/Bo, C", 1900, 1900)], []),
    ],
)  # fmt: skip
def test_suggestions_with_their_evidence(
    careers: list[tuple[str, int, int]], found: list[tuple[object, ...]]
) -> None:
    pairs = find_suspects(history(*careers))
    assert [
        (one.main.name, one.synonym.name, one.kind, one.n_other_candidates, one.gap)
        for one in pairs
    ] == found


@given(
    st.lists(
        st.sampled_from(
            [
                *("Friedmann, A", "Friedman, Al", "Friedman", "Fridman, A", "Firedmann, A", "Friedmahn, A"),
                *("Roe, X", "Roe, Xa", "Roe", "De Roe, X"),
            ]
        ),
        unique=True,
    )
)  # fmt: skip
def test_no_pair_is_missed(names: list[str]) -> None:
    """Against comparing all with all: each pair that is alike is known, as one or as a further explanation."""
    games = history(*((name, 1900, 1901) for name in names))
    found = find_suspects(games)
    parts = {name: parts_of_key(name_key(name)) for name in names}
    similar = [pair for pair in combinations(names, 2) if likeness(parts[pair[0]], parts[pair[1]])]
    assert sum(1 + suspect.n_other_candidates for suspect in found) == len(similar)
    assert count_suspects(games) == (len(found), 0)


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
    return list(alias_lines(games, find_suspects(games)))


def applied(lines: list[str], folder: Path) -> dict[str, str]:
    """What the lines say as an alias file."""
    (folder / "a.csv").write_bytes(
        "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    )
    return dict(read_aliases(str(folder / "a.csv")).names)


def test_each_suggestion_stands_below_its_evidence_and_is_a_comment_if_it_may_be_several() -> None:
    games = history(("Aronian, Levon", 1995, 2025), ("Aronian, L", 2001, 2003), ("Roe, X Y", 1900, 1901),
                    ("Roe, X Z", 1900, 1901), ("Roe, X", 1900, 1901))  # fmt: skip
    assert lines_of(games) == [
        "# Aronian, Levon: 2 games 1995-2025; Aronian, L: 2 games 2001-2003; initials, overlapping years",
        '"Aronian, Levon","Aronian, L"',
        "# Roe, X Z: 2 games 1900-1901; Roe, X: 2 games 1900-1901; initials, overlapping years, or one of 1 others",
        '# "Roe, X Z","Roe, X"',
    ]
    assert find_suspects(make_games([(1900, "Roe, Xav", "Roe, X", 2)])) == []  # they met


ROES = "Rowes, Ann 1900-1901; Rowes, Bea 1900-1901; Rowes, Cid 1900-1901"


def namesakes(count: int) -> str:
    """So many people of one surname and different initials."""
    return "; ".join(f"Rowes, {letter}nn 1900-1901" for letter in "ABCDEFGHIJKLM"[:count])


CAREER = re.compile(
    r"(.*) (\d{4})-(\d{4})(?: \+(\d+))?"
)  # name, first and last year, common opponents


SURE = """
# the one whose years the synonym's overlap, whoever else has the initial
Roe, Xaver 1850-1900; Roe, Xenia 1950-1960; Roe, X 1890-1895 => Roe, X = Roe, Xaver
# opponents in common tell between two whose years both fit
Kasparov, Gary 1976-1999 +9; Kasparov, Georgy 2013-2013 +1; Kasparov, G 2000-2021 +8
    => Kasparov, G = Kasparov, Gary
Kasparov, Gary 1976-1999 +4; Kasparov, Georgy 2013-2013 +3; Kasparov, G 2000-2021 +8 =>
Kasparov, Gary 1976-1999 +7; Kasparov, Georgy 2013-2013 +2; Kasparov, G 2000-2021 +8
    => Kasparov, G = Kasparov, Gary
Kasparov, Gary 1976-1999 +6; Kasparov, Georgy 2013-2013 +2; Kasparov, G 2000-2021 +8 =>
Kasparov, Gary 1976-1999 +2; Kasparov, Georgy 2013-2013; Kasparov, G 2000-2021 +2
    => Kasparov, G = Kasparov, Gary
Kasparov, Gary 1976-1999 +1; Kasparov, Georgy 2013-2013; Kasparov, G 2000-2021 +1 =>
Smith, Murray 1911-1911; Smith, M 1992-1992 =>
Roe, Xaver 1900-1910; Roe, X 1925-1926 =>
Sokolov, Andrei 1981-1999; Sokolov, And 2001-2003 =>
Sokolov, Andrei 1981-1999 +4; Sokolov, And 2001-2003 +2 =>
Sokolov, Andrei 1981-1999 +4; Sokolov, And 2001-2003 +3 => Sokolov, And = Sokolov, Andrei
Popov, Ivan 1990-2010; Popov, I RUS 2000-2005 =>
Akopian, Vladimir 1990-2010 +9; Akobian, V 2000-2005 +9 =>
Morphy, Paul 1850-1869 +5; Morphy 1855-1858 +5 => Morphy = Morphy, Paul
Morphy, Paul 1850-1869; Morphy 1855-1858 =>
# forms of one name do not compete, and one bridges the years between the others
Belov, Vladimir 1980-1998; Belov, Vl 2009-2015; Belov, V 2000-2003
    => Belov, Vl = Belov, Vladimir; Belov, V = Belov, Vladimir
Belov, Vladimir 1980-1998; Belov, Vl 2009-2015 =>
Das, Arghya 2005-2022; Das, Ar 2006-2006; Das, Arindam 2005-2012 =>
Das, Arghya 2005-2022; Das, A 2006-2006; Das, Anup 2005-2012 =>
# two letters of a name, and an initial of two letters
Liu, Yinuo 2017-2017; Liu, Yi 2024-2024 => Liu, Yi = Liu, Yinuo
Antic, De 2004-2009; Antic, D 2001-2001 => Antic, D = Antic, De
Antic, De 2005-2009; Antic, D 2001-2001 =>
Antic, De 2006-2009; Antic, D 2001-2001 =>
Antic, Ded 2006-2009; Antic, D 2001-2001 => Antic, D = Antic, Ded
Antic, De 2006-2009 +6; Antic 2001-2001 +6 => Antic = Antic, De
Antic, De 2006-2009 +5; Antic 2001-2001 +5 =>
Smith, Ax 2002-2009; Smith, AP 2001-2001 =>
Ma, Ling 2016-2018 +2; Ma, Lin 2017-2017 +2 =>
# others of the surname, a short one, and years between leave room for more people, opponents in common less
Tal, Mihail 1950-1990; Tal, M 1995-1996 =>
Tal, Mihail 1950-1990; Tal, M 1994-1994 =>
Tal, Mihail 1950-1990; Tal, M 1993-1993 => Tal, M = Tal, Mihail
Fine, Reuben 1930-1950; Fine, R 1954-1954 =>
Evans, Larry 1930-1950; Evans, L 1954-1954 => Evans, L = Evans, Larry
Botvinnik, Mihail 1950-1990; Botvinnik, M 2000-2000 => Botvinnik, M = Botvinnik, Mihail
Botvinnik, Mihail 1950-1990; Botvinnik, M 2001-2001 =>
Botvinnik, Mihail 1950-1990; Botvinnik, M 1995-1996 => Botvinnik, M = Botvinnik, Mihail
{ROES}; Rowes, Xaver 1900-1910; Rowes, X 1905-1906 =>
Rowes, Ann 1900-1901; Rowes, Bea 1900-1901; Rowes, Xaver 1900-1910; Rowes, X 1905-1906
    => Rowes, X = Rowes, Xaver
Rowes, Ann 1900-1901; Rowes, Bea 1900-1901; Rowes, Xaver 1900-1910; Rowes, X 1912-1914 =>
{ROES}; Rowes, Xaver 1900-1910; Rowes, Xa 1905-1906 => Rowes, Xa = Rowes, Xaver
{ROES}; Rowes, Xaver 1900-1910 +1; Rowes, X 1905-1906 +1 => Rowes, X = Rowes, Xaver
{TWELVE}; Rowes, Xaver 1900-1910; Rowes, Xa 1905-1906 => Rowes, Xa = Rowes, Xaver
{THIRTEEN}; Rowes, Xaver 1900-1910; Rowes, Xa 1905-1906 =>
{TEN}; Rowes, Xaver 1900-1910 +1; Rowes, X 1905-1906 +1 => Rowes, X = Rowes, Xaver
{ELEVEN}; Rowes, Xaver 1900-1910 +1; Rowes, X 1905-1906 +1 =>
# two forms that nothing else unites, of which either may be meant
Marjanovic, Slavoljub 1977-1992; Marjanovic, Slavo 2003-2010; Marjanovic, Zoran 1980-1981; Marjanovic, S 2002-2002
    =>
# blanks alone, a name told in full before a country, and more opponents in common than strangers have
Van der Stricht, G 2008-2008; Vanderstricht, G 2002-2002 => Vanderstricht, G = Van der Stricht, G
Ivanov, Igor V 1977-1998; Ivanov, IgorV 2002-2005 => Ivanov, IgorV = Ivanov, Igor V
Popov, Ivan 1990-2010 +1; Popov, Ivan RUS 2000-2005 +1 => Popov, Ivan RUS = Popov, Ivan
Karpov, Anatoly 1961-1999 +21; Karpov, Ana 2003-2022 +20 => Karpov, Ana = Karpov, Anatoly
Karpov, Anatoly 1961-1999 +9; Karpov, Ana 2003-2022 +9 =>
# what one form tells, the others need not
Ivanov, Alexander 1978-1999 +3; Ivanov, Alexander V 1995-1997; Ivanov, AV 1999-2002 +3
    => Ivanov, Alexander V = Ivanov, Alexander; Ivanov, AV = Ivanov, Alexander
# a further initial, but no further name
Katz, Alexander 2019-2022; Katz, Alexander R 2016-2016 => Katz, Alexander R = Katz, Alexander
Wang, Hao 2010-2012; Wang, Hao Min 2010-2012 =>
# a country, of which a letter may look like a particle
Sokolov, Ivan 1986-2024; Sokolov, Iv NED 2007-2009 =>
Sokolov, Ivan 1986-2024 +4; Sokolov, Iv NED 2007-2009 +3 => Sokolov, Iv NED = Sokolov, Ivan
"""


@each(
    "case",
    [line for line in SURE.replace("\n    ", " ").strip().splitlines() if not line.startswith("#")],
)
def test_what_is_sure(case: str, tmp_path: Path) -> None:
    for number, word in ((10, "TEN"), (11, "ELEVEN"), (12, "TWELVE"), (13, "THIRTEEN")):
        case = case.replace(f"{{{word}}}", namesakes(number))
    careers, _, expected = case.replace("{ROES}", ROES).partition(" =>")
    found = [CAREER.fullmatch(one).groups() for one in careers.split("; ")]  # type: ignore[union-attr]
    opponents = {name: int(common) for name, _, _, common in found if common}
    games = history(
        *((name, int(first), int(last)) for name, first, last, _ in found), opponents=opponents
    )
    pairs = (one.strip().partition(" = ") for one in expected.split(";") if one)
    assert applied(lines_of(games), tmp_path) == {synonym: main for synonym, _, main in pairs}


GUESSES = {"Davis, L", "Ivanov, S.", "Marjanovic, S", "Mrva, M", "Novikov, S", "Peng, D", "Rasmussen, K", "Richter, M.",
           "Sai, S", "Tsai, C", "Xu, X"}  # fmt: skip


@pytest.mark.slow
@pytest.mark.large
def test_the_spellings_of_a_collection(data: Path, tmp_path: Path) -> None:
    """Against a table of spellings, whose names that are abbreviations themselves may be one person's with others.

    Of 158 pairs of spellings that it has 111 are united, of 1,670 that have the full name 1,177; of the names that the
    table keeps apart 15 groups are united, none of which it contradicts, and no initials of common surnames.
    """
    games = read_games(
        [str(data / "pgn" / "players.pgn.xz")], DataConfig(filter=FilterConfig(exclude=[]))
    )
    mains = applied(lines_of(games), tmp_path)
    with gzip.open(data / "player_aliases.csv.gz", "rt", encoding="utf-8") as file:
        rows = [(clean_name(row["as_in_pgn"]), row["canonical"]) for row in csv.DictReader(file)]
    told = {
        spelling: {name for _, name in group}
        for spelling, group in groupby(sorted(rows), itemgetter(0))
    }
    spellings = {
        name: next(iter(told[name])) for name in games.players if len(told.get(name, ())) == 1
    }
    full = {
        name: name
        for name in {name for _, name in rows}.intersection(games.players).difference(told)
    }
    for known, count, found in ((spellings, 158, 111), (spellings | full, 1670, 1177)):
        assert len(list(combinations_by(known.__getitem__, known))) == count
        pairs = list(combinations_by(lambda name: mains.get(name, name), known))
        united = [(known[a], known[b]) for a, b in pairs]
        assert sum(one == other for one, other in united) == found
    assert not mains.keys() & GUESSES
    assert len({mains.get(a, a) for a, b in pairs if known[a] != known[b]}) == 15
    parts = {name: parts_of_key(name_key(name)) for name in chain.from_iterable(united)}
    assert not [
        pair
        for pair in united
        if pair[0] != pair[1] and not likeness(parts[pair[0]], parts[pair[1]])
    ]


def combinations_by(key: Callable[[str], str], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of names that have the same key."""
    groups = groupby(sorted(names, key=key), key)
    return chain.from_iterable(combinations(group, 2) for _, group in groups)


def suspect(games: Games, main: str, synonym: str) -> Suspect:
    careers = careers_of(games)
    ours, theirs = (careers[games.players.index(name)] for name in (main, synonym))
    return Suspect(ours, theirs, "initials", 0, 0, sure=True)


@each(
    "main, synonym, row",
    [
        ('O"Roe, Xaver', 'O"Roe, X', '"O""Roe, Xaver","O""Roe, X"'),
        ("#1", "One", '"#1","One"'),
        *(
            (main, synonym, None)
            for main, synonym in (
                *[
                    ("A\nB", "A"),
                    ("A", "A\rB"),
                    ("A", "status=x"),
                    ("name", "spelling"),
                    ("A", "A &amp; B"),
                ],
                *[("", "A"), ("\udce9", "A"), (" A", "B"), ("A", "B ")],
            )
        ),
    ],
)
def test_lines_of_alias_files(main: str, synonym: str, row: str | None) -> None:
    assert alias_row(main, synonym) == row


def test_nobody_meets_himself_or_plays_for_a_century(tmp_path: Path) -> None:
    games = make_games(
        [
            (1900, "Roe, Xaver", "Poe, A", 2),
            (1901, "Roe, X", "Roe, Xa", 2),
            (1960, "Roe, Xav", "Poe, A", 2),
        ]
    )
    pairs = [suspect(games, "Roe, Xaver", name) for name in ("Roe, X", "Roe, Xa", "Roe, Xav")]
    assert applied(list(alias_lines(games, pairs)), tmp_path) == {
        "Roe, X": "Roe, Xaver",
        "Roe, Xav": "Roe, Xaver",
    }
    circle = [suspect(games, "Roe, Xaver", "Roe, X"), suspect(games, "Roe, X", "Roe, Xaver")]
    assert applied(list(alias_lines(games, circle)), tmp_path) == {"Roe, X": "Roe, Xaver"}


WORD = st.sampled_from(["Roe", "Roes", "Friedmann", "Friedman", "X", "Xa", "Xaver", "Xav", "#", '"', "&amp;", "\n",
                        "status=", "name", "spelling", "\ud800", "Dr.", "é", "-", "(GER)", "\x00"])  # fmt: skip
NAME = (
    st.lists(WORD, min_size=1, max_size=3).map(" ".join)
    | st.builds("{}, {}".format, WORD, WORD)
    | st.text(max_size=4)
)


@pytest.mark.slow
@examples(60)
@given(st.lists(NAME, min_size=2, max_size=8, unique=True), st.data())
def test_whatever_the_names_the_file_is_accepted(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], data: st.DataObject
) -> None:
    """Whether they are players' names as read or not, and whichever of the suggestions are sure."""
    careers = [(name, 1900 + data.draw(st.integers(0, 50)), 1950) for name in names]
    games = history(*careers)
    pairs = [
        Suspect(
            one.main,
            one.synonym,
            one.kind,
            one.n_other_candidates,
            one.shared,
            sure=data.draw(st.booleans()),
        )
        for one in find_suspects(games)
    ]
    further = data.draw(
        st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=4)
    )
    pairs += [suspect(games, *pair) for pair in further if pair[0] != pair[1]]
    folder = tmp_path_factory.mktemp("aliases")
    for found in (find_suspects(games), pairs):
        names_of = applied(list(alias_lines(games, found)), folder)
        assert not set(names_of) & set(names_of.values())
