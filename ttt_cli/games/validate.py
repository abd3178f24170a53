"""Validating the records of a file: what each says, which can be games, and why the others cannot."""

import sys
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Ids, Mask
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.games.dictionaries import DateDictionary, Dictionaries
from ttt_cli.games.table import tells_winners
from ttt_cli.games.weights import LEAST_GAMES, MOST_GAMES, RecordWeights
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.column import Codes, counts_of, narrow, spread, spread_some
from ttt_cli.reading.file_records import MOST_NOTES, FileRecords
from ttt_cli.reading.text import text_of, texts_of
from ttt_cli.reading.values.dates import DateForm, DateForms, has_two_digits, is_number, parse_date
from ttt_cli.reading.values.results import NO_TALLY, cap_factor, games_text, parse_results, tally_of

RejectCodes = NDArray[np.int8]
SAID: Final = (
    "date",
    "white_written",
    "black_written",
    "result",
)  # columns, of which the words on a record are made
_REMEDIES: Final = {
    reasons.AMBIGUOUS_DATE: "data.dates: dmy or mdy tells which",
    reasons.TWO_DIGIT_YEAR: "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
    reasons.NUMBERED_DATE: "data.dates: number takes them as numbers of periods",
}


class DateColumn:
    """Dates of records, given as distinct `texts` and the `codes` of these, shape (records,).

    `numbers` are those of the texts in `dictionary`; `reject_codes` and `repaired`, shape (records,), tell which dates
    cannot be used and which only in part. Of a month that cannot be told the year is used if years are all that
    matters.
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
        odd = [text if wrong else "" for wrong, text in zip(unreadable, texts, strict=True)]
        kinds = {
            reasons.AMBIGUOUS_DATE: [date.ambiguous for date in dates],
            reasons.TWO_DIGIT_YEAR: list(map(has_two_digits, odd)),
            reasons.NUMBERED_DATE: list(map(is_number, odd)),
        }
        self._kinds = {
            what: spread_some(np.array(found, np.bool_), codes) for what, found in kinds.items() if any(found)
        }
        self._dictionary = dictionary

    def notes(self, lines: Codes, dates: Codes, used: Mask) -> Iterator[Note]:
        """One note for the file on each kind of dates that cannot be read as they stand, with their number.

        `lines`, `dates` (numbers in the dictionary) and whether a record is `used` are of shape (records,).
        """
        if self._unit and used.any():
            first = parse_date("1", DateForm(unit=self._unit)).day
            start = label(int(period_of(np.array([first], np.int32), self._unit)[0]), self._unit)
            shown = f"{self._unit} 1 is shown as {start}"
            yield Note(int(lines[0]), reasons.NUMBERED_DATE, shown, reasons.KEPT)
        for what, rows in self._kinds.items():
            kept = what == reasons.AMBIGUOUS_DATE and self._by_year
            places = np.flatnonzero(rows & used if kept else rows)
            if len(places):
                count = f"{len(places):,} date{'s' if len(places) > 1 else ''}"
                text = f"{count} like {self._dictionary.values[dates[places[0]]][0]}"
                only = ", of which only the year is used" if kept else ""
                action = reasons.KEPT if kept else reasons.DROPPED
                yield Note(int(lines[places[0]]), what, f"{text}{only}; {_REMEDIES[what]}", action)


class Validated:
    """What became of each record that could be split into columns; every distinct value is read once.

    `columns`, each of shape (records,), are those of `Records`, texts as numbers in the `dictionaries`; None where
    `weight`, `offset`, `neutral` and `moves` are 1, 0, false and 0 throughout. A further one that is empty is
    left out. `notes` tells of records that are dropped or repaired, the first MOST_NOTES of each, and of columns not
    understood. The columns of the records are given up.
    """

    def __init__(self, records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> None:
        self._records, self._dictionaries = records, dictionaries
        self.columns: dict[str, Any] = {}
        self._line, moves = records.lines(), records.moves()
        self._reject_code = np.zeros(len(records), np.int8)
        names = dictionaries.names.ids(_all_joined(records.distinct("whites"), " "))
        self._dates = self._date_column(data)
        self._validate_results(data.match_cap)
        weights = RecordWeights(
            records, data, self._caps, [dictionaries.names.cleaned[name] for name in names.tolist()]
        )
        for codes in weights.reject_codes:
            self._reject(codes)
        self._validate_weight(weights.weight)
        self._validate_names(names)
        columns = weights.notes(self._line, self._reject_code == 0)
        dates = self._dates.notes(self._line, self.columns["date"], self._reject_code == 0)
        self.notes = [*self._dropped_notes(), *self._repaired_notes(), *dates, *columns]
        if data.colours == "auto":
            self.notes += self._winner_notes()
        for name in dictionaries.columns:
            if name in records.further and not (name == "odds" and weights.odds_ignored):
                texts = (" ".join(text.split()) for text in texts_of(records.distinct(name)))
                numbers = records.take(name, dictionaries.columns[name].ids(texts))
                if numbers.any():
                    self.columns[name] = numbers
        self.columns |= {
            "line": self._line,
            "moves": moves if moves.any() else None,
            "weight": weights.weight,
        }
        self.columns |= {
            "offset": weights.offset,
            "neutral": weights.neutral,
            "reject_code": self._reject_code,
        }

    def _reject(self, codes: RejectCodes) -> None:
        """Reject records with these codes, shape (records,); of several reasons the first of DROP_REASONS counts."""
        if codes.any():
            self._reject_code = _earlier(self._reject_code, codes)

    def _validate_names(self, numbers: Ids) -> None:
        """Validate players by the numbers of the distinct names in their dictionary."""
        records, dictionary = self._records, self._dictionaries.names
        reject_code = np.frombuffer(dictionary.reject_code, np.int8)[numbers]
        same = np.frombuffer(dictionary.same, np.int32)[numbers]
        if reject_code.any():
            sides = (spread_some(reject_code, records.codes(side)) for side in ("whites", "blacks"))
            self._reject(_earlier(*sides))
        once = np.array_equal(same, numbers)
        twice = None if once else same[records.codes("whites")] == same[records.codes("blacks")]
        white, black = (records.take(side, numbers) for side in ("whites", "blacks"))
        self.columns["white_written"], self.columns["black_written"] = white, black
        twice = np.equal(white, black) if twice is None else twice
        self._reject(twice * np.int8(reasons.REJECT_CODE[reasons.SAME_PLAYER]))

    def _date_column(self, data: DataConfig) -> DateColumn:
        records = self._records
        texts, codes = _all_joined(records.distinct("dates"), "-"), records.codes("dates")
        dates = DateColumn(texts, codes, self._dictionaries.dates, data, records.unit)
        self._reject(dates.reject_codes)
        self.columns["date"] = records.take("dates", dates.numbers)
        return dates

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
        self._caps = None if np.all(factors == 1) else factors[ids]
        codes = reasons.codes_of(tally if isinstance(tally, str) else None for tally in tallies)
        self._reject(spread_some(np.array(codes, np.int8), ids))

    def _validate_weight(self, weight: Array | None) -> None:
        """Whether a record counts as more games than can be, or as next to none."""
        games = self._dictionaries.tallies.sum(axis=1)
        if weight is None and games.max() <= MOST_GAMES:
            return
        count = games[self.columns["result"]] * (1.0 if weight is None else weight)
        bad = (count > MOST_GAMES) | ((count > 0) & (count < LEAST_GAMES))
        self._reject(bad * np.int8(reasons.REJECT_CODE[reasons.BAD_WEIGHT]))

    def _dropped_notes(self) -> Iterator[Note]:
        for row in _first_of(self._reject_code, MOST_NOTES):
            words = record_words(self._dictionaries, *(self.columns[name][row] for name in SAID))
            detail = sys.intern(words)  # many are alike where many are bad
            reason = reasons.DROP_REASONS[self._reject_code[row] - 1]
            yield Note(int(self._line[row]), reason, detail, reasons.DROPPED)

    def _repaired_notes(self) -> Iterator[Note]:
        dates = self._dictionaries.dates.values
        repaired = self._dates.repaired
        for row in _first_of(repaired & (self._reject_code == 0), MOST_NOTES) if repaired.any() else ():
            text, _ = dates[self.columns["date"][row]]
            yield Note(int(self._line[row]), reasons.BAD_DATE, text, reasons.REPAIRED)

    def _winner_notes(self) -> Iterator[Note]:
        """One note for a file that names the winner first."""
        tallies = self._dictionaries.tallies > 0
        used = self._reject_code == 0
        rows = np.array(counts_of(self.columns["result"][used], len(tallies)))
        lost, won = (int(rows @ tallies[:, column]) for column in (0, 2))
        if self._records.winners or tells_winners(lost, won):
            how = "by its columns" if self._records.winners else f"in all {won:,} decisive records"
            yield Note(int(self._line[np.argmax(used)]), reasons.WINNER_FIRST, how, reasons.KEPT)


def record_words(dictionaries: Dictionaries, date: int, white: int, black: int, result: int) -> str:
    """A record in one line, by the numbers of what `SAID` names."""
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


def _earlier(first: RejectCodes, second: RejectCodes) -> RejectCodes:
    """The smaller of two reject codes, none being the largest."""
    one, other = (codes.view(np.uint8) - np.uint8(1) for codes in (first, second))
    return np.asarray(np.minimum(one, other) + np.uint8(1)).view(np.int8)


def _first_of(rows: NDArray[Any], most: int) -> Iterator[int]:
    """The first `most` places that are not 0."""
    starts = range(0, len(rows), MOST_NOTES)
    found = (start + np.flatnonzero(rows[start : start + MOST_NOTES]) for start in starts)
    return islice((row for places in found for row in places.tolist()), most)
