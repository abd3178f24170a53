"""What is said of many names at once is what is said of each by itself."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import examples
from ttt_cli.config.schema import NameMatching
from ttt_cli.games.names import (
    UNUSUAL,
    clean_name,
    is_engine,
    is_team,
    name_key,
    name_keys,
    not_a_player,
    preselect,
    teams_and_engines,
)
from ttt_cli.games.validate import NameDictionary
from ttt_cli.reading.input import text_of, texts_of

pytestmark = pytest.mark.slow

PARTS = [
    *("Tal", "Morphy", "Nn", "N", "J", "JH", "ab", "Ab", "McX", "o", "X1", "12", "é", "Ø", "Чи", "\udce9", "ſ"),
    *(" ", " ", "  ", ", ", ",", ".", "-", "'", "’", "_", "/", " & ", "&amp;", "\n", "\t", "\xa0", "\u200b", "?", "*"),
    *("Dr", "Dr. ", "dr ", "DR.", "Prof", "prof. ", "PROF.", "Professor ", "Doctor", "Doktor ", "Rev", "Reverend "),
    *("Herr ", "Mr ", "Monsieur ", "Hr", "Dhr ", "GM ", "WGM", "IM", "FM", "CM", "WNM", " (GER)", "[GM]"),
    *("unknown", "Anonymous", "unnamed", "UNKNOWN", "n", "anon"),
    *("and", " with ", "und", "et al", "avec", "Allies", "allies ", "comité", "Comite", "team", "The World"),
    *("Chess Club", "schachklub", "Échecs ", "cercle d ", "partners", "others", "world", "rest of ", "on "),
    *("Fritz", "FRITZ", "Deep ", "Komodo", "Lc0", "The King", "comp", "Computer", "engine", "program", "v3", " 7"),
]  # fmt: skip
NAME = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=5).map("".join),
    st.text(st.sampled_from("aAbBdDrRnNmMoO ,.-'é1"), max_size=8),
)
NAMES = st.lists(NAME, max_size=8)
MANY = ["Tal, Mihail", "Player 12"] * 500  # so many that they are looked through together


@pytest.mark.parametrize("pattern", ["[^a ]", "a,|, ", r"\n[ab]|é", r"\n\n", r"\?$", "a"])
@examples(15)
@given(st.lists(st.text(st.sampled_from("ab, é?\n"), max_size=4), max_size=5))
def test_neighbours_are_found_by_the_pattern(pattern: str, names: list[str]) -> None:
    def holds(name: str) -> bool:
        plain = re.sub(r"[^\x00-\x7f]|\n", "?", name)
        line = f"\n{plain}\n"
        return any(re.search(pattern, line[i : i + 2]) for i in range(len(line) - 1))

    names = MANY + names
    found = preselect(pattern, names)
    assert found == [number for number, name in enumerate(names) if holds(name)]


def test_of_few_names_all_are_found() -> None:
    assert preselect("x", ["a", "b"]) == [0, 1]
    assert preselect("x", []) == []


@given(NAMES)
def test_names_that_need_no_care_are_clean_and_somebodys(names: list[str]) -> None:
    careful = set(preselect(UNUSUAL, MANY + names))
    for number, name in enumerate(MANY + names):
        if number not in careful:
            assert clean_name(name) == name
            assert not_a_player(name) is None


def test_common_names_need_no_care() -> None:
    names = [
        "Blackburne, J.H.",
        "Player 0000012",
        "O'Kelly, A",
        "Vachier-Lagrave, Maxime",
        "MORPHY, PAUL",
        "Tal",
    ]
    assert preselect(UNUSUAL, MANY + names) == []


@given(NAMES)
def test_keys_of_names(names: list[str]) -> None:
    for matching in get_args(NameMatching):
        assert name_keys(MANY + names, matching)[len(MANY) :] == [name_key(name, matching) for name in names]
        assert name_keys(names, matching) == [name_key(name, matching) for name in names]


@given(NAMES)
def test_teams_and_engines_among_names(names: list[str]) -> None:
    teams, engines = teams_and_engines(MANY + names)
    assert teams[len(MANY) :] == [is_team(name) for name in names]
    assert engines[len(MANY) :] == [not is_team(name) and is_engine(name) for name in names]
    assert not any(teams[: len(MANY)] + engines[: len(MANY)])


@given(
    st.lists(st.one_of(NAME, NAME.map(lambda name: name.encode("utf-8", "replace")), st.binary(max_size=4)))
)
def test_texts_of_values(raws: list[str | bytes]) -> None:
    assert texts_of(raws) == [text_of(raw) for raw in raws]
    plain = [raw for raw in raws if isinstance(raw, bytes)]
    assert texts_of(plain) == [text_of(raw) for raw in plain]


@given(st.lists(NAMES, max_size=4), st.booleans())
def test_a_pool_of_names(batches: list[list[str]], many: bool) -> None:
    dictionary = NameDictionary()
    known = {"": 0}
    for batch in batches:
        names = MANY + batch if many else batch
        assert dictionary.ids(names).tolist() == [known.setdefault(name, len(known)) for name in names]
    assert dictionary.values == list(known)
    assert dictionary.cleaned == [clean_name(name) for name in known]
    assert [reject_code > 0 for reject_code in dictionary.reject_code] == [
        not_a_player(name) is not None for name in dictionary.cleaned
    ]
