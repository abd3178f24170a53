"""Bars, sparklines and lines in characters."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.views.text_charts import ASCII_BLOCKS, BLOCKS, LEAST_WIDTH, bar, chart, sparkline

ENDS = ("1850", "1860")
curves = st.lists(st.tuples(st.floats(0, 3000), st.floats(0, 400)), min_size=2, max_size=200)


@each(
    "value, shown, ascii_shown",
    [
        (0, "", ""),
        (16, "████", "####"),
        (8, "██", "##"),
        (9, "██▎", "##"),
        (0.001, "▏", "#"),
        (40, "████", "####"),
        (-1, "", ""),
    ],
)
def test_a_bar_is_as_long_as_its_share_and_never_nothing_for_something(
    value: float, shown: str, ascii_shown: str
) -> None:
    assert bar(value, 16, 4) == shown
    assert bar(value, 16, 4, ascii_only=True) == ascii_shown
    assert bar(value, 0, 4) == ""


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


@given(curve=curves, width=st.integers(LEAST_WIDTH, 150), ascii_only=st.booleans())
def test_it_keeps_to_its_width_and_height(curve: list, width: int, ascii_only: bool) -> None:
    mean, sd = zip(*curve, strict=True)
    lines = chart(mean, sd, ENDS, width=width, height=9, ascii_only=ascii_only)
    assert len(lines) == 10
    assert all(len(line) <= width for line in lines)
    assert not ascii_only or all(line.isascii() for line in lines)


def test_a_rising_line_rises_and_lies_in_its_band() -> None:
    lines = chart([0.0, 100.0], [10.0, 10.0], ENDS, width=50, height=8, ascii_only=True)
    line = [row.find("*") for row in lines[:-1]]
    assert line == sorted(line, reverse=True)
    assert all("." in row for row in lines[:-1])
    assert (lines[0].split()[0], lines[-2].split()[0]) == ("110", "-10")


@pytest.mark.parametrize("jump", [[0.0, 0.0, 1000.0, 1000.0], [1000.0, 1000.0, 0.0, 0.0]])
def test_a_steep_line_is_joined(jump: list[float]) -> None:
    lines = chart(jump, [1.0] * 4, ENDS, width=40, height=10, ascii_only=True)
    assert all("*" in line for line in lines[:-1])


def test_a_flat_line_without_uncertainty_is_drawn_and_a_point_is_not() -> None:
    flat = chart([5.0, 5.0, 5.0], [0.0] * 3, ENDS, width=40, ascii_only=True)
    assert sum("*" in line for line in flat) == 1
    assert chart([5.0], [1.0], ENDS) == []
    assert chart([5.0, 6.0], [1.0, 1.0], ENDS, width=LEAST_WIDTH - 1) == []


def test_braille_lies_on_its_shade() -> None:
    lines = chart([0.0, 100.0, 50.0], [30.0] * 3, ENDS, width=60, height=10)
    assert any("░" in line for line in lines)
    assert any(0x2800 < ord(c) <= 0x28FF for line in lines for c in line)
