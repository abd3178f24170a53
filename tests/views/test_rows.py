import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.views.rows import Rows, with_years, write_parquet, write_text

AWKWARD = [
    'Smith, "Jim"',
    "tab\there",
    "line\nbreak",
    "back\\slash",
    "Müller",
    " blank ",
    "",
    "名前",
]


def text(rows: Rows, fmt: str) -> str:
    stream = io.StringIO()
    write_text(rows, fmt, stream)
    return stream.getvalue()


@pytest.mark.parametrize("fmt", ["csv", "tsv", "json", "jsonl"])
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_every_digit(fmt: str, value: float) -> None:
    written = text(Rows(("x",), [(value,)]), fmt)
    if fmt in ("csv", "tsv"):
        back = float(written.splitlines()[1])
    else:
        read: Any = json.loads(written)
        back = (read[0] if fmt == "json" else read)["x"]
    assert back == value


def test_tsv_has_one_line_per_row_and_one_tab_per_gap() -> None:
    lines = text(Rows(("player", "mean"), [(name, 1) for name in AWKWARD]), "tsv").split("\n")
    assert lines[-1] == ""
    assert len(lines) == len(AWKWARD) + 2
    assert [line.count("\t") for line in lines[:-1]] == [1] * (len(AWKWARD) + 1)
    assert lines[2:5] == ["tab here\t1", "line break\t1", "back\\slash\t1"]


def test_missing_values_and_booleans() -> None:
    rows = Rows(("a", "b", "c"), [(None, True, False)])
    assert text(rows, "csv") == "a,b,c\n,true,false\n"
    assert text(rows, "tsv") == "a\tb\tc\n\ttrue\tfalse\n"
    assert json.loads(text(rows, "json")) == [{"a": None, "b": True, "c": False}]
    no_numbers = Rows(("a", "b", "c"), [(math.nan, math.inf, -math.inf)])
    assert json.loads(text(no_numbers, "json")) == [{"a": None, "b": None, "c": None}]


def test_awkward_names_come_back() -> None:
    rows = Rows(("player", "games"), [(name, 2) for name in AWKWARD])
    objects = [{"player": name, "games": 2} for name in AWKWARD]
    assert json.loads(text(rows, "json")) == objects
    assert [json.loads(line) for line in text(rows, "jsonl").splitlines()] == objects
    in_csv = csv.DictReader(io.StringIO(text(rows, "csv"), newline=""))
    assert [{**row, "games": int(row["games"])} for row in in_csv] == objects
    nobody = Rows(("player",), [])
    assert (json.loads(text(nobody, "json")), text(nobody, "jsonl")) == ([], "")


def test_a_report_is_one_object() -> None:
    rows = Rows(("log_evidence", "games"), [(-1.25, 7)], single=True)
    assert json.loads(text(rows, "json")) == {"log_evidence": -1.25, "games": 7}
    assert text(rows, "csv") == "log_evidence,games\n-1.25,7\n"


def test_json_is_ascii_where_the_stream_is() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write_text(Rows(("player",), [("Müller",)]), "json", stream)
    stream.flush()
    assert json.loads(raw.getvalue().decode("ascii")) == [{"player": "Müller"}]


def test_parquet_keeps_types_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    rows = [("Müller", 1, 0.1, True, None, 2), ('q"', None, 2.5, False, None, 2.5)]
    write_parquet(Rows(("player", "games", 'm"ean', "ok", "none", "mixed"), rows), path)
    with duckdb.connect() as database:
        result = database.execute("SELECT * FROM read_parquet(?)", [str(path)])
        columns = [(name, str(kind)) for name, kind, *_ in result.description or ()]
        assert result.fetchall() == rows
    assert [name for name, _ in columns] == ["player", "games", 'm"ean', "ok", "none", "mixed"]


@pytest.mark.parametrize(("fmt", "between"), [("csv", ","), ("tsv", "\t")])
def test_texts_that_look_like_formulas_are_marked_on_request(fmt: str, between: str) -> None:
    rows = Rows(("player", "mean"), [(name, -1.5) for name in ("=1+1", "+A", "-B", "@C", "D=", "")])
    assert "'" not in text(rows, fmt)
    stream = io.StringIO()
    write_text(rows, fmt, stream, safe=True)
    assert stream.getvalue().splitlines()[1:] == [
        f"{name}{between}-1.5" for name in ("'=1+1", "'+A", "'-B", "'@C", "D=", "")
    ]


def test_json_and_parquet_have_the_year_of_a_period_as_a_number(tmp_path: Path) -> None:
    rows = Rows(
        ("player", "period", "mean"),
        [("a", "1858", 1.0), ("a", "1858-06-21", 2.0), ("b", None, 3.0)],
    )
    assert [*with_years(rows).records()] == [
        {"player": "a", "period": "1858", "year": 1858, "mean": 1.0},
        {"player": "a", "period": "1858-06-21", "year": 1858, "mean": 2.0},
        {"player": "b", "period": None, "year": None, "mean": 3.0},
    ]
    without = Rows(("player",), [("a",)])
    assert with_years(without) is without
