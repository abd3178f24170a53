"""Words one letter apart: none is missed among many."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.games import suspects as alike
from ttt_cli.games.suspects import look_alikes, neighbour_words, one_apart

WORDS = st.text("abé\udce9", min_size=1, max_size=5)


def edits(word: str, letters: str) -> set[str]:
    """All words that one edit makes of a word."""
    n = len(word)
    found = {word[:i] + word[i + 1 :] for i in range(n)}
    found |= {word[:i] + letter + word[i + 1 :] for i in range(n) for letter in letters}
    found |= {word[:i] + letter + word[i:] for i in range(n + 1) for letter in letters}
    return found | {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(n - 1)} - {word}


@given(WORDS, WORDS)
def test_one_letter_apart_is_an_edit_or_a_swap(one: str, other: str) -> None:
    assert one_apart(one, other) == (other in edits(one, "abé\udce9") - {one})


@given(st.lists(WORDS, unique=True, max_size=12))
def test_no_pair_of_neighbours_is_missed(words: list[str]) -> None:
    found = list(neighbour_words(words))
    assert len(set(found)) == len(found)
    assert all(i < j for i, j in found)
    alike = {(i, j) for i, j in combinations(range(len(words)), 2) if one_apart(words[i], words[j])}
    assert alike <= set(found)


def test_words_that_have_nothing_in_common_are_not_among_them() -> None:
    words = ["capablanca", "capabalnca", "lasker", "laskers", "euwe", "tal"]
    assert list(neighbour_words(words)) == [(0, 1), (2, 3)]
    assert list(neighbour_words([])) == []


def test_very_many_like_words_are_looked_at_in_part() -> None:
    words = [chr(1000 + i) + "asimov" for i in range(1000)]
    assert len(words) * 50 < len(list(neighbour_words(words))) <= len(words) * 100


def test_pairs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{number:04d}" for number in range(2000)]
    everything = len(list(neighbour_words(words)))
    monkeypatch.setattr(alike, "_MOST_PAIRS", 10_000)
    assert 10_000 < len(list(neighbour_words(words))) < min(everything, 10_000 + 5 * len(words))


def test_numbered_names_are_not_slips_of_each_other() -> None:
    assert not look_alikes(["Player 000123", "Player 000124", "Player 000125"]).pairs
    assert look_alikes(["Robert Player", "Robert Playar"]).pairs
