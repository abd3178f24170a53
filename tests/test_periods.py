"""Periods as users write them."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.config.schema import Period
from ttt_cli.periods import label, number_of, numbers_within, period_of
from ttt_cli.support.errors import LookupFailed

PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day")
DAYS = st.dates(date(1000, 1, 2), date(2900, 12, 28))


@given(DAYS, st.sampled_from(PERIODS))
def test_a_days_period_is_that_of_the_arrays_and_its_label_comes_back(
    day: date, period: Period
) -> None:
    days = np.array([(day - date(1970, 1, 1)).days], np.int32)
    number = number_of(day, period)
    assert number == period_of(days, period)[0]
    assert numbers_within(label(number, period), period) == (number, number)


@given(DAYS)
def test_days_within_a_longer_period_are_all_of_its_days(day: date) -> None:
    for period in PERIODS[:4]:
        first, last = numbers_within(label(number_of(day, period), period), "day")
        ends = [
            date(1970, 1, 1) + timedelta(number) for number in (first - 1, first, last, last + 1)
        ]
        inside = [number_of(end, period) == number_of(day, period) for end in ends]
        assert inside == [False, True, True, False]


@pytest.mark.parametrize("text", ["1972-07", "1972.07", " 1972.07 "])
def test_a_month_may_have_a_point(text: str) -> None:
    assert numbers_within(text, "month") == (12 * 1972 + 6, 12 * 1972 + 6)
    with pytest.raises(LookupFailed, match="by the year: 1972-07 is shorter"):
        numbers_within(text, "year")
