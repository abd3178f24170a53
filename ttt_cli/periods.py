"""Time steps: days to period numbers, numbers to labels and years, and periods as users write them.

Periods are numbered consecutively: the year itself, `4 * year + quarter`, `12 * year + month` (both from 0 within the
year), weeks and days since 1970-01-01 (weeks start on Monday).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import date, timedelta
from operator import index
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from ttt_cli.support.errors import LookupFailed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.config.schema import Period

Number = TypeVar("Number", float, "NDArray[np.float64]")

DAYS_PER_YEAR: Final = 365.2425
STEPS_PER_YEAR: Final[dict[str, float]] = {
    "year": 1.0,
    "quarter": 4.0,
    "month": 12.0,
    "week": DAYS_PER_YEAR / 7.0,
    "day": DAYS_PER_YEAR,
}
_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}
_WRITTEN_PERIOD: Final = re.compile(r"\d{4}(-(Q[1-4]|W\d\d|\d\d(-\d\d)?))?")
_EPOCH: Final = date(1970, 1, 1)
_EPOCH_WEEKDAY: Final = 3  # 1970-01-01 was a Thursday; Monday is 0


def period_of(days: NDArray[np.int32], period: Period) -> NDArray[np.int32]:
    """Period numbers of days since 1970-01-01, same shape."""
    import numpy as np

    if period == "day":
        return days.astype(np.int32)
    if period == "week":
        return ((days.astype(np.int64) + _EPOCH_WEEKDAY) // 7).astype(np.int32)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 12 * 1970
    return (months // _MONTHS[period]).astype(np.int32)


def year_of(number: Number, period: str) -> Number:
    """Start of periods in years, for one number or an array."""
    year_of_zero = 1970.0 if period in ("week", "day") else 0.0
    return year_of_zero + number / STEPS_PER_YEAR[period]


def calendar_year(number: NDArray[np.integer] | int, period: Period) -> NDArray[np.int64]:
    """Calendar years of periods, as in their labels, same shape."""
    import numpy as np

    numbers = np.asarray(number, np.int64)
    if period in ("week", "day"):
        days = numbers * (7 if period == "week" else 1)  # of a week its Thursday
        return days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    return numbers // int(STEPS_PER_YEAR[period])


def label(number: int, period: Period) -> str:
    """Label of a period: 1858, 1858-Q2, 1858-06, 1858-W23 (ISO 8601), 1858-06-15."""
    match period:
        case "year":
            return f"{number:04d}"
        case "quarter":
            return f"{number // 4:04d}-Q{number % 4 + 1}"
        case "month":
            return f"{number // 12:04d}-{number % 12 + 1:02d}"
        case "week":
            year, week, _ = (_EPOCH + timedelta(days=number * 7 - _EPOCH_WEEKDAY)).isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "day":
            return (_EPOCH + timedelta(days=number)).isoformat()


def number_of(day: date, period: Period) -> int:
    """Number of the period that contains a day; as `period_of`, without numpy."""
    days = (day - _EPOCH).days
    match period:
        case "day":
            return days
        case "week":
            return (days + _EPOCH_WEEKDAY) // 7
        case _:
            return (12 * day.year + day.month - 1) // _MONTHS[period]


def as_text(value: str | int, name: str) -> str:
    """A text, or an integer as one, of a Python caller. Raises LookupFailed, which calls the value by `name`."""
    if isinstance(value, str):
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return str(index(value))
    except TypeError:
        raise LookupFailed(f"{name} is a text or an integer, not {value!r}") from None


def numbers_within(at: str | int, period: Period, limits: Iterable[str] = ()) -> tuple[int, int]:
    """First and last number of the run's periods within a year, quarter, month, week or day, as users write it.

    `1858`, `1858-Q2`, `1858-06` or `1858.06`, `1858-W23`, `1858-06-15`. `limits`: the first and the last period, for
    the hint. Raises LookupFailed for other texts, and for what is shorter than `period`.
    """
    text = as_text(at, "a period").strip().replace(".", "-")
    try:
        days = _days_of(text)
    except ValueError:
        kind = "one year" if period == "year" else f"a year, or one {period}"
        span = " to ".join(dict.fromkeys(limits))
        hint = f"{kind}, from {span}" if span else kind
        raise LookupFailed(f"{text!r} is not a period", hint=hint) from None
    first = days.first
    last = days.last
    if STEPS_PER_YEAR[days.period] > STEPS_PER_YEAR[period]:
        middle = first + (last - first) / 2  # of a week, its Thursday
        hint = f"use {label(number_of(middle, period), period)}, which contains it"
        raise LookupFailed(f"the run is by the {period}: {text} is shorter", hint=hint)
    if period == "week":  # a week belongs to the month and the year of its Thursday
        first = first + timedelta((3 - first.weekday()) % 7)
        last = last - timedelta((last.weekday() - 3) % 7)
    return number_of(first, period), number_of(last, period)


class _Days(NamedTuple):
    """The days of a period as users write it."""

    period: Period  # its kind
    first: date
    last: date


def _days_of(text: str) -> _Days:
    """The days of a period. Raises ValueError for other texts."""
    if not _WRITTEN_PERIOD.fullmatch(text):
        raise ValueError(text)
    year, *parts = text.split("-")
    if not parts:
        return _Days("year", date(int(year), 1, 1), date(int(year), 12, 31))
    if len(parts) == 2:
        day = date.fromisoformat(text)
        return _Days("day", day, day)
    (part,) = parts
    if part.startswith("W"):
        monday = date.fromisocalendar(int(year), int(part[1:]), 1)
        return _Days("week", monday, monday + timedelta(6))
    if part.startswith("Q"):
        last_month = 3 * int(part[1:])
        return _Days(
            "quarter", date(int(year), last_month - 2, 1), _last_day(int(year), last_month)
        )
    month = int(part)
    return _Days("month", date(int(year), month, 1), _last_day(int(year), month))


def _last_day(year: int, month: int) -> date:
    """The last day of a month. Raises ValueError for no month."""
    return date(year, month, monthrange(year, month)[1])
