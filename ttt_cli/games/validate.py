"""Validate the records of a file: dates, results, weights, odds, names, each distinct value once.

The distinct values of all files together are numbered in dictionaries.
"""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ttt_cli.config.schema import DataConfig, drops_unplayed
from ttt_cli.games.names import BYES, UNUSUAL, clean_name, name_key, not_a_player, preselect
from ttt_cli.games.table import DRAW, winner_named_first
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import MOST_NOTES, FileRecords, Note
from ttt_cli.reading.columns import Codes, Dictionary, counts_of, narrow, spread
from ttt_cli.reading.dates import parse_dates
from ttt_cli.reading.results import (
    NO_TALLY,
    Tally,
    games_text,
    is_result_word,
    is_unplayed,
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
_PROGRAMS: Final = frozenset({"program", "computer", "engine", "bot"})  # types and titles of players
_USUAL: Final = {"formal": 1.0, "casual": 1.0, "soft": 1.0}

POINTS: Final[dict[str, float]] = {  # by `odds_words`
    "draw": 87, "exchange": 130, "exchange move": 182, "knight": 373, "knight move": 426, "knight pawn": 479,
    "knight for two move": 321, "mate square": 373, "move": 24, "pawn four move": 332, "pawn move": 163,
    "pawn three move": 271, "pawn two move": 219, "pawn for move": 113, "queen": 1008,
    "queen for pawn move": 851, "rook": 479, "rook knight": 799, "rook move": 539, "rook pawn": 591,
    "rook two pawn": 695, "rook pawn move": 651, "rook pawn two move": 712, "two knight": 747, "two move": 66,
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
    points = 0.0 if is_even(written) else further.get(words, POINTS.get(words, math.nan))
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


def _listing(values: Sequence[str], codes: Codes) -> str:
    """The values that occur with their counts, the most frequent first; spellings of a word are counted together."""
    spelling: dict[str, str] = {}
    total: Counter[str] = Counter()
    for code, count in Counter(codes.tolist()).items():
        text = " ".join(values[code].split())
        total[fold(text)] += count
        spelling.setdefault(fold(text), text)
    listed = total.most_common(_LISTED)
    further = total.total() - sum(count for _, count in listed)
    shown = ", ".join(f"{spelling[word]} {count:,}" for word, count in listed)
    return shown + (f", and {further:,} more" if further else "")


FURTHER: Final = (
    *("event", "site", "round", "variant", "time_control", "status", "odds", "white_id", "black_id"),
)


class NameDictionary(Dictionary[str]):
    """Names as written. `cleaned` is the player's name, `reject_code` why a text is not a player (0 if it is one).

    `clean`: they were cleaned in an earlier reading. `keep_byes`: `BYE` and the like are players.
    """

    def __init__(self, *, clean: bool = False, keep_byes: bool = False) -> None:
        self._clean = clean
        self._keep_byes = keep_byes
        self.cleaned: list[str] = []
        self.reject_code = array("b")
        super().__init__("")

    def ids(self, values: Iterable[str]) -> Ids:
        """The numbers of names, new ones after the old."""
        numbers = super().ids(values)
        before = len(self.cleaned)
        new = self.values[before:]
        self.cleaned += new
        self.reject_code.frombytes(bytes(len(new)))
        for place in () if self._clean else preselect(UNUSUAL, new):
            name = self.cleaned[before + place] = clean_name(new[place])
            reason = not_a_player(name)
            if reason is not None and not (reason == reasons.FORFEIT and self._keep_byes):
                self.reject_code[before + place] = reasons.REJECT_CODE[reason]
        if not (self._clean or self._keep_byes):
            for bye in BYES.intersection(new):
                self.reject_code[self._numbers[bye]] = reasons.REJECT_CODE[reasons.FORFEIT]
        return numbers


class Dictionaries:
    """The dictionaries of one reading; number 0 is the empty text everywhere.

    Dates are stored with their day and precision, results with their tally, because a text may differ in meaning
    between files. `columns` are the further columns; the ids of both players share one. Without `links` sites that are
    web addresses, of which every game may have its own, are empty. `keep_byes`: see NameDictionary.
    """

    def __init__(
        self, columns: Iterable[str] = FURTHER, *, links: bool = True, keep_byes: bool = False
    ) -> None:
        self.links = links
        self.dates = Dictionary[tuple[str, int, int]](("", 0, 0))
        self.names = NameDictionary(keep_byes=keep_byes)
        self.results = Dictionary[tuple[str, Tally]](("", NO_TALLY))
        self.columns = {name: Dictionary("") for name in columns}
        if "black_id" in self.columns:
            self.columns["black_id"] = self.columns["white_id"]

    @property
    def days(self) -> Ids:
        """Days of the dates since 1970-01-01, the middle of the possible range."""
        _, days, _ = zip(*self.dates.values, strict=True)
        return np.array(days, np.int32)

    @property
    def tallies(self) -> Array:
        """The games that White lost, drew and won by each result, shape (results, 3)."""
        _, tallies = zip(*self.results.values, strict=True)
        return np.array(tallies, np.float64)


class Validated:
    """Validated records; every distinct value is parsed once.

    `columns`, each of shape (records,), are those of `Records`, texts as numbers in `dictionaries`, without those where
    `weight`, `offset` (Elo points added to White's strength), `neutral`, `computer` or `moves` are 1, 0, false, false
    or 0 throughout.
    `notes` report dropped and repaired records, the first MOST_NOTES of each, and columns that are not understood. The
    input columns are released.
    """

    def __init__(self, records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> None:
        self._records = records
        self._dictionaries = dictionaries
        self._line = records.lines
        moves = records.moves
        self._before = np.full(len(records), _NO_REASON)  # the reject code - 1
        # notes on columns: reason, mask of records, values, their codes, what they mean, action
        self._odd: list[tuple[str, Mask, Sequence[str], Codes, str, str]] = []
        self.columns: dict[str, Any] = {"line": self._line}
        if moves is not None and moves.any():
            self.columns["moves"] = moves
        names = dictionaries.names.ids(map(str.strip, records.distinct("whites")))
        repaired = self._validate_dates(data)
        self._validate_results(data.match_cap)
        self._multiply(self._numbers("weights", _positive, reasons.BAD_WEIGHT, 1.0))
        known = "odds" in records.further and self._validate_odds(data.odds, names)
        neutral = self._numbers("neutral", _NEUTRAL.get, reasons.BAD_NEUTRAL, 0.0)
        if neutral is not None:
            self.columns["neutral"] = neutral.astype(np.bool_)
        if drops_unplayed(data):
            self._validate_play()
        self._find_computers()
        if "status" in records.further:
            self._validate_status(dict(zip(map(fold, data.status), data.status.values(), strict=True)))
        count = dictionaries.tallies.sum(axis=1)
        if "weight" in self.columns or count.max() > MOST_GAMES:
            count = count[self.columns["result"]] * self.columns.get("weight", 1.0)
            unlikely = (count > MOST_GAMES) | ((count > 0) & (count < LEAST_GAMES))
            self._reject(unlikely * reasons.REJECT_CODE[reasons.BAD_WEIGHT])
        self._validate_names(names)
        reject_code = (self._before + np.uint8(1)).view(np.int8)
        self.columns["reject_code"] = reject_code
        used = reject_code == 0
        if data.colours == "auto":
            tallies = dictionaries.tallies > 0
            winners = records.layout.winners
            rows = np.array(counts_of(self.columns["result"][used], len(tallies)))
            lost, _, won = (rows @ tallies).tolist()
            if winners or winner_named_first(lost, won):
                how = "by its columns" if winners else f"in all {won:,} decisive records"
                self._note_file(reasons.WINNER_FIRST, how)
        self.notes = list(self._notes(used, repaired & used))
        for name in dictionaries.columns:
            if name in records.further and (known or name != "odds"):
                texts = list(map(" ".join, map(str.split, records.distinct(name))))
                for place, text in enumerate(texts if name == "site" and not dictionaries.links else ()):
                    texts[place] = "" if "://" in text else text
                numbers = records.take(name, dictionaries.columns[name].ids(texts))
                if numbers.any():
                    self.columns[name] = numbers

    def _reject(self, reject_code: Any, codes: Codes | None = None) -> None:
        """Reject records with the reject codes of their values, or of each record; 0 is none.

        Of several reasons the first of DROP_REASONS counts.
        """
        before = np.asarray(reject_code, np.uint8) - np.uint8(1)  # none becomes the largest
        if np.any(before != _NO_REASON):
            np.minimum(self._before, before if codes is None else spread(before, codes), out=self._before)

    def _multiply(self, factors: Array | None) -> None:
        if factors is not None:
            self.columns["weight"] = self.columns.get("weight", 1.0) * factors

    def _note(
        self,
        reason: str,
        odd: Sequence[bool] | Mask,
        values: Sequence[str],
        codes: Codes,
        meaning: str,
        action: str,
    ) -> None:
        """Note that some of the values of a column are odd."""
        if np.any(odd):
            self._odd.append((reason, spread(np.asarray(odd), codes), values, codes, meaning, action))

    def _note_file(self, reason: str, meaning: str) -> None:
        """Note what holds for all records."""
        every = np.broadcast_to(np.uint8(0), len(self._line))
        self._note(reason, [True], (), every, meaning, reasons.KEPT)

    def _numbers(
        self, column: str, parse: Callable[[str], float | None], reason: str, usual: float
    ) -> Array | None:
        """The numbers in a further column, None where all are `usual`; records are rejected where there is none."""
        if column not in self._records.further:
            return None
        texts = self._records.distinct(column)
        parsed = np.array([parse(text.strip().lower()) for text in texts], np.float64)
        codes = self._records.codes(column)
        bad = np.isnan(parsed)
        self._reject(bad * reasons.REJECT_CODE[reason], codes)
        parsed[bad] = usual
        return None if np.all(parsed == usual) else parsed[codes]

    def _validate_dates(self, data: DataConfig) -> Mask:
        """Read dates; returns the mask of repaired ones. Of an ambiguous one, periods of years use the year."""
        records = self._records
        texts = list(map(str.strip, records.distinct("dates")))
        codes = records.codes("dates")
        dates = parse_dates(texts, data, records.layout.unit)
        by_year = data.period == "year"
        self._reject(dates.reject_code, codes)
        if not by_year:
            self._reject(dates.unread * reasons.REJECT_CODE[reasons.BAD_DATE], codes)
        odd = dict(dates.odd)
        if unit := dates.unit:
            first = parse_dates(["1"], DataConfig(dates="number"), unit).day
            start = label(int(period_of(first, unit)[0]), unit)
            self._note_file(reasons.NUMBERED_DATE, f"{unit} 1 is shown as {start}")
        else:
            odd[reasons.FUTURE_DATE] = dates.day > np.datetime64("today", "D").astype(np.int64)
        for reason, found in odd.items():
            used = reason in (reasons.FUTURE_DATE, reasons.MIXED_ORDERS)
            kept = used or (reason == reasons.AMBIGUOUS_DATE and by_year)
            meaning = _REMEDIES[reason].format(day_first=dates.day_first)
            self._note(reason, found, texts, codes, meaning, reasons.KEPT if kept else reasons.DROPPED)
        repaired = spread(dates.repaired, codes)
        stored = zip(texts, dates.day.tolist(), dates.precision.tolist(), strict=True)
        self.columns["date"] = records.take("dates", self._dictionaries.dates.ids(stored))
        return repaired

    def _validate_results(self, match_cap: float | None) -> None:
        """Read results together with the number of games that each is of."""
        records = self._records
        values = records.distinct("results")
        codes = records.codes("results")
        outcomes = values
        games = [""] * len(values)
        single = codes
        of_value = np.arange(len(values))
        if "games" in records.further:
            counts = list(map(games_text, records.distinct("games")))
            many = records.codes("games")
            single = codes[np.array(list(map(len, counts)))[many] == 0]
            pairs, codes = np.unique(codes.astype(np.int64) * len(counts) + many, return_inverse=True)
            of_value = pairs // len(counts)
            games = [counts[pair] for pair in (pairs % len(counts)).tolist()]
        outcomes = parse_results(values, counts_of(single, len(values)), records.layout.kind)
        written = list(map(values.__getitem__, of_value.tolist()))
        found = list(map(tally_of, written, games, map(outcomes.__getitem__, of_value.tolist())))
        texts = []
        for value, count in zip(written, games, strict=True):
            text = value if isinstance(value, str) else "-".join(filter(None, map(str.strip, value)))
            texts.append(text.strip() + (f" ({count} games)" if count else ""))
        tallies, rejected = zip(*found, strict=True) if found else ((), ())
        numbers = narrow(self._dictionaries.results.ids(zip(texts, tallies, strict=True)))
        plain = "games" not in records.further
        self.columns["result"] = records.take("results", numbers) if plain else spread(numbers, codes)
        played = np.array(tallies, np.float64).reshape(-1, 3).sum(axis=1)
        if match_cap is not None and np.any(played > match_cap):
            self._multiply((match_cap / np.maximum(played, match_cap))[codes])
        self._reject(rejected, codes)
        words = list(map(is_result_word, written))
        meaning = "read as those of the player named first"
        self._note(reasons.RESULT_WORDS, words, texts, codes, meaning, reasons.KEPT)

    def _validate_play(self) -> None:
        """Reject games without play: those that ended as unplayed, and those decided without a move.

        The latter have a number of plies, 0, where other games of the file have moves.
        """
        records = self._records
        moves = self.columns.get("moves")
        has_moves = np.zeros(len(records), np.bool_) if moves is None else moves != 0
        forfeit = reasons.REJECT_CODE[reasons.FORFEIT]
        if "ply_count" in records.further:
            plies = np.array([_number_of_plies(text) for text in records.distinct("ply_count")], np.int64)
            codes = records.codes("ply_count")
            has_moves |= spread(plies > 0, codes)
            tallies = self._dictionaries.tallies
            is_decisive = (tallies[:, DRAW] == 0) & (tallies.sum(axis=1) > 0)
            decided_at_once = spread(plies == 0, codes) & spread(is_decisive, self.columns["result"])
            if has_moves.any():
                self._reject((decided_at_once & ~has_moves) * forfeit)
        if "termination" in records.further:
            texts = records.distinct("termination")
            codes = records.codes("termination")
            without_moves = np.array([is_unplayed(text, moves=False) for text in texts], np.bool_)
            with_moves = np.array([is_unplayed(text, moves=True) for text in texts], np.bool_)
            self._reject(with_moves * forfeit, codes)
            if np.any(without_moves & ~with_moves):
                self._reject((spread(without_moves, codes) & ~has_moves) * forfeit)

    def _find_computers(self) -> None:
        """Set the mask of records in which a side is a program by its type or title."""
        records = self._records
        for column in ("white_type", "black_type", "white_title", "black_title"):
            if column in records.further:
                is_program = np.array(
                    [fold(text) in _PROGRAMS for text in records.distinct(column)], np.bool_
                )
                if is_program.any():
                    computer = self.columns.get("computer", np.False_)
                    self.columns["computer"] = computer | spread(is_program, records.codes(column))

    def _validate_status(self, factors: dict[str, float]) -> None:
        """Weight by status; with a factor of 0 records are rejected."""
        factors = _USUAL | factors
        values = self._records.distinct("status")
        codes = self._records.codes("status")
        words = list(map(fold, values))
        odd = [bool(word) and word not in factors for word in words]
        self._note(reasons.UNKNOWN_STATUS, odd, values, codes, "each counts as 1", reasons.KEPT)
        weights = np.array([factors.get(word, 1.0) for word in words])
        self._reject((weights == 0) * reasons.REJECT_CODE[reasons.STATUS], codes)
        self._multiply(None if np.all(weights == 1) else np.where(weights == 0, 1.0, weights)[codes])

    def _validate_odds(self, points_of: Mapping[str, float], names: Ids) -> bool:
        """Set the offset; whether the column is of odds: if no text in it is understood, it means something else."""
        records = self._records
        codes = self._records.codes("odds")
        written = list(map(str.strip, records.distinct("odds")))
        further = {odds_words(odds): points for odds, points in points_of.items()}
        points = np.array([odds_points(odds, further) for odds in written], np.float64)
        odd = np.isnan(points)
        # a number or a sign may mean something else
        words = np.array([any(map(str.isalpha, odds)) for odds in written], np.bool_)
        named = np.array([fold(odds) != "" for odds in written], np.bool_)
        if np.any(odd & named) and not np.any(~odd & (words | (points != 0))):
            self._note(reasons.OTHER_ODDS, odd, written, codes, "none is known", reasons.KEPT)
            return False
        if points.any():
            offset = points[codes]
            if "odds_giver" in records.further:
                keys = Dictionary("")
                givers = list(map(str.strip, records.distinct("odds_giver")))
                own = keys.ids(name_key(self._dictionaries.names.cleaned[name]) for name in names.tolist())
                given = keys.ids(name_key(clean_name(giver)) for giver in givers)
                words_of = map(fold, givers)
                sides = np.array([_GIVERS.get(word, math.nan if word else 0.0) for word in words_of])
                giver, white, black = map(records.codes, ("odds_giver", "whites", "blacks"))
                rows = np.flatnonzero((offset != 0) & (sides != 0)[giver])
                sign = sides[giver[rows]]
                by = given[giver[rows]]
                sign = np.where(np.isnan(sign) & (by == own[black[rows]]), 1.0, sign)
                sign = np.where(np.isnan(sides[giver[rows]]) & (by == own[white[rows]]), -1.0, sign)
                offset[rows] = np.abs(offset[rows]) * sign
            self._reject(np.isnan(offset) * reasons.REJECT_CODE[reasons.UNKNOWN_ODDS])
            self.columns["offset"] = np.nan_to_num(offset, copy=False)
        return True

    def _validate_names(self, numbers: Ids) -> None:
        """Validate players by the numbers of the distinct names in their dictionary."""
        records = self._records
        dictionary = self._dictionaries.names
        same = numbers
        if dictionary.cleaned != dictionary.values:
            same = Dictionary[str]().ids(map(dictionary.cleaned.__getitem__, numbers.tolist()))
        codes = narrow(same)
        white = spread(codes, records.codes("whites"))
        black = spread(codes, records.codes("blacks"))
        self._reject((white == black) * np.uint8(reasons.REJECT_CODE[reasons.SAME_PLAYER]))
        del white, black
        reject_code = np.frombuffer(dictionary.reject_code, np.int8)[numbers]
        for side in ("white", "black"):
            self._reject(reject_code, records.codes(f"{side}s"))
            self.columns[f"{side}_written"] = records.take(f"{side}s", numbers)

    def _notes(self, used: Mask, repaired: Mask) -> Iterator[Note]:
        """Notes on dropped and on repaired records, and one for each way in which values of a column are odd."""
        columns = ("date", "white_written", "black_written", "result")
        for row in np.flatnonzero(~used)[:MOST_NOTES].tolist():
            words = record_words(self._dictionaries, *(self.columns[name][row] for name in columns))
            reason = reasons.DROP_REASONS[self._before[row]]
            yield Note(int(self._line[row]), reason, sys.intern(words), reasons.DROPPED)  # many may be equal
        for row in np.flatnonzero(repaired)[:MOST_NOTES].tolist():
            text, *_ = self._dictionaries.dates.values[self.columns["date"][row]]
            yield Note(int(self._line[row]), reasons.BAD_DATE, text, reasons.REPAIRED)
        for reason, rows, values, codes, meaning, action in self._odd:
            places = np.flatnonzero(rows & used if action == reasons.KEPT else rows)
            if len(places):
                detail = f"{meaning}: {_listing(values, codes[places])}" if values else meaning
                yield Note(int(self._line[places[0]]), reason, detail, action)


_NO_REASON: Final = np.uint8(255)
_REMEDIES: Final = {
    reasons.AMBIGUOUS_DATE: "only the year is certain, data.dates: dmy or mdy tells the order",
    reasons.TWO_DIGIT_YEAR: "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
    reasons.FUTURE_DATE: "they are used as they are, --years leaves them out",
    reasons.MIXED_ORDERS: "the month is first, in {day_first} the day; data.dates: dmy or mdy allows one order only",
    reasons.NUMBERED_DATE: "data.dates: number takes them as numbers of periods",
}


def _number_of_plies(text: str) -> int:
    """The number of half-moves, -1 if unknown."""
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _positive(text: str) -> float:
    """A positive number with a point or comma, else NaN."""
    with suppress(ValueError):
        number = float(text.replace(",", "."))
        return number if number > 0 and math.isfinite(number) else math.nan
    return math.nan


def record_words(dictionaries: Dictionaries, date: int, white: int, black: int, result: int) -> str:
    """A record in one line, from the numbers of its date, names and result."""
    (day, *_) = dictionaries.dates.values[date]
    (outcome, _) = dictionaries.results.values[result]
    names = dictionaries.names.cleaned
    return f"{day or '?'}: {names[white] or '?'} - {names[black] or '?'} {outcome}".rstrip()
