import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.views.players.sparkline import ASCII_BLOCKS, BLOCKS, sparkline


def test_rising_values_take_every_height_once() -> None:
    assert sparkline(list(range(8))) == BLOCKS
    assert sparkline(list(range(8)), ascii_only=True) == ASCII_BLOCKS
    assert ASCII_BLOCKS.isascii()
    assert len(ASCII_BLOCKS) == len(BLOCKS)


def test_flat_empty_and_single() -> None:
    assert sparkline([]) == ""
    assert sparkline([5.0]) == sparkline([7.0])
    assert len(set(sparkline([3.0, 3.0, 3.0]))) == 1


def test_gaps_are_blank() -> None:
    assert sparkline([0.0, math.nan, 1.0]) == f"{BLOCKS[0]} {BLOCKS[-1]}"
    assert sparkline([math.nan]) == " "


def test_many_values_are_means_of_neighbours() -> None:
    assert sparkline([0, 0, 10, 10, 0, 20], width=3) == sparkline([0, 10, 10])


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=300), st.integers(1, 80))
def test_never_wider_than_asked_and_extremes_shown(values: list[float], width: int) -> None:
    line = sparkline(values, width=width)
    assert len(line) == min(len(values), width)
    assert set(line) <= set(BLOCKS)
    if len(values) <= width and min(values) < max(values):
        assert line[values.index(max(values))] == BLOCKS[-1]
        assert line[values.index(min(values))] == BLOCKS[0]


@pytest.mark.parametrize("shift", [-1000.0, 250.0])
def test_only_the_shape_counts(shift: float) -> None:
    values = [1.0, 4.0, 2.0, 16.0]
    assert sparkline([value + shift for value in values]) == sparkline(values)
