"""Words numbered by compiled code: equal words and no others share a number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.games.coded import Coded, Texts
from ttt_cli.games.words import Words


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
