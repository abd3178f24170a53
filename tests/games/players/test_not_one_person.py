"""Titles and countries beside names; teams and engines by rule, people left alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.games.names import clean_name, is_engine, is_team, teams_and_engines


@each(
    "written, name",
    [
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
def test_what_belongs_to_no_name(written: str, name: str) -> None:
    assert clean_name(written) == name


@each(
    "name",
    [
        "Mrs. Worrall", "Miss Finn", "Popadic, Dr", "Im, Hyun", "IM", "Dr", "(GER)", "Foo (JUN)",
        "DR Congo", "Burton, GM", "Anderssen, Adolf (offhand)", "Drazic, Sinisa", "Remi, A", "A & B",
        "Profi, T", "Smith &c; Sons", "Rodriguez, And URU",
    ],
)  # fmt: skip
def test_what_may_be_a_name_stays(name: str) -> None:
    assert clean_name(name) == name


@given(
    st.lists(
        st.sampled_from(
            ["Dr.", "GM ", "Tal", ", ", "Prof ", "(GER)", " M.", "&amp;", "amp;", "IM", ",", " ", "."]
        )
    )
)
def test_cleaning_is_done_once(parts: list[str]) -> None:
    name = clean_name("".join(parts))
    assert clean_name(name) == name


@each(
    "name",
    [
        "Alekhine/Reilly", "Blackburne, J/Pillsbury, H", "Paulsen, L & Bier, M", "Bird + Blackburne",
        "Lowenthal/Allies", "Allies", "Kasparov, Garry:Crumiller, Jon", "Smith and Jones",
        "Smith, J and Jones, K", "Rosenthal et Clerc", "British Chess Club", "Schachklub Hietzing",
        "Rest of the World", "The World", "Amateurs", "Anand, V / FRITZ7",
    ],
)  # fmt: skip
def test_teams(name: str) -> None:
    assert is_team(name)


@each(
    "name",
    [
        "Comp Deep Thought", "Deep Blue", "DEEP FRITZ", "Fritz 6", "FRITZ", "Fritz on Primergy K800",
        "Stockfish", "Stockfish 16.1", "stockfish 20240101 dev", "Komodo 14", "Houdini", "Rybka 4",
        "HIARCS 8.0", "Shredder 5.32", "Junior 7", "Lc0", "Leela Chess Zero", "Crafty", "GNU Chess 5",
        "Gnuchess", "Mephisto Montreux", "Chessmaster 4000", "Millennium Chess, Computer",
        "Pewatronic COMP", "AlphaZero", "The King 2.51", "Rebel Century 4",
    ],
)  # fmt: skip
def test_engines(name: str) -> None:
    assert is_engine(name)


@each(
    "name",
    [
        "Morphy, Paul", "Vienna", "London", "Fritz, Alexander", "Riemann, Fritz", "Fritz", "Junior, A",
        "Junior", "Von Heydebrand und der L, Tassilo", "Von Heydebrand und der Lasa", "Rodriguez, And URU",
        "King, Daniel", "Tiger, Lyman", "Comps, A", "Andersson, Ulf", "Sanders", "Genius, X", "Team, A",
        "Rebel, R", "Hydra", "Garcia y Lopez, A", "Deep, Roy", "Kasparov", "N.N. Smith", "Crafts, J",
    ],
)  # fmt: skip
def test_people_and_towns(name: str) -> None:
    assert not is_engine(name)
    assert is_team(name) == (name == "Team, A")


def test_a_team_with_an_engine_is_a_team() -> None:
    names = ["Tal, M", "Fritz 6", "Anand, V / FRITZ7"]
    assert teams_and_engines(names) == ([False, False, True], [False, True, False])
