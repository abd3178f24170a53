"""The steps from collected records to games, one by one: who is who, spans of years, filters, the account."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.collected import collected_of, game
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games import assemble
from ttt_cli.games.assemble import (
    YearSpan,
    account,
    find_shared,
    find_spans,
    load_records,
    select_records,
)
from ttt_cli.games.collect import Collected, Collector
from ttt_cli.reading.batches import FileRecords, text_table
from ttt_cli.reading.reports import DROP_REASONS
from ttt_cli.storage import ArrayFiles

ROWS = [
    game("Paul Morphy", "Anderssen", date="1858.01.01"),
    game("Morphy, Paul", "Paul Morphy", date="1858.01.02"),
    game("Anderssen", "Harrwitz", "*"),
    game("Anderssen", "Harrwitz", date="1848"),
]
DATA = DataConfig(filter=FilterConfig(years="1850-"))


def test_names_are_united_before_filters_are_applied() -> None:
    collected = collected_of(ROWS, data=DATA)
    shared = find_shared(collected)
    assert shared.identified.players == ("Anderssen", "Harrwitz", "Morphy, Paul")
    records = load_records(collected, shared, None).records
    assert [records.players[player] for player in records.white.tolist()] == [
        *("Morphy, Paul", "Morphy, Paul", "Anderssen", "Anderssen")
    ]
    assert [code and DROP_REASONS[code - 1] for code in records.reject_code.tolist()] == [
        0,
        0,
        "no result",
        0,
    ]


def test_a_selection_counts_what_it_drops_and_nothing_that_was_rejected_before() -> None:
    collected = collected_of(ROWS, data=DATA)
    selection = select_records(collected, find_shared(collected), None)
    counts = dict(zip(DROP_REASONS, selection.dropped[0].tolist(), strict=True))
    assert {reason: count for reason, count in counts.items() if count} == {
        "same player twice": 1,
        "other years": 1,
    }
    (problem,) = selection.same_player
    assert (problem.line, problem.detail) == (2, "1858.01.02: Morphy, Paul - Paul Morphy 1-0")
    report = account(
        collected, selection.dropped, selection.noticed, selection.same_player, people=None
    )
    assert report.files[0].dropped == {"same player twice": 1, "no result": 1, "other years": 1}
    assert (report.files[0].rows, report.files[0].used) == (4, 1)
    assert [problem.line for problem in report.problems] == [2, 3]


def in_files(folder: ArrayFiles, *years: int) -> Collected:
    collector = Collector(storage=folder)
    columns = {
        "dates": [str(year) for year in years],
        "whites": ["A"] * len(years),
        "blacks": ["B"] * len(years),
        "results": ["1-0"] * len(years),
    }
    table = text_table(range(1, len(years) + 1), columns)
    collector.add(FileRecords("a.csv", table), "csv", digest="", size=0)
    return collector.collected()


def test_spans_have_as_many_records_as_are_looked_at_at_once(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected = in_files(ArrayFiles(tmp_path), 1850, 1852, 1851, 1850, 1852, 1852, 1852, 1853)
    monkeypatch.setattr(assemble, "AT_ONCE", 3)
    assert find_spans(collected) == [
        YearSpan(1850, 1851),
        YearSpan(1852, 1852),
        YearSpan(1853, 1853),
    ]
    shared = find_shared(collected)
    lines = [
        load_records(collected, shared, span).records.line.tolist()
        for span in find_spans(collected)
    ]
    assert lines == [[1, 4, 3], [2, 5, 6, 7], [8]]
    assert find_spans(replace(collected, by_year=False)) == [None]


def test_columns_are_taken_out_when_all_records_are_loaded() -> None:
    collected = collected_of(ROWS, data=DATA)
    records = load_records(collected, find_shared(collected), None).records
    assert len(records) == len(ROWS)
    assert "date" not in collected.files[0].columns
    assert np.all(records.weight == 1.0)
    assert records.weight.strides == (0,)
