"""Equal games held once: the form in which the smoothing models go through a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.errors import DataError
from ttt_cli.timeline import Timeline

UNKNOWN: Final = 3  # added to an outcome whose colours are unknown, as in `kernels/colours.py`
OUTCOME_BITS: Final = 3  # of a code; the others tell the odds, as in `kernels/odds.py`
ODDS_LIMIT: Final = 1 << (8 - OUTCOME_BITS)
ELO_CLASS: Final = 200.0  # Elo points in beta: there, too, the sd of one performance
_STRIDE = 2654435761  # prime


PairArrays = tuple[
    NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64]
]


@dataclass(frozen=True)
class Pairs:
    """Distinct (node, node, outcome) with their weights, by period; arrays of shape (pairs,) but `start` (periods + 1).

    `outcome` is that of `first`, 3 more where the colours are unknown and count (`kernels/colours.py`), with the place
    of the odds in `odds`, Elo points, in its higher bits (`kernels/odds.py`). A weight w
    stands for w equal games; `balance` is the weight of those in which `first` had White less that of the others,
    and where colours are unknown that of the games if they count, else 0.
    """

    start: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    outcome: NDArray[np.uint8]
    weight: NDArray[np.float64]
    balance: NDArray[np.float64]
    odds: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def none(self) -> Pairs:
        """The same periods without games."""
        return Pairs(
            np.zeros_like(self.start),
            self.first[:0],
            self.second[:0],
            self.outcome[:0],
            self.weight[:0],
            self.balance[:0],
            self.odds,
        )

    @property
    def arrays(self) -> PairArrays:
        """The columns in the order in which kernels take them."""
        return self.start, self.first, self.second, self.outcome, self.weight


def merge_games(timeline: Timeline, *, colours: bool) -> Pairs:
    """Hold equal games once; without `colours`, or when nobody knows them, a game and its mirror image are equal too.

    Inside a period neighbours are set apart (by a fixed stride): updates of one player's games wait for each other,
    and a processor that need not wait is a third faster.
    """
    white = timeline.game_white.astype(np.int64)
    black = timeline.game_black.astype(np.int64)
    outcome = timeline.outcome.astype(np.int64)
    odds, place = odds_places(timeline)
    turned = np.full(timeline.n_games, float(colours or timeline.colours))
    known = colours and timeline.colours
    if not known:
        swap = white > black
        turned[swap & timeline.colours] = -1.0
        white, black = np.where(swap, black, white), np.where(swap, white, black)
        outcome = np.where(swap, 2 - outcome, outcome)
        place = np.where(swap, -place % len(odds), place)
    nodes = max(timeline.n_nodes, 1)
    kinds = 3 * len(odds)
    keys, index = np.unique((white * nodes + black) * kinds + 3 * place + outcome, return_inverse=True)
    weight = np.bincount(index, timeline.weight, minlength=len(keys)).astype(np.float64)
    balance = np.bincount(index, turned * timeline.weight, minlength=len(keys)).astype(np.float64)
    ends = keys // kinds
    place, outcome = np.divmod(keys % kinds, 3)
    first = ends // nodes
    start = np.searchsorted(first, timeline.node_start).astype(np.int64)
    order = _strided(start)
    return Pairs(
        start=start,
        first=first[order].astype(np.int32),
        second=(ends % nodes)[order].astype(np.int32),
        outcome=codes(outcome[order], place[order], known=known or not colours),
        weight=weight[order],
        balance=balance[order],
        odds=odds,
    )


def odds_places(timeline: Timeline) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The odds there are, Elo points, and the place of each game's among them, shape (games,).

    None is at place 0, and the odds at place k are opposite to those at -k. Raises DataError when there are too many.
    """
    if not timeline.offset.any():
        return np.zeros(1), np.zeros(timeline.n_games, np.int64)
    given = np.unique(np.abs(timeline.offset))
    given = given[given > 0.0]
    odds = np.concatenate([[0.0], given, -given[::-1]])
    if len(odds) > ODDS_LIMIT:
        raise DataError(
            f"games are played at {len(given)} different odds, {ODDS_LIMIT // 2 - 1} are possible",
            hint="give similar odds the same worth in data.odds",
        )
    place = np.searchsorted(given, np.abs(timeline.offset)) + 1
    return odds, np.where(
        timeline.offset == 0.0, 0, np.where(timeline.offset > 0.0, place, len(odds) - place)
    )


def codes(outcome: NDArray[np.integer], place: NDArray[np.int64], *, known: bool) -> NDArray[np.uint8]:
    """Outcomes and places of odds as kernels take them; `known`: the colours."""
    return (outcome + (0 if known else UNKNOWN) + (place << OUTCOME_BITS)).astype(np.uint8)


def odds_points(odds: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Odds in points of a model with that sd of one performance, from Elo points."""
    return odds * (beta / ELO_CLASS)


def _strided(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """A permutation of range(start[-1]) that keeps every block start[p]..start[p + 1] to itself."""
    sizes = np.diff(start)
    begin = np.repeat(start[:-1], sizes)
    size = np.repeat(sizes, sizes)
    strided: NDArray[np.int64] = begin + (np.arange(start[-1]) - begin) * _STRIDE % size
    return strided
