"""How the dates of a whole file are written: any of them may settle what the others leave open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ttt_cli.reading.values.dates import DateForm, DateOrder

if TYPE_CHECKING:
    from ttt_cli.config.schema import DataConfig, Period

_DAY_AND_MONTH: Final = {
    sign: re.compile(
        rf"(?<![\d{sign}])(\d{{1,2}})\s*[{sign}]\s*(\d{{1,2}})\s*[{sign}]\s*\d{{4}}(?!\d)", re.ASCII
    )
    for sign in "/-."
}
_YEAR: Final = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
_YEAR_FIRST: Final = re.compile(r"\s*\d{4}(?!\d)", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)


class DateForms:
    """The forms of the dates of a file, by what was asked for (`data.dates`, `data.century`) and what stands there.

    `unit` is what a header calls the periods whose numbers the dates may be, None where it calls them dates.
    """

    def __init__(self, texts: Sequence[str], data: DataConfig, unit: Period | None) -> None:
        numbers = data.dates == "number" or (
            data.dates == "auto" and unit is not None and _are_numbers(texts)
        )
        self.unit = (unit or data.period) if numbers else None
        dates = data.dates
        asked: DateOrder | None = None if dates == "auto" or dates == "number" else dates  # noqa: PLR1714
        further = [text for text in texts if not _YEAR_FIRST.match(text)]
        told = _century(texts, asked, data.century) if further else None
        self._forms = {
            separator: DateForm(asked or settled_order(further, separator), told)
            for separator in _DAY_AND_MONTH
        }
        self._other = DateForm(asked, told)
        self._numbered = DateForm(unit=self.unit)

    def of(self, text: str) -> DateForm | None:
        """The form of a date, None where it makes no difference."""
        if self.unit:
            return self._numbered
        if _YEAR_FIRST.match(text):
            return None
        return next((form for separator, form in self._forms.items() if separator in text), self._other)


def settled_order(texts: Sequence[str], separator: str) -> DateOrder | None:
    """Whether days or months come first in dates like `03/02/1921`, by those of the texts whose day is above 12.

    None when there are no such dates, or they contradict each other.
    """
    found: set[DateOrder] = set()
    for match in (match for text in texts for match in _DAY_AND_MONTH[separator].finditer(text)):
        first, second = int(match[1]), int(match[2])
        if min(first, second) in range(1, 13) and max(first, second) in range(13, 32):
            found.add("dmy" if first > second else "mdy")
    return found.pop() if len(found) == 1 else None


def _century(texts: Sequence[str], asked: DateOrder | None, century: int | None) -> int | None:
    """The first of the hundred years of two-digit ones, where their order was asked for and it can be told."""
    if asked is None or century is not None:
        return century if asked else None
    years = [int(year) for text in texts for year in _YEAR.findall(text)]
    if not years or max(years) - min(years) > 99:
        return None
    return (min(years) + max(years) - 99) // 2


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether dates are whole numbers, and not all of them years."""
    known = [text for text in texts if text.strip(" ?-")]
    return all(map(_NUMBER.fullmatch, known)) and not all(map(_YEAR.fullmatch, known))
