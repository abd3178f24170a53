"""Dates of games: what is known, its middle, and what is impossible."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.config.schema import Period
from ttt_cli.games.table import PRECISION_DAY, PRECISION_MONTH, PRECISION_YEAR
from ttt_cli.reading.dates import DateForm, DateOrder, GameDate, has_two_digits, is_number, parse_date


def days(year: int, month: int, day: int) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days


@each(
    "text, expected, precision",
    [
        ("1858", (1858, 7, 2), PRECISION_YEAR),
        ("1860", (1860, 7, 1), PRECISION_YEAR),  # 366 days
        ("1858.??.??", (1858, 7, 2), PRECISION_YEAR),
        ("1858.00.00", (1858, 7, 2), PRECISION_YEAR),
        ("1858-06", (1858, 6, 15), PRECISION_MONTH),
        ("1858.06.??", (1858, 6, 15), PRECISION_MONTH),
        ("1858.02.??", (1858, 2, 14), PRECISION_MONTH),
        ("1858.12.??", (1858, 12, 16), PRECISION_MONTH),
        ("1858-06-15", (1858, 6, 15), PRECISION_DAY),
        ("1858.06.15", (1858, 6, 15), PRECISION_DAY),
        ("1858/6/5", (1858, 6, 5), PRECISION_DAY),
        ("18580615", (1858, 6, 15), PRECISION_DAY),
        (" 1858-06-15 ", (1858, 6, 15), PRECISION_DAY),
        ("1858-06-15T20:15:00Z", (1858, 6, 15), PRECISION_DAY),
        ("1858-06-15 20:15", (1858, 6, 15), PRECISION_DAY),
        ("15.06.1858", (1858, 6, 15), PRECISION_DAY),
        ("3.4.1858", (1858, 4, 3), PRECISION_DAY),
        ("??.??.1858", (1858, 7, 2), PRECISION_YEAR),
        ("06/1858", (1858, 6, 15), PRECISION_MONTH),
        ("15/06/1858", (1858, 6, 15), PRECISION_DAY),
        ("06/15/1858", (1858, 6, 15), PRECISION_DAY),
        ("1970-01-01", (1970, 1, 1), PRECISION_DAY),
        ("2999-12-31", (2999, 12, 31), PRECISION_DAY),
        ("1850.06.15-1850.07.01", (1850, 7, 1), PRECISION_DAY),
        ("1850-06-15/1850-07-01", (1850, 7, 1), PRECISION_DAY),
        ("1850-06-15T20:15:00Z/1850-07-01T10:00:00Z", (1850, 7, 1), PRECISION_DAY),
        ("15.06.1850 - 01.07.1850", (1850, 7, 1), PRECISION_DAY),
        ("1850.06.15 to 1850.07.??", (1850, 7, 16), PRECISION_MONTH),
        ("1850-06-1850-07", (1850, 7, 16), PRECISION_MONTH),
        ("06/1850-07/1850", (1850, 7, 16), PRECISION_MONTH),
        ("1850.12.28..1851.01.03", (1851, 1, 3), PRECISION_DAY),
        ("1850.11.15-1850", (1850, 7, 2), PRECISION_YEAR),
        ("1850-1851", (1851, 7, 2), PRECISION_YEAR),
        ("1850–1851", (1851, 7, 2), PRECISION_YEAR),
        ("15 June 1858", (1858, 6, 15), PRECISION_DAY),
        ("June 15, 1858", (1858, 6, 15), PRECISION_DAY),
        ("Tue, 15th of June 1858", (1858, 6, 15), PRECISION_DAY),
        ("15-Jun-1858 20:15", (1858, 6, 15), PRECISION_DAY),
        ("1858 Jun 5", (1858, 6, 5), PRECISION_DAY),
        ("12-15 June 1858", (1858, 6, 15), PRECISION_DAY),
        ("3. März 1858", (1858, 3, 3), PRECISION_DAY),
        ("June 1858", (1858, 6, 15), PRECISION_MONTH),
        ("15-06-1858", (1858, 6, 15), PRECISION_DAY),
        ("06-15-1858", (1858, 6, 15), PRECISION_DAY),
    ],
)
def test_what_is_known(text: str, expected: tuple[int, int, int], precision: int) -> None:
    assert parse_date(text) == GameDate(days(*expected), precision)


@each(
    "text, expected, precision",
    [
        ("1858.02.30", (1858, 2, 14), PRECISION_MONTH),
        ("1900.02.29", (1900, 2, 14), PRECISION_MONTH),
        ("1858.13.01", (1858, 7, 2), PRECISION_YEAR),
        ("1858.??.15", (1858, 7, 2), PRECISION_YEAR),
        ("1858.6.x5", (1858, 6, 15), PRECISION_MONTH),
        ("c. 1858", (1858, 7, 2), PRECISION_YEAR),
        ("1858?", (1858, 7, 2), PRECISION_YEAR),
    ],
)
def test_impossible_parts_are_left_out_and_said(
    text: str, expected: tuple[int, int, int], precision: int
) -> None:
    found = parse_date(text)._replace(unread=False)
    assert found == GameDate(days(*expected), precision, "bad date", repaired=True)


@each(
    "text, order, expected, precision",
    [
        ("03/02/1921", "dmy", (1921, 2, 3), PRECISION_DAY),
        ("03/02/1921", "mdy", (1921, 3, 2), PRECISION_DAY),
        ("??/02/1921", "dmy", (1921, 2, 14), PRECISION_MONTH),
        ("02/??/1921", "mdy", (1921, 2, 14), PRECISION_MONTH),
        ("03.02.1921", None, (1921, 2, 3), PRECISION_DAY),
        ("03.02.1921", "mdy", (1921, 3, 2), PRECISION_DAY),
        ("03-02-1921", "mdy", (1921, 3, 2), PRECISION_DAY),
        ("1921-03-02", "dmy", (1921, 3, 2), PRECISION_DAY),
        ("02/02/1921", None, (1921, 2, 2), PRECISION_DAY),
        ("28/02/1921-03/02/1922", "dmy", (1922, 2, 3), PRECISION_DAY),
    ],
)
def test_day_and_month_are_read_in_the_order_of_their_form(
    text: str, order: DateOrder | None, expected: tuple[int, int, int], precision: int
) -> None:
    assert parse_date(text, DateForm(order)) == GameDate(days(*expected), precision)


@pytest.mark.parametrize("text", ["03/04/1858", "03-04-1858"])
@pytest.mark.parametrize("order", [None, "ymd"])
def test_without_an_order_the_year_is_kept(text: str, order: DateOrder | None) -> None:
    found = parse_date(text, DateForm(order))
    assert found == GameDate(days(1858, 7, 2), PRECISION_YEAR, ambiguous=True, unread=True)


def test_a_month_that_cannot_be_is_told_from_one_that_is_unknown() -> None:
    assert [parse_date(text).unread for text in ("1858.13.01", "1858", "1858.??.??", "1858.06.31")] == [
        *(True, False, False, False)
    ]


@each(
    "text, order, century, expected",
    [
        ("14/08/93", "dmy", 1900, (1993, 8, 14)),
        ("08/14/93", "mdy", 1900, (1993, 8, 14)),
        ("93-08-14", "ymd", 1900, (1993, 8, 14)),
        ("14.08.93", "dmy", 1950, (1993, 8, 14)),
        ("14.08.43", "dmy", 1950, (2043, 8, 14)),
        ("14-Aug-93", "mdy", 1900, (1993, 8, 14)),
        ("93-Aug-14", "ymd", 1900, (1993, 8, 14)),
    ],
)
def test_years_of_two_digits(
    text: str, order: DateOrder, century: int, expected: tuple[int, int, int]
) -> None:
    assert has_two_digits(text)
    assert parse_date(text, DateForm(order, century)) == GameDate(days(*expected), PRECISION_DAY)
    for form in (DateForm(), DateForm(order), DateForm(century=century)):
        assert parse_date(text, form) == GameDate(0, PRECISION_YEAR, "bad date")


@each(
    "text, unit, expected, precision",
    [
        ("1", "month", (2000, 1, 16), PRECISION_MONTH),
        ("14", "month", (2001, 2, 14), PRECISION_MONTH),
        ("100", "month", (2008, 4, 15), PRECISION_MONTH),
        ("1", "year", (2000, 7, 16), PRECISION_YEAR),
        ("3", "year", (2002, 7, 16), PRECISION_YEAR),
        ("2", "quarter", (2000, 5, 16), PRECISION_MONTH),
        ("1", "week", (2000, 1, 6), PRECISION_DAY),
        ("2", "week", (2000, 1, 13), PRECISION_DAY),
        ("366", "day", (2000, 12, 31), PRECISION_DAY),
    ],
)
def test_numbers_of_periods(text: str, unit: Period, expected: tuple[int, int, int], precision: int) -> None:
    assert is_number(text)
    assert parse_date(text, DateForm(unit=unit)) == GameDate(days(*expected), precision)


@each("text, reason", [("?", "no date"), ("", "no date"), ("1.5", "bad date"), ("999999", "bad date")])
def test_what_is_no_number_of_a_period(text: str, reason: str) -> None:
    assert parse_date(text, DateForm(unit="month")) == GameDate(0, PRECISION_YEAR, reason)


@each("text", ["1851-1850", "1850.07.01-1850.06.15", "1850.07-1850.06"])
def test_a_range_does_not_run_backwards(text: str) -> None:
    assert parse_date(text).reason == "bad date"


@each("text", ["", "?", "????.??.??", "18??.??.??", "0000.00.00", "0", "-", "????.06.15", "..", "185?"])
def test_no_year_is_no_date(text: str) -> None:
    assert parse_date(text).reason == "no date"
    assert not parse_date(text).repaired


@each("text", ["soon", "58", "12", "1858 or 1859", "99.99.99", "१८५८"])
def test_what_is_no_date_at_all(text: str) -> None:
    assert parse_date(text).reason == "bad date"
    assert not parse_date(text).repaired


@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 31)),
    st.sampled_from(["{0:04}-{1:02}-{2:02}", "{0:04}.{1}.{2}", "{2}.{1:02}.{0:04}"]),
)
def test_every_day_is_itself(day: date, form: str) -> None:
    text = form.format(day.year, day.month, day.day)
    assert parse_date(text) == GameDate((day - date(1970, 1, 1)).days, PRECISION_DAY)


@given(st.integers(1000, 2999), st.integers(1, 12))
def test_a_month_stands_in_its_middle(year: int, month: int) -> None:
    day = parse_date(f"{year:04}-{month:02}").day
    before = day - days(year, month, 1)
    after = days(year + month // 12, month % 12 + 1, 1) - 1 - day
    assert 0 <= after - before <= 1


@given(st.text(alphabet="0123456789?.-/ x", max_size=14) | st.text(max_size=20))
def test_anything_gives_a_date_or_a_reason(text: str) -> None:
    found = parse_date(text)
    assert found.reason in (None, "no date", "bad date")
    if found.repaired or found.reason is None:
        assert found.day == parse_date(date.fromordinal(found.day + 719163).isoformat()).day
    assert not found.repaired or found.reason == "bad date"


BEYOND = ["1900 BC", "1900 b.c.", "44 BCE", "1900 BCE", "-1900", "-1900.06.15", "9999", "9999.12.31", "0999"]


@each("text", [*BEYOND, "3000-01-01"])
def test_years_without_games_are_no_dates(text: str) -> None:
    assert parse_date(text) == GameDate(0, PRECISION_YEAR, "bad date")


@each("text", ["1000", "2999.12.31", "1900 by correspondence", "c. 1900"])
def test_years_that_may_have_games(text: str) -> None:
    found = parse_date(text)
    assert found.reason is None or found.repaired
