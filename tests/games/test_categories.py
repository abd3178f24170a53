"""The category of games: the rule for chess, columns of every format, exceptions by words, and what a run keeps."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.documents import Document
from ttt_cli.config.schema import DataConfig
from ttt_cli.config.validation import validate
from ttt_cli.games.event_sets import control_category
from ttt_cli.games.read import read_games
from ttt_cli.storage import ArrayFiles
from ttt_cli.support.errors import ConfigError
from ttt_cli.views.reading_lines import text_counts

HEADER = ["date", "white", "black", "result", "event", "Surface"]
RECORDS = [
    ["1900-01-01", "Ann", "Bob", "1-0", "Spring Cup", "clay"],
    ["1901-01-01", "Bob", "Cid", "0-1", "Indoor Open", "hard"],
    ["1901-02-01", "Cid", "Ann", "1/2-1/2", "Autumn Cup", "n/a"],
    ["1902-01-01", "Ann", "Cid", "1-0", "Spring Cup", "hard"],
]
BY_COLUMN = DataConfig(category="surface")


def as_csv() -> bytes:
    return "\n".join(",".join(row) for row in [HEADER, *RECORDS]).encode()


def as_jsonl() -> bytes:
    return "\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in RECORDS).encode()


def as_parquet() -> bytes:
    columns = {
        name: list(values) for name, values in zip(HEADER, zip(*RECORDS, strict=True), strict=True)
    }
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def as_pgn(tags: list[dict[str, str]] | None = None) -> bytes:
    games = []
    for index, (date, white, black, result, event, surface) in enumerate(RECORDS):
        written = {
            "Event": event, "Site": "?", "Date": date.replace("-", "."), "Round": "?", "White": white,
            "Black": black, "Result": result, **(tags[index] if tags else {"Surface": surface}),
        }  # fmt: skip
        lines = "\n".join(f'[{tag} "{value}"]' for tag, value in written.items())
        games.append(f"{lines}\n\n1. e4 e5 {result}\n")
    return "\n".join(games).encode()


@each("text, category", [
    ("60+0", "bullet"), ("120+1", "bullet"), ("180+0", "blitz"), ("300+3", "blitz"), ("600", "rapid"),
    ("15+10", "rapid"), ("900+10", "rapid"), ("1800+0", "rapid"), ("3600", "classical"), ("90+30", "classical"),
    ("40/7200:3600", "classical"), ("1/86400", "correspondence"), ("1/259200", "correspondence"), ("*180", "blitz"),
    ("Bullet", "bullet"), ("UltraBullet", "bullet"), ("Blitz", "blitz"), ("Rapid", "rapid"), ("Classical", "classical"),
    ("daily", "correspondence"), ("", None), ("-", None), ("?", None),
])  # fmt: skip
def test_time_controls(text, category):
    assert control_category(text) == category


def test_chess_by_time_control_then_event():
    """The time control decides; without one the words of the event do, and else a game is classical."""
    tags = [
        {"TimeControl": "300+3"},
        {"Event": "World Rapid Championship", "TimeControl": "-"},
        {"Event": "Bullet Brawl"},
        {"Event": "Blitz Cup", "TimeControl": "40/7200:3600"},
    ]
    games = read_games([io.BytesIO(as_pgn(tags))], DataConfig(category="chess"))
    assert list(games.category) == ["blitz", "rapid", "bullet", "classical"]
    assert text_counts(games.category) == ["classical 1", "rapid 1", "blitz 1", "bullet 1"]
    words = {"/^bullet/": "online", "World Rapid": "blitz"}
    changed = read_games(
        [io.BytesIO(as_pgn(tags))], DataConfig(category="chess", category_of=words)
    )
    assert list(changed.category) == ["blitz", "blitz", "online", "classical"]


@each("made", [as_csv, as_jsonl, as_parquet, as_pgn])
def test_columns_of_every_format(made):
    data = DataConfig(category="Surface")
    assert list(read_games([io.BytesIO(made())], data).category) == ["clay", "hard", "", "hard"]


def test_words_stand_before_the_column():
    data = DataConfig(category="surface", category_of={"cup": "grass", "HARD": "fast"})
    games = read_games([io.BytesIO(as_csv())], data)
    assert list(games.category) == ["grass", "fast", "grass", "grass"]


def test_an_existing_tag_is_a_category():
    games = read_games([io.BytesIO(as_pgn())], DataConfig(category="Event"))
    assert list(games.category) == ["Spring Cup", "Indoor Open", "Autumn Cup", "Spring Cup"]
    assert list(games.event) == list(games.category)


def test_games_in_files_are_the_same(tmp_path):
    in_memory = read_games([io.BytesIO(as_csv())], BY_COLUMN)
    in_files = read_games([io.BytesIO(as_csv())], BY_COLUMN, storage=ArrayFiles(tmp_path, rows=2))
    assert list(in_files.category) == list(in_memory.category)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ConfigError, match=r"data\.category: there is no column 'ground'"):
        read_games([io.BytesIO(as_csv())], DataConfig(category="ground"))


@each("settings, message", [
    ({"category_of": {"cup": "grass"}}, "it needs data.category"),
    ({"category": " "}, "a category needs the name of a column"),
    ({"category": "chess", "category_of": {"cup": ""}}, "needs the name of a category"),
    ({"category": "chess", "category_of": {"/(/": "x"}}, "is not a regular expression"),
])  # fmt: skip
def test_settings_that_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        validate(DataConfig, settings, Document())


def test_a_run_keeps_categories(tmp_path: Path):
    """Its games are equal; those added later join them; other offsets need no new reading."""
    (tmp_path / "games.csv").write_bytes(as_csv())
    resolved = api.configure("ttt", ("data.category=surface", "model.offsets={hard: {sd: 80}}"))
    run = api.fit(tmp_path / "games.csv", resolved, output=tmp_path / "a.ttt")
    assert run.categories == ("hard",)
    stored = run.stored_games()
    assert list(stored.category) == ["clay", "hard", "", "hard"]
    assert list(run.games()["category"]) == ["clay", "hard", "", "hard"]
    more = io.BytesIO(b"date,white,black,result,surface\n1903,Ann,Bob,1-0,hard\n")
    updated = api.update(run, more)
    assert list(updated.stored_games().category) == ["clay", "hard", "", "hard", "hard"]
    hard = updated.in_category("hard")
    assert list(hard.players()["player"]) == ["Ann", "Bob", "Cid"]
    assert list(hard.players()["games"]) == [2, 2, 2]
    in_memory = api.fit(updated.stored_games(), resolved)
    top = api.top(in_memory, category="hard", everyone=True)
    assert np.array_equal(top["player"], api.top(updated, category="hard", everyone=True)["player"])
    assert len(api.top(in_memory, everyone=True)) == 3
    skills = in_memory.in_category("hard").skills()
    assert skills["mean"].to_numpy() == pytest.approx(hard.skills()["mean"].to_numpy(), abs=0.02)
