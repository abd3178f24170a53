from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.handmade import RECORDS, games_of
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.extend import extend_games
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import joined, no_texts, picked
from ttt_cli.reading.columns import Column
from ttt_cli.reading.reports import ReadReport

PGN = """[Event "{event}"]
[Site "{site}"]
[Date "{date}"]
[Round "{round}"]
[White "{white}"]
[Black "{black}"]
[Result "1-0"]

1-0

"""
OLD = (
    ("London", "London  ENG", "1851.05.27", "1", "Anderssen, Adolf", "Kieseritzky, Lionel"),
    ("", "", "1850.??.??", "", "Staunton, Howard", "Anderssen, Adolf"),
    ("London", "London  ENG", "1851.06.01", "2.1", "Anderssen, Adolf", "Szen, Jozsef"),
)
NEW = (
    ("Paris m", "https://example.org/game/1", "1850.06.15", "-", "Szen, Jozsef", "Staunton, Howard"),
    ("London", "", "1852.01.01", "3", "Szen, Jozsef", "Staunton, Howard"),
)


def pgn_of(rows: tuple[tuple[str, ...], ...]) -> bytes:
    keys = ("event", "site", "date", "round", "white", "black")
    return "".join(PGN.format(**dict(zip(keys, row, strict=True))) for row in rows).encode()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, rows in (("old.pgn", OLD), ("new.pgn", NEW)):
        (tmp_path / name).write_bytes(pgn_of(rows))
    return [str(tmp_path / "old.pgn"), str(tmp_path / "new.pgn")]


def test_texts_go_with_their_games_in_the_order_of_dates(files: list[str]) -> None:
    games = read_games(files[:1])
    assert list(games.event) == ["", "London", "London"]
    assert list(games.site) == ["", "London ENG", "London ENG"]
    assert list(games.round) == ["", "1", "2.1"]


def test_addresses_of_single_games_are_no_sites_unless_asked_for(files: list[str]) -> None:
    assert "https://example.org/game/1" not in list(read_games(files).site)
    assert "https://example.org/game/1" in list(read_records(files).site)
    kept = read_games(files, DataConfig(filter=FilterConfig(events=["example.org"])))
    assert len(kept) == 1


def test_games_added_bring_their_texts(files: list[str]) -> None:
    both = extend_games(read_games(files[:1]), read_games(files[1:])).games
    whole = read_games(files)
    for name in ("event", "site", "round"):
        assert list(getattr(both, name)) == list(getattr(whole, name))
    assert sorted(both.event) == ["", "London", "London", "London", "Paris m"]


def test_texts_that_nobody_gave_take_no_memory() -> None:
    games = games_of(RECORDS, report=ReadReport())
    assert games.event.codes.strides == (0,)
    assert set(games.site) == {""}
    assert picked(no_texts(5), np.array([True, False, True, False, False])).codes.shape == (2,)
    assert picked(no_texts(5), np.array([4, 1])).codes.strides == (0,)


def test_joined_columns_number_equal_texts_alike() -> None:
    one = Column(np.array([2, 1, 2], np.uint8), ("", "a", "b", "unused"))
    column = joined(one, Column(np.array([1, 0], np.uint8), ("c", "b")))
    assert list(column) == ["b", "a", "b", "b", "c"]
    assert "unused" not in column.values


def test_a_column_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="event has 2 texts"):
        replace(games_of(RECORDS), event=no_texts(2))


def test_united_spellings_are_known_also_after_additions(files: list[str], tmp_path: Path) -> None:
    rows = [
        ("", "", "1853.01.01", "", "Adolf Anderssen", "Szen, Jozsef"),
        ("", "", "1853.01.02", "", "ANDERSSEN, ADOLF", "Szén, József"),
    ]
    (tmp_path / "more.pgn").write_bytes(pgn_of(tuple(rows)))
    more = str(tmp_path / "more.pgn")
    whole = read_games([*files, more])
    assert whole.spellings == (
        ("Anderssen, Adolf", "ANDERSSEN, ADOLF"),
        ("Anderssen, Adolf", "Adolf Anderssen"),
        ("Szen, Jozsef", "Szén, József"),
    )
    added = extend_games(read_games(files), read_games([more])).games
    assert added.spellings == whole.spellings
    assert read_games(files).spellings == ()
