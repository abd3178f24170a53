"""Words numbered by compiled code: equal words and no others share a number."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.games.file_records import Coded, Interner
from ttt_cli.games.words import Words


@given(st.lists(st.binary(max_size=4), max_size=60))
def test_numbers_are_those_of_a_dictionary(written: list[bytes]) -> None:
    words = Words()
    known = {b"": 0}
    for word in written:
        assert words.number(word) == known.setdefault(word, len(known))
    assert words.values == list(known)


def test_growing_keeps_numbers() -> None:
    words = Words()
    written = [b"%d " % number * 20 for number in range(40_000)]
    first = [words.number(word) for word in written]
    assert first == list(range(1, 40_001))
    assert [words.number(word) for word in written] == first
    words.grow()
    assert [words.number(word) for word in written] == first


@given(st.lists(st.lists(st.sampled_from([b"a", b"b", b"c", b""]), max_size=6), max_size=5), st.booleans())
def test_an_interner_takes_coded_columns_as_it_takes_values(columns: list[list[bytes]], apart: bool) -> None:
    plain, coded = Interner(), Interner()
    words: list[bytes] = []
    for column in columns:
        if apart:
            words = []
        words += [word for word in dict.fromkeys(column) if word not in words]
        codes = np.array([words.index(word) for word in column], np.int32)
        numbers = coded.ids(Coded(words, codes))
        names = list(coded)
        assert [names[number] for number in numbers] == column
        plain.ids(column)
    assert set(plain) == set(coded)


def test_a_coded_column_is_a_sequence() -> None:
    column = Coded([b"x", b"y"], np.array([1, 0, 1], np.int32))
    assert list(column) == [b"y", b"x", b"y"]
    assert list(column[1:]) == [b"x", b"y"]
    assert len(column) == 3
