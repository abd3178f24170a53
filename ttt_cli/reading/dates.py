"""Dates of games as day numbers with a precision (year, month or day), all those of a file together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.reading import reports as reasons
from ttt_cli.support.arrays import Ids, Mask
from ttt_cli.support.folding import fold

_EPOCH: Final = date(1970, 1, 1).toordinal()
# Parts of dates that are unknown, besides question marks
_UNKNOWN: Final = frozenset({"", "0", "00", "0000", "x", "xx", "-", "--", "*"})
_TIME: Final = re.compile(r"[T\s]+\d{1,2}:\d\d(?:(?!/\s*\d).)*", re.DOTALL)
_PARTS: Final = re.compile(
    r"([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*))?)?[.\s]*"
)
_NUMBER: Final = re.compile(r"\d{1,2}", re.ASCII)
_OF_PERIOD: Final = re.compile(r"\d{1,6}", re.ASCII)
_YEAR: Final = re.compile(r"(?!0000)\d{4}", re.ASCII)
_FOUR_DIGITS: Final = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
_YEAR_FIRST: Final = re.compile(r"\s*\d{4}(?!\d)", re.ASCII)
_EIGHT_SIGNS: Final = re.compile(r"(?!0000)(\d{4})(..)(..)", re.ASCII)
_TWO_DIGITS: Final = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d\d)", re.ASCII)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAMES: Final = (
    *("january januar", "february februar", "march marz maerz", "april", "may mai", "june juni"),
    *("july juli", "august", "september", "october oktober", "november", "december dezember"),
)
_MONTHS: Final = {
    name[:letters]: number
    for number, names in enumerate(_NAMES, 1)
    for name in names.split()
    for letters in range(3, len(name) + 1)
}
_BESIDE_MONTHS: Final = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?|of|the|st|nd|rd|th"
)
_BETWEEN: Final = re.compile(r"\s*(?:[-–—/]|\bto\b|\.\.)\s*", re.IGNORECASE)  # the ends of a range
_BEFORE_CHRIST: Final = re.compile(
    r"\bB\.?\s?C\b|\bBCE\b|^[-\N{MINUS SIGN}]\s*\d{4}", re.IGNORECASE
)
YEARS: Final = (1000, 2999)  # the first and the last in which there may be games
NUMBERED_FROM: Final = 2000  # the year of the numbered period 1
_MONTHS_OF: Final = {"year": 12, "quarter": 3, "month": 1}
_FIRST_DAYS: Final = {  # of the period 1, and how many days a period has
    "week": (date(NUMBERED_FROM, 1, 3).toordinal(), 7),
    "day": (date(NUMBERED_FROM, 1, 1).toordinal(), 1),
}
_DAY_AND_MONTH: Final = re.compile(
    r"(\D|^)(\d{1,2})\s*([/.-])\s*(\d{1,2})\s*\3\s*\d{4}(?!\d)", re.ASCII | re.DOTALL
)
_MILLISECONDS: Final = re.compile(r"\d{12,13}(?:\.0*)?|\d\.\d+[eE]\+?1[12]", re.ASCII)  # since 1970
_DAY_OF_MILLISECONDS: Final = 86_400_000

DateOrder = Literal["ymd", "dmy", "mdy"]
_SEPARATORS: Final = ("/", "-", ".")
_CACHED: Final = 1 << 16
_LENGTHS: Final = (4, 7, 10)  # characters of a date in ISO 8601, by precision


class _DateForm(IntEnum):
    """What is odd about how a date is written."""

    PLAIN = 0  # nothing
    ONLY_YEAR = 1  # only its year can be read
    AMBIGUOUS = 2  # day and month may be in either order
    SHORT = 3  # a year of two digits
    COUNT = 4  # a small number, perhaps of a period


class _Parts(NamedTuple):
    """Year, month and day of a date: 0 is an unknown part, -1 one that is no number."""

    year: int = 0
    month: int = 0
    day: int = 0
    kind: _DateForm = _DateForm.PLAIN


_NONE: Final = _Parts()
_BAD: Final = _Parts(-1)


class Dates(NamedTuple):
    """Dates as columns, each of shape (dates,).

    `day` is that since 1970-01-01 (proleptic Gregorian) in the middle of the possible range, `precision` 0 (year), 1
    (month) or 2 (day), `reject_code` that of `no date` or `bad date`, both 0 where there is none. `repaired` dates are
    used in part. Of `unread` ones only the year is used though there is a month. `odd`: masks by what is odd.

    `unit`: the period that dates are numbers of, None for a calendar. `day_first`: a date of a file that has both
    orders of day and month.
    """

    day: Ids
    precision: NDArray[np.int8]
    reject_code: NDArray[np.int8]
    repaired: Mask
    unread: Mask
    odd: Mapping[str, Mask]
    unit: Period | None
    day_first: str


def parse_dates(texts: Sequence[str], data: DataConfig, unit: Period | None = None) -> Dates:
    """Parse `1858`, `1858.??.??`, `1858-06`, `1858.06.??`, `1858-06-15`, `1858/6/15`, `15 June 1858` and the like.

    Months and days may be unpadded; `?`, `0` and nothing mean unknown; a time of day is ignored. 12 or 13 digits are
    milliseconds since 1970. `15.06.1858` has the day first unless `data.dates` or other dates of the file have another
    order; with slashes and hyphens a number above 12 is the day, else these decide. Of a range,
    `1850.06.15-1850.07.01`, the end is used: when the event was over. Impossible parts are left out (`repaired`). A
    year has four digits, from 1000 to 2999, or two where `data.dates` gives the order, and `data.century` or the other
    dates the century. Small numbers are those of periods by `data.dates`, or where a header names the period `unit`.
    """
    unit = _counted_unit(texts, data, unit)
    year_last = [index for index, text in enumerate(texts) if not _YEAR_FIRST.match(text)]
    orders = _find_orders(texts, year_last, data)
    if unit:
        parts = [_numbered(text.strip(), unit) for text in texts]
    else:
        century = _century(texts, data.century) if orders.configured and year_last else None
        parts = [_parts(text, None, None) for text in texts]
        for index in year_last:
            parts[index] = _parts(texts[index], orders.of(texts[index]), century)
    return _dates_of(np.array(parts, np.int64).reshape(-1, 4).T, orders, unit)


def _counted_unit(texts: Sequence[str], data: DataConfig, unit: Period | None) -> Period | None:
    """The period that dates are numbers of, None for a calendar; `unit` is that of the column's name."""
    written = [text for text in texts if text.strip(" ?-")]
    are_numbers = all(_OF_PERIOD.fullmatch(text) for text in written)
    are_years = all(_FOUR_DIGITS.fullmatch(text) for text in written)
    if data.dates == "number" or (
        data.dates == "auto" and unit is not None and are_numbers and not are_years
    ):
        return unit or data.period
    return None


@dataclass(frozen=True)
class _Orders:
    """The orders of day and month in a file.

    `configured` is that of `data.dates`, None for auto, `by_separator` those that its dates tell. Where both occur,
    `month_first` (dates,) are the dates with the month first, and `day_first` is one with the day first.
    """

    configured: DateOrder | None
    by_separator: Mapping[str, DateOrder]
    month_first: Mask
    day_first: str

    def of(self, text: str) -> DateOrder | None:
        """The order of a date, None if it is unknown."""
        separator = next((separator for separator in _SEPARATORS if separator in text), "")
        return self.by_separator.get(separator, self.configured)


def _find_orders(texts: Sequence[str], year_last: Sequence[int], data: DataConfig) -> _Orders:
    """The orders that dates with a number above 12 tell, of each separator; `year_last` are the dates to look at."""
    month_first = np.zeros(len(texts), np.bool_)
    if data.dates not in ("auto", "number"):
        return _Orders(data.dates, {}, month_first, "")  # type: ignore[arg-type]
    dmy: dict[str, set[int]] = {separator: set() for separator in _SEPARATORS}
    mdy: dict[str, set[int]] = {separator: set() for separator in _SEPARATORS}
    for index in year_last:
        for before, first, separator, second in _DAY_AND_MONTH.findall(texts[index]):
            low, high = sorted((int(first), int(second)))
            if before != separator and 0 < low <= 12 < high <= 31:
                order = dmy if int(first) == high else mdy
                order[separator].add(index)
    by_separator: dict[str, DateOrder] = {}
    day_first = ""
    for separator in _SEPARATORS:
        days_first = dmy[separator]
        months_first = mdy[separator]
        if days_first and months_first:
            day_first = day_first or texts[min(days_first)]
            month_first[list(months_first - days_first)] = True
        elif days_first:
            by_separator[separator] = "dmy"
        elif months_first:
            by_separator[separator] = "mdy"
    return _Orders(None, by_separator, month_first, day_first)


def _century(texts: Sequence[str], configured: int | None) -> int | None:
    """The first of the hundred years that two digits mean, None if it is unknown.

    If none is configured, the years of four digits are in their middle, unless these are too far from each other.
    """
    if configured is not None:
        return configured
    written = [int(year) for text in texts for year in _FOUR_DIGITS.findall(text)]
    years = [year for year in written if YEARS[0] <= year <= YEARS[1]]
    if not years or max(years) - min(years) >= 100:
        return None
    return (min(years) + max(years) - 99) // 2


def _dates_of(parts: NDArray[np.int64], orders: _Orders, unit: Period | None) -> Dates:
    """The dates of `parts` (4, dates), which are columns of `_Parts`."""
    year, month, day, kind = parts
    usable = (year >= YEARS[0]) & (year <= YEARS[1])
    in_month = (month >= 1) & (month <= 12)
    first = 12 * (np.where(usable, year, 1970) - 1970) + np.where(in_month, month - 1, 0)
    months = np.array([first, first + np.where(in_month, 1, 12)]).astype("datetime64[M]")
    start, end = months.astype("datetime64[D]").astype(np.int32)
    in_days = in_month & (day >= 1) & (day <= end - start)
    in_part = (kind == _DateForm.ONLY_YEAR) | (day != 0) | (month != 0) & ~in_month
    no_date = reasons.REJECT_CODE[reasons.NO_DATE]
    bad_date = reasons.REJECT_CODE[reasons.BAD_DATE]
    middle = start + np.where(in_days, day - 1, (end - start - 1) // 2)
    is_ambiguous = usable & (kind == _DateForm.AMBIGUOUS)
    return Dates(
        day=np.where(usable, middle, 0).astype(np.int32),
        precision=np.where(usable, in_month.astype(np.int8) + in_days, 0).astype(np.int8),
        reject_code=np.where(usable, 0, np.where(year == 0, no_date, bad_date)).astype(np.int8),
        repaired=usable & in_part & ~in_days,
        unread=is_ambiguous | (usable & (month > 12)),
        odd={
            reasons.AMBIGUOUS_DATE: is_ambiguous,
            reasons.TWO_DIGIT_YEAR: kind == _DateForm.SHORT,
            reasons.NUMBERED_DATE: kind == _DateForm.COUNT,
            reasons.MIXED_ORDERS: orders.month_first,
        },
        unit=unit,
        day_first=orders.day_first,
    )


def day_words(day: int, precision: int) -> str:
    """A day since 1970-01-01 as far as it is known: `1858`, `1858-06` or `1858-06-15` by its `precision`."""
    return str(np.datetime64(day, "D"))[: _LENGTHS[precision]]


def known_date(written: str, utc: str) -> str:
    """A date as written, or the UTC date if there is only that."""
    return utc or written if written.strip()[:1] in ("", "?") else written


def joined_date(*parts: str) -> str:
    """A date from its year, month and day."""
    stripped = [part.strip() for part in parts]
    return "-".join(part for part in stripped if part)


def _numbered(text: str, unit: Period) -> _Parts:
    """The middle of the period with that number."""
    if not _OF_PERIOD.fullmatch(text):
        return _NONE if text in _UNKNOWN or not text.strip("?") else _BAD
    number = int(text) - 1
    if unit in _FIRST_DAYS:
        first, length = _FIRST_DAYS[unit]
        middle = first + length * number + length // 2
        return _parts_of(date.fromordinal(middle)) if middle < date.max.toordinal() else _BAD
    months = _MONTHS_OF[unit]
    years, month = divmod(months * number + months // 2, 12)
    if unit == "year":
        return _Parts(NUMBERED_FROM + years)
    return _Parts(NUMBERED_FROM + years, month + 1)


def _parts_of(day: date) -> _Parts:
    return _Parts(day.year, day.month, day.day)


@lru_cache(_CACHED)
def _parts(text: str, order: DateOrder | None, century: int | None) -> _Parts:
    """The parts of a date; `order` is that of dates that do not start with the year."""
    text = _TIME.sub("", text.strip())
    if _MILLISECONDS.fullmatch(text):
        return _parts_of(date.fromordinal(_EPOCH + int(float(text)) // _DAY_OF_MILLISECONDS))
    if _BEFORE_CHRIST.search(text):
        return _BAD
    if _WORD.search(text):
        numbers = _with_numbers(text)
        if numbers != text:
            text = numbers
            order = "dmy" if order == "mdy" else order  # which `_with_numbers` writes
    short = _TWO_DIGITS.fullmatch(text) if order and century is not None else None
    if short and order and century is not None:
        part = dict(zip(order, (short[1], short[3], short[4]), strict=True))
        year = century + (int(part["y"]) - century) % 100
        return _Parts(year, _number(part["m"]), _number(part["d"]))
    if len(_FOUR_DIGITS.findall(text)) > 1:
        return _end_of_range(text, order)
    return _single_date(text, order)


def _end_of_range(text: str, order: DateOrder | None) -> _Parts:
    """The last of two dates that are in order."""
    for between in _BETWEEN.finditer(text):
        first = _single_date(text[: between.start()], order)
        last = _single_date(text[between.end() :], order)
        n_parts = min(_n_parts(first), _n_parts(last))
        if n_parts and first[:n_parts] <= last[:n_parts]:
            return last
    return _only_year(text)


def _n_parts(parts: _Parts) -> int:
    """The number of known parts, 0 if the date cannot be used whole."""
    try:
        date(parts.year, parts.month or 1, parts.day or 1)
    except ValueError:
        return 0
    if parts.kind != _DateForm.PLAIN or (parts.day and not parts.month):
        return 0
    return 1 + (parts.month > 0) + (parts.day > 0)


def _with_numbers(text: str) -> str:
    """A date with the name of a month as numbers, year first where possible; other text unchanged."""
    words = [fold(word) for word in _WORD.findall(text)]
    months = {_MONTHS[word] for word in words if word in _MONTHS}
    if len(months) != 1 or not all(
        word in _MONTHS or _BESIDE_MONTHS.fullmatch(word) for word in words
    ):
        return text
    numbers = re.findall(r"\d+", text)
    month = months.pop()
    years = [number for number in numbers if len(number) == 4]
    days = [number for number in numbers if len(number) <= 2]
    if len(numbers) == 2 and not years and len(days) == 2:
        return f"{days[0]}/{month}/{days[1]}"
    if len(years) != 1 or len(years) + len(days) != len(numbers):
        return text
    return "-".join([years[0], str(month), *days[-1:]])


def _single_date(text: str, order: DateOrder | None) -> _Parts:
    """The parts of a date that is no range."""
    match = _PARTS.fullmatch(text)
    first, second, third = match.groups("") if match else ("", "", "")
    if _YEAR.fullmatch(first):
        return _Parts(int(first), _number(second), _number(third))
    if _YEAR.fullmatch(third):
        dots = "." in text
        return _with_year_last(
            int(third), first, second, "dmy" if dots and order != "mdy" else order
        )
    if not third and _YEAR.fullmatch(second):  # 06.1858
        return _Parts(int(second), _number(first))
    digits = _EIGHT_SIGNS.fullmatch(first)
    if not second and digits:  # 18580615
        return _Parts(int(digits[1]), _number(digits[2]), _number(digits[3]))
    return _only_year(text)


def _with_year_last(year: int, first: str, second: str, order: DateOrder | None) -> _Parts:
    """A date from its year and the two parts before it; without an order a number above 12 is the day."""
    number = _number(first)
    second_number = _number(second)
    if order in (None, "ymd") and _NUMBER.fullmatch(first) and _NUMBER.fullmatch(second):
        if max(number, second_number) <= 12 and number != second_number:
            return _Parts(year, kind=_DateForm.AMBIGUOUS)
        if second_number > 12:
            order = "mdy"
    if order == "mdy":
        return _Parts(year, month=number, day=second_number)
    return _Parts(year, month=second_number, day=number)


def _only_year(text: str) -> _Parts:
    """The only year in a text that is no date, or why there is none."""
    years = set(_FOUR_DIGITS.findall(text)) - {"0000"}
    if len(years) == 1:
        return _Parts(int(years.pop()), kind=_DateForm.ONLY_YEAR)
    if "?" in text or not text.strip(".-/ 0x*"):
        return _NONE
    if _OF_PERIOD.fullmatch(text):
        return _Parts(-1, kind=_DateForm.COUNT)
    if _TWO_DIGITS.fullmatch(text):
        return _Parts(-1, kind=_DateForm.SHORT)
    return _BAD


def _number(text: str) -> int:
    """A month or day: 0 when unknown, -1 when it is no such number."""
    if text in _UNKNOWN or not text.strip("?"):
        return 0
    return int(text) if _NUMBER.fullmatch(text) else -1
