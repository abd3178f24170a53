"""Nothing is lost: rows in are rows used and rows dropped by reason, in every form of table, and the same in each."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.collected import reasons
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_records
from ttt_cli.games.table import Records, games_of
from ttt_cli.support.errors import DataError

CELLS = {
    "date": ("1858", "1858.06.??", "1858-02-30", "?", "", "soon"),
    "white": ("Morphy, Paul", "Paul Morphy", "Löwenthal", "NN", "?", ""),
    "black": ("Anderssen", "A, B", "Morphy, Paul", "A/B"),
    "result": ("1-0", "0-1", "½-½", "*", "", "1", "+-", "won?"),
    "weight": ("1", "2", "0.5", "0", "-1", "x"),
    "status": ("", "casual", "soft", "mate", "Resign", "formal"),
    "odds": ("", "knight", "pawn and move", "2.10", "1.5", "?", "none", "0"),
    "games": ("", "", "3", "2.5", "0"),
    "score": ("", "1.5", "2", "7"),
}
FIRST = ("date", "white", "black", "result")
FURTHER = st.lists(st.sampled_from(sorted(set(CELLS) - set(FIRST))), unique=True)
Row = tuple[str, ...]


def rows_under(columns: Sequence[str]) -> st.SearchStrategy[list[Row]]:
    cells = [st.sampled_from(CELLS[column]) for column in columns]
    return st.lists(st.tuples(*cells), min_size=1, max_size=12)


def delimited(columns: Sequence[str], rows: Sequence[Row], delimiter: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([columns, *rows])
    return text.getvalue().encode()


def objects(columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "\n".join(lines).encode()


def read(content: bytes, data: DataConfig) -> Records:
    def unusable(error: DataError) -> None:
        assert "can be used" in error.message

    return read_records([io.BytesIO(content)], data, on_unusable=unusable)


@pytest.mark.slow
@examples(20)
@given(
    FURTHER.flatmap(lambda further: st.tuples(st.just((*FIRST, *further)), rows_under((*FIRST, *further))))
)
def test_every_row_has_its_fate(table: tuple[Sequence[str], list[Row]]) -> None:
    columns, rows = table
    data = DataConfig(status={"soft": 0.0})
    found = [
        read(delimited(columns, rows, ","), data),
        read(delimited(columns, rows, "\t"), data),
        read(objects(columns, rows), data),
    ]
    for records in found:
        (file,) = records.files
        fates = Counter(reasons(records))
        assert file.rows == len(records) == len(rows)
        assert file.used == fates.pop(None, 0)
        assert file.dropped == fates
        told = [p.line for p in records.problems if p.action == "dropped"]
        assert told == records.line[~records.used].tolist()
        games = games_of(records)
        assert set(games.source_line.tolist()) == set(records.line[records.used].tolist())
    assert reasons(found[0]) == reasons(found[1]) == reasons(found[2])
    said = [[(p.reason, p.detail, p.action) for p in records.problems] for records in found]
    assert said[0] == said[1] == said[2]


def test_a_player_against_himself_is_told_once_names_are_united() -> None:
    rows = [
        ("1858", "Morphy, Paul", "A", "1-0"),
        ("1859", "Paul Morphy", "Morphy, Paul", "1-0"),
        ("?", "A", "B", ""),
    ]
    records = read(delimited(FIRST, rows, ","), DataConfig())
    assert [(p.line, p.reason, p.detail) for p in records.problems] == [
        (3, "same player twice", "1859: Paul Morphy - Morphy, Paul 1-0"),
        (4, "no date", "?: A - B"),
    ]
    with pytest.raises(DataError, match="same player twice"):
        read(delimited(FIRST, rows[:2], ","), DataConfig(strict=True))
