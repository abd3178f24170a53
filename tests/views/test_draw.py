"""Figures where memory is limited: another process draws them, and its end is an error with a hint."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ttt_cli.support.errors import SetupError
from ttt_cli.views.figures import draw as drawing
from ttt_cli.views.figures.draw import draw

FIGURE = {
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x"}},
}


@pytest.mark.slow
def test_another_process_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = draw(FIGURE, "svg")
    monkeypatch.setattr(drawing, "_is_memory_limited", lambda: True)
    assert draw(FIGURE, "svg") == expected


def test_a_process_that_ends_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_is_memory_limited", lambda: True)
    for program in ("/bin/false", "/nowhere"):
        monkeypatch.setattr(sys, "executable", program)
        with pytest.raises(SetupError, match="too little memory to draw"):
            draw(FIGURE, "svg")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are kept on Linux")
def test_a_limit_of_addresses_is_told_without_a_trace() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        f"from ttt_cli.views.figures.draw import draw\ndraw({FIGURE!r}, 'svg')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "too little memory to draw a figure" in done.stderr
    assert "C stack trace" not in done.stderr


@pytest.mark.slow
def test_a_png_has_two_pixels_for_each_of_the_figure() -> None:
    width, height = re.findall(rb'(?:width|height)="(\d+)"', draw(FIGURE, "svg"))[:2]
    png = draw(FIGURE, "png")
    assert int.from_bytes(png[16:20], "big") == 2 * int(width)  # of its header
    assert int.from_bytes(png[20:24], "big") == 2 * int(height)
