"""How the dates of a file are written, by what stands in any of them."""

from __future__ import annotations

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.reading.dates import DateForm, DateForms, DateOrder, parse_date


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


def test_each_separator_has_its_order() -> None:
    found = forms(["02-25-1921", "25/02/1921", "01.02.1921", "1921-25-02"])
    assert [found.of(f"03{sign}04{sign}1921") for sign in "-/."] == [
        DateForm("mdy"),
        DateForm("dmy"),
        DateForm(),
    ]
    assert found.of("1921-04-03") is None


def test_what_was_asked_for_counts() -> None:
    form = forms(["25/02/1921"], dates="mdy").of("03/04/1921")
    assert form is not None
    assert form.order == "mdy"


@each(
    "texts, config, century",
    [
        (["14/08/93"], {"dates": "dmy"}, None),
        (["14/08/93"], {"dates": "auto", "century": 1900}, None),
        (["14/08/93"], {"dates": "dmy", "century": 1900}, 1900),
        (["14/08/93", "1/1/1995", "2005"], {"dates": "dmy"}, 1950),
        (["14/08/93", "1/1/1895", "2005"], {"dates": "dmy"}, None),
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


def test_a_year_out_of_range_does_not_set_the_century() -> None:
    texts = ["14/08/93", "01.01.0005"]
    form = forms(texts, dates="dmy").of(texts[0])
    assert form is not None
    assert form.century is None
    assert parse_date(texts[0], form).reason == "bad date"
