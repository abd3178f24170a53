"""Orders and distinct values of integers, faster than those of numpy for numbers of players, events and games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ttt_cli.support.arrays import Places


class Distinct(NamedTuple):
    """Distinct values of an array, ascending, and for each element the position of its value, shape (elements,)."""

    values: Any
    positions: Places


def distinct(elements: Any) -> Distinct:
    """As `np.unique`, but only the first of each series of equal elements is sorted."""
    starts = np.flatnonzero(np.diff(elements, prepend=elements[:1] - 1))
    values, positions = np.unique(elements[starts], return_inverse=True)
    return Distinct(values, np.repeat(positions, np.diff(starts, append=len(elements))))


def stable_order(numbers: Any) -> Places:
    """As `np.argsort(numbers, kind="stable")` of integers from -1 on; numpy sorts short integers by radix."""
    shortest = np.min_scalar_type(-1 - int(numbers.max(initial=0)))
    order: Places = np.argsort(numbers.astype(shortest), kind="stable")
    return order
