"""Validating the records of a file: what each says, which can be games, and why the others cannot."""

import sys
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.date_columns import DateColumn
from ttt_cli.games.dictionaries import Dictionaries
from ttt_cli.games.table import tells_winners
from ttt_cli.games.weights import LEAST_GAMES, MOST_GAMES, RecordWeights
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.column import Codes
from ttt_cli.reading.decode import text_of, texts_of
from ttt_cli.reading.file_records import MOST_NOTES, FileRecords
from ttt_cli.reading.growable import counts_of, narrow, spread, spread_some
from ttt_cli.reading.values.match_scores import NO_TALLY, cap_factor, games_text, tally_of
from ttt_cli.reading.values.results import parse_results

RejectCodes = NDArray[np.int8]


class Validated:
    """What became of each record that could be split into columns; every distinct value is read once.

    `columns` holds numbers in the dictionaries by the names of the columns of `Records` and of `dictionaries`, each
    of shape (records,), as `line` and `moves`; a further column that is empty throughout is left out. `weight`,
    `offset` and `neutral` are None where they are 1, 0 and false throughout. `reject_code` is 0 for a game, else 1 +
    the index in DROP_REASONS of the first reason that applies. `notes` tells of records that are dropped or repaired,
    the first MOST_NOTES of each, and of columns not understood. The columns of the records are given up.
    """

    def __init__(self, records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> None:
        self._records, self._dictionaries = records, dictionaries
        self.columns: dict[str, Codes] = {}
        self.line, self.moves = records.lines(), records.moves()
        self.reject_code = np.zeros(len(records), np.int8)
        names = dictionaries.names.ids(_all_joined(records.distinct("whites"), " "))
        self._dates = self._date_column(data)
        self._validate_results(data.match_cap)
        weights = RecordWeights(
            records, data, self._caps, [dictionaries.names.cleaned[name] for name in names.tolist()]
        )
        self.weight, self.offset, self.neutral = weights.weight, weights.offset, weights.neutral
        for codes in weights.reject_codes:
            self._reject(codes)
        self._validate_weight()
        self._validate_names(names)
        columns = weights.notes(self.line, self.reject_code == 0)
        dates = self._dates.notes(self.line, self.columns["date"], self.reject_code == 0)
        self.notes = [*self._dropped_notes(), *self._repaired_notes(), *dates, *columns]
        if data.colours == "auto":
            self.notes += self._winner_notes()
        for name in dictionaries.columns:
            if name in records.further and not (name == "odds" and weights.odds_ignored):
                self._take_texts(name)

    def _reject(self, codes: RejectCodes) -> None:
        """Reject records with these codes, shape (records,); of several reasons the first of DROP_REASONS counts."""
        if codes.any():
            self.reject_code = _earlier(self.reject_code, codes)

    def _take_texts(self, name: str) -> None:
        """The numbers in its dictionary of a further column's texts, each with single blanks."""
        texts = (" ".join(text.split()) for text in texts_of(self._records.distinct(name)))
        codes = self._records.take(name, self._dictionaries.columns[name].ids(texts))
        if codes.any():
            self.columns[name] = codes

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

    def _validate_weight(self) -> None:
        """Whether a record counts as more games than can be, or as next to none."""
        games = np.array([sum(tally) for _, tally in self._dictionaries.results.values])
        if self.weight is None and games.max() <= MOST_GAMES:
            return
        count = games[self.columns["result"]] * (1.0 if self.weight is None else self.weight)
        bad = (count > MOST_GAMES) | ((count > 0) & (count < LEAST_GAMES))
        self._reject(bad * np.int8(reasons.REJECT_CODE[reasons.BAD_WEIGHT]))

    def _dropped_notes(self) -> Iterator[Note]:
        dictionaries, columns = self._dictionaries, self.columns
        for row in _first_of(self.reject_code, MOST_NOTES):
            date, _ = dictionaries.dates.values[columns["date"][row]]
            result, _ = dictionaries.results.values[columns["result"][row]]
            white, black = (
                dictionaries.names.cleaned[columns[f"{side}_written"][row]] for side in ("white", "black")
            )
            detail = sys.intern(record_words(date, white, black, result))  # many are alike where many are bad
            yield Note(
                int(self.line[row]), reasons.DROP_REASONS[self.reject_code[row] - 1], detail, reasons.DROPPED
            )

    def _repaired_notes(self) -> Iterator[Note]:
        dates = self._dictionaries.dates.values
        for row in self._first_used(self._dates.repaired, MOST_NOTES):
            yield Note(
                int(self.line[row]), reasons.BAD_DATE, dates[self.columns["date"][row]][0], reasons.REPAIRED
            )

    def _first_used(self, rows: NDArray[np.bool_], most: int) -> Iterator[int]:
        """The first `most` of these records that can be games."""
        return _first_of(rows & (self.reject_code == 0), most) if rows.any() else iter(())

    def _winner_notes(self) -> Iterator[Note]:
        """One note for a file that names the winner first."""
        tallies = np.array([tally for _, tally in self._dictionaries.results.values]) > 0
        used = self.reject_code == 0
        rows = np.array(counts_of(self.columns["result"][used], len(tallies)))
        lost, won = (int(rows @ tallies[:, column]) for column in (0, 2))
        if self._records.winners or tells_winners(lost, won):
            how = "by its columns" if self._records.winners else f"in all {won:,} decisive records"
            yield Note(int(self.line[np.argmax(used)]), reasons.WINNER_FIRST, how, reasons.KEPT)


def record_words(date: str, white: str, black: str, result: str) -> str:
    """A record in one line."""
    return f"{date or '?'}: {white or '?'} - {black or '?'} {result}".rstrip()


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
