"""Duplicates: records of one game that stand in several files, or in one file more than once."""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import PRECISION_DAY, PRECISION_MONTH, PRECISION_YEAR, Records
from ttt_cli.reading.columns import CodedColumn, Dictionary, spread
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.folding import fold

_ZEROS: Final = re.compile(r"\b0+(?=\d)")


def find_duplicates(records: Records, among: Mask | None = None) -> Places:
    """Records that repeat a better one, and these; shape (duplicates, 2). Takes O(n log n) time.

    Only records that are used are compared, or those of `among`.
    Sides, colours and result must be equal and the dates compatible (the same day, or one of them less exact). Then
    the moves are the same; or one has no moves, the round is the same, and the full date or the event is too. Matches
    given by their score are never compared. The better record has moves, then the more exact date, then is earlier.
    """
    round_number = _key_numbers(records.round, round_key)
    among = records.used if among is None else among
    rows = _rows_with_equal_meeting(records, among, round_number)
    if not len(rows):
        return np.zeros((0, 2), np.int64)
    compared = _compared_columns(records, rows, round_number)
    better = _find_better(compared)
    repeats = np.flatnonzero(better != np.arange(len(rows)))
    return np.stack([rows[repeats], rows[better[repeats]]], axis=1)


def _rows_with_equal_meeting(records: Records, among: Mask, round_number: Ids) -> Places:
    """Single games with moves or a round, whose players, colours, result and year occur more than once."""
    if not round_number.any() and not records.moves.any():
        return np.zeros(0, np.int64)
    is_single = spread(records.tally.sum(axis=1) == 1, records.result.codes)
    is_comparable = (records.moves != 0) | spread(round_number > 0, records.round.codes)
    rows = np.flatnonzero(among & is_single & is_comparable)
    del is_single, is_comparable
    meeting = _meeting(records, rows)
    in_order = np.sort(meeting)
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(repeated):
        return np.zeros(0, np.int64)
    is_repeated: Mask = (
        np.take(repeated, np.searchsorted(repeated, meeting), mode="clip") == meeting
    )
    return rows[is_repeated]


def _meeting(records: Records, rows: Places) -> Places:
    """A number for both sides, result and year together."""
    players = records.white[rows].astype(np.int64) * len(records.players) + records.black[rows]
    outcome = np.argmax(records.tally, axis=1)[records.result.codes[rows]]
    meeting: Places = (players * 3 + outcome) * 10_000 + records.year[rows]
    if len(records.teams) > 1:
        sides = np.stack([records.white_team[rows], records.black_team[rows], meeting])
        meeting = np.unique(sides, axis=1, return_inverse=True)[1].reshape(-1)
    return meeting


class _Compared(NamedTuple):
    """What is compared of some records, (rows,) each."""

    meeting: Places
    moves: NDArray[np.int64]
    round: Places
    event: Places
    precision: NDArray[np.int8]
    dates: Mapping[int, Places]  # by precision: numbers that are equal where dates are compatible

    @property
    def without_moves(self) -> Mask:
        """Records whose moves are unknown."""
        return np.equal(self.moves, 0)


def _compared_columns(records: Records, rows: Places, round_number: Ids) -> _Compared:
    """The columns that are compared."""
    days = records.day[rows].astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64)
    return _Compared(
        meeting=_meeting(records, rows),
        moves=records.moves[rows],
        round=round_number[records.round.codes[rows]].astype(np.int64),
        event=_key_numbers(records.event, fold)[records.event.codes[rows]].astype(np.int64),
        precision=records.precision[rows],
        dates={
            PRECISION_DAY: days.astype(np.int64),
            PRECISION_MONTH: months,
            PRECISION_YEAR: np.zeros_like(months),
        },
    )


class _SameGameRule(NamedTuple):
    """When two records are the same game, if their dates are compatible."""

    keys: tuple[Places, ...]  # are equal
    compared: Mask  # records that the rule is for
    may_repeat: Mask  # records that may be the worse of the two


def _find_better(compared: _Compared) -> Places:
    """The index of the best record of the same game, for each."""
    n = len(compared.meeting)
    without_moves = compared.without_moves
    has_round = compared.round > 0
    has_day = compared.precision == PRECISION_DAY
    rules = (
        _SameGameRule((compared.meeting, compared.moves), ~without_moves, np.ones(n, np.bool_)),
        _SameGameRule((compared.meeting, compared.round), has_round & has_day, without_moves),
        _SameGameRule(
            (compared.meeting, compared.round, compared.event),
            has_round & (compared.event > 0),
            without_moves,
        ),
    )
    better = np.arange(n)
    for rule in rules:
        for compared_precision, date in compared.dates.items():
            rows = np.flatnonzero(rule.compared & (compared.precision >= compared_precision))
            keys = np.stack([*rule.keys, date])[:, rows]
            best_of_row = _best_of_equal(
                keys, without_moves[rows], compared.precision[rows], compared_precision
            )
            # a record that repeats another by an earlier rule or a more exact date goes on doing so
            may_change = rule.may_repeat[rows] & (better[rows] == rows)
            better[rows] = np.where(may_change, rows[best_of_row], better[rows])
    # the better record of a record may itself have a better one
    while np.any(better[better] != better):
        better = better[better]
    return better


def _best_of_equal(
    keys: Places, without_moves: Mask, precision: NDArray[np.int8], compared_precision: int
) -> Places:
    """The index of the best record with equal keys, for each, if the less exact of both has the compared precision.

    Keys have the shape (keys, rows). The best record has moves, then the more exact date, then is the first. Three
    records whose keys are equal where months are compared, the best one first:

    | record | date | moves | best | why |
    |---|---|---|---|---|
    | A | 1900-05 | yes | A | |
    | B | 1900-05-01 | no | A | repeats the first one with moves whose date is a month |
    | C | 1900-05 | no | A | repeats the first one: all others are at least as exact |

    If A had no moves, it would be the second: B, without any to repeat, would be its own best, and that of A and C.
    """
    order = np.lexsort([-precision, without_moves, *keys])
    position = np.arange(len(order))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = np.any(np.diff(keys[:, order], axis=1), axis=0)
    start_of_group = np.maximum.accumulate(np.where(is_first, position, 0))
    is_less_exact = precision[order] == compared_precision
    without_moves = without_moves[order]
    first_with_moves = _first_in_group(
        start_of_group, np.flatnonzero(is_less_exact & ~without_moves)
    )
    repeats_less_exact = without_moves & (first_with_moves >= 0)
    best_of_more_exact = np.where(repeats_less_exact, first_with_moves, position)
    best = np.where(is_less_exact, start_of_group, best_of_more_exact)
    best_of_row = np.empty_like(order)
    best_of_row[order] = order[best]
    return best_of_row


def _first_in_group(start_of_group: Places, positions: Places) -> Places:
    """The first of some sorted positions in the group of each row, shape (rows,), -1 where there is none."""
    first_of_start = np.full(len(start_of_group), -1)
    backwards = positions[::-1]  # the last assignment counts: of the first position
    first_of_start[start_of_group[backwards]] = backwards
    return first_of_start[start_of_group]


def _key_numbers(texts: CodedColumn[str], key: Callable[[str], str]) -> Ids:
    """Numbers of the keys of the distinct texts; 0 where the key is empty."""
    return Dictionary("").numbers_of([key(text) for text in texts.values])


def round_key(text: str) -> str:
    """A round for comparison; empty where unknown."""
    plain = text.strip(" ()?-.")
    return _ZEROS.sub("", plain.casefold())
