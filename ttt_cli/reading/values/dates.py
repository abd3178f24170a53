"""Dates of games: whatever is known of year, month and day, as a day number with its precision."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, Literal, NamedTuple

from ttt_cli.reading.batches import BAD_DATE, NO_DATE

_EPOCH: Final = date(1970, 1, 1).toordinal()
_YEAR, _MONTH, _DAY = range(3)  # precisions, as in `table`
_UNKNOWN: Final = frozenset({"", "?", "??", "???", "????", "0", "00", "0000", "x", "xx", "-", "--", "*"})
_TIME: Final = re.compile(r"[T\s]+\d{1,2}:\d\d(?:(?!/\s*\d).)*", re.DOTALL)
_PARTS: Final = re.compile(r"([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*)(?:\s*[.\-/]\s*([^.\-/\s]*))?)?[.\s]*")
_NUMBER: Final = re.compile(r"\d{1,2}", re.ASCII)
_FOUR_DIGITS: Final = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
_SLASHES: Final = re.compile(r"(?<![\d/])(\d{1,2})\s*/\s*(\d{1,2})\s*/\s*\d{4}(?!\d)", re.ASCII)
_BETWEEN: Final = re.compile(r"\s*(?:[-–—/]|\bto\b|\.\.)\s*", re.IGNORECASE)  # the ends of a range

_BEFORE_CHRIST: Final = re.compile(r"\bB\.?\s?C\b|\bBCE\b|^[-\N{MINUS SIGN}]\s*\d{4}", re.IGNORECASE)
YEARS: Final = (1000, 2999)  # the first and the last in which there may be games
_FIRST, _END = (date(year, 1, 1).toordinal() - _EPOCH for year in (YEARS[0], YEARS[1] + 1))

SlashOrder = Literal["day", "month"]  # which of them dates like 03/02/1921 have first


class GameDate(NamedTuple):
    """A day since 1970-01-01 (proleptic Gregorian) in the middle of what is known, and its precision.

    `precision` is 0 (year), 1 (month) or 2 (day). `reason` is why the date cannot be used, or `bad date` with
    `repaired` set when only its possible part is; None when all was well. `ambiguous`: day and month are there, but not
    which is which, and only the year is used.
    """

    day: int
    precision: int
    reason: str | None = None
    repaired: bool = False
    ambiguous: bool = False


def slash_order(texts: Iterable[str]) -> SlashOrder | None:
    """Which comes first in dates like `03/02/1921`, by those of the texts whose day is above 12.

    None when there are no such dates, or they contradict each other.
    """
    found: set[SlashOrder] = set()
    for text in texts:
        for match in _SLASHES.finditer(text):
            first, second = int(match[1]), int(match[2])
            if min(first, second) in range(1, 13) and max(first, second) in range(13, 32):
                found.add("day" if first > second else "month")
    return found.pop() if len(found) == 1 else None


def parse_date(text: str, order: SlashOrder | None = None) -> GameDate:
    """Read `1858`, `1858.??.??`, `1858-06`, `1858.06.??`, `1858-06-15`, `1858/6/15` and their like.

    Months and days may be unpadded; `?`, `0` and nothing mean unknown; a time of day is ignored.
    `15.06.1858` is read with the day first; with slashes a number above 12 tells day from month, else `order`.
    Of a range, `1850.06.15-1850.07.01`, the end is read: when the event was over.
    Impossible parts are left out (`repaired`); without a year of four digits, from 1000 to 2999, there is no date.
    """
    found = _read(_TIME.sub("", text.strip()), order)
    usable = found.reason is None or found.repaired
    return GameDate(0, _YEAR, BAD_DATE) if usable and not _FIRST <= found.day < _END else found


def _read(text: str, order: SlashOrder | None) -> GameDate:
    if _BEFORE_CHRIST.search(text):
        return GameDate(0, _YEAR, BAD_DATE)
    if len(_FOUR_DIGITS.findall(text)) > 1:
        return next(_ends(text, order), None) or _only_year(text)
    return _one_date(text, order)


def _ends(text: str, order: SlashOrder | None) -> Iterator[GameDate]:
    """The end of a range, for each place at which a text comes apart into a date and one that is not earlier."""
    for between in _BETWEEN.finditer(text):
        first, last = (_one_date(part, order) for part in (text[: between.start()], text[between.end() :]))
        if first.reason is None is last.reason and _in_order(first, last):
            yield last


def _in_order(first: GameDate, last: GameDate) -> bool:
    """Whether a date may be before another, as far as both are known."""
    parts = 1 + min(first.precision, last.precision)
    begun, over = (date.fromordinal(one.day + _EPOCH).timetuple()[:parts] for one in (first, last))
    return begun <= over


def _one_date(text: str, order: SlashOrder | None) -> GameDate:
    match = _PARTS.fullmatch(text)
    if match is None:
        return _only_year(text)
    first, second, third = (part or "" for part in match.groups())
    if _is_year(first):
        return _build(int(first), second, third)
    if _is_year(third):
        return _year_last(int(third), first, second, order, slashes="/" in text)
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


def _year_last(year: int, first: str, second: str, order: SlashOrder | None, *, slashes: bool) -> GameDate:
    if slashes and _NUMBER.fullmatch(first) and _NUMBER.fullmatch(second):
        if max(int(first), int(second)) > 12:
            order = "month" if int(second) > 12 else "day"
        elif order is None and int(first) != int(second):
            return _build(year, "", "")._replace(ambiguous=True)
    month_first = slashes and order == "month"
    return _build(year, first, second) if month_first else _build(year, second, first)


def _build(year: int, month_text: str, day_text: str) -> GameDate:
    """The date of the parts that are known and possible."""
    start = date(year, 1, 1).toordinal() - _EPOCH
    days_in_year = date(year, 12, 31).toordinal() - _EPOCH - start + 1
    whole_year = GameDate(start + (days_in_year - 1) // 2, _YEAR)
    month = _number(month_text)
    if month == 0:
        odd = _number(day_text) != 0  # a day without its month tells nothing
        return whole_year._replace(reason=BAD_DATE, repaired=True) if odd else whole_year
    if not 1 <= month <= 12:
        return whole_year._replace(reason=BAD_DATE, repaired=True)
    start = date(year, month, 1).toordinal() - _EPOCH
    last = (
        date(year + month // 12, month % 12 + 1, 1).toordinal() - _EPOCH
        if (year, month) < (9999, 12)
        else start + 31
    )
    whole_month = GameDate(start + (last - start - 1) // 2, _MONTH)
    day = _number(day_text)
    if day == 0:
        return whole_month
    if not 1 <= day <= last - start:
        return whole_month._replace(reason=BAD_DATE, repaired=True)
    return GameDate(start + day - 1, _DAY)


def _number(text: str) -> int:
    """A month or day: 0 when unknown, -1 when it is no such number."""
    if text in _UNKNOWN or not text.strip("?"):
        return 0
    return int(text) if _NUMBER.fullmatch(text) else -1
