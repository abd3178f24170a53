"""Records hold every row of every file, and games are made of the used ones."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import handmade
from tests.support.cases import each
from tests.support.collected import collected_of, game, reasons, records_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.assemble import make_games
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import Games, games_of, no_texts, texts_of_rows
from ttt_cli.reading.columns import CodedColumn


def listed(games: Games) -> list[tuple[str, str, int, float]]:
    """White, Black, outcome and weight of every game, in order."""
    columns = (
        column.tolist() for column in (games.white, games.black, games.outcome, games.weight)
    )
    return [
        (games.players[white], games.players[black], *rest)
        for white, black, *rest in zip(*columns, strict=True)
    ]


def test_every_row_is_there_as_it_was_written() -> None:
    rows = [
        game("GM Abel", " B", "1-0", "1858.06.17", event="Paris  match", site="Paris", round="1"),
        game("?", "B", "*", "18??", variant="Chess960"),
        game("Abel", "C", "=", "1859"),
    ]
    records = records_of(rows, [game("C", "Abel")])
    assert len(records) == 4
    assert [records.white_written[row] for row in range(4)] == ["GM Abel", "?", "Abel", "C"]
    assert [records.date[row] for row in range(4)] == ["1858.06.17", "18??", "1859", "1858"]
    assert [records.result[row] for row in range(4)] == ["1-0", "*", "=", "1-0"]
    assert [records.event[row] for row in range(4)] == ["Paris match", "", "", ""]
    assert [records.variant[row] for row in range(4)] == ["", "Chess960", "", ""]
    assert reasons(records) == [None, "no player", None, None]
    assert records.players == ("Abel", "B", "C")
    assert records.white.tolist() == [0, -1, 0, 2]
    assert records.file.tolist() == [0, 0, 0, 1]
    assert [records.place(row) for row in range(4)] == ["file0:1", "file0:2", "file0:3", "file1:1"]
    assert records.year[[0, 2, 3]].tolist() == [1858, 1859, 1858]
    assert records.precision[[0, 2]].tolist() == [2, 0]


def test_rows_that_could_not_be_split_stand_where_their_lines_do() -> None:
    records = records_of([game("A", "B", weight="2"), game("C", "D", weight="3")], rejects=[2])
    assert records.line.tolist() == [1, 2, 3]
    assert reasons(records) == [None, "bad row", None]
    assert [records.white_written[row] for row in range(3)] == ["A", "", "C"]
    assert games_of(records).weight.tolist() == [2, 3]
    records = records_of(
        [game("A", "B"), game("C", "D")], rejects=[5, 3, 2]
    )  # readers may find them in any order
    assert records.line.tolist() == [1, 2, 3, 4, 5]
    assert reasons(records) == [None, "bad row", "bad row", None, "bad row"]


@each(
    "rows, cap, expected",
    [
        # a row for each outcome, by date
        (
            [game("A", "B", ("6.5", "3.5"), games="10"), game("C", "D", ("1", "0"), "1857")],
            None,
            [("C", "D", 2, 1), ("A", "B", 0, 3), ("A", "B", 1, 1), ("A", "B", 2, 6)],
        ),
        # the cap scales all games of a match
        ([game("A", "B", "400-200", games="600")], 60, [("A", "B", 0, 20), ("A", "B", 2, 40)]),
        ([game("A", "B", "2-1", games="3")], 60, [("A", "B", 0, 1), ("A", "B", 2, 2)]),
        ([game("A", "B", "1-0", games="10", weight="3", status="casual")], 5, [("A", "B", 2, 7.5)]),
        # a result without a number of games is one
        (
            [game("A", "B", ("1", "0"), games=""), game("A", "B", ("2", "1"), games="3")],
            None,
            [("A", "B", 2, 1), ("A", "B", 0, 1), ("A", "B", 2, 2)],
        ),
        # three matches of 2-0 are no sign that wins are written 2
        (
            [game("A", "B", ("1", "0")), *[game("A", "B", ("2", "0"), games="2")] * 3],
            None,
            [("A", "B", 2, 1), *[("A", "B", 2, 2)] * 3],
        ),
    ],
)
def test_matches(
    rows: list[dict[str, object]], cap: float | None, expected: list[tuple[object, ...]]
) -> None:
    games = games_of(records_of(rows, data=DataConfig(match_cap=cap, status={"casual": 0.5})))
    assert listed(games) == expected
    assert games.report.used == len(rows) == len(set(games.source_line.tolist()))


def test_statuses_have_weights() -> None:
    rows = [game("A", "B", status=status) for status in ("formal", "Casual", "soft", "", "serious")]
    records = records_of(rows, data=DataConfig(status={"casual": 0.5, "soft": 0.0}))
    assert reasons(records) == [None, None, "status", None, None]
    assert games_of(records).weight.tolist() == [1, 0.5, 1, 1]
    assert [(p.line, p.reason, p.detail, p.action) for p in records.problems] == [
        (3, "status", "1858: A - B 1-0", "dropped"),
        (5, "unknown status", "each counts as 1: serious 1", "kept"),
    ]


def test_odds_are_points_for_white() -> None:
    rows = [
        game("Morphy, Paul", "B", odds="knight"),
        game("B", "Morphy, Paul", odds="pawn and move"),
        game("B", "Morphy, Paul", odds="rook", odds_giver="Paul Morphy"),
        game("B", "Morphy, Paul", odds="rook", odds_giver="Morphy, P."),
        game("B", "Morphy, Paul", odds="rook", odds_giver="black"),
        game("Morphy, Paul", "B", odds="pawn and two", odds_giver="White"),
        game("A", "B", odds="capped knight"),
        game("A", "B", odds=""),
        game("A", "B", odds="none", odds_giver="A"),
        game("B", "Löwenthal, J.J.", odds="rook", odds_giver="LOWENTHAL, J J"),
    ]
    records = records_of(rows)
    unknown = [row for row, reason in enumerate(reasons(records)) if reason == "unknown odds"]
    assert unknown == [2, 3, 6]
    assert games_of(records).offset.tolist() == [-373, 163, 479, -219, 0, 0, 479]


NAMES = st.sampled_from(["A", "a", "B, C", "C B", "NN", "", "D/E", "Comp X", "F. G"])
RESULTS = st.sampled_from(["1-0", "0-1", "=", "*", "", "3-2", "forfeit", "4½-½", "x"])
FILES = st.lists(
    st.lists(
        st.fixed_dictionaries(
            {
                "white": NAMES,
                "black": NAMES,
                "result": RESULTS,
                "date": st.sampled_from(["1858", "1858.06.17", "1920", "?", "soon", "1858.02.30"]),
                "games": st.sampled_from(["", "5", "-1", "x"]),
                "status": st.sampled_from(["", "soft", "odd"]),
                "odds": st.sampled_from(["", "knight", "hat"]),
                "event": st.sampled_from(["", "Blitz", "Simul in Paris"]),
                "round": st.sampled_from(["", "1"]),
                "white_id": st.sampled_from(["", "1", "2"]),
            }
        ),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=3,
)
DATA = st.builds(
    DataConfig,
    names=st.sampled_from(["clean", "folded", "full"]),
    drop=st.lists(st.sampled_from(["teams", "engines"])),
    status=st.just({"soft": 0.0}),
    match_cap=st.none() | st.just(2.0),
    filter=st.fixed_dictionaries(
        {},
        optional={
            "years": st.just("1850-1900"),
            "exclude": st.just(["simul", "blitz"]),
            "dedupe": st.booleans(),
            "min_games": st.integers(0, 3),
            "largest_group": st.booleans(),
        },
    ),
)


@pytest.mark.slow
@examples(16)
@given(FILES, DATA, st.booleans())
def test_nothing_is_lost(files: list[list[dict[str, object]]], data: DataConfig, bad: bool) -> None:
    """Rows are used or dropped for one reason, per file and in total; games come from the used rows alone."""
    rejects = [1] if bad else []
    records = records_of(*files, data=data, rejects=rejects)
    assert len(records) == sum(map(len, files)) + len(rejects) == records.report.rows
    for number, file in enumerate(records.files):
        rows = [
            row
            for row, of in zip(reasons(records), records.file.tolist(), strict=True)
            if of == number
        ]
        assert file.rows == len(rows) == len(files[number]) + (len(rejects) if number == 0 else 0)
        assert file.used == rows.count(None)
        assert file.dropped == {reason: rows.count(reason) for reason in set(rows) - {None}}
        assert all(0 < count <= file.used for count in file.noticed.values())
    used = np.flatnonzero(records.used)
    assert (records.white[used] >= 0).all()
    assert (records.black[used] >= 0).all()
    assert (records.white[used] != records.black[used]).all()
    games = make_games(collected_of(*files, data=data, rejects=rejects))
    places = set(zip(games.source_file.tolist(), games.source_line.tolist(), strict=True))
    assert places == {(int(records.file[row]), int(records.line[row])) for row in used}
    assert games.report == records.report


@each(
    "row, reason",
    [
        (("", "", "NN", "*"), "no player"),
        (("", "NN", "?", "*"), "no player"),
        (("", "A", "NN", "*"), "unnamed player"),
        (("", "NN", "NN", "*"), "unnamed player"),
        (("", "A", "A ", "*"), "same player twice"),
        (("", "A", "B", "*"), "no date"),
        (("soon", "A", "B", "*"), "bad date"),
        (("1858.02.30", "A", "B", "*"), "no result"),
        (("1858", "A", "B", "+:-"), "forfeit"),
        (("1858", "A", "B", "quickly"), "unknown result"),
    ],
)
def test_the_first_fault_counts(row: tuple[str, ...], reason: str) -> None:
    date, white, black, result = row
    report = records_of([game("A", "B"), game(white, black, result, date, weight="none")]).report
    assert (report.rows, report.used, report.dropped) == (2, 1, {reason: 1})
    assert [(p.file, p.line, p.reason, p.action) for p in report.problems] == [
        ("file0", 2, reason, "dropped")
    ]


def test_texts_that_nobody_gave_take_no_memory() -> None:
    games = handmade.games_of(handmade.RECORDS)
    assert games.event.codes.strides == (0,)
    assert set(games.site) == {""}
    assert texts_of_rows(no_texts(5), np.array([True, False, True, False, False])).codes.shape == (
        2,
    )
    assert texts_of_rows(no_texts(5), np.array([4, 1])).codes.strides == (0,)


COLUMNS = "event,site,date,round,white,black,result\n"
OLD = """London,London  ENG,1851.05.27,1,"Anderssen, Adolf","Kieseritzky, Lionel",1-0
,,1850,,"Staunton, Howard","Anderssen, Adolf",1-0
London,London  ENG,1851.06.01,2.1,"Anderssen, Adolf","Szen, Jozsef",1-0
"""
NEW = """Paris m,https://example.org/game/1,1850.06.15,-,"Szen, Jozsef","Staunton, Howard",1-0
London,,1852.01.01,3,"Szen, Jozsef","Staunton, Howard",1-0
"""


def tables(*texts: str) -> list[io.BytesIO]:
    return [io.BytesIO((COLUMNS + text).encode()) for text in texts]


def test_texts_go_with_their_games_in_the_order_of_dates() -> None:
    games = read_games(tables(OLD))
    assert list(games.event) == ["", "London", "London"]
    assert list(games.site) == ["", "London ENG", "London ENG"]
    assert list(games.round) == ["", "1", "2.1"]


def test_addresses_of_single_games_are_no_sites_unless_asked_for() -> None:
    address = "https://example.org/game/1"
    assert address not in list(read_games(tables(OLD, NEW)).site)
    assert address in list(read_records(tables(OLD, NEW)).site)
    kept = read_games(tables(OLD, NEW), DataConfig(filter=FilterConfig(events=["example.org"])))
    assert len(kept) == 1


@each(
    "wrong, message",
    [
        ({"event": no_texts(2)}, "event has 2 texts"),
        ({"weight": np.ones(3)}, "weight has shape"),
        ({"white": np.full(7, 9)}, "indices of the 3 players"),
        ({"outcome": np.full(7, 3)}, "outcomes are 0, 1 or 2"),
        ({"weight": np.zeros(7)}, "weights are positive"),
        ({"offset": np.full(7, np.inf)}, "offsets are finite"),
        ({"white": np.zeros(7), "black": np.zeros(7)}, "nobody plays against himself"),
        ({"date": np.arange(7)[::-1]}, "sorted by date"),
    ],
)
def test_wrong_columns_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(handmade.games_of(handmade.RECORDS), **wrong)  # type: ignore[arg-type]


def test_rows_of_a_column_of_one_text_have_this_text_whatever_its_number() -> None:
    london = CodedColumn(np.broadcast_to(np.uint8(0), 3), ("London",))
    assert list(texts_of_rows(london, np.array([0, 2]))) == ["London", "London"]
    nothing = CodedColumn(np.broadcast_to(np.uint8(0), 0), ("London",))
    assert list(texts_of_rows(nothing, np.zeros(0, np.int64))) == []
