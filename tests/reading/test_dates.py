"""Dates of games: what is known, its middle, what is impossible, and how the dates of a file are written."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.games.table import PRECISION_DAY as DAY
from ttt_cli.games.table import PRECISION_MONTH as MONTH
from ttt_cli.games.table import PRECISION_YEAR as YEAR
from ttt_cli.reading.dates import Dates, parse_dates
from ttt_cli.reading.reports import DROP_REASONS, NUMBERED_DATE, TWO_DIGIT_YEAR

Day = tuple[int, int, int]


def days(year: int, month: int, day: int) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days


class GameDate(NamedTuple):
    day: int
    precision: int
    reason: str | None = None
    repaired: bool = False
    unread: bool = False


def columns(*texts: str, unit: Period | None = None, **config: object) -> Dates:
    return parse_dates(texts, DataConfig.model_validate(config), unit)


def parsed(*texts: str, unit: Period | None = None, **config: object) -> list[GameDate]:
    found = columns(*texts, unit=unit, **config)
    why = [(None, *DROP_REASONS)[code] for code in found.reject_code.tolist()]
    rows = (
        found.day.tolist(),
        found.precision.tolist(),
        why,
        found.repaired.tolist(),
        found.unread.tolist(),
    )
    return [GameDate(*row) for row in zip(*rows, strict=True)]


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
        (
            ["1858-06-15 20:15", "15.06.1858", "15/06/1858", "06/15/1858", "15-06-1858"],
            (1858, 6, 15),
            DAY,
        ),
        (
            ["06-15-1858", "15 June 1858", "June 15, 1858", "Tue, 15th of June 1858"],
            (1858, 6, 15),
            DAY,
        ),
        (["15-Jun-1858 20:15", "12-15 June 1858"], (1858, 6, 15), DAY),
        (["1858/6/5", "1858 Jun 5"], (1858, 6, 5), DAY),
        (["3.4.1858"], (1858, 4, 3), DAY),
        (["3. März 1858"], (1858, 3, 3), DAY),
        (["1970-01-01"], (1970, 1, 1), DAY),
        (["2999-12-31", "2999.12.31"], (2999, 12, 31), DAY),
        (["1850.06.15-1850.07.01", "1850-06-15/1850-07-01"], (1850, 7, 1), DAY),
        (
            ["1850-06-15T20:15:00Z/1850-07-01T10:00:00Z", "15.06.1850 - 01.07.1850"],
            (1850, 7, 1),
            DAY,
        ),
        (["1850.06.15 to 1850.07.??", "1850-06-1850-07", "06/1850-07/1850"], (1850, 7, 16), MONTH),
        (["1850.12.28..1851.01.03"], (1851, 1, 3), DAY),
        (["1850.11.15-1850"], (1850, 7, 2), YEAR),
        (["1850-1851", "1850–1851"], (1851, 7, 2), YEAR),
        (["1000"], (1000, 7, 2), YEAR),
    ],
)
def test_what_is_known(texts: list[str], expected: Day, precision: int) -> None:
    for text in texts:
        assert parsed(text) == [GameDate(days(*expected), precision)]


@each(
    "texts, expected, precision",
    [
        (["1858.02.30"], (1858, 2, 14), MONTH),
        (["1900.02.29"], (1900, 2, 14), MONTH),
        (
            ["1858.13.01", "1858.??.15", "c. 1858", "1858?", "1858 by correspondence"],
            (1858, 7, 2),
            YEAR,
        ),
        (["1858.6.x5"], (1858, 6, 15), MONTH),
    ],
)
def test_impossible_parts_are_left_out_and_said(
    texts: list[str], expected: Day, precision: int
) -> None:
    for text in texts:
        unread = text == "1858.13.01"  # a month that cannot be
        assert parsed(text) == [GameDate(days(*expected), precision, repaired=True, unread=unread)]


@each(
    "text, order, expected, precision",
    [
        ("03/02/1921", "dmy", (1921, 2, 3), DAY),
        ("03/02/1921", "mdy", (1921, 3, 2), DAY),
        ("??/02/1921", "dmy", (1921, 2, 14), MONTH),
        ("02/??/1921", "mdy", (1921, 2, 14), MONTH),
        ("03.02.1921", "auto", (1921, 2, 3), DAY),
        ("03.02.1921", "mdy", (1921, 3, 2), DAY),
        ("03-02-1921", "mdy", (1921, 3, 2), DAY),
        ("1921-03-02", "dmy", (1921, 3, 2), DAY),
        ("02/02/1921", "auto", (1921, 2, 2), DAY),
        ("28/02/1921-03/02/1922", "dmy", (1922, 2, 3), DAY),
    ],
)
def test_day_and_month_are_read_in_their_order(
    text: str, order: str, expected: Day, precision: int
) -> None:
    assert parsed(text, dates=order) == [GameDate(days(*expected), precision)]


@each("text, order", [("03/04/1858", "auto"), ("03-04-1858", "ymd")])
def test_without_an_order_the_year_is_kept(text: str, order: str) -> None:
    assert parsed(text, dates=order) == [GameDate(days(1858, 7, 2), YEAR, unread=True)]
    assert columns(text, dates=order).odd["day or month first"].all()


@each(
    "text, order, century, expected",
    [
        ("14/08/93", "dmy", 1900, (1993, 8, 14)),
        ("08/14/93", "mdy", 1900, (1993, 8, 14)),
        ("93-08-14", "ymd", 1900, (1993, 8, 14)),
        ("14.08.43", "dmy", 1950, (2043, 8, 14)),
        ("14-Aug-93", "mdy", 1900, (1993, 8, 14)),
        # the first and the last of the hundred years, which need not begin with 00
        ("14.08.00", "dmy", 1900, (1900, 8, 14)),
        ("14.08.99", "dmy", 1900, (1999, 8, 14)),
        ("14.08.50", "dmy", 1950, (1950, 8, 14)),
        ("14.08.49", "dmy", 1950, (2049, 8, 14)),
        ("93-Aug-14", "ymd", 1900, (1993, 8, 14)),
    ],
)
def test_years_of_two_digits(text: str, order: str, century: int, expected: Day) -> None:
    assert parsed(text, dates=order, century=century) == [GameDate(days(*expected), DAY)]
    for config in ({}, {"dates": order}, {"century": century}):
        assert parsed(text, **config) == [GameDate(0, YEAR, "bad date")]
        assert columns(text, **config).odd[TWO_DIGIT_YEAR].all()


@each(
    "text, unit, expected, precision",
    [
        ("1", "month", (2000, 1, 16), MONTH),
        ("14", "month", (2001, 2, 14), MONTH),
        ("1", "year", (2000, 7, 1), YEAR),
        ("3", "year", (2002, 7, 2), YEAR),
        ("2", "quarter", (2000, 5, 16), MONTH),
        ("1", "week", (2000, 1, 6), DAY),
        ("2", "week", (2000, 1, 13), DAY),
        ("366", "day", (2000, 12, 31), DAY),
    ],
)
def test_numbers_of_periods(text: str, unit: Period, expected: Day, precision: int) -> None:
    assert parsed(text, unit=unit) == [GameDate(days(*expected), precision)]
    assert columns(text).odd[NUMBERED_DATE].all()


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
    "texts, unit, reason",
    [
        (["?", ""], "month", "no date"),
        (["1.5", "999999"], "month", "bad date"),
        (["999999"], "week", "bad date"),
        (
            ["1851-1850", "1850.07.01-1850.06.15"],
            None,
            "bad date",
        ),  # a range does not run backwards
        (
            ["", "?", "????.??.??", "18??.??.??", "0000.00.00", "0", "-", "????.06.15"],
            None,
            "no date",
        ),
        (["..", "185?"], None, "no date"),
        (["soon", "58", "12", "1858 or 1859", "99.99.99", "१८५८", *BEYOND], None, "bad date"),
    ],
)
def test_what_is_no_date(texts: list[str], unit: Period | None, reason: str) -> None:
    for text in texts:
        found = parsed(text, unit=unit, dates="number" if unit else "auto")
        if found[0].repaired:
            assert text == "1850.07.01-1850.06.15"
        else:
            assert found == [GameDate(0, YEAR, reason)]


@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 31)),
    st.sampled_from(["{0:04}-{1:02}-{2:02}", "{0:04}.{1}.{2}", "{2}.{1:02}.{0:04}"]),
)
def test_every_day_is_itself_and_a_month_its_middle(day: date, form: str) -> None:
    text = form.format(day.year, day.month, day.day)
    assert parsed(text) == [GameDate((day - date(1970, 1, 1)).days, DAY)]
    middle = parsed(f"{day:%Y-%m}".zfill(7))[0].day
    before = middle - days(day.year, day.month, 1)
    after = days(day.year + day.month // 12, day.month % 12 + 1, 1) - 1 - middle
    assert 0 <= after - before <= 1


@given(st.text(alphabet="0123456789?.-/ x", max_size=14) | st.text(max_size=20))
def test_anything_gives_a_date_or_a_reason(text: str) -> None:
    (found,) = parsed(text)
    assert found.reason in (None, "no date", "bad date")
    if found.reason is None:
        assert found.day == parsed(date.fromordinal(found.day + 719163).isoformat())[0].day
    else:
        assert found == GameDate(0, YEAR, found.reason)


@each(
    "texts, order",
    [
        (["25/02/1921"], "dmy"),
        (["02/25/1921"], "mdy"),
        (["25/02/1921", "02/25/1921"], None),
        (["1921/02/25", "25.02.1921", "31/31/1921", "0/25/1921", "1/25/02/1921"], None),
        (["25/2/1921 20:15"], "dmy"),
        (["3/2/1921-25/2/1921"], "dmy"),
    ],
)
def test_a_day_above_12_tells_the_order(texts: list[str], order: str | None) -> None:
    days_of = {"dmy": days(1921, 4, 3), "mdy": days(1921, 3, 4), None: days(1921, 7, 2)}
    found = columns("03/04/1921", *texts)
    assert (found.day[0], found.unread[0]) == (days_of[order], order is None)
    assert parsed("03/04/21", *texts, dates="mdy")[0] == GameDate(days_of["mdy"], DAY)


def test_a_file_with_both_orders() -> None:
    found = columns("03/04/1921", "25/02/1921", "02/25/1921", "25/02/1921-03/26/1921")
    assert found.odd["day first and month first"].tolist() == [False, False, True, False]
    assert found.day_first == "25/02/1921"


def test_each_separator_may_have_both_orders() -> None:
    slashes = ("25/02/1921", "02/25/1921")
    hyphens = ("26-02-1921", "02-26-1921")
    found = columns("05/06/1921", "05-06-1921", *slashes, *hyphens)
    assert found.unread.tolist() == [True, True, False, False, False, False]
    assert found.odd["day first and month first"].tolist() == [
        False,
        False,
        False,
        True,
        False,
        True,
    ]
    assert found.day_first in ("25/02/1921", "26-02-1921")


def test_each_separator_has_its_order() -> None:
    asked = [f"03{sign}04{sign}1921" for sign in "-/."]
    found = columns(*asked, "1921-04-03", "02-25-1921", "25/02/1921", "01.02.1921", "1921-25-02")
    assert found.day[:4].tolist() == [days(1921, 3, 4), *[days(1921, 4, 3)] * 3]


@each(
    "texts, config, year",
    [
        (["14/08/93"], {"dates": "dmy"}, None),
        (["14/08/93"], {"dates": "auto", "century": 1900}, None),
        (["14/08/93"], {"dates": "dmy", "century": 1900}, 1993),
        (["14/08/93", "1/1/1995", "2005"], {"dates": "dmy"}, 1993),
        (["14/08/03", "1/1/1995", "2005"], {"dates": "dmy"}, 2003),
        (["14/08/93", "1/1/1895", "2005"], {"dates": "dmy"}, None),
        (["14/08/93", "01.01.0005"], {"dates": "dmy"}, None),  # a year out of range
        (["14/08/93", "1/1/0999"], {"dates": "dmy"}, None),
        (["14/08/93", "1/1/3000"], {"dates": "dmy"}, None),
        (["14/08/50", "1/1/1000"], {"dates": "dmy"}, None),  # 950 is out of range
        (["14/08/40", "1/1/1000"], {"dates": "dmy"}, 1040),
        (["14/08/40", "1/1/2999"], {"dates": "dmy"}, None),  # 3040
        (["14/08/60", "1/1/2999"], {"dates": "dmy"}, 2960),
        # years of four digits are in the middle of the hundred: 1950 to 2049
        (["14/08/50", "1/1/1995", "2004"], {"dates": "dmy"}, 1950),
        (["14/08/49", "1/1/1995", "2004"], {"dates": "dmy"}, 2049),
        (["14/08/50", "1/1/1995", "2006"], {"dates": "dmy"}, 2050),
        (["14/08/51", "1/1/1995", "2006"], {"dates": "dmy"}, 1951),
        # within the same hundred years, or not
        (["14/08/00", "1/1/1900", "1999"], {"dates": "dmy"}, 1900),
        (["14/08/99", "1/1/1900", "1999"], {"dates": "dmy"}, 1999),
        (["14/08/00", "1/1/1900", "2000"], {"dates": "dmy"}, None),
        # what is configured counts
        (["14/08/49", "1/1/1995", "2005"], {"dates": "dmy", "century": 1900}, 1949),
    ],
)
def test_the_century_of_two_digits(
    texts: list[str], config: dict[str, object], year: int | None
) -> None:
    expected = GameDate(days(year, 8, 14), DAY) if year else GameDate(0, YEAR, "bad date")
    assert parsed(*texts, **config)[0] == expected


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
    assert columns(*texts, unit=unit, **config).unit == expected
