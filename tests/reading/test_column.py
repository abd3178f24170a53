"""Columns that grow in place hold what was added, in as few bytes as that takes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.reading.column import GrowableCodes, counts_of, narrow, narrowest

NUMBERS = st.one_of(st.integers(0, 255), st.integers(0, 70_000), st.integers(0, 2**40))
PARTS = st.lists(st.lists(NUMBERS, max_size=20), max_size=6)


@given(PARTS, st.integers(0, 5), st.integers(0, 5))
def test_numbers_come_back(parts: list[list[int]], shown: int, pickled: int) -> None:
    """Whatever was shown or handed over in between."""
    column = GrowableCodes()
    kept = []
    for place, part in enumerate(parts):
        column.add(np.array(part, np.int64))
        so_far = [number for earlier in parts[: place + 1] for number in earlier]
        if place == shown:
            kept.append((column.whole(), so_far))
        if place == pickled:
            column = pickle.loads(pickle.dumps(column))
        assert column.whole().tolist() == so_far
    kept.append((column.whole(), [number for part in parts for number in part]))
    for array, expected in kept:
        assert array.tolist() == expected


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(NUMBERS, min_size=10, max_size=10), st.booleans())
def test_renumbered(codes: list[int], numbers: list[int], shown: bool) -> None:
    column = GrowableCodes()
    column.add(np.array(codes, np.int64))
    before = column.whole() if shown else None
    column.renumber(np.array(numbers))
    assert column.whole().tolist() == [numbers[code] for code in codes]
    assert before is None or before.tolist() == codes
    column.add(np.array([7]))
    assert column.whole().tolist() == [*(numbers[code] for code in codes), 7]


@pytest.mark.parametrize(
    ("largest", "bytes_each"),
    [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**31 - 1, 4), (2**31, 8)],
)
def test_few_bytes(largest: int, bytes_each: int) -> None:
    column = GrowableCodes()
    column.add(np.array([largest, 0]))
    for _ in range(2000):
        column.add(np.zeros(10, np.uint8))
    assert narrowest(largest).itemsize == narrow(np.array([largest])).itemsize == bytes_each
    assert column.whole().nbytes == 20_002 * bytes_each
    assert column.whole().base is None


def test_hashes_keep_their_sign() -> None:
    column = GrowableCodes(np.int64)
    column.add(np.array([-5, 2**62]))
    assert column.whole().tolist() == [-5, 2**62]


@given(st.lists(st.integers(0, 5), max_size=40))
def test_counts(codes: list[int]) -> None:
    assert counts_of(np.array(codes, np.int8), 6) == [codes.count(code) for code in range(6)]
