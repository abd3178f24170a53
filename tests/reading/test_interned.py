"""Words numbered by compiled code: equal words and no others share a number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.kernels.scanning.delimited import FULL, WORDS, number_fields
from ttt_cli.kernels.scanning.strings import fill_slots, number_of
from ttt_cli.reading.coded import Coded, Texts
from ttt_cli.reading.interned import Words


@given(st.lists(st.binary(max_size=4), max_size=60))
def test_numbers_are_those_of_a_dictionary(written: list[bytes]) -> None:
    words = Words()
    known = {b"": 0}
    for word in written:
        assert words.number(word) == known.setdefault(word, len(known))
    assert list(words) == list(known)


def test_growing_keeps_numbers() -> None:
    words = Words()
    written = [b"%d " % number * 20 for number in range(40_000)]
    first = [words.number(word) for word in written]
    assert first == list(range(1, 40_001))
    assert [words.number(word) for word in written] == first
    words.grow()
    assert [words.number(word) for word in written] == first


@given(st.lists(st.binary(max_size=3), max_size=40), st.sampled_from([1, 2, 4]))
def test_fields_get_the_numbers_of_words(written: list[bytes], room: int) -> None:
    """In two columns, with tables that are soon full."""
    data = np.frombuffer(b"".join(written) + bytes(8), np.uint8)
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    half = len(written) // 2
    begins, stops = (part[: 2 * half].reshape(2, half).copy() for part in (ends[:-1], ends[1:]))
    slots, starts, letters = (
        np.full(2 * room, -1, np.int64),
        np.zeros(room + 1, np.int64),
        np.zeros(8, np.uint8),
    )
    codes, state = np.empty((2, half), np.int32), np.zeros(3, np.int64)
    while number_fields(data, begins, stops, state, codes, slots, starts, letters) == FULL:
        count, room = int(state[WORDS]), 2 * room
        starts, letters = np.resize(starts, room + 1), np.resize(letters, 2 * len(letters))
        slots = np.full(2 * room, -1, np.int64)
        fill_slots(count, slots, starts, letters)
    known: dict[bytes, int] = {}
    assert codes.ravel().tolist() == [known.setdefault(word, len(known)) for word in written[: 2 * half]]


def test_words_of_one_hash_are_told_apart() -> None:
    data = np.frombuffer(b"abc", np.uint8)
    slots, starts, letters = np.full(8, -1, np.int64), np.zeros(5, np.int64), np.zeros(8, np.uint8)
    for _ in range(2):
        found = [number_of(data, k, k + 1, 7, k, slots, starts, letters) for k in range(3)]
        assert found == [0, 1, 2]


def test_other_processes_get_the_words_alone() -> None:
    words = Words()
    for word in (b"x", b"yy", b"x"):
        words.number(word)
    message = pickle.dumps(words)
    assert len(message) < 1000
    assert list(pickle.loads(message)) == [b"", b"x", b"yy"]


def test_a_coded_column_is_a_sequence() -> None:
    column = Coded([b"x", b"y"], np.array([1, 0, 1], np.int32))
    assert list(column) == [column[0], column[1], column[2]] == [b"y", b"x", b"y"]
    assert list(column[1:]) == [b"x", b"y"]
    assert len(column) == 3


def test_texts_are_a_sequence() -> None:
    texts = Texts(np.array([0, 1, 1, 3]), np.frombuffer(b"abc", np.uint8))
    assert list(texts) == [b"a", b"", b"bc"] == list(Coded(texts, np.arange(3)))
    assert texts[1:] == [b"", b"bc"]
    with pytest.raises(IndexError):
        texts[3]
