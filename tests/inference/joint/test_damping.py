"""The remaining error of joint expectation propagation, from its moves."""

from __future__ import annotations

import numpy as np
import pytest

from ttt_cli.inference.joint.damping import DOUBT, Damping


def moved(*values: float) -> np.ndarray:
    """A move of the means of some variables; their sds stay."""
    return np.array([values, np.zeros(len(values))])


@pytest.mark.parametrize(
    "first", [moved(8.0, 0.0, 0.0), moved(0.0, 0.0, 8.0), moved(0.0, 8.0, 8.0)]
)
def test_the_way_from_another_posterior_is_no_part_of_what_is_extrapolated(
    first: np.ndarray,
) -> None:
    """Of the two moves after it, the combination of least length tells how far the marginals are."""
    second = moved(4.0, 0.0, 0.0)
    third = moved(3.9, 0.05, 0.0)
    damping = Damping(1e-9)
    errors = [damping.after(move) for move in (first, second, third)]
    change = third - second
    weight = float(np.vdot(third, change) / np.vdot(change, change))
    assert errors[:2] == [np.inf, np.inf]
    assert errors[2] == pytest.approx(DOUBT * abs(weight) * 3.9, rel=1e-6)


def test_a_move_after_rounding_alone_leaves_the_error_open() -> None:
    """Moves below the least one count as 0, whose ratios are no rates."""
    damping = Damping(1e-9)
    with np.errstate(all="raise"):
        errors = [damping.after(moved(size)) for size in (1e-10, 1e-10, 1e-10, 1e-6, 1e-7)]
    assert errors[2] == 0.0
    assert errors[3:] == [np.inf, np.inf]
