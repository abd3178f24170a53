"""How many points of a system are one Elo point: for handicaps taken in and for skills shown alike.

A difference of 200 Elo points is an expected score of 76 %, between players whose skills are known exactly and White's
advantage aside. With a draw margin m the expected score of a difference d is the mean of F(d - m) and F(d + m), F the
distribution of the noise between two performances.
"""

import math
from statistics import NormalDist
from typing import Final

from ttt_cli.inference.outcome import ELO_SCALE

CLASS: Final = 200.0  # Elo points, at which the better player is expected to score
EXPECTED: Final = 1.0 / (1.0 + 10.0**-0.5)  # 76 % (Elo 1978; the logistic form)


def normal_unit(beta: float, margin: float) -> float:
    """Where performances have the sd `beta`."""
    noise = NormalDist(0.0, math.sqrt(2.0) * beta)
    low, high = 0.0, margin + 2.0 * noise.stdev
    while low < (middle := 0.5 * (low + high)) < high:
        if 0.5 * (noise.cdf(middle - margin) + noise.cdf(middle + margin)) < EXPECTED:
            low = middle
        else:
            high = middle
    return high / CLASS


def normal_unit_growth(beta: float, margin: float) -> tuple[float, float]:
    """Slopes of the logarithm of `normal_unit`, which is homogeneous, in `beta` and `margin`, per point.

    The difference L at 76 % grows with the margin by (f(L - m) - f(L + m)) / (f(L - m) + f(L + m)), f normal.
    """
    difference = CLASS * normal_unit(beta, margin)
    by_margin = math.tanh(0.5 * difference * margin / beta**2) / difference
    return (1.0 - margin * by_margin) / beta, by_margin


def logistic_unit(margin: float) -> float:
    """Where the noise is logistic on the Elo scale, as in the model of Rao and Kupper."""
    t = math.exp(min(margin / ELO_SCALE, 300.0))
    half = 0.5 * (2.0 * EXPECTED - 1.0) * (t + 1.0 / t)
    odds = (half + math.sqrt(half * half + 4.0 * EXPECTED * (1.0 - EXPECTED))) / (2.0 * (1.0 - EXPECTED))
    return ELO_SCALE * math.log(odds) / CLASS


def logistic_unit_growth(margin: float) -> float:
    """Slope of the logarithm of `logistic_unit` in `margin`, per point."""
    difference = CLASS * logistic_unit(margin)
    close, far = (
        math.cosh(min(0.5 * abs(x) / ELO_SCALE, 300.0)) ** -2
        for x in (difference - margin, difference + margin)
    )
    return (close - far) / (close + far) / difference
