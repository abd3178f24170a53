"""How much a record counts, the odds that were given in it, and whether it was on neutral ground."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.config.schema import DataConfig
from ttt_cli.folding import fold
from ttt_cli.games.players.names import clean_name, name_key
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.file_records import FileRecords
from ttt_cli.reading.text import text_of

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
Giver = Literal["white", "black"]

POINTS: Final[dict[str, float]] = {
    "draw": 87,
    "exchange": 130,
    "exchange and move": 182,
    "knight": 373,
    "knight and move": 426,
    "knight and pawn": 479,
    "knight for two moves": 321,
    "mate on a given square": 373,
    "move": 24,
    "pawn and four moves": 332,
    "pawn and move": 163,
    "pawn and three moves": 271,
    "pawn and two moves": 219,
    "pawn for the move": 113,
    "queen": 1008,
    "queen for pawn and move": 851,
    "rook": 479,
    "rook and knight": 799,
    "rook and move": 539,
    "rook and pawn": 591,
    "rook and two pawns": 695,
    "rook, pawn and move": 651,
    "rook, pawn and two moves": 712,
    "two knights": 747,
    "two moves": 66,
}
_IDLE: Final = frozenset(
    ("a", "and", "at", "both", "by", "given", "giving", "in", "kings", "of", "odds", "on", "queens", "the", "with")
)  # fmt: skip
_SAME: Final = {
    "1": "one", "2": "two", "3": "three", "4": "four", "p": "pawn", "f7": "pawn", "kbp": "pawn", "n": "knight",
    "kt": "knight", "qn": "knight", "qkt": "knight", "kn": "knight", "r": "rook", "qr": "rook", "kr": "rook",
    "q": "queen", "m": "move", "exch": "exchange", "pieces": "knight", "knights": "knight", "moves": "move",
    "pawns": "pawn", "rooks": "rook", "draws": "draw", "pm": "pawn move", "p1": "pawn move",
    "p2": "pawn two", "p3": "pawn three", "p4": "pawn four",
}  # fmt: skip
_COUNTS: Final = ("one", "two", "three", "four")
_EVEN: Final = frozenset({"", "0", "even", "level", "none", "no", "nothing", "without"})


class OddsTable:
    """Looks up odds as written; `further` are points of other odds, or instead of the usual ones.

    The points are the estimates of the Edo ratings (section on odds games, figures of December 2023).
    """

    def __init__(self, further: Mapping[str, float]) -> None:
        self._points = {_words(odds): points for odds, points in POINTS.items()}
        self._points |= {_words(odds): points for odds, points in further.items()}

    def points(self, written: str) -> float | None:
        """Elo points that the receiver gains, 0 for a game on even terms, None for odds that are not known."""
        return 0.0 if is_even(written) else self._points.get(_words(written))

    def tells(self, written: str) -> bool:
        """Whether a text can only be meant as odds: a plain number or nothing may mean anything."""
        if is_even(written):
            return any(map(str.isalpha, written))
        return self.points(written) is not None


def is_even(written: str) -> bool:
    """Whether no odds were given; `?` is not known."""
    return _words(written) in _EVEN and "?" not in written


def usual_giver(written: str) -> Giver:
    """Who gives the odds where nothing is said: Black if the receiver has the move besides, else White."""
    words = _words(written).split()
    return "black" if words and words[-1] == "move" and "for" not in words else "white"


def named_giver(text: str) -> Giver | None:
    """Who gives the odds, where the text is a colour."""
    word = fold(text)
    return "white" if word in ("white", "w") else "black" if word in ("black", "b") else None


def _words(written: str) -> str:
    """One spelling of odds: `P & 2`, `pawn and two moves` and `odds of pawn and two` are the same."""
    words = [_SAME.get(word, word) for word in fold(written.replace("+", " ")).split()]
    words = [word for word in " ".join(words).split() if word not in _IDLE]
    if words in (["queen", "knight"], ["queen", "rook"]):  # the queen's knight or rook
        words = words[1:]
    if len(words) > 1 and words[-1] in _COUNTS and words[-2] == "pawn":
        words.append("move")
    return " ".join(word for word in words if word != "one")


class RecordWeights:
    """Weights and odds of the records of a file, from the columns `weight`, `status`, `odds`, `odds_giver`, `neutral`.

    `weight` (None: all 1) is the product of the weight as written, that of the status (1 where it has none) and `caps`;
    `offset` (None: all 0) is in Elo points, added to White's strength. `reject_codes` are those of earlier reasons
    first. A column `odds` of texts none of which is known means something else: `odds_ignored`. `names` are the
    distinct names.
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
        # Reason, column, which of its values are not understood.
        self._unread: list[tuple[str, str, Mask]] = []
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
                words = _listing(self._records.distinct(column), np.bincount(ids[rows], minlength=len(odd)))
                found.append(Note(int(lines[rows[0]]), reason, f"{_MEANING[reason]}: {words}", reasons.KEPT))
        return found

    def _rejected(self, reason: str, column: str, bad: Mask) -> Ids:
        """Reject the records with these values of a column; returns the numbers of all records' values."""
        ids = self._records.ids(column)
        self.reject_codes.append((bad * np.int8(reasons.REJECT_CODE[reason]))[ids])
        return ids

    def _times(self, factors: Numbers) -> None:
        self.weight = factors if self.weight is None else self.weight * factors

    def _read_weights(self) -> None:
        written = np.array([_number(text_of(raw)) for raw in self._records.weights])
        bad = ~(np.isfinite(written) & (written > 0))
        ids = self._rejected(reasons.BAD_WEIGHT, "weights", bad)
        self._times(np.where(bad, 1.0, written)[ids])

    def _read_status(self, factors: dict[str, float]) -> None:
        words = [fold(text_of(raw)) for raw in self._records.distinct("status")]
        weights = np.array([factors.get(word, 1.0) for word in words])
        odd = np.array([bool(word) and word not in factors for word in words], np.bool_)
        self._unread.append((reasons.UNKNOWN_STATUS, "status", odd))
        ids = self._rejected(reasons.STATUS, "status", weights == 0)
        if np.any(weights != 1):
            self._times(np.where(weights == 0, 1.0, weights)[ids])

    def _read_neutral(self) -> None:
        found = [_NEUTRAL.get(text_of(raw).strip().lower()) for raw in self._records.distinct("neutral")]
        ids = self._rejected(
            reasons.BAD_NEUTRAL, "neutral", np.array([one is None for one in found], np.bool_)
        )
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


def _listing(values: Sequence[Hashable], counts: NDArray[np.intp]) -> str:
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
