"""Names: cleaned, keyed, and those that are not of one person; of many at once as of each by itself."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.config.schema import NameMatching
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.names import (
    clean_name,
    name_key,
    name_keys,
    not_a_player,
)
from ttt_cli.games.teams_and_engines import is_engine, is_team, teams_and_engines
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.reports import DROP_REASONS
from ttt_cli.reading.text import decode


@each(
    "raw, name",
    [
        ("Morphy, Paul ", "Morphy, Paul"),
        (b" Morphy,\t  Paul\xc2\xa0", "Morphy, Paul"),
        ("Löwenthal".encode(), "Löwenthal"),
        ("Löwenthal".encode("cp1252"), "Löwenthal"),
        ("Lo\u0308wenthal", "Löwenthal"),
        ("\ufeffMorphy\u2028Paul\u200b", "Morphy Paul"),
        (b"\x93Zappa\x94", "“Zappa”"),
        (b"odd \x81", "odd \x81"),  # a byte that neither UTF-8 nor cp1252 knows stays distinct
        ("Torre Repetto Carlos (MEX)", "Torre Repetto Carlos"),
        ("Tal, Mihail [LAT]", "Tal, Mihail"),
        ("GM Kasparov, Garry", "Kasparov, Garry"),
        ("WGM Menchik, Vera", "Menchik, Vera"),
        ("Kasparov, G (GM)", "Kasparov, G"),
        ("IM Botvinnik, M (URS)", "Botvinnik, M"),
        ("Prof. Dr. Adolf Anderssen", "Adolf Anderssen"),
        ("Dr.Tarrasch", "Tarrasch"),
        ("Tarrasch, Dr. Siegbert", "Tarrasch, Siegbert"),
        ("Lehmann, Heinz Dr", "Lehmann, Heinz"),
        ("Lehmann, Heinz, Dr.", "Lehmann, Heinz"),
        ("Herr Schmidt", "Schmidt"),
        ("Rev. J Owen", "J Owen"),
        ("&eacute;tienne, J", "étienne, J"),
        ("Ruy L&#243;pez", "Ruy López"),
        ("Aronian,L", "Aronian, L"),
        ("Morphy ,  Paul,", "Morphy, Paul"),
        ("Dr. NN", "NN"),
    ],
)
def test_cleaning(raw: bytes | str, name: str) -> None:
    assert clean_name(decode(raw) if isinstance(raw, bytes) else raw) == name


def listed(text: str) -> list[str]:
    """The names of a list, between semicolons."""
    return " ".join(text.split()).split("; ")


MAY_BE_NAMES = """
Mrs. Worrall; Miss Finn; Popadic, Dr; Im, Hyun; IM; Dr; (GER); Foo (JUN); DR Congo; Burton, GM;
Anderssen, Adolf (offhand); Drazic, Sinisa; Remi, A; A & B; Profi, T; Rodriguez, And URU
"""
TEAMS = """
Alekhine/Reilly; Blackburne, J/Pillsbury, H; Paulsen, L & Bier, M; Bird + Blackburne; Lowenthal/Allies; Allies;
Kasparov, Garry:Crumiller, Jon;
Computer Aided Vote Chess; Smith and Jones; Smith, J and Jones, K; Rosenthal et Clerc; British Chess Club;
Schachklub Hietzing; Rest of the World; The World; Amateurs; Anand, V / FRITZ7; Team, A
"""
ENGINES = """
Comp Deep Thought; Deep Blue; DEEP FRITZ; Fritz 6; FRITZ; Fritz on Primergy K800; Stockfish; Stockfish 16.1;
stockfish 20240101 dev; Komodo 14; Houdini; Rybka 4; HIARCS 8.0; Shredder 5.32; Junior 7; Lc0; Leela Chess Zero; Crafty;
GNU Chess 5; Gnuchess; Mephisto Montreux; Chessmaster 4000; Millennium Chess, Computer; Pewatronic COMP; AlphaZero;
The King 2.51; Rebel Century 4; Chess Tiger; Greenblatt Programm; Greenblatt program; Mac Hack; MacHack VI; Comp Hirn;
Fritz5; Rebel10 (exp); JUNIOR7; FRITZ6; SHREDDER7.0; REBEL CENTURY; DEEP JUNIOR 11; POCKET FRITZ; X3D Fritz; BRUTUS;
Mephisto, Computer 1; Pewatronic, Grandmaster (computer 1); Computer; Computer Mephisto; Abrok 5.0; Fritz SSS;
Viridithas 14.0.1 64-bit; Komodo Dragon 3.2
"""
PEOPLE_AND_TOWNS = """
Morphy, Paul; Vienna; London; Fritz, Alexander; Riemann, Fritz; Fritz; Junior, A; Junior; Von Heydebrand und der Lasa;
Von Heydebrand und der L, Tassilo; Rodriguez, And URU; King, Daniel; Tiger, Lyman; Comps, A; Andersson, Ulf; Sanders;
chessmaster102; rybka2001; fritz777; junior99; King7; Tiger1999; Computer Lovers!;
FRITZ ALEXANDER; KING, DANIEL;
Comp, Rainer; Learning group's mentoring programm; Foxy;
Genius, X; Rebel, R; Hydra; Garcia y Lopez, A; Deep, Roy; Kasparov; N.N. Smith; Crafts, J
"""


def test_what_may_be_a_name_stays() -> None:
    names = [*listed(MAY_BE_NAMES), "Smith &c; Sons"]
    assert list(map(clean_name, names)) == names


@each(
    "text, team, engine",
    [(TEAMS, True, False), (ENGINES, False, True), (PEOPLE_AND_TOWNS, False, False)],
)
def test_teams_engines_and_people(text: str, team: bool, engine: bool) -> None:
    names = listed(text)
    teams, engines = teams_and_engines(names)
    assert dict(zip(names, teams, strict=True)) == dict.fromkeys(names, team)
    assert dict(zip(names, engines, strict=True)) == dict.fromkeys(names, engine)


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


@pytest.mark.slow
@given(NAMES)
def test_keys_of_names(names: list[str]) -> None:
    for matching in get_args(NameMatching):
        assert name_keys(MANY + names, matching)[len(MANY) :] == [
            name_key(name, matching) for name in names
        ]
        assert name_keys(names, matching) == [name_key(name, matching) for name in names]


@pytest.mark.slow
@given(NAMES)
def test_teams_and_engines_among_names(names: list[str]) -> None:
    teams, engines = teams_and_engines(MANY + names)
    assert teams[len(MANY) :] == [is_team(name) for name in names]
    assert engines[len(MANY) :] == [not is_team(name) and is_engine(name) for name in names]
    assert not any(teams[: len(MANY)] + engines[: len(MANY)])


@pytest.mark.slow
@given(st.lists(NAME.map(lambda name: name.encode("utf-8", "replace")) | st.binary(max_size=4)))
def test_texts_of_values(raws: list[bytes]) -> None:
    strings = Strings()
    assert strings.texts(strings.numbers_of(raws)) == list(map(decode, raws))


@pytest.mark.slow
@given(st.lists(NAMES, max_size=4), st.booleans())
def test_a_pool_of_names(batches: list[list[str]], many: bool) -> None:
    dictionary = NameDictionary()
    known = {"": 0}
    for batch in batches:
        names = MANY + batch if many else batch
        assert dictionary.numbers_of(names).tolist() == [
            known.setdefault(name, len(known)) for name in names
        ]
    assert dictionary.values == list(known)
    assert dictionary.cleaned == [clean_name(name) for name in known]
    assert [reject_code > 0 for reject_code in dictionary.reject_code] == [
        not_a_player(name) is not None for name in dictionary.cleaned
    ]


@each(
    "names, reason",
    [
        (["", "?", "??", "-", ".", "?, ?", "*"], "no player"),
        (["NN", "N.N.", "N. N.", "Nn", "n, n", "Unknown", "anonymous"], "unnamed player"),
        (
            [
                "BYE",
                "Bye",
                "bye",
                "Bye 2",
                "Bye, Bye",
                "Freilos",
                "spielfrei",
                "Exempt",
                "exempté",
                "(not paired)",
            ],
            "forfeit",
        ),
        (
            [
                "Byers",
                "Bye, Anders",
                "Nunn",
                "N",
                "Morphy, Paul",
                "Nn, Nn Paul",
                "1",
                "None",
                "null",
                "NA",
                "Ng, N",
            ],
            None,
        ),
    ],
)
def test_who_is_a_player(names: list[str], reason: str | None) -> None:
    assert {not_a_player(name) for name in names} == {reason}


def test_names_as_long_as_books_are_not_searched() -> None:
    dictionary = NameDictionary()
    names = ["x" * 100_000, "Tal, Mihail", "GM " * 1000, "y" * 1000]
    numbers = dictionary.numbers_of(names).tolist()
    assert [
        DROP_REASONS[dictionary.reject_code[number] - 1] for number in (numbers[0], numbers[2])
    ] == ["too long"] * 2
    assert [dictionary.reject_code[number] for number in (numbers[1], numbers[3])] == [0, 0]
    assert max(map(len, dictionary.cleaned)) == 1000
    assert [dictionary.values[number] for number in numbers] == names


@given(NAME | st.binary(max_size=12).map(decode))
def test_cleaning_never_fails_and_is_done_once(raw: str) -> None:
    assert clean_name(clean_name(raw)) == clean_name(raw)
