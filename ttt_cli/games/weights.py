"""How much a record counts, the odds that were given in it, and whether it was on neutral ground."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Mask
from ttt_cli.config.schema import DataConfig
from ttt_cli.folding import fold
from ttt_cli.games.handicaps import OddsTable, named_giver, usual_giver
from ttt_cli.games.players.keys import name_key
from ttt_cli.games.players.names import clean_name
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.decode import text_of
from ttt_cli.reading.file_records import FileRecords

MOST_GAMES: Final = 1e9  # as which one record may count
LEAST_GAMES: Final = 1e-9
Numbers = Array

_LISTED: Final = 10  # words of a column
_MEANING: Final = {reasons.UNKNOWN_STATUS: "each counts as 1", reasons.OTHER_ODDS: "none is known"}
_NEUTRAL: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0", ""), False),
}
_USUAL: Final = {"formal": 1.0, "casual": 1.0, "soft": 1.0}


class RecordWeights:
    """Weights and odds of the records of a file, from the columns `weight`, `status`, `odds`, `odds_giver`, `neutral`.

    `weight` (None: all 1) is the product of the weight as written, that of the status and `caps`; `offset` (None: all
    0) is in Elo points, added to White's strength, `neutral` (None: none) whether White's advantage is not. A status
    without a weight counts as 1. `reject_codes` are those of earlier reasons first. Where a column `odds` holds texts
    and none of them is known, it means something else: `odds_ignored`. `names` are the distinct names of the records,
    cleaned.
    """

    def __init__(
        self, records: FileRecords, data: DataConfig, caps: Numbers | None, names: Sequence[str]
    ) -> None:
        self._records, self._names = records, names
        self.reject_codes: list[NDArray[np.int8]] = []
        self.weight = caps
        self.offset: Numbers | None = None
        self.neutral: Mask | None = None
        self.odds_ignored = False
        self._unread: list[
            tuple[str, str, Mask]
        ] = []  # reason, column, which of its values are not understood
        if records.weights:
            self._read_weights()
        if "odds" in records.further:
            self._read_odds(OddsTable(data.odds))
        if "neutral" in records.further:
            self._read_neutral()
        if "status" in records.further:
            self._read_status({fold(word): factor for word, factor in (_USUAL | data.status).items()})

    def notes(self, lines: NDArray[np.integer], used: Mask) -> list[Note]:
        """What columns hold that is not understood, one note for each, with the words and how often they occur.

        `lines` and `used`, shape (records,), are where each record stands and whether it can be a game.
        """
        found = []
        for reason, column, odd in self._unread:
            ids = self._records.ids(column)
            rows = np.flatnonzero(odd[ids] & used)
            if len(rows):
                words = _words(self._records.distinct(column), np.bincount(ids[rows], minlength=len(odd)))
                found.append(Note(int(lines[rows[0]]), reason, f"{_MEANING[reason]}: {words}", reasons.KEPT))
        return found

    def _times(self, factors: Numbers) -> None:
        self.weight = factors if self.weight is None else self.weight * factors

    def _read_weights(self) -> None:
        written = np.array([_number(text_of(raw)) for raw in self._records.weights])
        bad = ~(np.isfinite(written) & (written > 0))
        ids = self._records.ids("weights")
        self.reject_codes.append((bad * np.int8(reasons.REJECT_CODE[reasons.BAD_WEIGHT]))[ids])
        self._times(np.where(bad, 1.0, written)[ids])

    def _read_status(self, factors: dict[str, float]) -> None:
        words = [fold(text_of(raw)) for raw in self._records.distinct("status")]
        weights = np.array([factors.get(word, 1.0) for word in words])
        odd = np.array([bool(word) and word not in factors for word in words], np.bool_)
        self._unread.append((reasons.UNKNOWN_STATUS, "status", odd))
        ids = self._records.ids("status")
        self.reject_codes.append(((weights == 0) * np.int8(reasons.REJECT_CODE[reasons.STATUS]))[ids])
        if np.any(weights != 1):
            self._times(np.where(weights == 0, 1.0, weights)[ids])

    def _read_neutral(self) -> None:
        found = [_NEUTRAL.get(text_of(raw).strip().lower()) for raw in self._records.distinct("neutral")]
        ids = self._records.ids("neutral")
        bad = np.array([one is None for one in found], np.bool_)
        self.reject_codes.append((bad * np.int8(reasons.REJECT_CODE[reasons.BAD_NEUTRAL]))[ids])
        if any(found):
            self.neutral = np.array([bool(one) for one in found], np.bool_)[ids]

    def _read_odds(self, table: OddsTable) -> None:
        written = [text_of(raw).strip() for raw in self._records.distinct("odds")]
        points = [math.nan if (known := table.points(odds)) is None else known for odds in written]
        odd = np.isnan(points)
        if any(map(fold, compress(written, odd))) and not any(map(table.tells, written)):
            self.odds_ignored = True
            self._unread.append((reasons.OTHER_ODDS, "odds", odd))
            return
        if not np.any(points):
            return
        signs = [1.0 if usual_giver(odds) == "black" else -1.0 for odds in written]
        ids = self._records.ids("odds")
        sign = np.array(signs)[ids]
        if "odds_giver" in self._records.further:
            self._read_givers(sign, np.flatnonzero(np.array(points)[ids] != 0))
        offset = np.array(points)[ids] * sign
        self.reject_codes.append(np.isnan(offset) * np.int8(reasons.REJECT_CODE[reasons.UNKNOWN_ODDS]))
        self.offset = np.nan_to_num(offset, copy=False)

    def _read_givers(self, sign: Numbers, rows: NDArray[np.intp]) -> None:
        """Set the sign of records whose giver is named: -1 for White, +1 for Black, NaN where it is neither."""
        texts = [text_of(raw).strip() for raw in self._records.distinct("odds_giver")]
        givers, ids = [named_giver(text) for text in texts], self._records.ids("odds_giver")
        white, black = self._records.ids("whites"), self._records.ids("blacks")
        for row in rows.tolist():
            text, giver = texts[ids[row]], givers[ids[row]]
            if not fold(text):
                continue
            if giver is None:
                key = name_key(clean_name(text))
                is_white = key == name_key(self._names[white[row]])
                is_black = key == name_key(self._names[black[row]])
                sign[row] = -1.0 if is_white else 1.0 if is_black else math.nan
            else:
                sign[row] = -1.0 if giver == "white" else 1.0


def _words(values: Sequence[Hashable], counts: NDArray[np.intp]) -> str:
    """The values that occur with their counts, the most frequent first; spellings of a word are counted together."""
    spelling: dict[str, str] = {}
    total: Counter[str] = Counter()
    for raw, count in zip(values, counts.tolist(), strict=True):
        if count:
            text = " ".join(text_of(raw).split())
            total[fold(text)] += count
            spelling.setdefault(fold(text), text)
    listed = [f"{spelling[word]} {count:,}" for word, count in total.most_common(_LISTED)]
    further = len(total) - len(listed)
    return ", ".join(listed) + (f", and {further:,} more" if further else "")


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return math.nan
