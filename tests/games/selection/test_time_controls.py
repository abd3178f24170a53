"""Time controls as they are written, and the sets that they mean."""

from __future__ import annotations

import pytest

from ttt_cli.games.selection.time_controls import control_is
from ttt_cli.reading.batches import EVENT_SETS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("60", "blitz"),  # bullet
        ("60+0", "blitz"),
        ("180+2", "blitz"),
        ("300+3", "blitz"),
        ("300+5", "blitz"),
        ("5+3", "blitz"),
        ("*180", "blitz"),
        ("600", "rapid"),
        ("600+0", "rapid"),
        ("900+10", "rapid"),
        ("15+10", "rapid"),  # minutes
        ("1800", "rapid"),
        ("25 + 10", "rapid"),
        ("90+30", None),
        ("5400+30", None),
        ("3600", None),
        ("40/7200:3600", None),
        ("40/7200:20/3600:900+30", None),
        ("40/540:300", "blitz"),
        ("1/86400", "correspondence"),
        ("1/259200", "correspondence"),
        ("Blitz", "blitz"),
        ("bullet", "blitz"),
        ("rapid", "rapid"),
        ("daily", "correspondence"),
        ("-", None),
        ("?", None),
        ("", None),
        ("classical", None),
    ],
)
def test_the_set_of_a_time_control(text: str, expected: str | None) -> None:
    assert [name for name in EVENT_SETS if control_is(text, name)] == ([expected] if expected else [])
