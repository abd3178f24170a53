import csv
import io
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.collected import game, reasons, records_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.views import ingest as listing
from ttt_cli.views.ingest import COLUMNS, record_rows
from ttt_cli.views.rows import write_parquet, write_text

ROOT = Path(__file__).parents[3]
BROKEN = [ROOT / "sample_pgn" / "broken" / name for name in ("dirty.pgn", "dirty.csv")]
ROWS = [
    game("Morphy, Paul", "Anderssen, Adolf", date="1858.06.??", event="Paris", site="Café", round="1"),
    game("NN", "Morphy, Paul", date="1858"),
    game("Paul Morphy", "Anderssen, Adolf", "½-½", date="1858-02-30"),
]


def test_players_are_united_and_everything_else_is_as_written() -> None:
    rows = list(record_rows(records_of(ROWS)).rows)
    assert rows == [
        ("file0", 1, "1858.06.??", "Morphy, Paul", "Anderssen, Adolf", "1-0", "Paris", "Café", "1", None),
        ("file0", 3, "1858-02-30", "Morphy, Paul", "Anderssen, Adolf", "½-½", "", "", "", "bad date (repaired)"),
    ]  # fmt: skip


def test_rows_that_are_not_used_have_their_reason_and_what_stood_there() -> None:
    rows = list(record_rows(records_of(ROWS, rejects=[2]), everything=True).rows)
    assert [row[1] for row in rows] == [1, 2, 3, 4]
    assert rows[1] == ("file0", 2, "", "", "", "", "", "", "", "bad row")
    assert rows[2][3:5] == ("NN", "Morphy, Paul")
    assert rows[2][-1] == "unnamed player"


def test_duplicates_say_of_what_and_dropped_ones_that_they_are() -> None:
    same = game("Morphy, Paul", "Anderssen, Adolf", moves=7)
    files = [same, game("Boden, Samuel", "Morphy, Paul")], [same]
    assert [row[-1] for row in record_rows(records_of(*files)).rows] == [
        None, None, "duplicate of file0:1 (kept)",
    ]  # fmt: skip
    dedupe = DataConfig(filter=FilterConfig(dedupe=True))
    rows = list(record_rows(records_of(*files, data=dedupe), everything=True).rows)
    assert [row[-1] for row in rows] == [None, None, "duplicate"]


def test_the_listing_of_dirty_files_reads_back_as_the_same_games(tmp_path: Path) -> None:
    """What is listed as used is what is used: nothing lost, nothing added, nothing changed."""
    games = read_games(BROKEN)
    place = tmp_path / "listed.csv"
    with place.open("w", encoding="utf-8", newline="") as stream:
        write_text(record_rows(read_records(BROKEN)), "csv", stream)
    again = read_games([place])
    assert again.players == games.players
    for column in ("date", "date_precision", "white", "black", "outcome"):
        assert np.array_equal(getattr(again, column), getattr(games, column)), column


def test_every_problem_of_a_row_that_is_used_is_told_in_its_row() -> None:
    records = read_records(BROKEN)
    told = [row[-1] for row in record_rows(records).rows if row[-1]]
    assert sum(text.count("(") for text in told) == sum(
        problem.action != "dropped" for problem in records.problems
    )


@pytest.mark.parametrize("piece", [1, 2, 3])
def test_pieces_make_the_same_rows(piece: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    records = records_of(ROWS, [game("Bird, Henry", "Boden, Samuel", round=str(i)) for i in range(40)])
    whole = list(record_rows(records, everything=True).rows)
    monkeypatch.setattr(listing, "_PIECE", piece)
    assert list(record_rows(records, everything=True).rows) == whole
    write_parquet(record_rows(records, everything=True), tmp_path / "a.parquet")
    assert duckdb.sql(f"FROM '{tmp_path / 'a.parquet'}'").fetchall() == whole
    assert tuple(duckdb.sql(f"FROM '{tmp_path / 'a.parquet'}'").columns) == COLUMNS


@examples(16)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "white": st.sampled_from(["A, a", "B, b", "NN", "", "A/B"]),
                "black": st.sampled_from(["A, a", "C, c", "?"]),
                "result": st.sampled_from(["1-0", "*", "0-1", "x", "+/-"]),
                "date": st.sampled_from(["1858", "1858.02.31", "", "1900-1"]),
                "round": st.sampled_from(["", "1"]),
            }
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_nothing_is_lost(rows: list[dict[str, str]], dedupe: bool) -> None:
    records = records_of(rows, data=DataConfig(filter=FilterConfig(dedupe=dedupe)))
    everything = list(record_rows(records, everything=True).rows)
    assert len(everything) == len(rows)
    why = reasons(records)
    assert [row for row, reason in zip(everything, why, strict=True) if reason is None] == list(
        record_rows(records).rows
    )
    assert [row[-1] for row, reason in zip(everything, why, strict=True) if reason] == [r for r in why if r]


def test_every_cell_is_text_but_the_line() -> None:
    out = io.StringIO()
    write_text(record_rows(records_of(ROWS), everything=True), "csv", out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert tuple(rows[0]) == COLUMNS
    assert [row["line"] for row in rows] == ["1", "2", "3"]
