"""Lines in characters."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.views.text_charts import LEAST_WIDTH, chart

ENDS = ("1850", "1860")
curves = st.lists(st.tuples(st.floats(0, 3000), st.floats(0, 400)), min_size=2, max_size=200)


DOTS = re.compile("[\u2801-\u28ff]")


@given(curve=curves, width=st.integers(LEAST_WIDTH, 150))
def test_it_keeps_to_its_width_and_height(curve: list, width: int) -> None:
    mean, sd = zip(*curve, strict=True)
    lines = chart(mean, sd, ENDS, width=width, height=9)
    assert len(lines) == 10
    assert all(len(line) <= width for line in lines)


def test_a_rising_line_rises_and_lies_in_its_band() -> None:
    lines = chart([0.0, 100.0], [10.0, 10.0], ENDS, width=50, height=8)
    line = [found.start() for row in lines[:-1] for found in [DOTS.search(row)] if found]
    assert len(line) > 5
    assert line == sorted(line, reverse=True)
    assert all("░" in row for row in lines[:-1])
    assert (lines[0].split()[0], lines[-2].split()[0]) == ("110", "-10")


@pytest.mark.parametrize("jump", [[0.0, 0.0, 1000.0, 1000.0], [1000.0, 1000.0, 0.0, 0.0]])
def test_a_steep_line_is_joined(jump: list[float]) -> None:
    lines = chart(jump, [1.0] * 4, ENDS, width=40, height=10)
    assert all(DOTS.search(line) for line in lines[:-1])


def test_a_flat_line_without_uncertainty_is_drawn_and_a_point_is_not() -> None:
    flat = chart([5.0, 5.0, 5.0], [0.0] * 3, ENDS, width=40)
    assert sum(bool(DOTS.search(line)) for line in flat) == 1
    assert chart([5.0], [1.0], ENDS) == []
    assert chart([5.0, 6.0], [1.0, 1.0], ENDS, width=LEAST_WIDTH - 1) == []


def test_braille_lies_on_its_shade() -> None:
    lines = chart([0.0, 100.0, 50.0], [30.0] * 3, ENDS, width=60, height=10)
    assert any("░" in line for line in lines)
    assert any(0x2800 < ord(c) <= 0x28FF for line in lines for c in line)
