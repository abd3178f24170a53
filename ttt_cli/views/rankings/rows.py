"""Rows of the tables of `ttt top`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class RankedPlayer(NamedTuple):
    """A player in the ranking of a period.

    `games`: in the period. `p_best`: probability of being the strongest of all eligible players; None without sds or
    others. `dominance`, `sd_dominance`: the lead over the best others, if the ranking is by it and there are enough.
    `rank_low`, `rank_high`: interval of the rank by skill, if the ranking is by the mean.
    """

    rank: int
    player: str
    period: str
    mean: float
    sd: float | None
    games: float
    p_best: float | None
    dominance: float | None
    sd_dominance: float | None
    rank_low: int | None = None
    rank_high: int | None = None

    @property
    def lower(self) -> float:
        """The mean less two sds."""
        return lower_bound(self.mean, self.sd)


def lower_bound(mean: float, sd: float | None) -> float:
    """The mean less two sds."""
    return mean - 2.0 * (sd or 0.0)


class Peak(NamedTuple):
    """A player's best period with games.

    `games`: of the whole career. `lower`: the mean less two sds; None in a ranking by dominance. `period_games`: in the
    best period. `dominance`, `sd_dominance`: the lead over the best others, in a ranking by it.
    """

    rank: int
    player: str
    period: str
    lower: float | None
    mean: float
    sd: float | None
    games: float
    period_games: float
    dominance: float | None = None
    sd_dominance: float | None = None


class BestYears(NamedTuple):
    """A player's best consecutive years: means of skills and sds over the periods, and the games in them."""

    rank: int
    player: str
    first: str
    last: str
    mean: float
    sd: float | None
    games: float


class Leader(NamedTuple):
    """The player with the highest mean among the `field` eligible players of a period.

    `rivals`: other candidates with their `p_best`. Without sds, `p_best` and all sds are None. `p_best` is also None
    for a single player, dominance if there are too few others.
    """

    period_number: int
    period: str
    player: str
    mean: float
    sd: float | None
    games: float
    p_best: float | None
    field: int
    dominance: float | None = None
    sd_dominance: float | None = None
    rivals: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Reign:
    """Consecutive periods with one leader."""

    leaders: tuple[Leader, ...]

    @property
    def first(self) -> Leader:
        """The leader in the first period."""
        return self.leaders[0]

    @property
    def last(self) -> Leader:
        """The leader in the last period."""
        return self.leaders[-1]

    @property
    def best(self) -> Leader:
        """The leader in the period of the highest mean."""
        return max(self.leaders, key=lambda leader: leader.mean)

    @property
    def chances(self) -> list[float]:
        """`p_best` of the periods that have it."""
        return [leader.p_best for leader in self.leaders if leader.p_best is not None]

    @property
    def mean_p_best(self) -> float | None:
        """The mean of `p_best` over the periods."""
        return sum(self.chances) / len(self.chances) if self.chances else None

    @property
    def least_p_best(self) -> float | None:
        """The lowest `p_best`."""
        return min(self.chances, default=None)
