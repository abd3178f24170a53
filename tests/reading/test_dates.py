"""Dates of games: what is known, its middle, what is impossible, and how the dates of a file are written."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.games.table import PRECISION_DAY as DAY
from ttt_cli.games.table import PRECISION_MONTH as MONTH
from ttt_cli.games.table import PRECISION_YEAR as YEAR
from ttt_cli.reading.dates import (
    DateForm,
    DateForms,
    DateOrder,
    GameDate,
    has_two_digits,
    is_number,
    parse_date,
)

Day = tuple[int, int, int]


def days(year: int, month: int, day: int) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days


@each(
    "texts, expected, precision",
    [
        (["1858", "1858.??.??", "1858.00.00", "??.??.1858"], (1858, 7, 2), YEAR),
        (["1860"], (1860, 7, 1), YEAR),  # 366 days
        (["1858-06", "1858.06.??", "06/1858", "June 1858"], (1858, 6, 15), MONTH),
        (["1858.02.??"], (1858, 2, 14), MONTH),
        (["1858.12.??"], (1858, 12, 16), MONTH),
        (
            ["1858-06-15", "1858.06.15", "18580615", " 1858-06-15 ", "1858-06-15T20:15:00Z"],
            (1858, 6, 15),
            DAY,
        ),
        (["1858-06-15 20:15", "15.06.1858", "15/06/1858", "06/15/1858", "15-06-1858"], (1858, 6, 15), DAY),
        (["06-15-1858", "15 June 1858", "June 15, 1858", "Tue, 15th of June 1858"], (1858, 6, 15), DAY),
        (["15-Jun-1858 20:15", "12-15 June 1858"], (1858, 6, 15), DAY),
        (["1858/6/5", "1858 Jun 5"], (1858, 6, 5), DAY),
        (["3.4.1858"], (1858, 4, 3), DAY),
        (["3. März 1858"], (1858, 3, 3), DAY),
        (["1970-01-01"], (1970, 1, 1), DAY),
        (["2999-12-31", "2999.12.31"], (2999, 12, 31), DAY),
        (["1850.06.15-1850.07.01", "1850-06-15/1850-07-01"], (1850, 7, 1), DAY),
        (["1850-06-15T20:15:00Z/1850-07-01T10:00:00Z", "15.06.1850 - 01.07.1850"], (1850, 7, 1), DAY),
        (["1850.06.15 to 1850.07.??", "1850-06-1850-07", "06/1850-07/1850"], (1850, 7, 16), MONTH),
        (["1850.12.28..1851.01.03"], (1851, 1, 3), DAY),
        (["1850.11.15-1850"], (1850, 7, 2), YEAR),
        (["1850-1851", "1850–1851"], (1851, 7, 2), YEAR),
        (["1000"], (1000, 7, 2), YEAR),
    ],
)
def test_what_is_known(texts: list[str], expected: Day, precision: int) -> None:
    assert set(map(parse_date, texts)) == {GameDate(days(*expected), precision)}


@each(
    "texts, expected, precision",
    [
        (["1858.02.30"], (1858, 2, 14), MONTH),
        (["1900.02.29"], (1900, 2, 14), MONTH),
        (["1858.13.01", "1858.??.15", "c. 1858", "1858?", "1858 by correspondence"], (1858, 7, 2), YEAR),
        (["1858.6.x5"], (1858, 6, 15), MONTH),
    ],
)
def test_impossible_parts_are_left_out_and_said(texts: list[str], expected: Day, precision: int) -> None:
    for text in texts:
        unread = text == "1858.13.01"  # a month that cannot be
        assert parse_date(text) == GameDate(
            days(*expected), precision, "bad date", repaired=True, unread=unread
        )


@each(
    "text, order, expected, precision",
    [
        ("03/02/1921", "dmy", (1921, 2, 3), DAY),
        ("03/02/1921", "mdy", (1921, 3, 2), DAY),
        ("??/02/1921", "dmy", (1921, 2, 14), MONTH),
        ("02/??/1921", "mdy", (1921, 2, 14), MONTH),
        ("03.02.1921", None, (1921, 2, 3), DAY),
        ("03.02.1921", "mdy", (1921, 3, 2), DAY),
        ("03-02-1921", "mdy", (1921, 3, 2), DAY),
        ("1921-03-02", "dmy", (1921, 3, 2), DAY),
        ("02/02/1921", None, (1921, 2, 2), DAY),
        ("28/02/1921-03/02/1922", "dmy", (1922, 2, 3), DAY),
    ],
)
def test_day_and_month_are_read_in_the_order_of_their_form(
    text: str, order: DateOrder | None, expected: Day, precision: int
) -> None:
    assert parse_date(text, DateForm(order)) == GameDate(days(*expected), precision)


@each("text, order", [("03/04/1858", None), ("03-04-1858", "ymd")])
def test_without_an_order_the_year_is_kept(text: str, order: DateOrder | None) -> None:
    found = parse_date(text, DateForm(order))
    assert found == GameDate(days(1858, 7, 2), YEAR, ambiguous=True, unread=True)


@each(
    "text, order, century, expected",
    [
        ("14/08/93", "dmy", 1900, (1993, 8, 14)),
        ("08/14/93", "mdy", 1900, (1993, 8, 14)),
        ("93-08-14", "ymd", 1900, (1993, 8, 14)),
        ("14.08.43", "dmy", 1950, (2043, 8, 14)),
        ("14-Aug-93", "mdy", 1900, (1993, 8, 14)),
        ("93-Aug-14", "ymd", 1900, (1993, 8, 14)),
    ],
)
def test_years_of_two_digits(text: str, order: DateOrder, century: int, expected: Day) -> None:
    assert has_two_digits(text)
    assert parse_date(text, DateForm(order, century)) == GameDate(days(*expected), DAY)
    for form in (DateForm(), DateForm(order), DateForm(century=century)):
        assert parse_date(text, form) == GameDate(0, YEAR, "bad date")


@each(
    "text, unit, expected, precision",
    [
        ("1", "month", (2000, 1, 16), MONTH),
        ("14", "month", (2001, 2, 14), MONTH),
        ("1", "year", (2000, 7, 16), YEAR),
        ("3", "year", (2002, 7, 16), YEAR),
        ("2", "quarter", (2000, 5, 16), MONTH),
        ("1", "week", (2000, 1, 6), DAY),
        ("2", "week", (2000, 1, 13), DAY),
        ("366", "day", (2000, 12, 31), DAY),
    ],
)
def test_numbers_of_periods(text: str, unit: Period, expected: Day, precision: int) -> None:
    assert is_number(text)
    assert parse_date(text, DateForm(unit=unit)) == GameDate(days(*expected), precision)


BEYOND = [
    "1900 BC",
    "1900 b.c.",
    "44 BCE",
    "-1900",
    "-1900.06.15",
    "9999",
    "9999.12.31",
    "0999",
    "3000-01-01",
]


@each(
    "texts, form, reason",
    [
        (["?", ""], DateForm(unit="month"), "no date"),
        (["1.5", "999999"], DateForm(unit="month"), "bad date"),
        (["1851-1850", "1850.07.01-1850.06.15"], DateForm(), None),  # a range does not run backwards
        (["", "?", "????.??.??", "18??.??.??", "0000.00.00", "0", "-", "????.06.15"], DateForm(), "no date"),
        (["..", "185?"], DateForm(), "no date"),
        (["soon", "58", "12", "1858 or 1859", "99.99.99", "१८५८", *BEYOND], DateForm(), "bad date"),
    ],
)
def test_what_is_no_date(texts: list[str], form: DateForm, reason: str | None) -> None:
    for text in texts:
        found = parse_date(text, form)
        assert found.reason == "bad date" if reason is None else found == GameDate(0, YEAR, reason)


@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 31)),
    st.sampled_from(["{0:04}-{1:02}-{2:02}", "{0:04}.{1}.{2}", "{2}.{1:02}.{0:04}"]),
)
def test_every_day_is_itself_and_a_month_its_middle(day: date, form: str) -> None:
    text = form.format(day.year, day.month, day.day)
    assert parse_date(text) == GameDate((day - date(1970, 1, 1)).days, DAY)
    middle = parse_date(f"{day:%Y-%m}".zfill(7)).day
    before = middle - days(day.year, day.month, 1)
    after = days(day.year + day.month // 12, day.month % 12 + 1, 1) - 1 - middle
    assert 0 <= after - before <= 1


@given(st.text(alphabet="0123456789?.-/ x", max_size=14) | st.text(max_size=20))
def test_anything_gives_a_date_or_a_reason(text: str) -> None:
    found = parse_date(text)
    assert found.reason in (None, "no date", "bad date")
    if found.repaired or found.reason is None:
        assert found.day == parse_date(date.fromordinal(found.day + 719163).isoformat()).day
    assert not found.repaired or found.reason == "bad date"


def forms(texts: list[str], unit: Period | None = None, **config: object) -> DateForms:
    return DateForms(texts, DataConfig.model_validate(config), unit)


@each(
    "texts, order",
    [
        (["03/02/1921", "25/02/1921"], "dmy"),
        (["03/02/1921", "02/25/1921"], "mdy"),
        (["03/02/1921", "25/02/1921", "02/25/1921"], None),
        (["03/02/1921", "1921/02/25", "25.02.1921", "31/31/1921", "0/25/1921"], None),
        (["25/2/1921 20:15"], "dmy"),
        (["3/2/1921-25/2/1921"], "dmy"),
    ],
)
def test_a_day_above_12_tells_the_order(texts: list[str], order: DateOrder | None) -> None:
    assert forms(texts).of("03/04/1921") == DateForm(order)
    assert forms(texts[:1], dates="mdy").of("03/04/1921") == DateForm("mdy", 1871)


def test_each_separator_has_its_order() -> None:
    found = forms(["02-25-1921", "25/02/1921", "01.02.1921", "1921-25-02"])
    expected = [DateForm("mdy"), DateForm("dmy"), DateForm()]
    assert [found.of(f"03{sign}04{sign}1921") for sign in "-/."] == expected
    assert found.of("1921-04-03") is None


@each(
    "texts, config, century",
    [
        (["14/08/93"], {"dates": "dmy"}, None),
        (["14/08/93"], {"dates": "auto", "century": 1900}, None),
        (["14/08/93"], {"dates": "dmy", "century": 1900}, 1900),
        (["14/08/93", "1/1/1995", "2005"], {"dates": "dmy"}, 1950),
        (["14/08/93", "1/1/1895", "2005"], {"dates": "dmy"}, None),
        (["14/08/93", "01.01.0005"], {"dates": "dmy"}, None),  # a year out of range
    ],
)
def test_the_century_of_two_digits(texts: list[str], config: dict[str, object], century: int | None) -> None:
    form = forms(texts, **config).of("14/08/93")
    assert form is not None
    assert form.century == century


@each(
    "texts, unit, config, expected",
    [
        (["1", "2", "?"], "month", {}, "month"),
        (["1", "2"], None, {}, None),
        (["1", "2"], None, {"dates": "number"}, "year"),
        (["1", "2"], None, {"dates": "number", "period": "week"}, "week"),
        (["1", "2"], "month", {"dates": "number", "period": "week"}, "month"),
        (["1", "1858-06"], "month", {}, None),
        (["1858", "1859"], "period", {}, None),
        (["1", "2"], "month", {"dates": "dmy"}, None),
    ],
)
def test_when_dates_are_numbers(
    texts: list[str], unit: Period | None, config: dict[str, object], expected: Period | None
) -> None:
    assert forms(texts, unit, **config).unit == expected
