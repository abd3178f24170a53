"""Validate the records of a file: dates, results, weights, odds, names, each distinct value once.

The distinct values of all files together are numbered in dictionaries.
"""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import compress
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.names import UNUSUAL, clean_name, name_key, not_a_player, preselect
from ttt_cli.games.table import winner_named_first
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import MOST_NOTES, FileRecords, Note
from ttt_cli.reading.columns import Column, Dictionary, counts_of, narrow, spread, spread_some
from ttt_cli.reading.dates import PLAIN, DateForm, DateForms, GameDate, has_two_digits, is_number, parse_date
from ttt_cli.reading.input import text_of, texts_of
from ttt_cli.reading.results import (
    NO_TALLY,
    Tally,
    games_text,
    is_result_word,
    parse_results,
    tally_of,
)
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.support.folding import fold

MOST_GAMES: Final = 1e9  # as which one record may count
LEAST_GAMES: Final = 1e-9

_LISTED: Final = 10  # words of a column
_NEUTRAL: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "0", ""), 0.0),
}
_GIVERS: Final = {"white": -1.0, "w": -1.0, "black": 1.0, "b": 1.0}  # the sign of the points
_USUAL: Final = {"formal": 1.0, "casual": 1.0, "soft": 1.0}

POINTS: Final[dict[str, float]] = {
    "draw": 87, "exchange": 130, "exchange and move": 182, "knight": 373, "knight and move": 426,
    "knight and pawn": 479, "knight for two moves": 321, "mate on a given square": 373, "move": 24,
    "pawn and four moves": 332, "pawn and move": 163, "pawn and three moves": 271, "pawn and two moves": 219,
    "pawn for the move": 113, "queen": 1008, "queen for pawn and move": 851, "rook": 479,
    "rook and knight": 799, "rook and move": 539, "rook and pawn": 591, "rook and two pawns": 695,
    "rook, pawn and move": 651, "rook, pawn and two moves": 712, "two knights": 747, "two moves": 66,
}  # fmt: skip
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


def odds_points(written: str, further: Mapping[str, float] = MappingProxyType({})) -> float:
    """Elo points of odds as written, positive if White usually receives them; 0 on even terms, NaN for unknown odds.

    Black gives odds if the receiver also has the move, else White. `further` are points by `odds_words`, of other odds
    or instead of the usual ones: the estimates of the Edo ratings (section on odds games, figures of December 2023).
    """
    words = odds_words(written)
    points = 0.0 if is_even(written) else further.get(words, _POINTS.get(words, math.nan))
    parts = words.split()
    return points if parts[-1:] == ["move"] and "for" not in parts else -points


def is_even(written: str) -> bool:
    """Whether no odds were given; `?` is unknown."""
    return odds_words(written) in _EVEN and "?" not in written


def odds_words(written: str) -> str:
    """One spelling of odds: `P & 2`, `pawn and two moves` and `odds of pawn and two` are the same."""
    words = [_SAME.get(word, word) for word in fold(written.replace("+", " ")).split()]
    words = [word for word in " ".join(words).split() if word not in _IDLE]
    if len(words) > 1 and words[-1] in _COUNTS and words[-2] == "pawn":
        words.append("move")
    return " ".join(word for word in words if word != "one")


_POINTS: Final = {odds_words(odds): points for odds, points in POINTS.items()}


def _listing(column: Column[Any]) -> str:
    """The values that occur with their counts, the most frequent first; spellings of a word are counted together."""
    spelling: dict[str, str] = {}
    total: Counter[str] = Counter()
    for code, count in Counter(column.codes.tolist()).items():
        text = " ".join(_joined(column.values[code], "-").split())
        total[fold(text)] += count
        spelling.setdefault(fold(text), text)
    listed = total.most_common(_LISTED)
    further = total.total() - sum(count for _, count in listed)
    shown = ", ".join(f"{spelling[word]} {count:,}" for word, count in listed)
    return shown + (f", and {further:,} more" if further else "")


FURTHER: Final = (
    *("event", "site", "round", "variant", "time_control", "status", "odds", "white_id", "black_id"),
)


class DateDictionary(Dictionary[tuple[str, DateForm | None]]):
    """Dates as written, with the date form of their file, and as `parsed`."""

    def __init__(self) -> None:
        self.parsed: list[GameDate] = []
        super().__init__(("", None))

    @property
    def days(self) -> NDArray[np.int32]:
        """Days since 1970-01-01, the middle of the possible range."""
        return np.array([date.day for date in self.parsed], np.int32)

    @property
    def precisions(self) -> NDArray[np.int8]:
        """How exact each is, as in `Games`."""
        return np.array([date.precision for date in self.parsed], np.int8)

    def _take(self, values: Sequence[tuple[str, DateForm | None]]) -> None:
        self.parsed += [parse_date(text, form or PLAIN) for text, form in values]


class NameDictionary(Dictionary[str]):
    """Names as written. `cleaned` is the player's name, `reject_code` why a text is not a player (0 if it is one)."""

    def __init__(self) -> None:
        self.cleaned: list[str] = []
        self.reject_code = array("b")
        super().__init__("")

    def _take(self, values: Sequence[str]) -> None:
        before = len(self.cleaned)
        self.cleaned += values
        self.reject_code.frombytes(bytes(len(values)))
        for place in preselect(UNUSUAL, values):
            name = self.cleaned[before + place] = clean_name(values[place])
            self.reject_code[before + place] = reasons.REJECT_CODE.get(not_a_player(name) or "", 0)


class Dictionaries:
    """The dictionaries of one reading; number 0 is the empty text everywhere.

    Results are stored with their tallies, because a text may differ in meaning between files. `columns` are the
    further columns; the ids of both players share one. Without `links` sites that are web addresses, of which every
    game may have its own, are empty.
    """

    def __init__(self, columns: Iterable[str] = FURTHER, *, links: bool = True) -> None:
        self.links = links
        self.dates = DateDictionary()
        self.names = NameDictionary()
        self.results = Dictionary[tuple[str, Tally]](("", NO_TALLY))
        self.columns = {name: Dictionary("") for name in columns}
        if "black_id" in self.columns:
            self.columns["black_id"] = self.columns["white_id"]

    @property
    def tallies(self) -> Array:
        """The games that White lost, drew and won by each result, shape (results, 3)."""
        return np.array([tally for _, tally in self.results.values], np.float64)


class Validated:
    """Validated records; every distinct value is parsed once.

    `columns`, each of shape (records,), are those of `Records`, texts as numbers in `dictionaries`; None where
    `weight`, `offset` (Elo points added to White's strength), `neutral` and `moves` are 1, 0, false and 0 throughout.
    `notes` report dropped and repaired records, the first MOST_NOTES of each, and columns that are not understood. The
    input columns are released.
    """

    def __init__(self, records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> None:
        self._records, self._dictionaries = records, dictionaries
        self._line, moves = records.lines, records.moves
        self._reject_code = np.zeros(len(records), np.int8)
        self._weight: Array | None = None
        # notes on columns: reason, mask of records, values, what they mean, action
        self._odd: list[tuple[str, Mask, Column[Any], str, str]] = []
        self._no_values: Column[Any] = Column(np.broadcast_to(np.uint8(0), len(records)), ())
        self.columns: dict[str, Any] = {
            "line": self._line,
            "moves": None if moves is None or not moves.any() else moves,
        }
        names = dictionaries.names.ids(_all_joined(records.distinct("whites"), " "))
        repaired = self._validate_dates(data)
        self._validate_results(data.match_cap)
        self._multiply(self._numbers("weights", _positive, reasons.BAD_WEIGHT, 1.0))
        known = "odds" in records.further and self._validate_odds(data.odds, names)
        neutral = self._numbers("neutral", _NEUTRAL.get, reasons.BAD_NEUTRAL, 0.0)
        self.columns["neutral"] = neutral if neutral is None else neutral.astype(np.bool_)
        self._validate_status({fold(word): factor for word, factor in (_USUAL | data.status).items()})
        self._validate_counts()
        self._validate_names(names)
        self.columns |= {"weight": self._weight, "reject_code": self._reject_code}
        if data.colours == "auto":
            self._note_winners()
        self.notes = list(self._notes(repaired))
        for name in dictionaries.columns:
            if name in records.further and (known or name != "odds"):
                texts = (" ".join(text.split()) for text in texts_of(records.distinct(name)))
                if name == "site" and not dictionaries.links:
                    texts = ("" if "://" in text else text for text in texts)
                numbers = records.take(name, dictionaries.columns[name].ids(texts))
                if numbers.any():
                    self.columns[name] = numbers

    def _reject(self, codes: NDArray[np.int8]) -> None:
        """Reject records with these codes, shape (records,); of several reasons the first of DROP_REASONS counts."""
        if codes.any():
            self._reject_code = _earlier(self._reject_code, codes)

    def _multiply(self, factors: Array | None) -> None:
        if factors is not None:
            self._weight = factors if self._weight is None else self._weight * factors

    def _note(self, reason: str, odd: Sequence[bool], column: Column[Any], meaning: str, action: str) -> None:
        """Note that some of the values of a column are odd, or what holds for all records if there are no values."""
        if any(odd):
            self._odd.append((reason, spread(np.array(odd), column.codes), column, meaning, action))

    def _numbers(
        self, column: str, parse: Callable[[str], float | None], reason: str, usual: float
    ) -> Array | None:
        """The numbers in a further column, None where all are `usual`; records are rejected where there is none."""
        if column not in self._records.further:
            return None
        texts = (text_of(raw).strip().lower() for raw in self._records.distinct(column))
        parsed = np.array([parse(text) for text in texts], np.float64)
        codes, bad = self._records.codes(column), np.isnan(parsed)
        self._reject(spread_some(bad * np.int8(reasons.REJECT_CODE[reason]), codes))
        parsed[bad] = usual
        return None if np.all(parsed == usual) else parsed[codes]

    def _validate_dates(self, data: DataConfig) -> Mask:
        """Read dates; returns the mask of repaired ones. Of an ambiguous one, periods of years use the year."""
        records, dictionary = self._records, self._dictionaries.dates
        texts, codes = _all_joined(records.distinct("dates"), "-"), records.codes("dates")
        forms = DateForms(texts, data, records.layout.unit)
        numbers = dictionary.ids((text, forms.of(text)) for text in texts)
        dates = [dictionary.parsed[number] for number in numbers.tolist()]
        by_year = data.period == "year"
        unreadable = [date.reason == reasons.BAD_DATE and not date.repaired for date in dates]
        why = [None if date.repaired else date.reason for date in dates]
        if not by_year:
            why = [
                reasons.BAD_DATE if date.unread else reason for date, reason in zip(dates, why, strict=True)
            ]
        self._reject(spread_some(np.array(reasons.codes_of(why), np.int8), codes))
        today = int(np.datetime64("today", "D").astype(np.int64))
        if unit := forms.unit:
            today = sys.maxsize
            first = parse_date("1", DateForm(unit=unit)).day
            start = label(int(period_of(np.array([first], np.int32), unit)[0]), unit)
            meaning = f"{unit} 1 is shown as {start}"
            self._note(reasons.NUMBERED_DATE, [True], self._no_values, meaning, reasons.KEPT)
        mixed, day_first = forms.month_first(texts)
        future = [date.day > today and not wrong for wrong, date in zip(unreadable, dates, strict=True)]
        misread = [text if wrong else "" for wrong, text in zip(unreadable, texts, strict=True)]
        odd = {
            reasons.AMBIGUOUS_DATE: [date.ambiguous for date in dates],
            reasons.TWO_DIGIT_YEAR: list(map(has_two_digits, misread)),
            reasons.NUMBERED_DATE: list(map(is_number, misread)),
            reasons.FUTURE_DATE: future,
            reasons.MIXED_ORDERS: mixed,
        }
        for reason, found in odd.items():
            used = reason in (reasons.FUTURE_DATE, reasons.MIXED_ORDERS)
            kept = used or (reason == reasons.AMBIGUOUS_DATE and by_year)
            meaning = _REMEDIES[reason].format(day_first=day_first)
            self._note(
                reason, found, Column(codes, texts), meaning, reasons.KEPT if kept else reasons.DROPPED
            )
        repaired = spread_some(np.array([date.repaired for date in dates], np.bool_), codes)
        self.columns["date"] = records.take("dates", numbers)
        return repaired

    def _validate_results(self, match_cap: float | None) -> None:
        """Read results together with the number of games that each is of."""
        records = self._records
        results, ids = list(records.distinct("results")), records.codes("results")
        raws, single = [(raw, "") for raw in results], ids
        if "games" in records.further:
            games, many = [games_text(raw) for raw in records.distinct("games")], records.codes("games")
            single = ids[np.array([not text for text in games], np.bool_)[many]]
            pairs, ids = np.unique(ids.astype(np.int64) * len(games) + many, return_inverse=True)
            raws = [(results[pair // len(games)], games[pair % len(games)]) for pair in pairs.tolist()]
        outcomes = parse_results(
            dict(zip(results, counts_of(single, len(results)), strict=True)), records.layout.kind
        )
        tallies = [tally_of(raw, count, outcomes[raw]) for raw, count in raws]
        known = [NO_TALLY if isinstance(tally, str) else tally for tally in tallies]
        texts = [_joined(raw, "-") + (f" ({count} games)" if count else "") for raw, count in raws]
        numbers = narrow(self._dictionaries.results.ids(zip(texts, known, strict=True)))
        plain = "games" not in records.further
        self.columns["result"] = records.take("results", numbers) if plain else spread(numbers, ids)
        counts = np.array(known, np.float64).reshape(-1, 3).sum(axis=1)
        if match_cap is not None and np.any(counts > match_cap):
            self._multiply((match_cap / np.maximum(counts, match_cap))[ids])
        codes = reasons.codes_of(tally if isinstance(tally, str) else None for tally in tallies)
        self._reject(spread_some(np.array(codes, np.int8), ids))
        words = [is_result_word(raw) for raw, _ in raws]
        self._note(
            reasons.RESULT_WORDS,
            words,
            Column(ids, texts),
            "read as those of the player named first",
            reasons.KEPT,
        )

    def _validate_status(self, factors: dict[str, float]) -> None:
        self._multiply(
            self._numbers(
                "status", lambda text: factors.get(fold(text), 1.0) or math.nan, reasons.STATUS, 1.0
            )
        )
        if "status" in self._records.further:
            values, codes = self._records.distinct("status"), self._records.codes("status")
            words = [fold(text_of(raw)) for raw in values]
            odd = [bool(word) and word not in factors for word in words]
            self._note(reasons.UNKNOWN_STATUS, odd, Column(codes, values), "each counts as 1", reasons.KEPT)

    def _validate_odds(self, points_of: Mapping[str, float], names: Ids) -> bool:
        """Set the offset; whether the column is of odds: if no text in it is understood, it means something else."""
        records, codes = self._records, self._records.codes("odds")
        written = [text_of(raw).strip() for raw in records.distinct("odds")]
        further = {odds_words(odds): points for odds, points in points_of.items()}
        points = np.array([odds_points(odds, further) for odds in written])
        odd = np.isnan(points)
        words = [
            any(map(str.isalpha, odds)) for odds in written
        ]  # a number or a sign may mean something else
        if any(map(fold, compress(written, odd))) and not np.any(~odd & (words | (points != 0))):
            self._note(
                reasons.OTHER_ODDS, odd.tolist(), Column(codes, written), "none is known", reasons.KEPT
            )
            return False
        if points.any():
            offset = points[codes]
            if "odds_giver" in records.further:
                cleaned = [self._dictionaries.names.cleaned[name] for name in names.tolist()]
                texts = [text_of(raw).strip() for raw in records.distinct("odds_giver")]
                rows = np.flatnonzero(offset != 0)
                columns = (records.codes(name)[rows].tolist() for name in ("odds_giver", "whites", "blacks"))
                for row, number, white, black in zip(rows.tolist(), *columns, strict=True):
                    if giver := fold(texts[number]):
                        sides = {name_key(cleaned[black]): 1.0, name_key(cleaned[white]): -1.0}
                        named = sides.get(name_key(clean_name(texts[number])), math.nan)
                        offset[row] = abs(offset[row]) * _GIVERS.get(giver, named)
            self._reject(np.isnan(offset) * np.int8(reasons.REJECT_CODE[reasons.UNKNOWN_ODDS]))
            self.columns["offset"] = np.nan_to_num(offset, copy=False)
        return True

    def _validate_counts(self) -> None:
        """Reject records that count as more games than there can be, or as next to none."""
        games = self._dictionaries.tallies.sum(axis=1)
        if self._weight is None and games.max() <= MOST_GAMES:
            return
        count = games[self.columns["result"]] * (1.0 if self._weight is None else self._weight)
        bad = (count > MOST_GAMES) | ((count > 0) & (count < LEAST_GAMES))
        self._reject(bad * np.int8(reasons.REJECT_CODE[reasons.BAD_WEIGHT]))

    def _validate_names(self, numbers: Ids) -> None:
        """Validate players by the numbers of the distinct names in their dictionary."""
        records, dictionary = self._records, self._dictionaries.names
        reject_code = np.frombuffer(dictionary.reject_code, np.int8)[numbers]
        if reject_code.any():
            sides = (spread_some(reject_code, records.codes(side)) for side in ("whites", "blacks"))
            self._reject(_earlier(*sides))
        same = numbers
        if dictionary.cleaned != dictionary.values:
            same = Dictionary[str]().ids(map(dictionary.cleaned.__getitem__, numbers.tolist()))
        white, black = (spread(narrow(same), records.codes(side)) for side in ("whites", "blacks"))
        self._reject((white == black) * np.int8(reasons.REJECT_CODE[reasons.SAME_PLAYER]))
        del white, black
        for side in ("white", "black"):
            self.columns[f"{side}_written"] = records.take(f"{side}s", numbers)

    def _note_winners(self) -> None:
        """Note that a file names the winner first."""
        tallies = self._dictionaries.tallies > 0
        used = self._reject_code == 0
        rows = np.array(counts_of(self.columns["result"][used], len(tallies)))
        lost, won = (int(rows @ tallies[:, column]) for column in (0, 2))
        if self._records.layout.winners or winner_named_first(lost, won):
            how = "by its columns" if self._records.layout.winners else f"in all {won:,} decisive records"
            self._note(reasons.WINNER_FIRST, [True], self._no_values, how, reasons.KEPT)

    def _notes(self, repaired: Mask) -> Iterator[Note]:
        """Notes on dropped and on repaired records, and one for each way in which values of a column are odd."""
        for row in np.flatnonzero(self._reject_code)[:MOST_NOTES].tolist():
            columns = ("date", "white_written", "black_written", "result")
            words = record_words(self._dictionaries, *(self.columns[name][row] for name in columns))
            reason = reasons.DROP_REASONS[self._reject_code[row] - 1]
            yield Note(int(self._line[row]), reason, sys.intern(words), reasons.DROPPED)  # many may be equal
        for row in np.flatnonzero(repaired & (self._reject_code == 0))[:MOST_NOTES].tolist():
            text, _ = self._dictionaries.dates.values[self.columns["date"][row]]
            yield Note(int(self._line[row]), reasons.BAD_DATE, text, reasons.REPAIRED)
        for reason, rows, column, meaning, action in self._odd:
            places = np.flatnonzero(rows & (self._reject_code == 0) if action == reasons.KEPT else rows)
            if len(places):
                found = Column(column.codes[places], column.values)
                detail = f"{meaning}: {_listing(found)}" if column.values else meaning
                yield Note(int(self._line[places[0]]), reason, detail, action)


_REMEDIES: Final = {
    reasons.AMBIGUOUS_DATE: "only the year is certain, data.dates: dmy or mdy tells the order",
    reasons.TWO_DIGIT_YEAR: "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
    reasons.FUTURE_DATE: "they are used as they are, --years leaves them out",
    reasons.MIXED_ORDERS: "the month is first, in {day_first} the day; data.dates: dmy or mdy allows one order only",
    reasons.NUMBERED_DATE: "data.dates: number takes them as numbers of periods",
}


def _positive(text: str) -> float:
    """A positive number with a point or comma, else NaN."""
    with suppress(ValueError):
        number = float(text.replace(",", "."))
        return number if number > 0 and math.isfinite(number) else math.nan
    return math.nan


def record_words(dictionaries: Dictionaries, date: int, white: int, black: int, result: int) -> str:
    """A record in one line, from the numbers of its date, names and result."""
    (day, _), (outcome, _) = dictionaries.dates.values[date], dictionaries.results.values[result]
    names = dictionaries.names.cleaned
    return f"{day or '?'}: {names[white] or '?'} - {names[black] or '?'} {outcome}".rstrip()


def _joined(raw: Hashable, separator: str) -> str:
    """A value as text; of a tuple, the parts that are not empty."""
    if isinstance(raw, tuple):
        return separator.join(text for part in raw if (text := text_of(part).strip()))
    return text_of(raw).strip()


def _all_joined(raws: Sequence[Hashable], separator: str) -> list[str]:
    """`_joined` of each."""
    return [text.strip() for text in texts_of(raws, lambda raw: _joined(raw, separator))]


def _earlier(first: NDArray[np.int8], second: NDArray[np.int8]) -> NDArray[np.int8]:
    """The smaller of two reject codes, none being the largest."""
    one, other = (codes.view(np.uint8) - np.uint8(1) for codes in (first, second))
    return np.asarray(np.minimum(one, other) + np.uint8(1)).view(np.int8)
