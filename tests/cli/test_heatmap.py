"""The drawn surface: what is bright, what is marked, and that it fits."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.cli.evidence import draw_surface
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.views.evidence import Place, Surface
from ttt_cli.views.text_charts import ASCII_SHADES, SHADES, STEPS, surface_chart

BETA, TAU = (200.0, 300.0, 400.0), (20.0, 60.0, 80.0, 100.0)
HILL = {(b, t): -100.0 - abs(b - 300) - abs(t - 60) for b, t in product(BETA, TAU)}


class Terminal(io.StringIO):
    """A terminal that keeps what was shown."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return True


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
    stream = Terminal(encoding)
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


def test_shades_rise_with_the_evidence_and_the_best_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = plain(draw(SURFACE, monkeypatch, NO_COLOR="1"))
    assert lines[0] == "log-evidence over beta (down) and tau (across)"
    heads = [line[:8].split() for line in lines[1:4]]
    assert heads == [["beta", "200"], ["300"], ["400"]]
    cells = {
        (b, t): line[9:][4 * i : 4 * i + 4]
        for b, line in zip(BETA, lines[1:4], strict=True)
        for i, t in enumerate(TAU)
    }
    assert [place for place, cell in cells.items() if "●" in cell] == [(300.0, 60.0)]
    others = sorted((HILL[place], SHADES.index(cell[0])) for place, cell in cells.items() if "●" not in cell)
    assert all(low[1] <= high[1] for low, high in pairwise(others))
    assert lines[4].split() == ["20", "60", "80", "100"]
    assert lines[6] == "● best: beta 300, tau 60, log-evidence -100.000"


def test_every_label_stands_under_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = plain(draw(SURFACE, monkeypatch, NO_COLOR="1"))
    for position, label in enumerate(["20", "60", "80", "100"]):
        begin = lines[4].index(label)
        assert 9 + 4 * position <= begin
        assert begin + len(label) <= 9 + 4 * (position + 1)


def test_colours_on_a_terminal_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    text = draw(SURFACE, monkeypatch) or ""
    line = text.splitlines()[2]  # beta 300
    red, green, blue = (int(STEPS[-1][i : i + 2], 16) for i in (1, 3, 5))
    assert re.search(rf"\x1b\[1;30;48;2;{red};{green};{blue}m *● *\x1b", line)
    assert not any(shade in "\n".join(plain(text)) for shade in SHADES[1:])
    assert "\x1b[4" not in (draw(SURFACE, monkeypatch, NO_COLOR="1") or "")


def test_ascii_where_nothing_else_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = draw(SURFACE, monkeypatch, encoding="ascii", NO_COLOR="1") or ""
    assert text.isascii()
    assert "X best: beta 300" in text
    assert set(ASCII_SHADES) <= set("".join(line[9:] for line in plain(text)[1:4]))
    assert (draw(SURFACE, monkeypatch, encoding="ascii") or "").isascii()


@pytest.mark.parametrize("color", ["", "1"])
def test_a_point_that_did_not_converge_is_marked(monkeypatch: pytest.MonkeyPatch, color: str) -> None:
    surface = surface_of(("beta", "tau"), HILL, failed=[(200.0, 20.0)])
    lines = plain(draw(surface, monkeypatch, NO_COLOR=color))
    assert [line.count("!") for line in lines[1:4]] == [1, 0, 0]
    assert lines[-1] == "! not converged"
    assert "!" not in "".join(plain(draw(SURFACE, monkeypatch, NO_COLOR=color)))
    both = surface_of(("beta", "tau"), HILL, failed=list(HILL))
    assert "●!" in plain(draw(both, monkeypatch, NO_COLOR=color))[2]


@pytest.mark.parametrize("width", range(10, 60, 3))
def test_a_narrow_terminal_gets_narrow_cells_or_no_map(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    ticks = [20.0 * i for i in range(1, 11)]
    surface = surface_of(("beta", "tau"), {(b, t): -b - t for b, t in product(BETA, ticks)})
    text = draw(surface, monkeypatch, width, NO_COLOR="1")
    assert (text is not None) == (width >= 9 + 2 * 10)
    if text is not None:
        lines = plain(text)
        assert max(map(len, lines)) <= width
        body = [line for line in lines if set(line) & set("░▒▓█")][:3]
        assert len({len(line) for line in body}) == 1


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


def test_one_axis_in_ascii_and_in_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {(200.0,): -150.0, (300.0,): -100.0}
    text = draw(surface_of(("beta",), values), monkeypatch, 40, "ascii") or ""
    assert text.isascii()
    assert "# X\n" in text
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
