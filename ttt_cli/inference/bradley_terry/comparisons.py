"""Games as paired comparisons: equal pairs of nodes at equal odds held once, with what was won and lost."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.inference.outcome import ELO_SCALE
from ttt_cli.timeline import KNOWN, Timeline

Draws = Literal["halves", "margin"]


@dataclass(frozen=True)
class Comparisons:
    """Rows of arrays (rows,): node `first` won `won` and lost `lost` comparisons with node `second` (weights).

    `shift` is added to the rating of `first`, natural units (400 / ln 10 Elo points). `turn` is 1 where `first` had
    White and -1 where `second` had, 0 where nobody knows and on neutral ground: the slope of the difference in
    White's advantage.
    """

    first: Ids
    second: Ids
    shift: Array
    won: Array
    lost: Array
    turn: Array

    def __len__(self) -> int:
        return len(self.first)

    @property
    def arrays(self) -> tuple[Ids, Ids, Array, Array, Array]:
        """The columns in the order in which kernels take them."""
        return self.first, self.second, self.shift, self.won, self.lost

    def among(self, place: Ids) -> "Comparisons":
        """Those between nodes that have a place (not below 0), these renumbered by it."""
        here = self.where((place[self.first] >= 0) & (place[self.second] >= 0))
        return replace(here, first=place[here.first], second=place[here.second])

    def where(self, kept: Mask) -> "Comparisons":
        """The rows of a mask (rows,)."""
        return Comparisons(*(column[kept] for column in vars(self).values()))


def compare_games(timeline: Timeline, white_advantage: float, draws: Draws) -> Comparisons:
    """All games of a timeline as comparisons, with White's advantage (points) where colours are known.

    A win is one comparison won. A draw is one half won and one half lost (`halves`), or a whole one of each (`margin`).
    """
    white, black = timeline.game_white.astype(np.int64), timeline.game_black.astype(np.int64)
    nodes = max(timeline.n_nodes, 1)
    swap = white > black
    sign = np.where(swap, -1, 1)
    sizes, size = np.unique(sign * timeline.offset, return_inverse=True)
    kinds = 3 * max(len(sizes), 1)
    pairs = np.minimum(white, black) * nodes + np.maximum(white, black)
    turns = sign * (timeline.sides == KNOWN)
    rows, index = np.unique(pairs * kinds + 3 * size + 1 - turns, return_inverse=True)
    ends, kind = np.divmod(rows, kinds)
    turn = 1.0 - kind % 3
    share = np.array([0.0, 0.5 if draws == "halves" else 1.0, 1.0])
    of_white = timeline.weight * share[timeline.outcome]
    of_black = timeline.weight * share[2 - timeline.outcome]
    return Comparisons(
        first=(ends // nodes).astype(np.int32),
        second=(ends % nodes).astype(np.int32),
        shift=(sizes[kind // 3] + turn * white_advantage) / ELO_SCALE,
        won=_sums(index, np.where(swap, of_black, of_white), len(rows)),
        lost=_sums(index, np.where(swap, of_white, of_black), len(rows)),
        turn=turn,
    )


def _sums(index: NDArray[np.intp], values: Array, size: int) -> Array:
    return np.bincount(index, values, minlength=size).astype(np.float64)
