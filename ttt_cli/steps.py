"""How many time steps make a year; here alone, so that light programs need nothing else for it."""

from __future__ import annotations

from typing import Final

DAYS_PER_YEAR: Final = 365.2425
STEPS_PER_YEAR: Final = {
    "year": 1.0,
    "quarter": 4.0,
    "month": 12.0,
    "week": DAYS_PER_YEAR / 7.0,
    "day": DAYS_PER_YEAR,
}
