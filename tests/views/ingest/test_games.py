from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.collected import game, records_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.views.ingest import SECTIONS, IngestReport

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


def plain_bar(value: float, largest: float) -> str:
    return f"{value}/{largest}"


def report(
    *files: list[dict[str, object]], most: int | None = None, short: bool = False, **data: Any
) -> IngestReport:
    data.setdefault("filter", FilterConfig(exclude=[]))
    return IngestReport(records_of(*(files or (ONE, OTHER)), data=DataConfig(**data)), most, short=short)


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


def test_files_reasons_and_events_that_are_left_out() -> None:
    found = report(filter=FilterConfig(exclude=["blitz"], dedupe=True))
    assert [tuple(row) for row in found.section("files").rows] == [
        ("file0", "csv", 4, 2, 2, 0, 0),
        ("file1", "csv", 3, 1, 2, 1, 0),
    ]
    assert sorted(found.section("dropped").rows) == [
        ("blitz", 1, "file1:3"),
        ("duplicate", 1, "file1:1"),
        ("no result", 1, "file0:4"),
        ("unnamed player", 1, "file0:3"),
    ]
    assert list(found.section("excluded").rows) == [("Blitz", "blitz", 1, 2017, 2017)]


def test_oddities_are_told_with_their_first_place() -> None:
    assert list(report().section("odd").rows) == [("repaired", "bad date", 1, "file1:2", "1931.02.31")]


def test_years_and_decades_with_the_empty_ones() -> None:
    rows = [
        *(game("A, a", "B, b", "1/2-1/2", date="1858") for _ in range(3)),
        game("A, a", "B, b", "1-0", date="1860"),
        game("A, a", "B, b", "1-0", date="1881"),
    ]
    assert list(report(rows).section("years").rows)[:4] == [
        (1858, 3, 3, 1.0), (1859, 0, 0, None), (1860, 1, 0, 0.0), (1861, 0, 0, None),
    ]  # fmt: skip
    (years,) = report(rows).shown("table", "years", plain_bar)
    assert [row[0] for row in years.rows] == list(range(1858, 1882))
    (many,) = report([*rows, game("A, a", "B, b", date="1890")]).shown("table", "years", plain_bar)
    assert [row[:4] for row in many.rows] == [
        (1850, 3, 3, 1.0), (1860, 1, 0, 0.0), (1870, 0, 0, None), (1880, 1, 0, 0.0), (1890, 1, 0, 0.0),
    ]  # fmt: skip
    assert many.title == ("Games by decade",)


def test_a_match_counts_as_its_games() -> None:
    rows = [
        game("A, a", "B, b", ("400", "200"), date="1850", games="600", status="soft", odds=""),
        game(
            "A, a", "B, b", ("1", "0"), date="1851", games="", status="formal", odds="knight", neutral="yes"
        ),
    ]
    found = report(rows, match_cap=60)
    assert objects(found, "total")[0]["games"] == 601
    assert next(iter(found.section("players").rows)) == ("A, a", 601, 1850, 1851)


def test_groups_have_their_sizes_years_and_players() -> None:
    rows = list(report().section("groups").rows)
    assert rows[0] == (1, 2, 3, 1858, 1858, "Anderssen, Adolf; Morphy, Paul")
    assert [row[3:5] for row in rows[1:]] == [(1931, 1931), (2017, 2017)]


def test_duplicates_are_told_whether_used_or_not() -> None:
    told = ("file1:1", "file0:1", "1858.12.20", "Morphy, Paul", "Anderssen, Adolf", "1-0")
    assert list(report().section("duplicates").rows) == [(*told, True)]
    left_out = report(filter=FilterConfig(dedupe=True))
    assert list(left_out.section("duplicates").rows) == [(*told, False)]
    few = report(filter=FilterConfig(dedupe=True, min_games=10))
    assert list(few.section("duplicates").rows) == [(*told, False)]
    assert list(report(filter=FilterConfig(min_games=10)).section("duplicates").rows) == []


def test_teams_and_engines_used_or_not() -> None:
    both = [("Alekhine/Reilly", "team"), ("AlphaZero", "engine"), ("Stockfish 8", "engine")]
    assert list(report().section("not_persons").rows) == [(*one, 1, 1, None, None) for one in both]
    dropped = report(drop=["teams", "engines"])
    assert list(dropped.section("not_persons").rows) == [(*one, 1, 0, None, None) for one in both]


def test_doubtful_names() -> None:
    rows = [
        game("Wilson, John", "Morphy, Paul", date="1837"),
        game("Wilson, John", "Boden, S", date="1901"),
        game("Boden, Samuel", "Bird, Henry", date="1900"),
    ]
    found = report(rows)
    assert list(found.section("not_persons").rows) == [("Wilson, John", "two people", 2, 2, 1837, 1901)]
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
        for rows in found.shown("table", None, plain_bar)
    ]
    return [name for name, (heading, *_) in SECTIONS.items() if heading in headings]


def test_the_eye_sees_only_what_has_something_to_tell() -> None:
    assert shown(report()) == [
        *("total", "files", "dropped", "odd", "years", "players", "groups", "duplicates", "not_persons"),
    ]
    assert shown(report(ONE)) == ["total", "files", "dropped", "years", "players"]


def test_bars_are_for_the_eye_only() -> None:
    (rows,) = report(ONE).shown("table", "years", plain_bar)
    assert (rows.columns[-1], next(iter(rows.rows))[-1]) == ("", "2/2")
    assert "draws" in rows.hidden
    assert report(ONE).section("years").columns == ("year", "games", "draws", "draw_share")


@each(
    "paths, folder",
    [
        (["a/b/x.pgn", "a/b/y.pgn"], "a/b"),
        (["a/b/x.pgn", "a/y.pgn"], "a"),
        (["/a/x.tar/m.pgn"], "/a/x.tar"),
        (["x.pgn", "a/y.pgn"], ""),
        (["/a.pgn", "b.pgn"], ""),
        (["<stdin>"], ""),
    ],
)
def test_short_paths_leave_the_common_folder_out(paths: list[str], folder: str) -> None:
    records = records_of(*([game("A, a", "B, b")] for _ in paths))
    for file, path in zip(records.files, paths, strict=True):
        object.__setattr__(file, "path", path)
    findings = IngestReport(records, short=True)
    assert findings.folder == folder
    prefix = f"{folder}/" if folder else ""
    assert [findings.place(row) for row in range(len(records))] == [
        f"{path[len(prefix) :]}:1" for path in paths
    ]
    assert [IngestReport(records).place(row) for row in range(len(records))] == [
        f"{path}:1" for path in paths
    ]


def test_the_long_rows_hold_every_value_of_every_section() -> None:
    found = report()
    rows = list(found.long().rows)
    assert ("total", 1, "draw_share", "0.2") in rows
    assert ("files", 2, "file", "file1") in rows
    assert Counter(row[0] for row in rows) == {
        name: len(list(section.rows)) * len(section.columns)
        for name in SECTIONS
        if list((section := found.section(name)).rows)
    }


def test_no_games_left_is_an_account_too() -> None:
    found = report(filter=FilterConfig(years="1700-1750"))
    (total,) = objects(found, "total")
    assert (total["rows"], total["used"], total["groups"], total["first"]) == (7, 0, 0, None)
    assert shown(found) == ["total", "files", "dropped", "odd"]
    assert len(found.whole().columns) == len(SECTIONS)


def names() -> st.SearchStrategy[str]:
    return st.sampled_from(["A, a", "B, b", "C, c", "D, d", "NN", "X/Y", "Fritz 6"])


def records() -> st.SearchStrategy[list[dict[str, object]]]:
    one = st.builds(
        game,
        names(),
        names(),
        st.sampled_from(["1-0", "1/2-1/2", "0-1", "*"]),
        st.sampled_from(["1858", "1901.02", "", "1930.01.05"]),
    )
    return st.lists(one, max_size=10)


@examples(15)
@given(records(), records(), st.integers(0, 2), st.booleans())
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
