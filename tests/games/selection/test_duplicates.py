"""Records of the same game: the rule by examples, and against every pair compared with every other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.collected import game, records_of
from tests.support.strategies import examples
from ttt_cli.games.selection import find_duplicates
from ttt_cli.games.table import Records

PLACE = {"event": "London", "round": "3"}


def repeated(*rows: dict[str, object]) -> list[tuple[int, int]]:
    """Pairs of a duplicate and its original."""
    found = find_duplicates(records_of(rows))
    return list(zip(found.row.tolist(), found.original.tolist(), strict=True))


@each(
    "one, other",
    [
        (game("A", "B", moves=7), game("A", "B", moves=7)),
        (game("A", "B", moves=7, round="1"), game("A", "B", moves=7, round="2")),
        (game("A", "B", date="1858.06.17", moves=7), game("A", "B", date="1858", moves=7)),
        (game("A", "B", date="1858.06.17", moves=7), game("A", "B", date="1858.06", moves=7)),
        (game("A", "B", date="1858.06", moves=7), game("A", "B", date="1858", moves=7)),
        (
            game("A", "B", date="1858.06.17", round="3"),
            game("A", "B", date="1858.06.17", round="3", event="x"),
        ),
        (game("A", "B", date="1858.06.17", round="03"), game("A", "B", date="1858.06.17", round="(3)")),
        (game("A", "B", **PLACE), game("A", "B", date="1858.06.17", **PLACE)),
        (game("A", "B", **PLACE), game("A", "B", round="3", event="LONDON", moves=7)),
        (game("Morphy, P", "B", moves=7), game("Morphy, P.", "B", moves=7)),
    ],
)
def test_the_same_game(one: dict[str, object], other: dict[str, object]) -> None:
    assert len(repeated(one, other)) == len(repeated(other, one)) == 1


@each(
    "one, other",
    [
        (game("A", "B", moves=7), game("A", "B", moves=8)),
        (game("A", "B", moves=7, **PLACE), game("A", "B", moves=8, **PLACE)),
        (game("A", "B", moves=7), game("B", "A", "0-1", moves=7)),  # colours
        (game("A", "B", moves=7), game("A", "B", "0-1", moves=7)),
        (game("A", "B", moves=7), game("A", "C", moves=7)),
        (game("A", "B", moves=7), game("A", "B", date="1859", moves=7)),
        (game("A", "B", date="1858.06.17", moves=7), game("A", "B", date="1858.06.18", moves=7)),
        (game("A", "B", date="1858.06.17", moves=7), game("A", "B", date="1858.07", moves=7)),
        (game("A", "B"), game("A", "B")),  # two games of a match
        (game("A", "B", date="1858.06.17"), game("A", "B", date="1858.06.17")),
        (game("A", "B", round="3"), game("A", "B", round="3")),  # of two events, perhaps
        (game("A", "B", round="?", event="London"), game("A", "B", round="?", event="London")),
        (game("A", "B", **PLACE), game("A", "B", event="London", round="4")),
        (game("A", "B", **PLACE), game("A", "B", event="Paris", round="3")),
        (game("A", "B", "2-0", games="2", **PLACE), game("A", "B", "2-0", games="2", **PLACE)),
    ],
)
def test_different_games(one: dict[str, object], other: dict[str, object]) -> None:
    assert repeated(one, other) == repeated(other, one) == []


def test_the_original_has_moves_and_the_most_exact_date() -> None:
    rows = [
        game("A", "B", **PLACE),
        game("A", "B", moves=7, **PLACE),
        game("A", "B", date="1858.06.17", moves=7),
        game("A", "B", date="1858.06.17", moves=7),
    ]
    assert repeated(*rows) == [(0, 2), (1, 2), (3, 2)]
    assert repeated(*rows[:2]) == [(0, 1)]


def test_unused_records_are_not_compared() -> None:
    assert (
        repeated(game("A", "NN", moves=7), game("A", "NN", moves=7), game("A", "B", "*"), game("A", "B", "*"))
        == []
    )


def test_no_records() -> None:
    assert repeated(game("A", "B")) == []


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "white": st.sampled_from("AB"),
            "black": st.sampled_from("CD"),
            "result": st.sampled_from(["1-0", "0-1"]),
            "date": st.sampled_from(["1858", "1858.06", "1858.06.17", "1858.06.18", "1858.07", "1859"]),
            "moves": st.sampled_from([0, 0, 7, 8]),
            "round": st.sampled_from(["", "1", "2"]),
            "event": st.sampled_from(["", "x"]),
        }
    ),
    max_size=14,
)


def same_game(records: Records, one: int, other: int) -> bool:
    """The rule, for two records, as the documentation has it."""
    if any(
        column[one] != column[other]
        for column in (records.white_written, records.black_written, records.result)
    ):
        return False
    parts = [records.date[row].split(".") for row in (one, other)]
    if any(mine != theirs for mine, theirs in zip(*parts, strict=False)):
        return False
    moves = records.moves[one], records.moves[other]
    if all(moves):
        return bool(moves[0] == moves[1])
    if not records.round[one] or records.round[one] != records.round[other]:
        return False
    full = len(parts[0]) == len(parts[1]) == 3
    return full or bool(records.event[one] and records.event[one] == records.event[other])


@pytest.mark.slow
@examples(30)
@given(ROWS)
def test_by_comparing_all_with_all(rows: list[dict[str, object]]) -> None:
    """Every duplicate is of the same game as another record, and no two that are kept are."""
    if not rows:
        return
    records = records_of(rows)
    found = find_duplicates(records)
    again = set(found.row.tolist())
    kept = [row for row in range(len(records)) if row not in again]
    for row in again:
        assert any(same_game(records, row, other) for other in range(len(records)) if other != row)
    assert set(found.original.tolist()) <= set(kept)
    assert not any(same_game(records, one, other) for i, one in enumerate(kept) for other in kept[i + 1 :])
