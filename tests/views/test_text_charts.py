"""Bars, lines and surfaces of evidence in characters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.commands import Terminal
from ttt_cli.cli.evidence import draw_surface
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.views.evidence import Place, Surface
from ttt_cli.views.text_charts import (
    LEAST_WIDTH,
    STEPS,
    bar,
    chart,
    surface_chart,
)

ENDS = ("1850", "1860")
curves = st.lists(st.tuples(st.floats(0, 3000), st.floats(0, 400)), min_size=2, max_size=200)


@each(
    "value, shown",
    [(0, ""), (16, "████"), (8, "██"), (9, "██▎"), (0.001, "▏"), (40, "████"), (-1, "")],
)
def test_a_bar_is_as_long_as_its_share_and_never_nothing_for_something(value: float, shown: str) -> None:
    assert bar(value, 16, 4) == shown
    assert bar(value, 0, 4) == bar(value, 16, 0) == ""


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


BETA, TAU = (200.0, 300.0, 400.0), (20.0, 60.0, 80.0, 100.0)
HILL = {(b, t): -100.0 - abs(b - 300) - abs(t - 60) for b, t in product(BETA, TAU)}


def surface_of(
    keys: Sequence[str],
    values: Mapping[Place, float],
    failed: Sequence[Place] = (),
    best: Place | None = None,
) -> Surface:
    points = {
        place: EvidencePoint({}, dict(zip(keys, place, strict=True)), value, place not in failed, 3, 0.001)
        for place, value in sorted(values.items())
    }
    return Surface(tuple(keys), points)


SURFACE = surface_of(("beta", "tau"), HILL)


def draw(
    surface: Surface, monkeypatch: pytest.MonkeyPatch, width: int = 80, encoding: str = "utf-8", **env: str
) -> str | None:
    """What appears on a terminal, or None when nothing was drawn."""
    stream = Terminal()
    monkeypatch.setattr(Terminal, "encoding", encoding)
    for key in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(key, raising=False)
    for key, value in {
        "COLUMNS": str(width),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        **env,
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr("sys.stdout", stream)
    drawn = draw_surface(surface)
    assert drawn or stream.getvalue() == ""
    return stream.getvalue() if drawn else None


def plain(text: str | None) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", text or "").splitlines()


def test_colours_on_a_terminal_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    text = draw(SURFACE, monkeypatch) or ""
    lines = plain(text)
    assert lines[0] == "log-evidence over beta (down) and tau (across)"
    assert [line[:8].split() for line in lines[1:4]] == [["beta", "200"], ["300"], ["400"]]
    assert ["●" in line for line in lines[1:4]] == [False, True, False]
    assert lines[4].split() == ["20", "60", "80", "100"]
    assert lines[6] == "● best: beta 300, tau 60, log-evidence -100.000"
    line = text.splitlines()[2]  # beta 300
    red, green, blue = (int(STEPS[-1][i : i + 2], 16) for i in (1, 3, 5))
    assert re.search(rf"\x1b\[1;30;48;2;{red};{green};{blue}m *● *\x1b", line)
    assert draw(SURFACE, monkeypatch, NO_COLOR="1") is None
    assert draw(SURFACE, monkeypatch, encoding="ascii") is None


def test_a_point_that_did_not_converge_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    surface = surface_of(("beta", "tau"), HILL, failed=[(200.0, 20.0)])
    lines = plain(draw(surface, monkeypatch))
    assert [line.count("!") for line in lines[1:4]] == [1, 0, 0]
    assert lines[-1] == "! not converged"
    assert "!" not in "".join(plain(draw(SURFACE, monkeypatch)))
    both = surface_of(("beta", "tau"), HILL, failed=list(HILL))
    assert "●!" in plain(draw(both, monkeypatch))[2]


@each("width", range(10, 60, 3))
def test_a_narrow_terminal_gets_narrow_cells_or_no_map(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = [20.0 * i for i in range(1, 11)]
    surface = surface_of(("beta", "tau"), {(b, t): -b - t for b, t in product(BETA, ticks)})
    text = draw(surface, monkeypatch, width)
    assert (text is not None) == (width >= 9 + 2 * 10)
    if text is not None:
        assert max(map(len, plain(text))) <= width


def test_three_axes_and_more_rows_than_anybody_reads_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = {place: -sum(place) for place in product((1.0, 2.0), repeat=3)}
    assert draw(surface_of(("beta", "tau", "prior_sd"), cube), monkeypatch) is None
    assert draw(surface_of(("beta",), {(float(i),): -1.0 * i for i in range(1, 1100)}), monkeypatch) is None


def test_one_axis_has_bars_as_long_as_the_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {(200.0,): -150.0, (300.0,): -100.0, (400.0,): -110.0, (500.0,): -200.0}
    lines = plain(draw(surface_of(("beta",), values, failed=[(200.0,)]), monkeypatch))
    assert [line.split()[:-2] for line in lines[1:2]] == [["beta", "200", "-150.000"]]
    lengths = [line.count("█") for line in lines[1:5]]
    longest = max(lengths)
    assert lengths == [1 + round(share * (longest - 1)) for share in (0.5, 1.0, 0.9, 0.0)]
    assert [line.split()[-1] for line in lines[1:5] if "█" not in line.split()[-1]] == ["!", "●"]
    assert max(map(len, lines)) <= 80
    assert lines[5] == "● best: beta 300, log-evidence -100.000"
    assert draw(surface_of(("beta",), values), monkeypatch, 20) is None


@pytest.mark.parametrize("value", [-100.0, math.nan])
def test_a_single_point_can_be_drawn(monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    assert draw(surface_of(("beta",), {(300.0,): value}), monkeypatch)
    assert draw(surface_of(("beta", "tau"), {(300.0, 60.0): value}), monkeypatch)


@given(
    st.lists(st.floats(-1e6, 0), min_size=1, max_size=6),
    st.lists(st.integers(0, 10**6), min_size=2, max_size=12, unique=True),
    st.integers(20, 100),
)
def test_shades_keep_the_order_and_labels_never_touch(
    values: list[float], ticks: list[int], width: int
) -> None:
    points = {(300.0, float(tick)): values[k % len(values)] for k, tick in enumerate(ticks)}
    lines = surface_chart(surface_of(("beta", "tau"), points), width=width, coloured=True)
    if not lines:
        return
    cells = [STEPS.index(style.split()[-1]) for _, style in lines[1][1:]]
    shown = sorted((value, cell) for (_, value), cell in zip(sorted(points.items()), cells, strict=True))
    assert [cell for _, cell in shown] == sorted(cell for _, cell in shown)
    axis, labels = lines[2][0][0], [f"{tick:g}" for tick in sorted(ticks)]
    assert len(axis) <= width
    assert [label for label in labels if label in axis.split()] == axis.split()
