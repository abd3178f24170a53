"""Files of JSON objects as records; the database says what the standard library says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import ConfigError, DataError
from ttt_cli.games.records import Batch, Note
from ttt_cli.games.streams import DamagedInputError
from ttt_cli.games.tabular import jsonl_large
from ttt_cli.games.tabular.columnar import TextColumns, workshop
from ttt_cli.games.tabular.columns import Table
from ttt_cli.games.tabular.json_objects import one_per_line
from ttt_cli.games.tabular.jsonl import as_batch, read_jsonl
from ttt_cli.games.tabular.jsonl_large import PieceReader
from ttt_cli.games.tabular.layout import Layout

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


def rows_of(*batches: Batch) -> tuple[Rows, list[Note]]:
    rows: Rows = []
    for batch in batches:
        columns = [batch.dates, batch.whites, batch.blacks, batch.results, *batch.further.values()]
        rows += zip(map(int, batch.lines), *columns, strict=True)
    return rows, [note for batch in batches for note in batch.rejects]


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
    assert [weight for batch in batches for weight in batch.weights or ()] == ["", "2.5", ""]
    assert [(note.line, note.detail) for note in rejects] == [(4, "not JSON: {broken")]


def test_an_array_is_read_like_lines() -> None:
    games = [json.loads(line) for line in (GAME, OTHER, GAME)]
    expected = [row[1:] for row in rows_of(*opened(GAME + OTHER + GAME).batches)[0]]
    for indent, lines in ((None, [1, 1, 1]), (1, [2, 9, 16])):
        content = json.dumps(games, indent=indent)
        for large in (1, 1 << 20):
            rows, _ = rows_of(*opened(content, large, (40, 90)).batches)
            assert [row[0] for row in rows] == lines
            assert [row[1:] for row in rows] == expected


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


def test_the_database_says_what_the_standard_library_says() -> None:
    chance = random.Random(1858)
    with workshop() as (connection, folder):
        reader = PieceReader(TextColumns(connection), folder / "piece", KEYS, LAYOUT, "x")
        pieces = [[line] for line in LINES] + [chance.choices(LINES, k=8) for _ in range(20)]
        for number, piece in enumerate(pieces, 1):
            data = "\n".join([GAME, *piece, ""]).encode("utf-8", "surrogateescape")
            expected = as_batch(one_per_line(data.split(b"\n"), number), KEYS, LAYOUT)
            assert rows_of(reader.read(data, number)) == rows_of(expected), piece
        assert reader.careful > 0


def test_common_lines_are_read_by_the_database() -> None:
    with workshop() as (connection, folder):
        reader = PieceReader(TextColumns(connection), folder / "piece", KEYS, LAYOUT, "x")
        reader.read((GAME * 50 + "\n" + OTHER + "{}\n").encode(), 1)
        assert reader.careful == 1
        reader.read((GAME + " \n").encode(), 1)  # blanks on an empty line: the whole piece
        assert reader.careful == 3
    assert not folder.exists()


def test_pieces_are_cut_behind_lines_and_read_before_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl_large, "PIECE", 150)
    assert [row[0] for row in rows_of(*opened(GAME * 5, 1, (30, 110, 250)).batches)[0]] == [1, 2, 3, 4, 5]

    def cut_short() -> Iterator[bytes]:
        yield (GAME + GAME[:20]).encode()
        raise DamagedInputError("cut short")

    for large in (1, 1 << 20):
        batches = read_jsonl(cut_short(), DataConfig(), "x", large).batches
        assert [row[0] for row in rows_of(next(batches))[0]] == [1]
        with pytest.raises(DamagedInputError):
            list(batches)
