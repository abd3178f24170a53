"""The share of games that chance decides: given, or the most probable by the evidence and a weak prior.

An off day, an injury, a wrong record: with a share l of such games the probability of an outcome is (1 - l) P + l b,
P by the skills and b the base rate of the outcome (`kernels/outcomes.moments_with_lapse`). The base rate of a draw is
the share of draws among the games; that of a win is half of the rest, whoever has White.
"""

import math
from dataclasses import dataclass
from typing import Final

NAME: Final = "lapse"
DRAWS: Final = "lapse_draws"  # name of the base rate of draws among resolved parameters
MOST: Final = 0.5  # as a share of all games
PRIOR_GAMES: Final = 9  # of skill alone, seen before the first game: a prior mean of 1 / 11
UNIT: Final = 0.1  # of a coordinate


@dataclass(frozen=True)
class LapsePrior:
    """Prior of the share of games that chance decides, where it is estimated: Beta(1, 10), of mean 1/11."""

    key: str = NAME

    @property
    def unit(self) -> float:
        """The share in one unit of its coordinate."""
        return UNIT

    @property
    def bounds(self) -> tuple[float, float]:
        """Coordinates between which it is searched."""
        return 0.0, MOST / UNIT

    @property
    def begin(self) -> float:
        """The coordinate at which the search begins."""
        return 0.0

    @property
    def sd(self) -> float:
        """Sd of the prior."""
        of_skill = PRIOR_GAMES + 1
        return math.sqrt(of_skill / (of_skill + 2)) / (of_skill + 1)

    def log_density(self, lapse: float) -> float:
        """Log density at a share relative to that of none, nats."""
        return PRIOR_GAMES * math.log1p(-lapse)

    def gradient(self, lapse: float) -> dict[str, float]:
        """Derivative of `log_density` in the share."""
        return {self.key: -PRIOR_GAMES / (1.0 - lapse)}
