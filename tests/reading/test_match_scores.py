"""Scores of matches as games: whole wins and losses, a half drawn, nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.reading.results import games_text, tally_of


@each(
    "raw, games, outcome, tally",
    [
        ("1-0", "", 2, (0, 0, 1)),
        ("0-1", "", 0, (1, 0, 0)),
        ("1/2-1/2", "", 1, (0, 1, 0)),
        (("400", "200"), "600", "unknown result", (200, 0, 400)),
        (("45", "5"), "50", "unknown result", (5, 0, 45)),
        (("6.5", ".5"), "7", "unknown result", (0, 1, 6)),
        (("0.5", "0.5"), "1", 1, (0, 1, 0)),
        (("1", "1"), "2", 1, (1, 0, 1)),
        (("1", "1"), "1", 1, (0, 1, 0)),  # doubled scores add up to twice the games
        (("13", "1"), "7", "unknown result", (0, 1, 6)),
        ("4-1", "5", "unknown result", (1, 0, 4)),
        ("6½-½", "7", "unknown result", (0, 1, 6)),
        ("1-0", "5", 2, (0, 0, 5)),
        ("1/2-1/2", "3", 1, (0, 3, 0)),
    ],
)
def test_games_behind_a_result(
    raw: object, games: str, outcome: int | str, tally: tuple[float, float, float]
) -> None:
    assert tally_of(raw, games, outcome) == tally


@each(
    "raw, games, outcome, reason",
    [
        ("*", "", "no result", "no result"),
        ("*", "5", "no result", "no result"),
        (("", ""), "5", "no result", "no result"),
        (("4", "2"), "5", "unknown result", "bad match score"),
        (("1", "0"), "5", 2, "bad match score"),  # two scores are the score of the match
        (("4.3", "0.7"), "5", "unknown result", "bad match score"),
        ("1-0", "0", 2, "bad match score"),
        ("1-0", "-3", 2, "bad match score"),
        ("1-0", "2.5", 2, "bad match score"),
        ("1-0", "many", 2, "bad match score"),
        ("1-0", "nan", 2, "bad match score"),
        ("1-0", "inf", 2, "bad match score"),
    ],
)
def test_what_is_no_score(raw: object, games: str, outcome: int | str, reason: str) -> None:
    assert tally_of(raw, games, outcome) == reason


@given(st.integers(0, 60), st.integers(1, 60))
def test_a_tally_keeps_games_and_score(doubled: int, games: int) -> None:
    white = min(doubled, 2 * games) / 2
    tally = tally_of((f"{white}", f"{games - white}"), str(games), "unknown result")
    lost, drawn, won = map(float, tally)
    assert (lost + drawn + won, won + drawn / 2) == (games, white)
    assert drawn in (0, 1)
    assert min(lost, won) >= 0


def test_numbers_of_games_as_written() -> None:
    assert [games_text(raw) for raw in (b" 5 ", "?", "-", "", "5")] == ["5", "", "", "", "5"]
