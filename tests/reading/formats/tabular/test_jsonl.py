"""Files of JSON objects as records; what is cut by pyarrow is what the standard library says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import ConfigError, DataError
from ttt_cli.reading import reports
from ttt_cli.reading.batches import Batch, Note, Table
from ttt_cli.reading.formats.tabular import arrow, json_objects, object_lines
from ttt_cli.reading.formats.tabular import lines as table_lines
from ttt_cli.reading.formats.tabular.json_objects import one_per_line
from ttt_cli.reading.formats.tabular.jsonl import as_batch, read_jsonl
from ttt_cli.reading.formats.tabular.layout import Layout
from ttt_cli.reading.formats.tabular.lines import Lines
from ttt_cli.reading.formats.tabular.object_lines import ObjectReader, read_object_lines
from ttt_cli.reading.streams import DamagedInputError
from ttt_cli.reading.text import text_of

GAME = '{"date": "1858.06.??", "white": "Morphy", "black": "Löwenthal", "result": "1-0", "round": 3}\n'
OTHER = '{"black": "A, B", "white": "C\\"D\\"", "date": 1859, "result": 0.5, "weight": 2.5}\n'
KEYS = ["date", "white", "black", "result", "year", "event"]
LAYOUT = Layout(6, True, (4, 0), 1, 2, (3,), "text", None, None, {"event": 5})
Rows = list[tuple[object, ...]]

LINES = (
    *(
        GAME[:-1],
        OTHER[:-1],
        "",
        "{}",
        "[1]",
        "null",
        "x",
        " ",
        '{"white": "A"',
        '{"white": "A"} {"white": "B"}',
    ),
    *(
        '{"white": "A", "white": "B"}',
        '{"white": "A",}',
        '{"event": {"a": [1, "b"]}, "white": true}',
        '\t{"year": 7}',
    ),
    *(
        '{"white": NaN, "black": -0.0}',
        '{"white": 1e22, "black": 1E999, "date": 12345678901234567890}',
        '{"White": 1}',
    ),
    *(
        '{"white": "\\u00e9\\n\\u0000"}',
        '{"white": "\\ud800"}',
        '{"white": "\udce9"}',
        '\ufeff{"white": 1}',
        "\x0b",
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _few_lines_are_cut_too() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(object_lines, "ALIKE", 1)
        yield


def rows_of(*batches: Batch) -> tuple[Rows, list[Note]]:
    rows: Rows = []
    for batch in batches:
        columns = [batch.dates, batch.whites, batch.blacks, batch.results, *batch.further.values()]
        rows += zip(map(int, batch.lines), *(map(plain, column) for column in columns), strict=True)
    return rows, [note for batch in batches for note in batch.rejects]


def plain(value: object) -> object:
    return tuple(map(text_of, value)) if isinstance(value, tuple) else text_of(value)


def opened(content: str, large: int = 1 << 20, cuts: tuple[int, ...] = (), **config: object) -> Table:
    data = content.encode()
    blocks = (data[a:b] for a, b in pairwise([0, *cuts, len(data)]))
    return read_jsonl(blocks, DataConfig(**config), "games.jsonl", large)  # type: ignore[arg-type]


@pytest.mark.parametrize("large", [1, 1 << 20])
def test_lines(large: int) -> None:
    table = opened(GAME + "\n" + OTHER + "{broken\n" + GAME.strip(), large, (300,))
    batches = list(table.batches)
    rows, rejects = rows_of(*batches)
    assert rows == [
        (1, "1858.06.??", "Morphy", "Löwenthal", "1-0", "3"),
        (3, "1859", 'C"D"', "A, B", "0.5", ""),
        (5, "1858.06.??", "Morphy", "Löwenthal", "1-0", "3"),
    ]
    assert [weight for batch in batches for weight in map(text_of, batch.weights or ())] == ["", "2.5", ""]
    assert [(note.line, note.detail) for note in rejects] == [(4, "not JSON: {broken")]


def test_an_array_is_read_like_lines() -> None:
    games = [json.loads(line) for line in (GAME, OTHER, GAME)]
    expected = [row[1:] for row in rows_of(*opened(GAME + OTHER + GAME).batches)[0]]
    for indent, lines in ((None, [1, 1 + 2 * reports.LINES, 1 + 3 * reports.LINES]), (1, [2, 9, 16])):
        content = json.dumps(games, indent=indent)
        for large in (1, 1 << 20):
            rows, _ = rows_of(*opened(content, large, (40, 90)).batches)
            assert [row[0] for row in rows] == lines
            assert [row[1:] for row in rows] == expected


def test_lines_of_several_forms_keep_their_order() -> None:
    """With equally many quotes, and none that is read by itself; most are of the form that comes second."""
    forms = ('{"date": "1858", "white": "%d", "black": "B", "result": 1}',
             '{"result": 1, "date": "1858", "white": "%d", "black": "B"}')  # fmt: skip
    content = "\n".join(forms[number % 3 > 0] % number for number in range(1, 100)) + "\n"
    for large in (1, 1 << 20):
        rows, _ = rows_of(*opened(content, large).batches)
        assert [(row[0], row[2]) for row in rows] == [(number, str(number)) for number in range(1, 100)]


def test_keys_are_mapped_like_headers() -> None:
    content = '{"When": 1858, "Winner": "A", "Loser": "B", "points": 1}\n' * 2
    columns = {"date": "When", "white": "winner", "black": "Loser", "result": "points"}
    assert rows_of(*opened(content, columns=columns).batches)[0][0] == (1, "1858", "A", "B", "1")
    with pytest.raises(ConfigError, match="there is no column 'Whn'"):
        opened(content, columns=columns | {"date": "Whn"})
    with pytest.raises(DataError, match="no column for date among white, black, result"):
        opened('{"white": "A", "black": "B", "result": 1}\n')


def test_a_key_that_comes_late_is_a_column() -> None:
    rows, _ = rows_of(*opened(GAME.replace('"round"', '"x"') * 50 + GAME).batches)
    assert [row[-1] for row in rows] == [""] * 50 + ["3"]


def test_no_objects_at_all() -> None:
    with pytest.raises(DataError, match="holds no JSON objects") as caught:
        opened("[1, 2]\n")
    assert caught.value.where == "games.jsonl"


def both(content: str | bytes, cuts: Sequence[int] = ()) -> int:
    """Lines left to the standard library, after both readers have said the same."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    ends = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    blocks = [data[a:b] for a, b in pairwise(ends) if a < b]
    expected = as_batch(one_per_line(data.split(b"\n"), 1), KEYS, LAYOUT)
    assert rows_of(*read_object_lines(iter(blocks), KEYS, LAYOUT)) == rows_of(expected)
    reader = ObjectReader(KEYS, LAYOUT)
    list(reader.feed(Lines(data)))
    return reader.slow


def test_pyarrow_says_what_the_standard_library_says() -> None:
    chance = random.Random(1858)
    for lines in [[line] for line in LINES] + [chance.choices(LINES, k=8) for _ in range(20)]:
        both("\n".join([GAME, *lines, ""]), [chance.randrange(500) for _ in range(3)])


@pytest.mark.parametrize(
    "line",
    [
        *('{"date":"1858","white":"A"}', '\t{ "white" :\t"A" , "black":"Löwen thal" } \t', ""),
        *('{"date":1858,"result":0.5}', '{"result":-1,"date":-0.0}', '{"result":0.0001,"white":10.25}'),
        *('{"white":true,"black":false,"event":null}', '{"white":"A","white":"B","Black":"C"}'),
        *('{"white":"L\udcf6wenthal"}', '{"event":"[x] {y}, : ","other":"z"}', '{"":1}'),
        *('{"date":-0}', '{"date":1.50}', '{"date":0.00001}', '{"date":123456789012}', '{"date":1e3}'),
        *('{"date":NaN}', '{"date":-Infinity}', '{"date":1E999}'),
    ],
)
def test_what_pyarrow_reads(line: str) -> None:
    assert both(f"{GAME}{line}\n{GAME}") == 0
    assert both(f"{GAME}{line}") == 0


@pytest.mark.parametrize(
    "line",
    [
        *('{"white":"A\\n"}', '{"wh\\u0069te":"A"}', '{"event":{}}', '{"event":[1]}', " ", "{}", "{ }"),
        *('{"date":01}', '{"date":1.}', '{"date":.5}', '{"date":+1}', '{"date":nul}', '{"date":truex}'),
        *('{"date":1 2}', '{"date":}', '{"date":1,"white"}', '\ufeff{"date":1}', '{"date"::1}', '{"a":1}}'),
        *('{"white":"A",}', '{"white":"A"', '{"white" "A"}', '{"white":"A"}}', '{"white":"A"},', "[]", "{,}"),
        *('{"white":"A" "black":"B"}', '{white:"A"}', '{"white":}', '{"white"}', '{"', '{"white":"A'),
    ],
)
def test_what_it_leaves_to_the_standard_library(line: str) -> None:
    assert both(f"{GAME}{line}\n{GAME}") == 1
    assert both(f"{GAME}{line}") == 1


NUMBERS = st.from_regex(r"-?\d{0,13}(\.\d{0,6})?(e-?\d)?", fullmatch=True)
VALUES = (
    NUMBERS | st.text('A" \\n\u00e9\udce9{},:', max_size=4).map(lambda text: f'"{text}"') | st.just("null")
)
PAIRS = st.tuples(st.sampled_from([*KEYS, "x", "whites", "whit", ""]), VALUES)
OBJECTS = st.lists(PAIRS.map(lambda pair: f'"{pair[0]}": {pair[1]}'), max_size=5).map(", ".join)


@settings(max_examples=40)
@given(st.lists(OBJECTS.map(lambda text: f"{{{text}}}") | st.sampled_from(LINES), max_size=6), st.integers(0))
def test_equal_on_any_lines(lines: list[str], cut: int) -> None:
    both("\n".join(lines), [cut, cut // 7])


def test_keys_that_need_escapes_are_found() -> None:
    keys = ["date", "white", "black", "\ud800", "a\nb", ""]
    content = '{"date":1,"white":"A","black":"B","\\ud800":"1-0","a\\nb":"x","":"y"}\n{"":"z","a\nb":"w"}\n'
    data = content.encode()
    expected = as_batch(one_per_line(data.split(b"\n"), 1), keys, LAYOUT)
    assert rows_of(*read_object_lines(iter([data]), keys, LAYOUT)) == rows_of(expected)


def test_a_quote_in_a_key_is_no_key_that_ends_there() -> None:
    keys = ["date", "white", "black", "result", 'a"b', "event"]
    data = b'{"date":1,"white":"A","black":"B","result":"1-0","a"b":"x"}\n{"a\\"b":"y"}\n'
    expected = as_batch(one_per_line(data.split(b"\n"), 1), keys, LAYOUT)
    assert rows_of(*read_object_lines(iter([data]), keys, LAYOUT)) == rows_of(expected)


def test_equal_lines_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of nothing but `{}` took a second for each 100,000 of its lines."""
    calls = []
    monkeypatch.setattr(
        object_lines, "object_in", lambda text: calls.append(text) or json_objects.object_in(text)
    )
    rows, rejects = rows_of(*read_object_lines(iter([GAME.encode() + b"{}\nx\n \n" * 1000]), KEYS, LAYOUT))
    assert [row[0] for row in rows] == [1, *range(2, 3002, 3)]
    assert [note[:2] for note in rejects] == [(line, "bad row") for line in range(3, 3002, 3)]
    assert sorted(calls) == ["x", "{}"]


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "BLOCK", 1000)
    assert both((GAME + OTHER) * 50, range(0, 9000, 77)) == 50


def test_lines_are_read_before_damage() -> None:
    assert [row[0] for row in rows_of(*opened(GAME * 5, 1, (30, 110, 250)).batches)[0]] == [1, 2, 3, 4, 5]

    def cut_short() -> Iterator[bytes]:
        yield (GAME + GAME[:20]).encode()
        raise DamagedInputError("cut short")

    for large in (1, 1 << 20):
        batches = read_jsonl(cut_short(), DataConfig(), "x", large).batches
        assert [row[0] for row in rows_of(next(batches))[0]] == [1]
        with pytest.raises(DamagedInputError):
            list(batches)


def test_a_line_too_long_is_rejected_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_lines, "LINE_LIMIT", 1000)
    monkeypatch.setattr(table_lines, "BLOCK", 500)
    content = GAME + GAME.replace("Morphy", "M" * 2000) + GAME
    for large in (1, 1 << 20):
        found, rejects = rows_of(*opened(content, large).batches)
        assert [row[0] for row in found] == [1, 3]
        assert [(note.line, note.reason) for note in rejects] == [(2, "too long")]
