"""Results: texts, single scores, pairs and the convention of a whole column; scores of matches as games."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.reading.batches import ResultKind
from ttt_cli.reading.reports import REJECT_CODE
from ttt_cli.reading.results import (
    NO_TALLY,
    Outcome,
    Written,
    games_text,
    is_score,
    match_result,
    match_scores,
    parse_result,
    parse_results,
    score_pair,
    tally_of,
)


def outcomes(column: Mapping[Written, int], kind: ResultKind = "text") -> dict[Written, Outcome]:
    return dict(zip(column, parse_results(list(column), list(column.values()), kind), strict=True))


@each(
    "text, outcome",
    [
        *[(text, WIN) for text in ("1-0", "1 - 0", "1:0", "1–0", "1.0-0.0", " 1-0 ", "1", "1.0", "White", "w")],
        *[(text, LOSS) for text in ("0-1", "0 - 1", "0:1", "0−1", "0", "0.0", "b", "Black wins", "l")],
        *[(text, DRAW) for text in ("1/2-1/2", "½-½", "1/2 - 1/2", "1/2", "½", "0.5-0.5", ".5-.5", "0,5", "0.5")],
        *[(text, DRAW) for text in ("0,5-0,5", "0.5:0.5", "=", "d", "Draw", "remis", "1/2:1/2")],
        *[(text, "no result") for text in ("", "*", "?", " ", "-", "--")],
        *[(text, "forfeit") for text in ("---", "- : -", "+--", "--+")],
        *[(text, "forfeit") for text in ("1-0 forfeit", "1-0F", "1F-0F", "0-1 (ff)", "+/-", "-/+", "+:-", "+-", "-:-")],
        *[(text, "forfeit") for text in ("0-0", "1-0 by default", "w.o.", "bye")],
        *[(text, "unknown result") for text in ("won quickly", "7", "1/2-0", "3:2", "1--0", "½½½")],
        ("1-0 Time forfeit", WIN),
    ],
)  # fmt: skip
def test_texts(text: str, outcome: int | str) -> None:
    assert parse_result(text) == outcome


@each(
    "column, expected",
    [
        ({"1": 5, "0": 5}, {"1": WIN, "0": LOSS}),
        ({"1": 5, "0.5": 2, "0": 5}, {"1": WIN, "0.5": DRAW, "0": LOSS}),
        ({"2": 5, "1": 2, "0": 5}, {"2": WIN, "1": DRAW, "0": LOSS}),
        ({"1": 5, "0": 2, "-1": 5}, {"1": WIN, "0": DRAW, "-1": LOSS}),
        (
            {"1": 5, "0.5": 4, "0": 5, "2": 1},
            {"1": WIN, "0.5": DRAW, "0": LOSS, "2": "unknown result"},
        ),
        ({"+": 5, "-": 4, "=": 5}, {"+": WIN, "-": LOSS, "=": DRAW}),
        ({"+": 1, "-": 1, "1": 9, "0": 9}, {"+": "forfeit", "-": "forfeit", "1": WIN, "0": LOSS}),
        ({"-": 1, "1-0": 9}, {"-": "no result", "1-0": WIN}),
        (
            {"2-0": 1, "1-1": 1, "1-0": 9},
            {"2-0": "unknown result", "1-1": "unknown result", "1-0": WIN},
        ),
        ({"2-0": 5, "1-1": 2, "0-2": 5}, {"2-0": WIN, "1-1": DRAW, "0-2": LOSS}),
    ],
)
def test_a_single_column_is_decided_as_a_whole(
    column: dict[str, int], expected: dict[str, int | str]
) -> None:
    assert outcomes(column) == expected


@each(
    "column, expected",
    [
        ({("1", "0"): 5, ("0.5", "0.5"): 2, ("0", "1"): 1}, [WIN, DRAW, LOSS]),
        ({("1", "0"): 5, ("½", "½"): 2, ("0", "1"): 1}, [WIN, DRAW, LOSS]),
        ({("2", "0"): 5, ("1", "1"): 2, ("0", "2"): 1}, [WIN, DRAW, LOSS]),
        ({("1", "1"): 9}, [DRAW]),
        ({("1", "0"): 5, ("1", "1"): 1}, [WIN, "unknown result"]),
        ({("2", "0"): 5, ("1", "0"): 1, ("0", "0"): 1}, [WIN, "unknown result", "forfeit"]),
        ({("1", "0"): 5, ("", ""): 1, ("1", ""): 1, ("*", "*"): 1}, [WIN, "no result", "no result", "no result"]),
        ({("1", "0"): 5, ("+", "-"): 1, ("x", "y"): 1}, [WIN, "forfeit", "unknown result"]),
    ],
)  # fmt: skip
def test_pairs_of_scores(column: dict[tuple[str, str], int], expected: list[int | str]) -> None:
    assert list(outcomes(column, "scores").values()) == expected


@each(
    "raw, pair",
    [
        *[
            ("400-200", (400, 200)),
            ("5½:3½", None),
            ("5.5:3,5", (5.5, 3.5)),
            (("7", "3.0"), (7, 3)),
        ],
        *[(("½", "0"), (0.5, 0)), ("", None), ("1", None), (("1", ""), None), (("1",), None)],
        *[(("1", "x"), None), (("1", "2", "3"), None)],
    ],
)
def test_pairs_whatever_they_add_up_to(raw: Written, pair: tuple[float, float] | None) -> None:
    assert score_pair(raw) == pair


@each(
    "score, games, expected",
    [
        *[("400", "600", ("400", "200")), ("5.5", "9", ("5.5", "3.5")), (" 0 ", " 1 ", ("0", "1"))],
        *[
            ("½", "", ("½", "0.5")),
            ("123456.5", "250001", ("123456.5", "126544.5")),
            ("1", " ", ("1", "0")),
        ],
    ],
)
def test_scores_of_matches(score: str, games: str, expected: tuple[str, str]) -> None:
    assert match_scores(score, games) == expected


@each(
    "score, games, reason",
    [
        *[
            ("", "9", "no result"),
            ("*", "", "no result"),
            ("+", "", "forfeit"),
            ("x", "9", "unknown result"),
        ],
        *[("10", "9", "unknown result"), ("5", "many", "unknown result")],
    ],
)
def test_scores_that_are_none(score: str, games: str, reason: str) -> None:
    pair = match_scores(score, games)
    assert outcomes({pair: 1}, "scores") == {pair: reason}


@each(
    "column, kind, expected",
    [
        (
            {("4", "2"): 1, ("0", "0"): 1, ("1", "3"): 1, ("1", "0"): 7, ("", "2"): 1},
            "goals",
            [WIN, DRAW, LOSS, WIN, "no result"],
        ),
        (
            dict.fromkeys(("3-1", "0-0", "1 : 2", "1-0", "H", "D", "walkover", ""), 1),
            "sport",
            [WIN, DRAW, LOSS, WIN, WIN, DRAW, "forfeit", "no result"],
        ),
        ({"6-4 6-3": 3, "RET": 1, "": 1, "W/O": 1}, "winners", [WIN, WIN, WIN, "forfeit"]),
    ],
)
def test_other_kinds(column: dict[Written, int], kind: ResultKind, expected: list[Outcome]) -> None:
    assert list(outcomes(column, kind).values()) == expected


def test_a_match_has_a_result_or_scores() -> None:
    assert match_result("1-0", "4", "9") == "1-0"
    assert match_result(" ", "4", "9") == "4-5"
    assert match_result("", "", "9") == ""
    assert [text for text in ("1", "½", "7,5", "", "-1", "1-0", "x") if is_score(text)] == [
        "1",
        "½",
        "7,5",
    ]
    assert [games_text(raw) for raw in (" 5 ", "?", "-", "", "5")] == ["5", "", "", "", "5"]


_MIRRORED = {WIN: LOSS, LOSS: WIN, DRAW: DRAW}
_SCORES = st.sampled_from(["0", "1", "2", "0.5", "½", "1.0", "", "3", "+", "-", "x"])


@given(
    st.dictionaries(st.tuples(_SCORES, _SCORES), st.integers(1, 9)),
    st.sampled_from(["scores", "goals"]),
)
def test_swapping_the_players_mirrors_the_outcome(
    column: dict[tuple[str, str], int], kind: str
) -> None:
    swapped = {(black, white): count for (white, black), count in column.items()}
    straight, mirrored = outcomes(column, kind), outcomes(swapped, kind)  # type: ignore[arg-type]
    for white, black in column:
        outcome = straight[white, black]
        expected = _MIRRORED[outcome] if isinstance(outcome, int) else outcome
        assert mirrored[black, white] == expected


@given(st.lists(st.text(max_size=8) | st.text(alphabet="0123456789.-+/½=:*? ", max_size=8)))
def test_any_column_gets_outcomes_or_reasons(values: list[str]) -> None:
    reasons = {"no result", "forfeit", "unknown result"}
    read = parse_results(values, [1] * len(values))
    assert len(read) == len(values)
    assert all(outcome in (LOSS, DRAW, WIN) or outcome in reasons for outcome in read)


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
    raw: Written, games: str, outcome: int | str, tally: tuple[float, float, float]
) -> None:
    assert tally_of(raw, games, outcome) == (tally, 0)


@each(
    "raw, games, outcome, reason",
    [
        *[("*", "", "no result", "no result"), ("*", "5", "no result", "no result")],
        (("", ""), "5", "no result", "no result"),
        (("4", "2"), "5", "unknown result", "bad match score"),
        (("1", "0"), "5", 2, "bad match score"),  # two scores are the score of the match
        (("4.3", "0.7"), "5", "unknown result", "bad match score"),
        *[
            ("1-0", games, 2, "bad match score")
            for games in ("0", "-3", "2.5", "many", "nan", "inf")
        ],
    ],
)
def test_what_is_no_score(raw: Written, games: str, outcome: int | str, reason: str) -> None:
    assert tally_of(raw, games, outcome) == (NO_TALLY, REJECT_CODE[reason])


@given(st.integers(0, 60), st.integers(1, 60))
def test_a_tally_keeps_games_and_score(doubled: int, games: int) -> None:
    white = min(doubled, 2 * games) / 2
    (lost, drawn, won), reject_code = tally_of(
        (f"{white}", f"{games - white}"), str(games), "unknown result"
    )
    assert not reject_code
    assert (lost + drawn + won, won + drawn / 2) == (games, white)
    assert drawn in (0, 1)
    assert min(lost, won) >= 0
