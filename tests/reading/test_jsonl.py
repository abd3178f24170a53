"""Files of JSON objects as records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.batches import rows_of
from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import delimited, jsonl, reports, text
from ttt_cli.reading.batches import Note, Table
from ttt_cli.reading.jsonl import Object, as_text, one_after_the_other, one_per_line, read_jsonl
from ttt_cli.reading.reports import position_text
from ttt_cli.reading.unpacking import DamagedInputError
from ttt_cli.support.errors import ConfigError, DataError

GAME = (
    '{"date": "1858.06.??", "white": "Morphy", "black": "Löwenthal", "result": "1-0", "round": 3}\n'
)
OTHER = '{"black": "A, B", "white": "C\\"D\\"", "date": 1859, "result": 0.5, "weight": 2.5}\n'


def opened(content: str, cuts: tuple[int, ...] = (), **config: object) -> Table:
    data = content.encode()
    blocks = (data[a:b] for a, b in pairwise([0, *cuts, len(data)]))
    return read_jsonl(blocks, DataConfig(**config), "games.jsonl")  # type: ignore[arg-type]


def test_lines() -> None:
    table = opened(GAME + "\n" + OTHER + "{broken\n" + GAME.strip(), (300,))
    rows, rejects, _ = rows_of(table)
    assert rows == [
        (1, "1858.06.??", "Morphy", "Löwenthal", "1-0", "3", ""),
        (3, "1859", 'C"D"', "A, B", "0.5", "", "2.5"),
        (5, "1858.06.??", "Morphy", "Löwenthal", "1-0", "3", ""),
    ]
    assert [(note.line, note.detail) for note in rejects] == [(4, "not JSON: {broken")]


def test_an_array_is_read_like_lines() -> None:
    games = [json.loads(line) for line in (GAME, OTHER, GAME)]
    expected = [row[1:] for row in rows_of(opened(GAME + OTHER + GAME))[0]]
    for indent, lines in (
        (None, [1, 1 + 2 * reports.LINES, 1 + 3 * reports.LINES]),
        (1, [2, 9, 16]),
    ):
        content = json.dumps(games, indent=indent)
        rows, *_ = rows_of(opened(content, (40, 90)))
        assert [row[0] for row in rows] == lines
        assert [row[1:] for row in rows] == expected


def test_keys_are_mapped_like_headers() -> None:
    content = '{"When": 1858, "Winner": "A", "Loser": "B", "points": 1}\n' * 2
    columns = {"date": "When", "white": "winner", "black": "Loser", "result": "points"}
    assert rows_of(opened(content, columns=columns))[0][0] == (1, "1858", "A", "B", "1")
    with pytest.raises(ConfigError, match="there is no column 'Whn'"):
        opened(content, columns=columns | {"date": "Whn"})
    with pytest.raises(DataError, match="no column for date among white, black, result"):
        opened('{"white": "A", "black": "B", "result": 1}\n')
    with pytest.raises(DataError, match=r"games\.jsonl: holds no JSON objects"):
        opened("[1, 2]\n")
    rows, *_ = rows_of(opened(GAME.replace('"round"', '"x"') * 50 + GAME))  # a key that comes late
    assert [row[-1] for row in rows] == [""] * 50 + ["3"]


def test_lines_are_read_before_damage() -> None:
    assert [row[0] for row in rows_of(opened(GAME * 5, (30, 110, 250)))[0]] == [1, 2, 3, 4, 5]

    def cut_short() -> Iterator[bytes]:
        yield (GAME + GAME[:20]).encode()
        raise DamagedInputError("cut short")

    batches = read_jsonl(cut_short(), DataConfig(), "x").batches
    assert list(next(batches).lines) == [1]
    with pytest.raises(DamagedInputError):
        list(batches)


def test_a_line_too_long_is_rejected_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "MAX_LINE", 1000)
    monkeypatch.setattr(text, "BLOCK", 500)
    content = GAME + GAME.replace("Morphy", "M" * 2000) + GAME
    found, rejects, _ = rows_of(opened(content))
    assert [row[0] for row in found] == [1, 3]
    assert [(note.line, note.reason) for note in rejects] == [(2, "too long")]


def lined(content: str) -> tuple[list[tuple[int, Object]], list[Note]]:
    places, found, rejects = one_per_line(1, content.split("\n"))
    return list(zip(places, found, strict=True)), rejects


def streamed(
    content: str, cuts: list[int] | None = None
) -> tuple[list[tuple[int, Object]], list[Note]]:
    data = content.encode()
    ends = [0, *sorted(cuts or []), len(data)]
    pieces = list(one_after_the_other((data[a:b] for a, b in pairwise(ends)), "x"))
    found = [
        record for piece in pieces for record in zip(piece.positions, piece.values, strict=True)
    ]
    return found, [note for piece in pieces for note in piece.rejects]


@each("line", ['{"a": 1', "a,b", "[1]", '"x"', '{"a": 1} {"b": 2}', "{'a': 1}", "1", "[" * 100_000])
def test_a_line_that_is_no_object_costs_one_row(line: str) -> None:
    found, rejects = lined('{"a": 1}\n' + line + '\n \n{"b": "L\udcf6"}')
    assert found == [(1, {"a": 1}), (4, {"b": "L\udcf6"})]
    assert [(note.line, note.reason, note.action) for note in rejects] == [
        (2, "bad row", "dropped")
    ]
    assert line[:80] in rejects[0].detail


@each(
    "written, text",
    [
        *[
            ('"x"', "x"),
            ("null", ""),
            ("true", "true"),
            ("18580615", "18580615"),
            ("0.50", "0.5"),
            ("1.0", "1.0"),
        ],
        *[("-1", "-1"), ("NaN", "NaN"), ("1e999", "1e999"), ('"1.50"', "1.50"), ('"\\u00e9"', "é")],
        *[('"a\\u0000b"', "ab"), ('"\\ud800x"', "\ufffdx"), ('"\\ud83d\\ude00"', "😀")],
        ('{"a": ["é", 1]}', '{"a":["é",1]}'),
    ],
)
def test_values_as_texts(written: str, text: str) -> None:
    assert as_text(lined(f'{{"a": {written}}}')[0][0][1]["a"]) == text


PRETTY = '[\n  {\n    "white": "Ä [1], {",\n    "n": 12.5\n  },\n  {"white": "B"}, {"c": []},\n 7, {\n}\n]\n'


def test_an_array_over_many_lines() -> None:
    found, rejects = streamed(PRETTY)
    assert [position_text("x", place) for place, _ in found] == [
        "x:2",
        "x:6",
        "x:6 record 3",
        "x:7 record 5",
    ]
    assert [one for _, one in found] == [
        one for one in json.loads(PRETTY, parse_float=str) if one != 7
    ]
    assert [(position_text("x", note.line), note.detail) for note in rejects] == [
        ("x:7 record 4", "not an object: 7")
    ]
    assert streamed('{\n"a": 1}\n{"b":\n2}{}')[0] == [(1, {"a": 1}), (3, {"b": 2}), (4, {})]


@given(st.lists(st.integers(1, len(PRETTY.encode()) - 1), max_size=8))
def test_blocks_may_be_cut_anywhere(cuts: list[int]) -> None:
    assert streamed(PRETTY, cuts) == streamed(PRETTY)


@each(
    "content, message",
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
    monkeypatch.setattr(jsonl, "VALUE_LIMIT", 1000)
    blocks = iter([b'[{"a": "', *[b"x" * 600] * 3])
    with pytest.raises(DataError, match="x:1: not JSON"):
        list(one_after_the_other(blocks, "x"))
