"""The dates of a file's records: what each says in the form of its file, and what there is that nobody can read."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ttt_cli.arrays import Mask
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.games.dictionaries import DateDictionary
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reasons
from ttt_cli.reading.batches import Note
from ttt_cli.reading.column import Codes
from ttt_cli.reading.growable import spread_some
from ttt_cli.reading.values.date_forms import DateForms
from ttt_cli.reading.values.dates import DateForm, has_two_digits, is_number, parse_date

_REMEDIES: Final = {
    reasons.AMBIGUOUS_DATE: "data.dates: dmy or mdy tells which",
    reasons.TWO_DIGIT_YEAR: "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
    reasons.NUMBERED_DATE: "data.dates: number takes them as numbers of periods",
}


class DateColumn:
    """Dates of records, given as distinct `texts` and the `codes` of these, shape (records,).

    `numbers` are those of the texts in `dictionary`; `reject_codes` and `repaired`, shape (records,), tell which dates
    cannot be used and which only in part. Where the month stands there and cannot be told, the year alone is used if
    years are all that is needed.
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
        self.numbers = dictionary.of_file(texts, forms)
        dates = [dictionary.parsed[number] for number in self.numbers.tolist()]
        unreadable = [date.reason == reasons.BAD_DATE and not date.repaired for date in dates]
        bad = [
            wrong or (date.unread and not self._by_year)
            for wrong, date in zip(unreadable, dates, strict=True)
        ]
        why = (
            reasons.BAD_DATE if wrong else None if date.repaired else date.reason
            for wrong, date in zip(bad, dates, strict=True)
        )
        self.reject_codes = spread_some(np.array(reasons.codes_of(why), np.int8), codes)
        self.repaired = spread_some(np.array([date.repaired for date in dates], np.bool_), codes)
        kinds = {
            reasons.AMBIGUOUS_DATE: [date.ambiguous for date in dates],
            reasons.TWO_DIGIT_YEAR: [
                wrong and has_two_digits(text) for wrong, text in zip(unreadable, texts, strict=True)
            ],
            reasons.NUMBERED_DATE: [
                wrong and is_number(text) for wrong, text in zip(unreadable, texts, strict=True)
            ],
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
