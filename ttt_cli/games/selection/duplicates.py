"""Records of the same game: which repeat another one.

Two records are of the same game when players, colours and result are the same, the dates do not contradict each other
(the same day, or one of them less exact and compatible), and

- both have moves, and the moves are the same; or
- one has no moves, both have the same round, and either the full date or the event is the same as well.

Different moves are different games, and without moves or a round nothing is held to be the same: players who meet
often in a year win often in it. Matches given by their score are never compared.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids, Mask, Places
from ttt_cli.folding import fold
from ttt_cli.games.records import Records
from ttt_cli.games.table import PRECISION_DAY, PRECISION_MONTH, PRECISION_YEAR
from ttt_cli.reading.column import Column, Dictionary, spread, spread_some

Rows = Places
_AT_ONCE: Final = 1 << 20  # rows looked up at a time, for the sake of memory
_ZEROS: Final = re.compile(r"\b0+(?=\d)")


@dataclass(frozen=True)
class Duplicates:
    """Records that repeat another: `row[i]` is of the same game as `original[i]`, which repeats none."""

    row: Rows
    original: Rows

    def __len__(self) -> int:
        return len(self.row)


def find_duplicates(records: Records, among: Mask | None = None) -> Duplicates:
    """The records that repeat others, of those that are used (or of `among`).

    Of records of one game, the one with moves, then the most exactly dated, then the first is the original.
    Takes O(n log n) time.
    """
    round_ = _key_numbers(records.round, _round_key)
    rows = np.zeros(0, np.int64)
    if round_.any() or records.moves.any():
        rows = _candidates(records, records.used if among is None else among, round_)
    if not len(rows):
        return Duplicates(rows, rows)
    same_moves = rows[records.moves[rows] != 0]
    keys = (_meeting(records, same_moves), records.moves[same_moves])
    found = _repeated(records, same_moves, keys)
    found = _joined(found, _by_round(records, rows, round_[records.round.codes[rows]]))
    return Duplicates(*(column[np.argsort(found.row)] for column in (found.row, found.original)))


def _candidates(records: Records, used: Mask, round_: Ids) -> Rows:
    """Rows of single games, with moves or a round, whose players met with the same colours and result more than once
    in the year. `round_` numbers the rounds of the distinct texts, 0 where none is known.
    """
    single = used & spread(records.tally.sum(axis=1) == 1, records.result.codes)
    distinct = (records.moves != 0) | spread_some(round_ > 0, records.round.codes)
    rows = np.flatnonzero(single & distinct)
    meeting = _meeting(records, rows)
    ordered = np.sort(meeting)
    again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    if not len(again):
        return rows[:0]
    parts = []
    for start in range(0, len(rows), _AT_ONCE):
        keys = meeting[start : start + _AT_ONCE]
        place = np.minimum(np.searchsorted(again, keys), len(again) - 1)
        parts.append(rows[start : start + _AT_ONCE][again[place] == keys])
    return np.concatenate(parts)


def _meeting(records: Records, rows: Rows) -> Places:
    """A number for White, Black, result and year together."""
    outcome = np.argmax(records.tally, axis=1)[records.result.codes[rows]]
    pair = records.white[rows].astype(np.int64) * len(records.players) + records.black[rows]
    return np.asarray((pair * 3 + outcome) * 10_000 + records.year[rows], np.int64)


def _by_round(records: Records, rows: Rows, round_: Ids) -> Duplicates:
    """Records without moves that repeat one of the same round, by the full date or else by the event.

    `round_` numbers the rounds of `rows`, 0 where none is known.
    """
    rows, round_ = rows[round_ > 0], round_[round_ > 0]
    exact = records.precision[rows] == PRECISION_DAY
    found = _repeated(
        records, rows[exact], (_meeting(records, rows[exact]), round_[exact]), without_moves=True
    )
    event = _key_numbers(records.event, fold)[records.event.codes[rows]]
    left = (event > 0) & ~np.isin(rows, found.row)
    keys = (_meeting(records, rows[left]), round_[left], event[left])
    return _joined(found, _repeated(records, rows[left], keys, without_moves=True))


def _repeated(
    records: Records, rows: Rows, keys: tuple[NDArray[np.integer], ...], *, without_moves: bool = False
) -> Duplicates:
    """Rows whose keys and dates agree with those of another one, which is better: by moves, by a more exact date, or
    by coming first. With `without_moves` only rows without moves are duplicates.
    """
    found = Duplicates(rows[:0], rows[:0])
    days = records.day[rows].astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64)
    precision, bare = records.precision[rows], records.moves[rows] == 0
    may_repeat = bare if without_moves else np.ones(len(rows), np.bool_)
    known = {PRECISION_DAY: days.astype(np.int64), PRECISION_MONTH: months, PRECISION_YEAR: 0 * months}
    for level, date in known.items():
        exact, more = precision == level, precision > level
        same = (*keys, date)
        found = _followers(
            found, rows, same, (bare, -precision), originals=exact | more, repeats=may_repeat & exact
        )
        if without_moves:
            found = _followers(found, rows, same, (bare,), originals=exact & ~bare, repeats=bare & more)
    return found


def _followers(
    found: Duplicates,
    rows: Rows,
    same: tuple[NDArray[np.integer], ...],
    rank: tuple[NDArray[np.generic], ...],
    *,
    originals: Mask,
    repeats: Mask,
) -> Duplicates:
    """`found`, and the `repeats` behind the first of all `originals` and `repeats` with the same columns.

    The first by `rank`, then in order; where it is no original, there is none. Rows of `found` are left out.
    """
    here = np.flatnonzero((originals | repeats) & ~np.isin(rows, found.row))
    order = here[np.lexsort([column[here] for column in (rows, *reversed(rank), *same)])]
    changes = np.any([column[order][1:] != column[order][:-1] for column in same], axis=0)
    first = np.append(np.ones(min(len(order), 1), np.bool_), changes)
    original = order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    again = ~first & repeats[order] & originals[original]
    return _joined(found, Duplicates(rows[order[again]], rows[original[again]]))


def _joined(one: Duplicates, other: Duplicates) -> Duplicates:
    """Both, with originals that repeat none."""
    row = np.concatenate([one.row, other.row])
    original = np.concatenate([one.original, other.original])
    order = np.argsort(row)
    place = np.searchsorted(row[order], original)
    further = np.isin(original, row)
    original[further] = original[order][place[further]]
    return Duplicates(row, original)


def _key_numbers(texts: Column[str], key: Callable[[str], str]) -> Ids:
    """Numbers of the keys of the distinct texts; 0 where the key is empty."""
    return Dictionary("").ids(key(text) for text in texts.values)


def _round_key(text: str) -> str:
    """A round as it is compared; empty where it is not known."""
    plain = text.strip(" ()?-.")
    return _ZEROS.sub("", plain.casefold())
