"""Time steps: days to period numbers, period numbers to labels and to years apart.

A period is numbered by an integer that grows by one per step: the year itself, `4 * year + quarter`,
`12 * year + month` (both from 0 within the year), weeks and days since 1970-01-01 (weeks start on Monday).
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.config.schema import Period

DAYS_PER_YEAR: Final = 365.2425
STEPS_PER_YEAR: Final[dict[str, float]] = {
    "year": 1.0,
    "quarter": 4.0,
    "month": 12.0,
    "week": DAYS_PER_YEAR / 7.0,
    "day": DAYS_PER_YEAR,
}
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
    return (months // {"year": 12, "quarter": 3, "month": 1}[period]).astype(np.int32)


def year_of(number: Any, period: str) -> Any:
    """Period numbers as numbers of years: where they begin."""
    return (1970.0 if period in ("week", "day") else 0.0) + number / STEPS_PER_YEAR[period]


def calendar_year(number: Any, period: Period) -> Any:
    """The years in which periods are, as their labels have it."""
    import numpy as np

    if period in ("week", "day"):
        days = np.asarray(number, np.int64) * (7 if period == "week" else 1)  # of a week its Thursday
        return days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    return number // int(STEPS_PER_YEAR[period])


def label(number: int, period: Period) -> str:
    """How a period is written: 1858, 1858-Q2, 1858-06, 1858-W23 (ISO 8601), 1858-06-15."""
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
