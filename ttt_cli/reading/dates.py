"""Dates of games as day numbers with a precision (year, month or day)."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ttt_cli.reading.reports import BAD_DATE, NO_DATE
from ttt_cli.support.folding import fold

if TYPE_CHECKING:
    from ttt_cli.config.schema import DataConfig, Period


_EPOCH: Final = date(1970, 1, 1).toordinal()
_YEAR, _MONTH, _DAY = range(3)  # precisions, as in `table`
_UNKNOWN: Final = frozenset({"", "?", "??", "???", "????", "0", "00", "0000", "x", "xx", "-", "--", "*"})
_TIME: Final = re.compile(r"[T\s]+\d{1,2}:\d\d(?:(?!/\s*\d).)*", re.DOTALL)
_PARTS: Final = re.compile(r"([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*))?)?[.\s]*")
_NUMBER: Final = re.compile(r"\d{1,2}", re.ASCII)
_FOUR_DIGITS: Final = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
_TWO_DIGITS: Final = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d\d)", re.ASCII)
_WORD: Final = re.compile(r"[^\W\d_]+")
_MONTHS: Final = (
    *(("january", "januar"), ("february", "februar"), ("march", "marz", "maerz"), ("april",), ("may", "mai")),
    *(("june", "juni"), ("july", "juli"), ("august",), ("september",), ("october", "oktober"), ("november",)),
    ("december", "dezember"),
)
_BESIDE_MONTHS: Final = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?|of|the|st|nd|rd|th"
)
_BETWEEN: Final = re.compile(r"\s*(?:[-–—/]|\bto\b|\.\.)\s*", re.IGNORECASE)  # the ends of a range

_BEFORE_CHRIST: Final = re.compile(r"\bB\.?\s?C\b|\bBCE\b|^[-\N{MINUS SIGN}]\s*\d{4}", re.IGNORECASE)
YEARS: Final = (1000, 2999)  # the first and the last in which there may be games
_FIRST, _END = (date(year, 1, 1).toordinal() - _EPOCH for year in (YEARS[0], YEARS[1] + 1))

DateOrder = Literal["ymd", "dmy", "mdy"]
NUMBERED_FROM: Final = 2000  # the year of the numbered period 1
_MONTHS_OF: Final = {"year": 12, "quarter": 3, "month": 1}
_DAYS_OF: Final = {"week": 7, "day": 1}
_FIRST_MONDAY: Final = date(NUMBERED_FROM, 1, 3).toordinal() - _EPOCH
_DAY_AND_MONTH: Final = {
    sign: re.compile(
        rf"(?<![\d{sign}])(\d{{1,2}})\s*[{sign}]\s*(\d{{1,2}})\s*[{sign}]\s*\d{{4}}(?!\d)", re.ASCII
    )
    for sign in "/-."
}
_MILLISECONDS: Final = re.compile(r"\d{12,13}(?:\.0*)?|\d\.\d+[eE]\+?1[12]", re.ASCII)  # since 1970
_DAY_OF_MILLISECONDS: Final = 86_400_000
_YEAR_FIRST: Final = re.compile(r"\s*\d{4}(?!\d)", re.ASCII)


class DateForm(NamedTuple):
    """The order of the parts of dates that do not start with the year, None if unknown.

    `century` is the first year that two digits mean, if any; with `unit` dates are numbers of such periods.
    """

    order: DateOrder | None = None
    century: int | None = None
    unit: Period | None = None


PLAIN: Final = DateForm()


class GameDate(NamedTuple):
    """A day since 1970-01-01 (proleptic Gregorian) in the middle of the possible range, and its precision.

    `precision` is 0 (year), 1 (month) or 2 (day). `reason` is None for a date that is used whole, and `bad date` with
    `repaired` for one that is used in part. `ambiguous`: day and month cannot be distinguished. `unread`: a month is
    present, but only the year is used.
    """

    day: int
    precision: int
    reason: str | None = None
    repaired: bool = False
    ambiguous: bool = False
    unread: bool = False


def parse_date(text: str, form: DateForm = PLAIN) -> GameDate:
    """Parse `1858`, `1858.??.??`, `1858-06`, `1858.06.??`, `1858-06-15`, `1858/6/15`, `15 June 1858` and the like.

    Months and days may be unpadded; `?`, `0` and nothing mean unknown; a time of day is ignored. 12 or 13 digits are
    milliseconds since 1970. `15.06.1858` has the day first unless the form has another order; with slashes and hyphens
    a number above 12 is the day, else the form decides. Of a range, `1850.06.15-1850.07.01`, the end is used: when the
    event was over. Impossible parts are left out (`repaired`). A year has four digits, from 1000 to 2999.
    """
    text = _TIME.sub("", text.strip())
    if _MILLISECONDS.fullmatch(text) and form.unit is None:
        found = GameDate(int(float(text)) // _DAY_OF_MILLISECONDS, _DAY)
    else:
        found = _read(text, form) if form.unit is None else _numbered(text, form.unit)
    usable = found.reason is None or found.repaired
    return GameDate(0, _YEAR, BAD_DATE) if usable and not _FIRST <= found.day < _END else found


def known_date(written: bytes, utc: bytes) -> bytes:
    """A date as written, or the UTC date if there is only that."""
    return utc or written if written.strip()[:1] in (b"", b"?") else written


def has_two_digits(text: str) -> bool:
    """Whether a date lacks only the century of its year."""
    return _TWO_DIGITS.fullmatch(_TIME.sub("", _with_numbers(text.strip()))) is not None


def is_number(text: str) -> bool:
    """Whether a date is a number of at most six digits."""
    return text.isascii() and text.isdigit() and len(text) < 7


def _numbered(text: str, unit: Period) -> GameDate:
    """The middle of the period with that number."""
    unknown = text in _UNKNOWN and text != "0"
    if unknown or not is_number(text):
        return GameDate(0, _YEAR, NO_DATE if unknown else BAD_DATE)
    number = int(text) - 1
    if unit in _DAYS_OF:
        start = _FIRST_MONDAY if unit == "week" else date(NUMBERED_FROM, 1, 1).toordinal() - _EPOCH
        return GameDate(start + _DAYS_OF[unit] * number + _DAYS_OF[unit] // 2, _DAY)
    months = _MONTHS_OF[unit]
    years, month = divmod(months * number + months // 2, 12)
    if not YEARS[0] <= NUMBERED_FROM + years <= YEARS[1]:
        return GameDate(0, _YEAR, BAD_DATE)
    found = _build(NUMBERED_FROM + years, str(month + 1), "")
    return found if unit == "month" else found._replace(precision=_YEAR if unit == "year" else _MONTH)


def _with_numbers(text: str) -> str:
    """A date with the name of a month as numbers, year first where possible; other text unchanged."""
    words = [fold(word) for word in _WORD.findall(text)]
    months = {number for word in words if (number := _month_named(word))}
    if len(months) != 1 or not all(_month_named(word) or _BESIDE_MONTHS.fullmatch(word) for word in words):
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


def _month_named(word: str) -> int:
    """The number of a month by at least three letters of its name, 0 for other words."""
    named = (n for n, names in enumerate(_MONTHS, 1) for name in names if name.startswith(word))
    return next(named, 0) if len(word) > 2 else 0


def _read(text: str, form: DateForm) -> GameDate:
    if _BEFORE_CHRIST.search(text):
        return GameDate(0, _YEAR, BAD_DATE)
    if _WORD.search(text) and (named := _with_numbers(text)) != text:
        text, form = named, form._replace(order="ymd" if form.order == "ymd" else form.order and "dmy")
    if (short := _TWO_DIGITS.fullmatch(text)) and form.order and form.century is not None:
        parts = dict(zip(form.order, (short[1], short[3], short[4]), strict=True))
        return _build(form.century + (int(parts["y"]) - form.century) % 100, parts["m"], parts["d"])
    if len(_FOUR_DIGITS.findall(text)) > 1:
        for between in _BETWEEN.finditer(text):
            first, last = (_one_date(part, form) for part in (text[: between.start()], text[between.end() :]))
            if first.reason is None is last.reason:
                known = 1 + min(first.precision, last.precision)  # parts of both
                start, end = (date.fromordinal(one.day + _EPOCH).timetuple()[:known] for one in (first, last))
                if start <= end:
                    return last
        return _only_year(text)
    return _one_date(text, form)


def _one_date(text: str, form: DateForm) -> GameDate:
    match = _PARTS.fullmatch(text)
    first, second, third = match.groups("") if match else ("", "", "")
    if _is_year(first):
        return _build(int(first), second, third)
    if _is_year(third):
        order, year = form.order, int(third)
        if (
            order in (None, "ymd")
            and _NUMBER.fullmatch(first)
            and _NUMBER.fullmatch(second)
            and "." not in text
        ):
            if max(int(first), int(second)) > 12:
                order = "mdy" if int(second) > 12 else "dmy"
            elif int(first) != int(second):
                return _build(year, "", "")._replace(ambiguous=True, unread=True)
        return _build(year, first, second) if order == "mdy" else _build(year, second, first)
    if not third and _is_year(second):  # 06.1858
        return _build(int(second), first, "")
    if len(first) == 8 and _is_year(first[:4]) and not second:  # 18580615
        return _build(int(first[:4]), first[4:6], first[6:])
    return _only_year(text)


def _is_year(part: str) -> bool:
    return len(part) == 4 and part.isascii() and part.isdigit() and part != "0000"


def _only_year(text: str) -> GameDate:
    years = set(_FOUR_DIGITS.findall(text)) - {"0000"}
    if len(years) == 1:
        return _build(int(years.pop()), "", "")._replace(reason=BAD_DATE, repaired=True)
    unknown = "?" in text or not text.strip(".-/ 0x*")
    return GameDate(0, _YEAR, NO_DATE if unknown else BAD_DATE)


def _build(year: int, month_text: str, day_text: str) -> GameDate:
    """The date from its valid parts."""
    whole_year = GameDate(date(year, 1, 1).toordinal() - _EPOCH + (364 + isleap(year)) // 2, _YEAR)
    month = _number(month_text)
    if month == 0:
        odd = _number(day_text) != 0  # a day without its month is not used
        return whole_year._replace(reason=BAD_DATE, repaired=True) if odd else whole_year
    if not 1 <= month <= 12:
        unread = _NUMBER.fullmatch(month_text) is not None
        return whole_year._replace(reason=BAD_DATE, repaired=True, unread=unread)
    start, days = date(year, month, 1).toordinal() - _EPOCH, monthrange(year, month)[1]
    whole_month = GameDate(start + (days - 1) // 2, _MONTH)
    day = _number(day_text)
    if day == 0:
        return whole_month
    if not 1 <= day <= days:
        return whole_month._replace(reason=BAD_DATE, repaired=True)
    return GameDate(start + day - 1, _DAY)


def _number(text: str) -> int:
    """A month or day: 0 when unknown, -1 when it is no such number."""
    if text in _UNKNOWN or not text.strip("?"):
        return 0
    return int(text) if _NUMBER.fullmatch(text) else -1


class DateForms:
    """The forms of the dates of a file, from `data.dates`, `data.century` and the dates themselves.

    `unit` is the period named by a header, if dates may be numbers of periods; else None.
    """

    def __init__(self, texts: Sequence[str], data: DataConfig, unit: Period | None) -> None:
        known = [text for text in texts if text.strip(" ?-")]
        counted = all(map(is_number, known)) and not all(
            map(_FOUR_DIGITS.fullmatch, known)
        )  # not all are years
        dates = data.dates
        numbers = dates == "number" or (dates == "auto" and unit is not None and counted)
        self.unit = (unit or data.period) if numbers else None
        order: DateOrder | None = None if dates == "auto" or dates == "number" else dates  # noqa: PLR1714
        further = [text for text in texts if not _YEAR_FIRST.match(text)]
        found = (int(year) for text in texts for year in _FOUR_DIGITS.findall(text) if further and order)
        years = [year for year in found if YEARS[0] <= year <= YEARS[1]]
        century = data.century if order and further else None
        if century is None and years and max(years) - min(years) < 100:
            century = (min(years) + max(years) - 99) // 2
        orders = {separator: _orders(further, separator) for separator in _DAY_AND_MONTH}
        self._mixed = [separator for separator, found in orders.items() if len(found) > 1 and not order]
        self._forms = {
            separator: DateForm(order or (next(iter(seen)) if len(seen) == 1 else None), century)
            for separator, seen in orders.items()
        }
        self._other = DateForm(order, century)

    def month_first(self, texts: Sequence[str]) -> tuple[list[bool], str]:
        """Mask of dates with the month first, and a date of the file with the day first; none if all agree."""
        for separator in self._mixed:
            example = _orders(texts, separator)["dmy"]
            return [_orders([text], separator).keys() == {"mdy"} for text in texts], example
        return [False] * len(texts), ""

    def of(self, text: str) -> DateForm | None:
        """The form of a date, None where it makes no difference."""
        if self.unit:
            return DateForm(unit=self.unit)
        if _YEAR_FIRST.match(text):
            return None
        return next((form for separator, form in self._forms.items() if separator in text), self._other)


def _orders(texts: Sequence[str], separator: str) -> dict[DateOrder, str]:
    """The orders of dates like `25/02/1921` with a day above 12, each with a date."""
    found: dict[DateOrder, str] = {}
    for text in texts:
        for match in _DAY_AND_MONTH[separator].finditer(text):
            first, second = int(match[1]), int(match[2])
            if min(first, second) in range(1, 13) and max(first, second) in range(13, 32):
                found.setdefault("dmy" if first > second else "mdy", text)
    return found
