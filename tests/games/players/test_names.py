"""Names: decoded value by value, blanks and invisible characters in order, nobody recognised."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.games.names import clean_name, not_a_player
from ttt_cli.reading.input import decode


@each(
    "raw, name",
    [
        (b"Morphy, Paul ", "Morphy, Paul"),
        (b" Morphy,\t  Paul\xc2\xa0", "Morphy, Paul"),
        ("Löwenthal".encode(), "Löwenthal"),
        ("Löwenthal".encode("cp1252"), "Löwenthal"),
        ("Löwenthal".encode("cp1252").decode("utf-8", "surrogateescape"), "Löwenthal"),
        ("Lo\u0308wenthal", "Löwenthal"),
        ("\ufeffMorphy\u2028Paul\u200b", "Morphy Paul"),
        (b"\x93Zappa\x94", "“Zappa”"),
        (b"odd \x81", "odd \x81"),  # a byte that neither UTF-8 nor cp1252 knows stays distinct
    ],
)
def test_cleaning(raw: bytes | str, name: str) -> None:
    assert clean_name(raw) == name


@each("name", ["", "?", "??", "-", ".", "?, ?", "*"])
def test_nobody(name: str) -> None:
    assert not_a_player(name) == "no player"


@each("name", ["NN", "N.N.", "N. N.", "Nn", "n, n", "Unknown", "anonymous"])
def test_unnamed(name: str) -> None:
    assert not_a_player(name) == "unnamed player"


@each("name", ["Nunn", "N", "Morphy, Paul", "Nn, Nn Paul", "1", "None", "null", "NA", "Ng, N"])
def test_somebody(name: str) -> None:
    assert not_a_player(name) is None


@given(st.text())
def test_utf8_stays(text: str) -> None:
    assert decode(text.encode("utf-8", "ignore")) == text.encode("utf-8", "ignore").decode()


@given(st.binary(max_size=12))
def test_cleaning_never_fails_and_is_done_once(raw: bytes) -> None:
    assert clean_name(clean_name(raw)) == clean_name(raw)
