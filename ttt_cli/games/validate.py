"""Validate the records of a file: dates, results, weights, odds, names, each distinct value once."""

import math
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import compress, islice
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.games.dictionaries import DateDictionary, Dictionaries
from ttt_cli.games.names import clean_name, name_key
from ttt_cli.games.table import winner_named_first
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import MOST_NOTES, FileRecords, Note
from ttt_cli.reading.columns import Codes, Dictionary, counts_of, narrow, spread, spread_some
from ttt_cli.reading.dates import DateForm, DateForms, has_two_digits, is_number, parse_date
from ttt_cli.reading.results import NO_TALLY, cap_factor, games_text, is_result_word, parse_results, tally_of
from ttt_cli.reading.text import text_of, texts_of
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.support.folding import fold

MOST_GAMES: Final = 1e9  # as which one record may count
LEAST_GAMES: Final = 1e-9

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
        """Elo points for the receiver, 0 for a game on even terms, None for unknown odds."""
        return 0.0 if is_even(written) else self._points.get(_words(written))

    def is_odds(self, written: str) -> bool:
        """Whether a text can only be odds; a plain number or nothing is ambiguous."""
        if is_even(written):
            return any(map(str.isalpha, written))
        return self.points(written) is not None


def is_even(written: str) -> bool:
    """Whether no odds were given; `?` is unknown."""
    return _words(written) in _EVEN and "?" not in written


def usual_giver(written: str) -> Giver:
    """Default giver of the odds: Black if the receiver also has the move, else White."""
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


class Validated:
    """Validated records; every distinct value is parsed once.

    `columns`, each of shape (records,), are those of `Records`, texts as numbers in `dictionaries`; None where
    `weight`, `offset` (Elo points added to White's strength), `neutral` and `moves` are 1, 0, false and 0 throughout.
    `notes` report dropped and repaired records, the first MOST_NOTES of each, and columns that are not understood. The
    input columns are released.
    """

    def __init__(self, records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> None:
        self._records, self._dictionaries = records, dictionaries
        self._line, moves = records.lines(), records.moves()
        self._reject_code = np.zeros(len(records), np.int8)
        self._weight: Array | None = None
        self._unread: list[
            tuple[str, str, Mask]
        ] = []  # reason, column, which of its values are not understood
        self.columns: dict[str, Any] = {"line": self._line, "moves": moves if moves.any() else None}
        names = dictionaries.names.ids(_all_joined(records.distinct("whites"), " "))
        self._validate_dates(data)
        self._validate_results(data.match_cap)
        self._validate_weights()
        known = "odds" in records.further and self._validate_odds(OddsTable(data.odds), names)
        if "neutral" in records.further:
            self._validate_neutral()
        if "status" in records.further:
            self._validate_status({fold(word): factor for word, factor in (_USUAL | data.status).items()})
        self._validate_counts()
        self._validate_names(names)
        self.columns |= {"weight": self._weight, "reject_code": self._reject_code}
        self.notes = [*self._dropped_notes(), *self._repaired_notes()]
        self.notes += self._dates.notes(self._line, self.columns["date"], self._reject_code == 0)
        self.notes += [*self._unread_notes(), *self._word_notes()]
        if data.colours == "auto":
            self.notes += self._winner_notes()
        for name in dictionaries.columns:
            if name in records.further and (known or name != "odds"):
                texts = (" ".join(text.split()) for text in texts_of(records.distinct(name)))
                numbers = records.take(name, dictionaries.columns[name].ids(texts))
                if numbers.any():
                    self.columns[name] = numbers

    def _reject(self, codes: NDArray[np.int8]) -> None:
        """Reject records with these codes, shape (records,); of several reasons the first of DROP_REASONS counts."""
        if codes.any():
            self._reject_code = _earlier(self._reject_code, codes)

    def _reject_values(self, reason: str, column: str, bad: Mask) -> Codes:
        """Reject the records with these values of a column; returns the numbers of all records' values."""
        codes = self._records.codes(column)
        self._reject(spread_some(bad * np.int8(reasons.REJECT_CODE[reason]), codes))
        return codes

    def _multiply(self, factors: Array) -> None:
        self._weight = factors if self._weight is None else self._weight * factors

    def _validate_dates(self, data: DataConfig) -> None:
        records = self._records
        texts, codes = _all_joined(records.distinct("dates"), "-"), records.codes("dates")
        self._dates = _DateColumn(texts, codes, self._dictionaries.dates, data, records.unit)
        self._reject(self._dates.reject_codes)
        self.columns["date"] = records.take("dates", self._dates.numbers)

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
            dict(zip(results, counts_of(single, len(results)), strict=True)), records.kind
        )
        tallies = [tally_of(raw, count, outcomes[raw]) for raw, count in raws]
        known = [NO_TALLY if isinstance(tally, str) else tally for tally in tallies]
        texts = [_joined(raw, "-") + (f" ({count} games)" if count else "") for raw, count in raws]
        numbers = narrow(self._dictionaries.results.ids(zip(texts, known, strict=True)))
        plain = "games" not in records.further
        self.columns["result"] = records.take("results", numbers) if plain else spread(numbers, ids)
        factors = np.array([cap_factor(tally, match_cap) for tally in known])
        if np.any(factors != 1):
            self._multiply(factors[ids])
        codes = reasons.codes_of(tally if isinstance(tally, str) else None for tally in tallies)
        self._reject(spread_some(np.array(codes, np.int8), ids))
        words = np.array([is_result_word(raw) for raw, _ in raws], np.bool_)
        self._words = (raws, ids, words) if words.any() else None

    def _validate_weights(self) -> None:
        if "weights" in self._records.further:
            written = np.array([_number(text_of(raw)) for raw in self._records.distinct("weights")])
            bad = ~(np.isfinite(written) & (written > 0))
            codes = self._reject_values(reasons.BAD_WEIGHT, "weights", bad)
            self._multiply(np.where(bad, 1.0, written)[codes])

    def _validate_status(self, factors: dict[str, float]) -> None:
        words = [fold(text_of(raw)) for raw in self._records.distinct("status")]
        weights = np.array([factors.get(word, 1.0) for word in words])
        odd = np.array([bool(word) and word not in factors for word in words], np.bool_)
        self._unread.append((reasons.UNKNOWN_STATUS, "status", odd))
        codes = self._reject_values(reasons.STATUS, "status", weights == 0)
        if np.any(weights != 1):
            self._multiply(np.where(weights == 0, 1.0, weights)[codes])

    def _validate_neutral(self) -> None:
        found = [_NEUTRAL.get(text_of(raw).strip().lower()) for raw in self._records.distinct("neutral")]
        bad = np.array([one is None for one in found], np.bool_)
        codes = self._reject_values(reasons.BAD_NEUTRAL, "neutral", bad)
        if any(found):
            self.columns["neutral"] = np.array([bool(one) for one in found], np.bool_)[codes]

    def _validate_odds(self, table: OddsTable, names: Ids) -> bool:
        """Set the offset; whether the column is of odds: if no text in it is understood, it means something else."""
        records = self._records
        written = [text_of(raw).strip() for raw in records.distinct("odds")]
        points = np.array([math.nan if (known := table.points(odds)) is None else known for odds in written])
        odd = np.isnan(points)
        if any(map(fold, compress(written, odd))) and not any(map(table.is_odds, written)):
            self._unread.append((reasons.OTHER_ODDS, "odds", odd))
            return False
        if points.any():
            signs = np.array([1.0 if usual_giver(odds) == "black" else -1.0 for odds in written])
            codes = records.codes("odds")
            sign, given = signs[codes], points[codes]
            if "odds_giver" in records.further:
                self._set_givers(sign, np.flatnonzero(given != 0), names)
            offset = given * sign
            self._reject(np.isnan(offset) * np.int8(reasons.REJECT_CODE[reasons.UNKNOWN_ODDS]))
            self.columns["offset"] = np.nan_to_num(offset, copy=False)
        return True

    def _set_givers(self, sign: Array, rows: NDArray[np.intp], names: Ids) -> None:
        """Set the sign of records with a named giver: -1 for White, +1 for Black, NaN for neither."""
        cleaned = [self._dictionaries.names.cleaned[name] for name in names.tolist()]
        texts = [text_of(raw).strip() for raw in self._records.distinct("odds_giver")]
        columns = [self._records.codes(name)[rows].tolist() for name in ("odds_giver", "whites", "blacks")]
        for row, number, white, black in zip(rows.tolist(), *columns, strict=True):
            if fold(texts[number]):
                giver = named_giver(texts[number])
                key = name_key(clean_name(texts[number]))
                is_white = giver == "white" or (giver is None and key == name_key(cleaned[white]))
                is_black = giver == "black" or (giver is None and key == name_key(cleaned[black]))
                sign[row] = -1.0 if is_white else 1.0 if is_black else math.nan

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

    def _dropped_notes(self) -> Iterator[Note]:
        for row in _first_of(self._reject_code, MOST_NOTES):
            columns = ("date", "white_written", "black_written", "result")
            words = record_words(self._dictionaries, *(self.columns[name][row] for name in columns))
            reason = reasons.DROP_REASONS[self._reject_code[row] - 1]
            yield Note(int(self._line[row]), reason, sys.intern(words), reasons.DROPPED)  # many may be equal

    def _repaired_notes(self) -> Iterator[Note]:
        repaired = self._dates.repaired
        for row in _first_of(repaired & (self._reject_code == 0), MOST_NOTES) if repaired.any() else ():
            text, _ = self._dictionaries.dates.values[self.columns["date"][row]]
            yield Note(int(self._line[row]), reasons.BAD_DATE, text, reasons.REPAIRED)

    def _unread_notes(self) -> Iterator[Note]:
        """Notes on texts that are not understood, one per column, with counts."""
        for reason, column, odd in self._unread:
            codes = self._records.codes(column)
            rows = np.flatnonzero(odd[codes] & (self._reject_code == 0))
            if len(rows):
                counts = np.bincount(codes[rows], minlength=len(odd))
                words = f"{_MEANING[reason]}: {_listing(self._records.distinct(column), counts)}"
                yield Note(int(self._line[rows[0]]), reason, words, reasons.KEPT)

    def _word_notes(self) -> Iterator[Note]:
        """One note on results that are read from White's side, such as `win`."""
        if self._words is None:
            return
        raws, ids, words = self._words
        places = np.flatnonzero(words[ids] & (self._reject_code == 0))
        if len(places):
            count = f"{len(places):,} result{'s' if len(places) > 1 else ''}"
            first = text_of(raws[ids[places[0]]][0]).strip()
            are = "are" if len(places) > 1 else "is"
            detail = f"{count} like {first!r} {are} read as those of the player named first"
            yield Note(int(self._line[places[0]]), reasons.RESULT_WORDS, detail, reasons.KEPT)

    def _winner_notes(self) -> Iterator[Note]:
        """One note for a file that names the winner first."""
        tallies = self._dictionaries.tallies > 0
        used = self._reject_code == 0
        rows = np.array(counts_of(self.columns["result"][used], len(tallies)))
        lost, won = (int(rows @ tallies[:, column]) for column in (0, 2))
        if self._records.winners or winner_named_first(lost, won):
            how = "by its columns" if self._records.winners else f"in all {won:,} decisive records"
            yield Note(int(self._line[np.argmax(used)]), reasons.WINNER_FIRST, how, reasons.KEPT)


_REMEDIES: Final = {
    reasons.AMBIGUOUS_DATE: "data.dates: dmy or mdy tells which",
    reasons.TWO_DIGIT_YEAR: "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
    reasons.FUTURE_DATE: "they are used as they are: --years leaves them out",
    reasons.MIXED_ORDERS: "each is read by itself; data.dates: dmy or mdy allows one order only",
    reasons.NUMBERED_DATE: "data.dates: number takes them as numbers of periods",
}


_KEPT: Final = (reasons.FUTURE_DATE, reasons.MIXED_ORDERS)  # dates that are used


class _DateColumn:
    """Dates of records, given as distinct `texts` and their `codes`, shape (records,).

    `numbers` index the texts in `dictionary`; `reject_codes` and `repaired`, shape (records,), mark dates that are
    unusable or repaired. For an ambiguous month the year is used if periods are years.
    """

    def __init__(
        self,
        texts: Sequence[str],
        codes: Codes,
        dictionary: DateDictionary,
        data: DataConfig,
        unit: Period | None,
    ) -> None:
        forms = DateForms(texts, data, unit)
        self._unit, self._by_year = forms.unit, data.period == "year"
        self.numbers = dictionary.ids((text, forms.of(text)) for text in texts)
        dates = [dictionary.parsed[number] for number in self.numbers.tolist()]
        unreadable = [date.reason == reasons.BAD_DATE and not date.repaired for date in dates]
        why = (
            reasons.BAD_DATE
            if wrong or (date.unread and not self._by_year)
            else None
            if date.repaired
            else date.reason
            for wrong, date in zip(unreadable, dates, strict=True)
        )
        self.reject_codes = spread_some(np.array(reasons.codes_of(why), np.int8), codes)
        self.repaired = spread_some(np.array([date.repaired for date in dates], np.bool_), codes)
        today = int(np.datetime64("today", "D").astype(np.int64)) if self._unit is None else sys.maxsize
        mixed, self._day_first = forms.month_first(texts)
        odd = [text if wrong else "" for wrong, text in zip(unreadable, texts, strict=True)]
        kinds = {
            reasons.AMBIGUOUS_DATE: [date.ambiguous for date in dates],
            reasons.TWO_DIGIT_YEAR: list(map(has_two_digits, odd)),
            reasons.NUMBERED_DATE: list(map(is_number, odd)),
            reasons.FUTURE_DATE: [
                date.day > today and not wrong for wrong, date in zip(unreadable, dates, strict=True)
            ],
            reasons.MIXED_ORDERS: mixed,
        }
        self._kinds = {
            what: spread_some(np.array(found, np.bool_), codes) for what, found in kinds.items() if any(found)
        }
        self._dictionary = dictionary

    def notes(self, lines: Codes, dates: Codes, used: Mask) -> Iterator[Note]:
        """One note per kind of dates that cannot be read as written, with their number.

        `lines`, `dates` (numbers in the dictionary) and `used`, shape (records,).
        """
        if self._unit and used.any():
            first = parse_date("1", DateForm(unit=self._unit)).day
            start = label(int(period_of(np.array([first], np.int32), self._unit)[0]), self._unit)
            shown = f"{self._unit} 1 is shown as {start}"
            yield Note(int(lines[0]), reasons.NUMBERED_DATE, shown, reasons.KEPT)
        for what, rows in self._kinds.items():
            kept = what in _KEPT or (what == reasons.AMBIGUOUS_DATE and self._by_year)
            places = np.flatnonzero(rows & used if kept else rows)
            if len(places):
                count = f"{len(places):,} date{'s' if len(places) > 1 else ''}"
                text = f"{count} like {self._dictionary.values[dates[places[0]]][0]}"
                if what == reasons.MIXED_ORDERS:
                    has = "have" if len(places) > 1 else "has"
                    text += f" {has} the month first, others the day ({self._day_first})"
                elif kept and what == reasons.AMBIGUOUS_DATE:
                    text += ", of which only the year is used"
                action = reasons.KEPT if kept else reasons.DROPPED
                yield Note(int(lines[places[0]]), what, f"{text}; {_REMEDIES[what]}", action)


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


def _first_of(rows: NDArray[Any], most: int) -> Iterator[int]:
    """The first `most` places that are not 0."""
    starts = range(0, len(rows), MOST_NOTES)
    found = (start + np.flatnonzero(rows[start : start + MOST_NOTES]) for start in starts)
    return islice((row for places in found for row in places.tolist()), most)
