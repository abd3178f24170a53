"""The report of files of games, the list of their records, and what a fit says of its games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from tests.support.handmade import CONFIG, RECORDS, REPORT, fit_of, games_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games import similar_names
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.suspects import find_suspects
from ttt_cli.games.table import Games
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.runs.columns import describe
from ttt_cli.runs.meta import RunMeta
from ttt_cli.timeline import build_timeline
from ttt_cli.views import ingest as listing
from ttt_cli.views.columns import column_names
from ttt_cli.views.fit_summary import draw_margin_note, fit_lines
from ttt_cli.views.ingest import SECTIONS, IngestReport, record_rows
from ttt_cli.views.ingest_columns import RECORD_COLUMNS
from ttt_cli.views.reading_lines import reading_lines, warning_lines
from ttt_cli.views.rows import write_parquet, write_text

ONE = [
    game("Morphy, Paul", "Anderssen, Adolf", "1-0", "1858.12.20", moves=5),
    game("Anderssen, Adolf", "Morphy, Paul", "1/2-1/2", "1858.12"),
    game("Morphy, Paul", "NN", "1-0", "1859"),
    game("Morphy, Paul", "Boden, Samuel", "*", "1859"),
]
OTHER = [
    game("Morphy, Paul", "Anderssen, Adolf", "1-0", "1858.12.20", moves=5),
    game("Alekhine/Reilly", "Flohr, Salo", "0-1", "1931.02.31"),
    game("Stockfish 8", "AlphaZero", "0-1", "2017.12.04", event="Blitz"),
]


def report(*files: list[dict[str, object]], most: int | None = None, **data: Any) -> IngestReport:
    data.setdefault("filter", FilterConfig(exclude=[]))
    data.setdefault("drop", [])
    return IngestReport(records_of(*(files or (ONE, OTHER)), data=DataConfig(**data)), most)


def objects(found: IngestReport, section: str) -> list[dict[str, Any]]:
    rows = found.section(section)
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]


def test_the_total_in_numbers_counted_by_hand() -> None:
    assert objects(report(), "total") == [
        {
            "files": 2, "rows": 7, "used": 5, "dropped": 2, "games": 5, "draw_share": 0.2, "names": 6,
            "players": 6, "first": 1858, "last": 2017, "groups": 3, "largest_group": 2, "duplicates": 1, "suspects": 0,
        }
    ]  # fmt: skip


BLITZ = {"filter": FilterConfig(exclude=["blitz"], dedupe=True)}
REPEAT = ("file1:1", "file0:1", "1858.12.20", "Morphy, Paul", "Anderssen, Adolf", "1-0")
NOBODY = [("Alekhine/Reilly", "team"), ("AlphaZero", "engine"), ("Stockfish 8", "engine")]


@each(
    "section, data, rows",
    [
        ("files", BLITZ, [("file0", "csv", 4, 2, 2, 0, 0), ("file1", "csv", 3, 1, 2, 1, 0)]),
        (
            "dropped",
            BLITZ,
            [
                *[
                    ("blitz", 1, "file1:3"),
                    ("duplicate", 1, "file1:1"),
                    ("no result", 1, "file0:4"),
                ],
                ("unnamed player", 1, "file0:3"),
            ],
        ),
        ("excluded", BLITZ, [("Blitz", "blitz", 1, 2017, 2017)]),
        ("odd", {}, [("repaired", "bad date", 1, "file1:2", "1931.02.31 read as 1931-02")]),
        (
            "groups",
            {},
            [
                (1, 2, 3, 1858, 1858, "Anderssen, Adolf; Morphy, Paul"),
                (2, 2, 1, 1931, 1931, "Alekhine/Reilly; Flohr, Salo"),
                (3, 2, 1, 2017, 2017, "AlphaZero; Stockfish 8"),
            ],
        ),
        ("duplicates", {}, [(*REPEAT, True)]),
        ("duplicates", {"filter": FilterConfig(dedupe=True)}, [(*REPEAT, False)]),
        ("duplicates", {"filter": FilterConfig(dedupe=True, min_games=10)}, [(*REPEAT, False)]),
        ("duplicates", {"filter": FilterConfig(min_games=10)}, []),
        ("not_persons", {}, [(*one, 1, 1, None, None) for one in NOBODY]),
        (
            "not_persons",
            {"filter": FilterConfig(exclude=["consultation"])},
            [(*one, 1, int(one[1] == "engine"), None, None) for one in NOBODY],
        ),
        (
            "not_persons",
            {"drop": ["teams", "engines"]},
            [(*one, 1, 0, None, None) for one in NOBODY],
        ),
    ],
)
def test_rows_of_sections(
    section: str, data: dict[str, Any], rows: list[tuple[object, ...]]
) -> None:
    assert list(report(**data).section(section).rows) == rows


def test_years_and_decades_with_the_empty_ones() -> None:
    rows = [
        *(game("A, a", "B, b", "1/2-1/2", date="1858") for _ in range(3)),
        game("A, a", "B, b", "1-0", date="1860"),
        game("A, a", "B, b", "1-0", date="1881"),
    ]
    assert list(report(rows).section("years").rows)[:4] == [
        (1858, 3, 3, 1.0), (1859, 0, 0, None), (1860, 1, 0, 0.0), (1861, 0, 0, None),
    ]  # fmt: skip
    (years,) = report(rows).tables("table", "years")
    assert [row[0] for row in years.rows] == list(range(1858, 1882))
    assert "draws" in years.hidden
    (many,) = report([*rows, game("A, a", "B, b", date="1890")]).tables("table", "years")
    assert [row[:4] for row in many.rows] == [
        (1850, 3, 3, 1.0), (1860, 1, 0, 0.0), (1870, 0, 0, None), (1880, 1, 0, 0.0), (1890, 1, 0, 0.0),
    ]  # fmt: skip
    assert many.title == ("Games by decade",)


def test_doubtful_names() -> None:
    rows = [
        game("Wilson, John", "Morphy, Paul", date="1837"),
        game("Wilson, John", "Boden, S", date="1901"),
        game("Boden, Samuel", "Bird, Henry", date="1900"),
    ]
    found = report(rows)
    assert list(found.section("not_persons").rows) == [
        ("Wilson, John", "two people", 2, 2, 1837, 1901)
    ]
    (pair,) = objects(found, "suspects")
    assert (pair["main"], pair["synonym"], pair["kind"], pair["gap"]) == (
        *("Boden, Samuel", "Boden, S"),
        *("initials", 1),
    )
    assert (pair["main_games"], pair["main_first"], pair["synonym_last"]) == (1, 1900, 1901)


def test_long_sections_are_cut_and_say_so_but_not_those_that_run_through_time() -> None:
    rows = [game(f"P{i}, p", "Morphy, Paul", date=f"{1850 + i}") for i in range(8)]
    found = report(rows, most=3)
    assert len(list(found.section("players").rows)) == 3
    assert found.section("players").title == ("Players with the most games: 3 of 9",)
    assert len(list(found.section("years").rows)) == 8
    assert len(list(found.section("total").rows)) == 1


def shown(found: IngestReport) -> list[str]:
    headings = [
        rows.title[0].partition(":")[0].partition(" in ")[0].replace("decade", "year")
        for rows in found.tables("table", None)
    ]
    return [name for name, section in SECTIONS.items() if section.heading in headings]


def test_the_eye_sees_only_what_has_something_to_tell() -> None:
    assert shown(report()) == [
        *(
            "total",
            "files",
            "dropped",
            "odd",
            "years",
            "players",
            "groups",
            "duplicates",
            "not_persons",
        ),
    ]
    assert shown(report(ONE)) == ["total", "files", "dropped", "years", "players"]


def test_no_games_left_is_an_account_too() -> None:
    found = report(filter=FilterConfig(years="1700-1750"))
    (total,) = objects(found, "total")
    assert (total["rows"], total["used"], total["groups"], total["first"]) == (7, 0, 0, None)
    assert shown(found) == ["total", "files", "dropped", "odd"]
    assert len(found.as_object().columns) == len(SECTIONS)
    empty = [name for name in SECTIONS if name not in {row[0] for row in found.as_long_rows().rows}]
    assert empty == [
        "excluded",
        "years",
        "players",
        "groups",
        "duplicates",
        "not_persons",
        "suspects",
    ]


NAMES = st.sampled_from(["A, a", "B, b", "C, c", "D, d", "NN", "X/Y", "Fritz 6"])
RESULTS = st.sampled_from(["1-0", "1/2-1/2", "0-1", "*"])
DATES = st.sampled_from(["1858", "1901.02", "", "1930.01.05"])
FILE = st.lists(st.builds(game, NAMES, NAMES, RESULTS, DATES), max_size=10)


@examples(15)
@given(FILE, FILE, st.integers(0, 2), st.booleans())
def test_all_counts_agree(
    one: list[dict[str, object]], other: list[dict[str, object]], least: int, largest: bool
) -> None:
    found = report(one, other, filter=FilterConfig(min_games=least, largest_group=largest))
    (total,) = objects(found, "total")
    assert total["rows"] == len(one) + len(other) == total["used"] + total["dropped"]
    assert sum(row["rows"] for row in objects(found, "dropped")) == total["dropped"]
    for key in ("rows", "used", "dropped", "duplicates"):
        assert sum(row[key] for row in objects(found, "files")) == total[key]
    assert sum(row["games"] for row in objects(found, "years")) == total["games"]
    assert sum(row["games"] for row in objects(found, "players")) == 2 * total["games"]
    assert len(objects(found, "players")) == total["players"]
    assert sum(row["players"] for row in objects(found, "groups")) == total["players"]
    listed = list(record_rows(found.records, everything=True).rows)
    why = reasons(found.records)
    assert len(listed) == total["rows"]
    assert [row for row, reason in zip(listed, why, strict=True) if not reason] == list(
        record_rows(found.records).rows
    )
    assert [row[-1] for row, reason in zip(listed, why, strict=True) if reason] == [
        reason for reason in why if reason
    ]


ROOT = Path(__file__).parents[2]
BROKEN = [ROOT / "sample_pgn" / "broken" / name for name in ("dirty.pgn", "dirty.csv")]
ROWS = [
    game(
        "Morphy, Paul", "Anderssen, Adolf", date="1858.06.??", event="Paris", site="Café", round="1"
    ),
    game("NN", "Morphy, Paul", date="1858"),
    game("Paul Morphy", "Anderssen, Adolf", "½-½", date="1858-02-30"),
]


def test_players_are_united_and_everything_else_is_as_written() -> None:
    first = (
        "file0",
        1,
        "1858.06.??",
        "Morphy, Paul",
        "Anderssen, Adolf",
        "1-0",
        "Paris",
        "Café",
        "1",
        None,
    )
    bad = "file0", 2, *[""] * 7, "bad row"
    unnamed = "file0", 3, "1858", "NN", "Morphy, Paul", "1-0", "", "", "", "unnamed player"
    last = (
        "file0",
        4,
        "1858-02-30",
        "Morphy, Paul",
        "Anderssen, Adolf",
        "½-½",
        *[""] * 3,
        "bad date (repaired)",
    )
    records = records_of(ROWS, rejects=[2])
    assert list(record_rows(records).rows) == [first, last]
    assert list(record_rows(records, everything=True).rows) == [first, bad, unnamed, last]


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
def test_pieces_make_the_same_rows(
    piece: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    records = records_of(
        ROWS, [game("Bird, Henry", "Boden, Samuel", round=str(i)) for i in range(40)]
    )
    whole = list(record_rows(records, everything=True).rows)
    monkeypatch.setattr(listing, "_PIECE", piece)
    assert list(record_rows(records, everything=True).rows) == whole
    write_parquet(record_rows(records, everything=True), tmp_path / "a.parquet")
    assert duckdb.sql(f"FROM '{tmp_path / 'a.parquet'}'").fetchall() == whole
    assert tuple(duckdb.sql(f"FROM '{tmp_path / 'a.parquet'}'").columns) == column_names(
        RECORD_COLUMNS
    )


@pytest.fixture
def meta() -> RunMeta:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    return describe(games, timeline, fit_of(timeline), CONFIG)


PROBLEM = REPORT.problems[2]
UNKNOWN = replace(PROBLEM, reason="unknown status", detail="each counts as 1: mate 7")


@each(
    "problems, places, last",
    [
        (REPORT.problems, [" (a.pgn:40)", " (a.pgn:12)"], ["duplicate tag, 1 (a.pgn:60)"]),
        ((), ["", ""], []),  # counted all the same
        (
            [replace(PROBLEM, line=line) for line in range(1, 6)],
            ["", ""],
            ["duplicate tag, 5 (a.pgn:1, a.pgn:2, a.pgn:3, ...)"],
        ),
        ([UNKNOWN], ["", ""], ["unknown status (a.pgn:60): each counts as 1: mate 7"]),
    ],
)
def test_files_rows_and_reasons_with_examples(
    problems: Sequence[Problem], places: list[str], last: list[str]
) -> None:
    games = games_of(RECORDS, report=replace(REPORT, problems=tuple(problems)))
    assert list(reading_lines(games, "year")) == [
        "a.pgn: 5 rows, 3 games, 2 rows dropped",
        "b.csv: 4 rows, 4 games",
        f"  dropped: bad date, 1{places[0]}",
        f"  dropped: no result, 1{places[1]}",
        *(f"  kept: {line}" for line in last),
    ]
    everything = list(reading_lines(games, "year", everything=True))
    assert sum(line.startswith("    ") for line in everything) == sum(
        "status" not in p.reason for p in problems
    )


def test_a_repaired_date_says_what_it_became() -> None:
    detail = "1931.02.31 read as 1931-02"
    repaired = replace(PROBLEM, reason="bad date", action="repaired", detail=detail)
    lines = list(
        reading_lines(games_of(RECORDS, report=replace(REPORT, problems=(repaired,))), "year")
    )
    assert lines[-1] == f"  repaired: bad date, 1 (a.pgn:60: {detail})"


@each("period, vague", [("year", 0), ("quarter", 5), ("month", 5), ("day", 6)])
def test_games_dated_less_exactly_than_the_period_are_counted(period: str, vague: int) -> None:
    lines = [line for line in reading_lines(games_of(RECORDS), period) if "less exactly" in line]
    assert [line.split()[0] for line in lines] == ([str(vague)] if vague else [])


@each(
    "games, draw_share, margin, is_noted",
    [
        (7, 0.5, "auto", True), (7, 0.0, "auto", True), (12, 0.5, "auto", True), (30, 0.5, "auto", False),
        (30, 0.0, "auto", False), (7, 0.5, 100.0, False),
    ],
)  # fmt: skip
def test_a_draw_margin_of_a_few_games_is_noted(
    meta: RunMeta, games: int, draw_share: float, margin: str | float, is_noted: bool
) -> None:
    config = {**meta.config, "model": {**meta.config.get("model", {}), "draw_margin": margin}}
    few = replace(meta, weight=float(games), draw_share=draw_share, config=config)
    assert bool(draw_margin_note(few)) == is_noted


def test_what_was_found(meta: RunMeta) -> None:
    assert list(fit_lines(meta)) == [
        "ttt: TrueSkill Through Time: skills smoothed over all periods",
        "3 players, 7 games, 1857 to 1862, 8 player-years, 28.6 % drawn",
        "parameters: beta 480, tau 60, draw_margin 123.25",
        "too few games to estimate the draw margin: 2 of 7 are drawn",
        "log-evidence -1.333333 (-0.19048 a game)",
        "converged in 7 sweeps: all skills within 0.004 points",
        "2 updates left out for want of precision",
    ]


def test_not_converged_is_loud_and_an_unknown_error_is_called_so(meta: RunMeta) -> None:
    lines = list(fit_lines(replace(meta, converged=False, remaining_error=math.inf, sweeps=1)))
    assert "NOT CONVERGED after 1 sweep: skills may be off by an unknown amount" in lines


def test_notes_of_the_model_come_last_and_long_ones_are_cut(meta: RunMeta) -> None:
    long = "48 players left out: " + "; ".join(f"Player {i}" for i in range(48))
    lines = list(fit_lines(replace(meta, notes=("a short one", long))))
    assert lines[-2] == "a short one"
    assert lines[-1].endswith(" ...")
    assert 200 < len(lines[-1]) <= 244
    assert long.startswith(lines[-1].removesuffix(" ..."))
    assert list(fit_lines(replace(meta, notes=(long,)), everything=True))[-1] == long


PLAIN = [(1857, "Morphy, Paul", "Paulsen, Louis", 2), (1858, "Anderssen, Adolf", "Morphy, Paul", 0)]


def noticed(**counts: int) -> Games:
    report = ReadReport((FileReport("a.pgn", "pgn", "", 0, 2, 2, {}, counts),))
    games = make_games(PLAIN)
    object.__setattr__(games, "report", report)
    return games


def test_good_games_leave_no_doubt() -> None:
    assert list(warning_lines(make_games(PLAIN))) == []
    assert list(warning_lines(make_games([]))) == []


def test_groups_are_not_comparable() -> None:
    (line,) = warning_lines(make_games([*PLAIN, (1860, "Boden, Samuel", "Bird, Henry", 1)]))
    assert line.startswith(
        "2 groups of players without games between them: their levels are not comparable"
    )
    assert line.endswith(
        "2 are outside it: Bird, Henry; Boden, Samuel; -s data.filter.largest_group=true keeps it alone"
    )


def test_what_the_reading_noticed() -> None:
    (line,) = warning_lines(noticed(duplicate=1))
    assert line == "1 row repeats another and counts again: -s data.filter.dedupe=true uses one"
    (line,) = warning_lines(noticed(duplicate=1200))
    assert line.startswith("1,200 rows repeat another")
    (line,) = warning_lines(noticed(team=2, engine=3))
    assert line == "5 rows of teams or computers: data.drop can leave them out"


def test_a_file_that_is_read_twice(tmp_path: Path) -> None:
    text = (
        "date,home_team,away_team,home_score,away_score\n1900-01-01,A,B,2,1\n1901-01-01,B,A,0,0\n"
    )
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(text)
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    lines = list(warning_lines(read_games([first, second], DataConfig())))
    assert (
        f"{second} has the same content as {first}, and its games count again: leave one out"
        in lines
    )
    assert not any("content" in line for line in warning_lines(read_games([first], DataConfig())))


def test_names_of_two_people_and_two_names_of_one() -> None:
    long = [
        (year, f"P{i}, Q{i}", "Morphy, Paul", 1)
        for i in range(4)
        for year in (1800 + i, 1861 + 2 * i)
    ]
    lines = list(warning_lines(make_games(long)))
    assert lines[0] == (
        "5 names with games over 60 years apart, perhaps two people: Morphy, Paul; P3, Q3; P2, Q2; ..."
    )
    (line,) = warning_lines(make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)]))
    assert line == "1 pair of names may be one person's: review them with `ttt names FILE...`"
    assert (
        list(
            warning_lines(
                make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)]), suspects=False
            )
        )
        == []
    )


def test_names_that_were_not_compared_are_told(monkeypatch) -> None:
    games = make_games([*PLAIN, (1859, "Anderssen, A", "Paulsen, Louis", 1)])
    monkeypatch.setattr(similar_names, "MAX_COMPARISONS", 0)
    assert list(warning_lines(games)) == [
        "2 names of frequent surnames not compared with all of their like"
    ]


def test_doubts_about_people_are_of_chess_alone(tmp_path: Path) -> None:
    rows = "".join(f"{year},Stockfish,A/B,1-0\n" for year in (1900, 1970))
    found = {}
    for header in ("date,white,black,result", "date,home_team,away_team,result"):
        (tmp_path / "a.csv").write_text(f"{header}\n{rows}")
        whole = DataConfig(filter=FilterConfig(exclude=[]))
        found[header[5:10]] = list(warning_lines(read_games([tmp_path / "a.csv"], whole)))
    assert found["home_"] == []
    assert [line.split(" of ")[0].split(" with ")[0] for line in found["white"]] == [
        "4 rows",
        "2 names",
    ]


def test_a_country_is_not_another_one_whose_name_ends_alike(tmp_path: Path) -> None:
    rows = "".join(
        f"198{k},South Yemen,Oman {k},1-0\n198{k},Yemen,Oman {k},0-1\n" for k in range(5)
    )
    for header, found in (("white,black", 1), ("home_team,away_team", 0)):
        (tmp_path / "a.csv").write_text(f"date,{header},result\n{rows}")
        assert len(find_suspects(read_games([tmp_path / "a.csv"]))) == found


@each(
    "paths, folder",
    [
        (["a/b/x.pgn", "a/b/y.pgn"], "a/b/"),
        (["a/b/x.pgn", "a/y.pgn"], "a/"),
        (["/a/x.tar/m.pgn"], "/a/x.tar/"),
        (["x.pgn", "a/y.pgn"], ""),
        (["/a.pgn", "b.pgn"], ""),
        (["<stdin>"], ""),
    ],
)
def test_short_paths_leave_the_common_folder_out(paths: list[str], folder: str) -> None:
    records = records_of(*([game("A, a", "B, b")] for _ in paths))
    for file, path in zip(records.files, paths, strict=True):
        object.__setattr__(file, "path", path)
    for short, cut in ((True, len(folder)), (False, 0)):
        found = IngestReport(records, short=short)
        assert [found.place(row) for row in range(len(records))] == [
            f"{path[cut:]}:1" for path in paths
        ]


def test_what_chess_leaves_out_is_counted_with_the_key_that_keeps_it() -> None:
    rows = [game("A", "B")] * 9
    rows += [game("A", "B", event="Simul"), game("A", "B", variant="Horde")]
    rows += [game("A", "Deep Blue"), game("A", "BYE")]
    games = replace(make_games([(1858, "A", "B", 1)] * 9), report=records_of(rows).report)
    assert list(reading_lines(games, "year"))[1:] == [
        "  dropped: forfeit, 1 (file0:13); data.drop: [] keeps those with a result",
        "exhibitions and games at odds left out: simul 1; data.filter.exclude: [] keeps them",
        "variants of chess left out: 1; data.filter.exclude: [] keeps them",
        "games with computers left out: 1; data.drop: [] keeps them",
    ]
