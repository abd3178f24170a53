"""JSON objects on lines and behind each other, wherever blocks are cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.errors import DataError
from ttt_cli.reading.batches import Note
from ttt_cli.reading.formats.tabular import json_objects
from ttt_cli.reading.formats.tabular.json_objects import Object, as_text, one_after_the_other, one_per_line
from ttt_cli.reading.reports import place_text


def lined(content: str) -> tuple[list[tuple[int, Object]], list[Note]]:
    return one_per_line(content.encode("utf-8", "surrogateescape").split(b"\n"), 1)


def streamed(content: str, cuts: list[int] | None = None) -> tuple[list[tuple[int, Object]], list[Note]]:
    data = content.encode()
    ends = [0, *sorted(cuts or []), len(data)]
    pieces = list(one_after_the_other((data[a:b] for a, b in pairwise(ends)), "x"))
    return [one for piece in pieces for one in piece.found], [
        note for piece in pieces for note in piece.rejects
    ]


def test_one_per_line() -> None:
    found, rejects = lined('{"a": 1}\n\n  \n {"b": "é\\n"} \n{}')
    assert found == [(1, {"a": 1}), (4, {"b": "é\n"}), (5, {})]
    assert rejects == []


@pytest.mark.parametrize(
    "line", ['{"a": 1', "a,b", "[1]", '"x"', '{"a": 1} {"b": 2}', "{'a': 1}", "1", "[" * 100_000]
)
def test_a_line_that_is_no_object_costs_one_row(line: str) -> None:
    found, rejects = lined('{"a": 1}\n' + line + '\n{"b": 2}')
    assert found == [(1, {"a": 1}), (3, {"b": 2})]
    assert [(note.line, note.reason, note.action) for note in rejects] == [(2, "bad row", "dropped")]
    assert line[:80] in rejects[0].detail


def test_a_comma_too_many_and_a_key_given_twice() -> None:
    assert lined('{"a": [1,], "b": 2 , }\n{"a": 1, "a": 2}')[0] == [(1, {"a": [1], "b": 2}), (2, {"a": 1})]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        *[('"x"', "x"), ("null", ""), ("true", "true"), ("false", "false"), ("18580615", "18580615")],
        *[
            ("0.50", "0.5"),
            ("1.0", "1.0"),
            ("-1", "-1"),
            ("NaN", "NaN"),
            ("1e999", "1e999"),
            ('"1.50"', "1.50"),
        ],
        *[('"\\u00e9"', "é"), ('"a\\u0000b"', "ab"), ('"\\ud800x"', "\ufffdx"), ('"\\ud83d\\ude00"', "😀")],
        ('{"a": ["é", 1]}', '{"a":["é",1]}'),
    ],
)
def test_values_as_texts(written: str, text: str) -> None:
    assert as_text(lined(f'{{"a": {written}}}')[0][0][1]["a"]) == text


def test_bytes_that_are_not_utf8_are_kept_for_decoding() -> None:
    assert lined('{"a": "L\udcf6wenthal"}')[0] == [(1, {"a": "L\udcf6wenthal"})]


PRETTY = '[\n  {\n    "white": "Ä [1], {",\n    "n": 12.5\n  },\n  {"white": "B"}, {"c": []},\n 7, {\n}\n]\n'


def test_an_array_over_many_lines() -> None:
    found, rejects = streamed(PRETTY)
    assert [place_text("x", place) for place, _ in found] == ["x:2", "x:6", "x:6 record 3", "x:7 record 5"]
    assert [one for _, one in found] == [one for one in json.loads(PRETTY, parse_float=str) if one != 7]
    assert [(place_text("x", note.line), note.detail) for note in rejects] == [
        ("x:7 record 4", "not an object: 7")
    ]


@given(st.lists(st.integers(1, len(PRETTY.encode()) - 1), max_size=8))
def test_blocks_may_be_cut_anywhere(cuts: list[int]) -> None:
    assert streamed(PRETTY, cuts) == streamed(PRETTY)


def test_objects_behind_each_other() -> None:
    assert streamed('{\n"a": 1}\n{"b":\n2}{}')[0] == [(1, {"a": 1}), (3, {"b": 2}), (4, {})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1},\n{"b": 2}\n', "x:3: the array does not end"),
        ('[{"a": 1},\n{"b": \n', 'x:2: not JSON: {"b": '),
        ('[{"a": 1},\n\nx, {"b": 1}]', "x:3: not JSON: x, "),
        ('[{"a": 1}, {"b": 1}, x]', "x:1 record 3: not JSON: x]"),
    ],
)
def test_a_damaged_array_is_an_error(content: str, message: str) -> None:
    with pytest.raises(DataError, match=r"array|JSON") as caught:
        streamed(content)
    assert message in str(caught.value)


def test_an_object_without_end_is_noticed_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_objects, "VALUE_LIMIT", 1000)
    blocks = iter([b'[{"a": "', *[b"x" * 600] * 3])
    with pytest.raises(DataError, match="x:1: not JSON"):
        list(one_after_the_other(blocks, "x"))
