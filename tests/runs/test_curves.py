"""Curves of a run on the shown scale."""

from ttt_cli.runs.curves import on_scale
from ttt_cli.runs.lookup import Scale

SCALE = Scale(slope=0.5, shift=100.0)


def test_only_the_level_of_draws_is_a_skill() -> None:
    """Margins, their sds and all other curves are differences, which a shift leaves as they are."""
    assert on_scale("draws", [(1900.0, 200.0, 20.0, 1500.0)], SCALE) == [
        (1900.0, 100.0, 10.0, 850.0)
    ]
    assert on_scale("newcomers", [(1900.0, 200.0, 20.0)], SCALE) == [(1900.0, 100.0, 10.0)]
