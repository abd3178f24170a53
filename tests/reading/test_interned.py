"""Strings numbered by compiled code: equal strings and no others share a number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.kernels.scanning.strings import number_of
from ttt_cli.reading.column import ByteStrings, Column
from ttt_cli.reading.interned import InternedStrings


@given(st.lists(st.binary(max_size=4), max_size=60))
def test_numbers_are_those_of_a_dictionary(written: list[bytes]) -> None:
    strings = InternedStrings()
    known = {b"": 0}
    for string in written:
        assert strings.number(string) == known.setdefault(string, len(known))
    assert list(strings) == list(known)


@pytest.mark.slow
def test_growing_keeps_numbers() -> None:
    strings = InternedStrings()
    written = [b"%d " % number * 20 for number in range(40_000)]
    first = [strings.number(string) for string in written]
    assert first == list(range(1, 40_001))
    assert [strings.number(string) for string in written] == first
    strings.grow()
    assert [strings.number(string) for string in written] == first


@given(st.lists(st.binary(max_size=9), max_size=60), st.integers(1, 60))
def test_many_at_once_get_the_same_numbers(written: list[bytes], cut: int) -> None:
    strings, one_by_one = InternedStrings(), InternedStrings()
    parts = [strings.ids(ByteStrings.of(part)).tolist() for part in (written[:cut], written[cut:])]
    assert [number for part in parts for number in part] == [one_by_one.number(string) for string in written]


def test_a_part_of_an_array_of_strings() -> None:
    strings, texts = InternedStrings(), ByteStrings.of([b"aa", b"b", b"aa", b"c" * 300_000])
    assert strings.ids(ByteStrings(texts.starts[1:], texts.characters)).tolist() == [1, 2, 3]
    assert list(strings) == [b"", b"b", b"aa", b"c" * 300_000]


@pytest.mark.slow
def test_strings_of_one_hash_are_told_apart() -> None:
    data = np.frombuffer(b"abc", np.uint8)
    slots, starts, characters = np.full(8, -1, np.int64), np.zeros(5, np.int64), np.zeros(8, np.uint8)
    for _ in range(2):
        found = [number_of(data, k, k + 1, 7, k, slots, starts, characters) for k in range(3)]
        assert found == [0, 1, 2]


def test_other_processes_get_the_strings_alone() -> None:
    strings = InternedStrings()
    for string in (b"x", b"yy", b"x"):
        strings.number(string)
    message = pickle.dumps(strings)
    assert len(message) < 1000
    assert list(pickle.loads(message)) == [b"", b"x", b"yy"]


def test_a_column_is_a_sequence() -> None:
    column = Column(np.array([1, 0, 1], np.int32), [b"x", b"y"])
    assert list(column) == [column[0], column[1], column[2]] == [b"y", b"x", b"y"]
    assert list(column[1:]) == [b"x", b"y"]
    assert len(column) == 3


def test_texts_are_a_sequence() -> None:
    texts = ByteStrings(np.array([0, 1, 1, 3]), np.frombuffer(b"abc", np.uint8))
    assert list(texts) == [b"a", b"", b"bc"] == list(Column(np.arange(3), texts))
    assert texts[1:] == [b"", b"bc"]
    with pytest.raises(IndexError):
        texts[3]
