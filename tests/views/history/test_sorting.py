"""Orders and distinct values against numpy's."""

import numpy as np
import pytest

from ttt_cli.views.history.sorting import distinct, stable_order

CASES = [
    [],
    [5],
    [-1, -1, 3, 3, 3, -1, 0, 0],
    [70_000, -1, 2, 2, 70_000],
    [40_000, 32_768, -1, 40_000],
]


@pytest.mark.parametrize("numbers", CASES)
def test_distinct_values_are_those_of_numpy(numbers):
    elements = np.array(numbers, np.int64)
    values, positions = np.unique(elements, return_inverse=True)
    assert distinct(elements).values.tolist() == values.tolist()
    assert distinct(elements).positions.tolist() == positions.tolist()


@pytest.mark.parametrize("numbers", CASES)
def test_the_order_is_that_of_numpy(numbers):
    elements = np.array(numbers, np.int64)
    assert stable_order(elements).tolist() == np.argsort(elements, kind="stable").tolist()
