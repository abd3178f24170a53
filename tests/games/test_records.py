"""Records hold every row of every file, and games are made of the used ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.collected import collector_of, game, reasons, records_of
from tests.support.strategies import examples
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.table import Games, games_of


def listed(games: Games) -> list[tuple[str, str, int, float, float]]:
    """White, Black, outcome, weight and offset of every game, in order."""
    columns = (games.white, games.black, games.outcome, games.weight, games.offset)
    return [
        (games.players[white], games.players[black], outcome, weight, offset)
        for white, black, outcome, weight, offset in zip(*(c.tolist() for c in columns), strict=True)
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


def test_a_match_is_a_row_for_each_outcome() -> None:
    rows = [game("A", "B", ("6.5", "3.5"), games="10"), game("C", "D", ("1", "0"), "1857")]
    games = games_of(records_of(rows))
    assert listed(games) == [
        ("C", "D", 2, 1, 0),
        ("A", "B", 0, 3, 0),
        ("A", "B", 1, 1, 0),
        ("A", "B", 2, 6, 0),
    ]
    assert games.source_line.tolist() == [2, 1, 1, 1]
    assert games.report.used == 2


def test_the_cap_scales_all_games_of_a_match() -> None:
    rows = [game("A", "B", "400-200", games="600"), game("A", "B", "2-1", games="3")]
    games = games_of(records_of(rows, data=DataConfig(match_cap=60)))
    assert listed(games) == [
        ("A", "B", 0, 20, 0),
        ("A", "B", 2, 40, 0),
        ("A", "B", 0, 1, 0),
        ("A", "B", 2, 2, 0),
    ]


def test_a_result_without_a_number_of_games_is_one_beside_matches() -> None:
    rows = [game("A", "B", ("1", "0"), games=""), game("A", "B", ("2", "1"), games="3")]
    assert [row[2:4] for row in listed(games_of(records_of(rows)))] == [(2, 1), (0, 1), (2, 2)]


def test_matches_do_not_decide_how_scores_are_written() -> None:
    """Three matches of 2-0 are no sign that wins are written 2."""
    rows = [game("A", "B", ("1", "0"))] + [game("A", "B", ("2", "0"), games="2")] * 3
    assert [row[2:4] for row in listed(games_of(records_of(rows)))] == [(2, 1), (2, 2), (2, 2), (2, 2)]


def test_statuses_have_weights() -> None:
    rows = [game("A", "B", status=status) for status in ("formal", "Casual", "soft", "", "serious")]
    records = records_of(rows, data=DataConfig(status={"casual": 0.5, "soft": 0.0}))
    assert reasons(records) == [None, None, "status", None, None]
    assert games_of(records).weight.tolist() == [1, 0.5, 1, 1]
    assert [(p.line, p.reason, p.detail, p.action) for p in records.problems] == [
        (3, "status", "1858: A - B 1-0", "dropped"),
        (5, "unknown status", "each counts as 1: serious 1", "kept"),
    ]


def test_weight_status_and_cap_multiply() -> None:
    rows = [game("A", "B", "1-0", games="10", weight="3", status="casual")]
    records = records_of(rows, data=DataConfig(status={"casual": 0.5}, match_cap=5))
    assert games_of(records).weight.tolist() == [10 * 3 * 0.5 * 5 / 10]


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
    ]
    records = records_of(rows)
    assert reasons(records) == [
        None,
        None,
        "unknown odds",
        "unknown odds",
        None,
        None,
        "unknown odds",
        None,
        None,
    ]
    assert games_of(records).offset.tolist() == [-373, 163, 479, -219, 0, 0]


def test_a_named_giver_is_known_by_any_spelling_of_his_name() -> None:
    rows = [game("B", "Löwenthal, J.J.", odds="rook", odds_giver="LOWENTHAL, J J")]
    assert games_of(records_of(rows)).offset.tolist() == [479]


def test_columns_that_are_alike_throughout_take_no_room() -> None:
    games = games_of(records_of([game("A", "B"), game("B", "C")]))
    assert games.weight.strides == games.offset.strides == (0,)
    assert games.weight.tolist() == [1, 1]


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
        rows = [row for row, of in zip(reasons(records), records.file.tolist(), strict=True) if of == number]
        assert file.rows == len(rows) == len(files[number]) + (len(rejects) if number == 0 else 0)
        assert file.used == rows.count(None)
        assert file.dropped == {reason: rows.count(reason) for reason in set(rows) - {None}}
        assert all(0 < count <= file.used for count in file.noticed.values())
    used = np.flatnonzero(records.used)
    assert (records.white[used] >= 0).all()
    assert (records.black[used] >= 0).all()
    assert (records.white[used] != records.black[used]).all()
    games = collector_of(*files, data=data, rejects=rejects).games()
    places = set(zip(games.source_file.tolist(), games.source_line.tolist(), strict=True))
    assert places == {(int(records.file[row]), int(records.line[row])) for row in used}
    assert games.report == records.report
