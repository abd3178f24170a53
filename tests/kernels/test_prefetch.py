"""Rows asked for ahead: compiled to what the processor has for it, and nothing else is different."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.kernels.compile import kernel
from ttt_cli.kernels.indices import at, span
from ttt_cli.kernels.prefetch import AHEAD, fetch


@kernel("float64(int64, int64, int32[::1], float64[:, ::1])")
def of_rows(begin, end, indices, rows):
    total = 0.0
    for k in span(begin, end):
        fetch(k, end, indices, rows)
        total += rows[at(indices[k]), 1]
    return total


@kernel("float64(int64, int64, int32[::1], float64[:])")
def of_column(begin, end, indices, column):
    total = 0.0
    for k in span(begin, end):
        fetch(k, end, indices, column)
        total += column[at(indices[k])]
    return total


@given(st.lists(st.integers(0, 9), max_size=3 * AHEAD), st.data())
def test_sums_are_those_of_numpy(indices, data):
    rows = np.arange(20.0).reshape(10, 2)
    begin = data.draw(st.integers(0, len(indices)))
    end = data.draw(st.integers(begin, len(indices)))
    indices = np.array(indices, np.int32)
    expected = rows[indices[begin:end], 1].sum()
    assert of_rows(begin, end, indices, rows) == expected
    assert of_column(begin, end, indices, rows[:, 1]) == expected
    assert np.array_equal(rows, np.arange(20.0).reshape(10, 2))


@pytest.mark.parametrize("function", [of_rows, of_column])
def test_the_processor_is_asked(function):
    compiled = numba.njit(function.signatures)(function.py_func)  # not from the cache, which keeps no text
    (text,) = compiled.inspect_llvm().values()
    assert "@llvm.prefetch" in text
