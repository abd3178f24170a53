"""Equal games held once: the form in which the smoothing models go through a timeline."""

from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array
from ttt_cli.errors import DataError
from ttt_cli.kernels.ep.structures import Games
from ttt_cli.timeline import Timeline

UNKNOWN: Final = 3  # added to an outcome whose colours are unknown, as in `kernels/colours.py`
OUTCOME_BITS: Final = 3  # of a code; the others tell the handicap, as in `kernels/handicaps.py`
MOST_HANDICAPS: Final = 1 << (8 - OUTCOME_BITS)

Number = TypeVar("Number", np.int32, np.float64)


@dataclass(frozen=True)
class MergedGames:
    """Distinct (node, node, code) with their weights, by period.

    | name | shape | unit | |
    |---|---|---|---|
    | games | | | as kernels take them; a weight w stands for w equal games |
    | balance | (games,) | games | the weight of those in which `first` had White less that of the others |
    | handicap | (places,) | Elo points | of `first`, by the place in a code |
    | colours | | | whether games that differ in colours alone are kept apart |

    Where colours are unknown, `balance` is the weight of the games if they count, else 0.
    """

    games: Games
    balance: Array
    handicap: Array
    colours: bool

    def __len__(self) -> int:
        return len(self.games.first)

    def none(self) -> "MergedGames":
        """The same periods without games."""
        start, first, second, code, weight = self.games
        none = Games(np.zeros_like(start), first[:0], second[:0], code[:0], weight[:0])
        return replace(self, games=none)


def merge_games(timeline: Timeline, *, colours: bool) -> MergedGames:
    """Hold equal games once; without `colours`, or when nobody knows them, a game and its mirror image are equal too.

    Inside a period neighbours are set apart (by a fixed stride): updates of one player's games wait for each other,
    and a processor that need not wait is a third faster.
    """
    from ttt_cli.kernels.layout import Pairs, merge_pairs, sort_pairs

    known = colours and timeline.colours
    handicap, place = handicap_places(timeline)
    first, second, outcome = timeline.game_white, timeline.game_black, timeline.outcome
    balance = timeline.weight if colours or timeline.colours else np.zeros(1)
    if not known:
        swap = first > second
        balance = np.where(swap & timeline.colours, -1.0, 1.0) * balance
        first, second = np.minimum(first, second), np.maximum(first, second)
        outcome = np.where(swap, 2 - outcome, outcome)
        place = np.where(swap, -place % len(handicap), place)
    code = codes(outcome, place, known=known or not colours)
    games = Pairs(_own(first), _own(second), code, _compact(timeline.weight), _compact(balance))
    order, spare = np.arange(timeline.n_games, dtype=np.int32), np.empty(timeline.n_games, np.int32)
    start = np.empty_like(timeline.game_start)
    distinct = sort_pairs(
        timeline.node_start, timeline.game_start, len(handicap) << OUTCOME_BITS, games, order, spare, start
    )
    pairs = Pairs._make(np.empty(distinct, column.dtype) for column in games)
    merge_pairs(timeline.game_start, games, order, start, pairs)
    return MergedGames(Games(start, *pairs[:4]), pairs.balance, handicap, colours)


def _compact(column: Array) -> Array:
    """A column that may be written to; one entry of it where all are one."""
    return _own(column) if column.strides[0] or len(column) < 2 else column[:1].copy()


def _own(column: NDArray[Number]) -> NDArray[Number]:
    """A column that may be written to."""
    return column if column.flags.writeable else column.copy()


def handicap_places(timeline: Timeline) -> tuple[Array, NDArray[np.integer]]:
    """The handicaps there are, Elo points, and the place of each game's among them, shape (games,).

    None is at place 0, and the handicap at place k is opposite to that at -k. Raises DataError when there are too many.
    """
    if not timeline.offset.any():
        return np.zeros(1), np.broadcast_to(np.uint8(0), timeline.n_games)
    given = np.unique(np.abs(timeline.offset))
    given = given[given > 0.0]
    handicap = np.concatenate([[0.0], given, -given[::-1]])
    if len(handicap) > MOST_HANDICAPS:
        raise DataError(
            f"games are played at {len(given)} different odds, {MOST_HANDICAPS // 2 - 1} are possible",
            hint="give similar odds the same worth in data.odds",
        )
    place = np.searchsorted(given, np.abs(timeline.offset)) + 1
    return handicap, np.where(
        timeline.offset == 0.0, 0, np.where(timeline.offset > 0.0, place, len(handicap) - place)
    )


def outcomes(games: Games) -> NDArray[np.uint8]:
    """The outcomes of `first` in codes, colours known or not."""
    return np.asarray((games.code & ((1 << OUTCOME_BITS) - 1)) % UNKNOWN, np.uint8)


def codes(outcome: NDArray[np.integer], place: NDArray[np.integer], *, known: bool) -> NDArray[np.uint8]:
    """Outcomes and places of handicaps as kernels take them; `known`: the colours."""
    return (outcome + (0 if known else UNKNOWN) + (place << OUTCOME_BITS)).astype(np.uint8)
