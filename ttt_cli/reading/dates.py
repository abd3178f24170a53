"""Dates of games as day numbers with a precision (year, month or day), all those of a file together."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import repeat
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.reading import reports as reasons
from ttt_cli.support.arrays import Ids, Mask
from ttt_cli.support.folding import fold

_EPOCH: Final = date(1970, 1, 1).toordinal()
_UNKNOWN: Final = frozenset({"", "0", "00", "0000", "x", "xx", "-", "--", "*"})  # as are question marks
_TIME: Final = re.compile(r"[T\s]+\d{1,2}:\d\d(?:(?!/\s*\d).)*", re.DOTALL)
_PARTS: Final = re.compile(r"([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*))?)?[.\s]*")
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
_BEFORE_CHRIST: Final = re.compile(r"\bB\.?\s?C\b|\bBCE\b|^[-\N{MINUS SIGN}]\s*\d{4}", re.IGNORECASE)
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
_Parts = tuple[int, int, int, int]  # year, month, day, and one of:
_PLAIN, _ONLY_YEAR, _AMBIGUOUS, _SHORT, _COUNT = range(5)
_NONE: Final = (0, 0, 0, _PLAIN)
_BAD: Final = (-1, 0, 0, _PLAIN)
_CACHED: Final = 1 << 16


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
    given: DateOrder | None = None if data.dates in ("auto", "number") else data.dates  # type: ignore[assignment]
    known = [text for text in texts if text.strip(" ?-")]
    counted = all(map(_OF_PERIOD.fullmatch, known)) and not all(map(_FOUR_DIGITS.fullmatch, known))
    numbers = data.dates == "number" or (data.dates == "auto" and unit is not None and counted)
    unit = (unit or data.period) if numbers else None
    further = [place for place, text in enumerate(texts) if not _YEAR_FIRST.match(text)]
    seen: dict[str, dict[str, set[int]]] = {
        "/": {"dmy": set(), "mdy": set()},
        "-": {"dmy": set(), "mdy": set()},
        ".": {"dmy": set(), "mdy": set()},
    }
    for place in further:
        for before, first, sign, second in _DAY_AND_MONTH.findall(texts[place]):
            low, high = sorted((int(first), int(second)))
            if before != sign and 0 < low <= 12 < high <= 31:
                seen[sign]["dmy" if int(first) == high else "mdy"].add(place)
    orders: dict[str, DateOrder | None] = dict.fromkeys(seen, given)
    month_first = np.zeros(len(texts), np.bool_)
    day_first = ""
    for sign, by_order in seen.items() if given is None else ():
        dmy, mdy = by_order.values()
        if dmy and mdy and not day_first:
            day_first = texts[min(dmy)]
            month_first[list(mdy - dmy)] = True
        elif dmy or mdy:
            orders[sign] = "dmy" if dmy else "mdy"
    century = _century(texts, data.century) if given and further else None
    if unit:
        parts = [_numbered(text.strip(), unit) for text in texts]
    else:
        parts = list(map(_parts, texts, repeat(None), repeat(None)))
        for place in further:
            sign = next((sign for sign in orders if sign in texts[place]), "")
            parts[place] = _parts(texts[place], orders.get(sign, given), century)
    return _dates_of(np.array(parts, np.int64).reshape(-1, 4).T, month_first, unit, day_first)


def _century(texts: Sequence[str], configured: int | None) -> int | None:
    """The first year that two digits mean: around the years of four digits if these are close to each other."""
    found = (int(year) for text in texts for year in _FOUR_DIGITS.findall(text))
    years = [year for year in found if YEARS[0] <= year <= YEARS[1]]
    if configured is None and years and max(years) - min(years) < 100:
        return (min(years) + max(years) - 99) // 2
    return configured


def _dates_of(parts: NDArray[np.int64], month_first: Mask, unit: Period | None, day_first: str) -> Dates:
    """The dates of valid parts, `parts` (4, dates); 0 is an unknown part, -1 one that is no number."""
    year, month, day, kind = parts
    usable = (year >= YEARS[0]) & (year <= YEARS[1])
    in_month = (month >= 1) & (month <= 12)
    first = 12 * (np.where(usable, year, 1970) - 1970) + np.where(in_month, month - 1, 0)
    months = np.array([first, first + np.where(in_month, 1, 12)]).astype("datetime64[M]")
    start, end = months.astype("datetime64[D]").astype(np.int32)
    in_days = in_month & (day >= 1) & (day <= end - start)
    odd = (kind == _ONLY_YEAR) | (day != 0) | (month != 0) & ~in_month
    no_date = reasons.REJECT_CODE[reasons.NO_DATE]
    bad_date = reasons.REJECT_CODE[reasons.BAD_DATE]
    return Dates(
        np.where(usable, start + np.where(in_days, day - 1, (end - start - 1) // 2), 0).astype(np.int32),
        np.where(usable, in_month.astype(np.int8) + in_days, 0).astype(np.int8),
        np.where(usable, 0, np.where(year == 0, no_date, bad_date)).astype(np.int8),
        usable & odd & ~in_days,
        usable & ((month > 12) | (kind == _AMBIGUOUS)),
        {
            reasons.AMBIGUOUS_DATE: usable & (kind == _AMBIGUOUS),
            reasons.TWO_DIGIT_YEAR: kind == _SHORT,
            reasons.NUMBERED_DATE: kind == _COUNT,
            reasons.MIXED_ORDERS: month_first,
        },
        unit,
        day_first,
    )


def known_date(written: str, utc: str) -> str:
    """A date as written, or the UTC date if there is only that."""
    return utc or written if written.strip()[:1] in ("", "?") else written


def joined_date(*parts: str) -> str:
    """A date from its year, month and day."""
    return "-".join(filter(None, map(str.strip, parts)))


def _numbered(text: str, unit: Period) -> _Parts:
    """The middle of the period with that number."""
    if not _OF_PERIOD.fullmatch(text):
        return _NONE if text in _UNKNOWN or not text.strip("?") else _BAD
    number = int(text) - 1
    if unit in _FIRST_DAYS:
        first, length = _FIRST_DAYS[unit]
        middle = first + length * number + length // 2
        return (*date.fromordinal(middle).timetuple()[:3], _PLAIN) if middle < date.max.toordinal() else _BAD
    months = _MONTHS_OF[unit]
    years, month = divmod(months * number + months // 2, 12)
    return NUMBERED_FROM + years, 0 if unit == "year" else month + 1, 0, _PLAIN


@lru_cache(_CACHED)
def _parts(text: str, order: DateOrder | None, century: int | None) -> _Parts:
    """The parts of a date; `order` is that of dates that do not start with the year."""
    text = _TIME.sub("", text.strip())
    if _MILLISECONDS.fullmatch(text):
        day = date.fromordinal(_EPOCH + int(float(text)) // _DAY_OF_MILLISECONDS)
        return day.year, day.month, day.day, _PLAIN
    if _BEFORE_CHRIST.search(text):
        return _BAD
    if _WORD.search(text) and (named := _with_numbers(text)) != text:
        text = named
        order = "ymd" if order == "ymd" else order and "dmy"
    if order and century is not None and (short := _TWO_DIGITS.fullmatch(text)):
        part = dict(zip(order, (short[1], short[3], short[4]), strict=True))
        year = century + (int(part["y"]) - century) % 100
        return year, _number(part["m"]), _number(part["d"]), _PLAIN
    if len(_FOUR_DIGITS.findall(text)) > 1:
        for between in _BETWEEN.finditer(text):
            first, last = (_one_date(end, order) for end in (text[: between.start()], text[between.end() :]))
            known = min(_known(first), _known(last))
            if known and first[:known] <= last[:known]:
                return last
        return _only_year(text)
    return _one_date(text, order)


def _known(parts: _Parts) -> int:
    """The number of known parts, 0 if the date cannot be used whole."""
    year, month, day, kind = parts
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return 0
    return 0 if kind != _PLAIN or (day and not month) else 1 + (month > 0) + (day > 0)


def _with_numbers(text: str) -> str:
    """A date with the name of a month as numbers, year first where possible; other text unchanged."""
    words = list(map(fold, _WORD.findall(text)))
    months = {_MONTHS[word] for word in words if word in _MONTHS}
    if len(months) != 1 or not all(word in _MONTHS or _BESIDE_MONTHS.fullmatch(word) for word in words):
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


def _one_date(text: str, order: DateOrder | None) -> _Parts:
    match = _PARTS.fullmatch(text)
    first, second, third = match.groups("") if match else ("", "", "")
    if _YEAR.fullmatch(first):
        return int(first), _number(second), _number(third), _PLAIN
    if _YEAR.fullmatch(third):
        year = int(third)
        one = _number(first)
        other = _number(second)
        if (
            order in (None, "ymd")
            and "." not in text
            and _NUMBER.fullmatch(first)
            and _NUMBER.fullmatch(second)
        ):
            if max(one, other) <= 12 and one != other:
                return year, 0, 0, _AMBIGUOUS
            order = "mdy" if other > 12 else "dmy"
        return (year, one, other, _PLAIN) if order == "mdy" else (year, other, one, _PLAIN)
    if not third and _YEAR.fullmatch(second):  # 06.1858
        return int(second), _number(first), 0, _PLAIN
    if not second and (digits := _EIGHT_SIGNS.fullmatch(first)):  # 18580615
        return int(digits[1]), _number(digits[2]), _number(digits[3]), _PLAIN
    return _only_year(text)


def _only_year(text: str) -> _Parts:
    years = set(_FOUR_DIGITS.findall(text)) - {"0000"}
    if len(years) == 1:
        return int(years.pop()), 0, 0, _ONLY_YEAR
    if "?" in text or not text.strip(".-/ 0x*"):
        return _NONE
    return (
        -1,
        0,
        0,
        _COUNT if _OF_PERIOD.fullmatch(text) else _SHORT if _TWO_DIGITS.fullmatch(text) else _PLAIN,
    )


def _number(text: str) -> int:
    """A month or day: 0 when unknown, -1 when it is no such number."""
    if text in _UNKNOWN or not text.strip("?"):
        return 0
    return int(text) if _NUMBER.fullmatch(text) else -1
