"""Careers: skills rise after a player's debut, fall late, and walk faster at first, alike for all (docs/models)."""

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.histories import STEADY, Curve
from ttt_cli.inference.newcomers import Newcomers
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline


class Career(RandomWalk):
    """A random walk along a `Curve`: a step has mean D(a') - D(a) and variance drift^2 (A(a') - A(a)), a being ages.

    With a `mean_drift` the means of first nodes walk over the years (`newcomers.py`).
    """

    def __init__(
        self,
        timeline: Timeline,
        origin: float,
        sd: float,
        drift: float,
        career: Curve,
        mean_drift: float = 0.0,
    ) -> None:
        super().__init__(timeline, origin, sd, drift)
        self.newcomers = Newcomers(timeline, sd, mean_drift) if mean_drift else None
        self._career, self._tau, self._timeline = career, drift, timeline
        if career.growth or career.decline or career.early:
            self.curve = career.after(ages(timeline))

    def steps(self) -> tuple[Array, Array]:
        """Those of the curve; the first as of any walk."""
        if self.curve is STEADY:
            return super().steps()
        rest = self._career.after(ages(self._timeline) - self._years)
        variance = np.where(self._previous < 0, self._sd**2, self._tau**2 * rest.clock(self._years))
        if self.newcomers:
            variance[self.newcomers.first] = self.newcomers.prior_variance
        return rest.change(self._years), variance

    def gradient(self, by_mean: Array, by_variance: Array) -> dict[str, float]:
        """In the parameters of the curve, too."""
        first, years, after = self._previous < 0, self._years, ages(self._timeline)
        before = after - years
        _, growth_years, decline, begins, early, early_years = self._career
        grown, rest = -np.expm1(-years / growth_years), self._career.after(before)
        slower = (before * grown - years * (1.0 - grown)) / growth_years**2
        passed, young = -np.expm1(-years / early_years), np.exp(-before / early_years)
        longer = young * (passed + (before * passed - years * (1.0 - passed)) / early_years)
        declining = np.maximum(after - begins, 0.0) - np.maximum(before - begins, 0.0)
        began = (after > begins) & (before <= begins)
        by_clock = np.where(first, 0.0, self._tau**2 * by_variance)
        return super().gradient(by_mean, by_variance) | {
            "prior_mean_drift": 0.0,
            "tau": 2.0 * self._tau * float(rest.clock(years) @ by_variance),
            "growth": float(np.exp(-before / growth_years) * grown @ by_mean),
            "growth_years": float(rest.growth * slower @ by_mean),
            "decline": -float(declining @ by_mean),
            "decline_after": float(decline * began @ by_mean),
            "early": float(early_years * young * passed @ by_clock),
            "early_years": float(early * longer @ by_clock),
        }


def ages(timeline: Timeline) -> Array:
    """Years since the player's first period, (nodes,)."""
    first = np.zeros(len(timeline.players), np.int64)
    debut = timeline.previous < 0
    first[timeline.node_player[debut]] = timeline.node_period[debut]
    return np.asarray((timeline.node_period - first[timeline.node_player]) / STEPS_PER_YEAR[timeline.period])
