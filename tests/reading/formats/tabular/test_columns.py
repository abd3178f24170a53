"""Columns put together: rows of text and dictionary-encoded columns make the same records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.reading.column import Column
from ttt_cli.reading.formats.tabular.columns import joined, make_batch
from ttt_cli.reading.formats.tabular.layout import Layout

ROWS = [("1858", "6", "A", "B", "7.5", "10", "", "x"), ("1858", "", "C", "D", "1", "", "1-0", "y")]
WHOLE = {"games": 5, "event": 7}


def batch_of(layout: Layout, rows: Sequence[tuple[str, ...]]) -> list[tuple[object, ...]]:
    columns = dict(enumerate(zip(*rows, strict=True)))
    batch = make_batch(layout, range(len(rows)), columns)
    columns_of = [batch.dates, batch.whites, batch.blacks, batch.results, batch.weights or [None] * len(rows)]
    return list(zip(*columns_of, *batch.further.values(), strict=True))


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (
            Layout(8, True, (0,), 2, 3, (6,), "text"),
            [("1858", "A", "B", "", None), ("1858", "C", "D", "1-0", None)],
        ),
        (
            Layout(8, True, (0, 1), 2, 3, (4, 5), "scores", 4, None, {"event": 7}),
            [
                (("1858", "6"), "A", "B", ("7.5", "10"), "7.5", "x"),
                (("1858", ""), "C", "D", ("1", ""), "1", "y"),
            ],
        ),
        (
            Layout(8, True, (0,), 2, 3, (), "scores", None, 4, WHOLE),
            [
                ("1858", "A", "B", ("7.5", "2.5"), None, "10", "x"),
                ("1858", "C", "D", ("1", "0"), None, "", "y"),
            ],
        ),
        (
            Layout(8, True, (0,), 2, 3, (6,), "text", None, 4, WHOLE),
            [("1858", "A", "B", "7.5-2.5", None, "10", "x"), ("1858", "C", "D", "1-0", None, "", "y")],
        ),
    ],
)
def test_records_of_a_layout(layout: Layout, expected: list[tuple[object, ...]]) -> None:
    assert batch_of(layout, ROWS) == expected


def test_a_date_that_is_missing_is_the_utc_date() -> None:
    layout = Layout(4, True, (0,), 2, 3, (-1,), "text", constants=("1-0",), utc_date=1)
    dates = ["2020.01.02", "", " ", "????.??.??", None, 1858]
    columns = [dates, ["2021.05.06"] * len(dates), ["A"] * len(dates), ["B"] * len(dates)]
    coded = [Column(np.arange(4), [date.encode() for date in dates[:4] if isinstance(date, str)])]
    coded += [Column(np.zeros(4, np.int32), [word]) for word in (b"2021.05.06", b"A", b"B")]
    expected = ["2020.01.02", *["2021.05.06"] * 4, 1858]
    assert make_batch(layout, range(len(dates)), dict(enumerate(columns))).dates == expected
    assert list(make_batch(layout, range(4), dict(enumerate(coded))).dates) == [
        str(date).encode() for date in expected[:4]
    ]


@given(st.lists(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=8), max_size=4))
def test_numbers_are_joined_as_rows_are(batches: list[list[tuple[int, int, int]]]) -> None:
    words = ["", "a", "b", "c"]
    for rows in batches:
        codes = np.array(rows, np.int32).reshape(-1, 3).T
        columns = [Column(column, words) for column in codes]
        for make in (tuple, "-".join):
            for parts in (columns, columns[:2], columns[1:]):
                one = joined(make, parts)  # type: ignore[arg-type]
                assert isinstance(one, Column)
                assert list(one) == [make(row) for row in zip(*parts, strict=True)]  # type: ignore[operator]


def test_each_combination_is_made_once() -> None:
    made = []
    columns = [Column(codes, ["a", "b"]) for codes in (np.zeros(9, np.int32), np.arange(9) % 2)]
    one = joined(made.append, columns)  # type: ignore[arg-type]
    assert made == [("a", "a"), ("a", "b")]
    assert isinstance(one, Column)
    assert one.codes.tolist() == [0, 1] * 4 + [0]
