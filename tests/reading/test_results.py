"""Results: texts, single scores, pairs and the convention of a whole column."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.reading.results import (
    is_score,
    match_result,
    match_scores,
    parse_result,
    parse_results,
    score_pair,
)


@each(
    "text, outcome",
    [
        *[(text, WIN) for text in ("1-0", "1 - 0", "1:0", "1–0", "1.0-0.0", " 1-0 ", "1", "1.0", "White", "w")],
        *[(text, LOSS) for text in ("0-1", "0 - 1", "0:1", "0−1", "0", "0.0", "b", "Black wins", "l")],
        *[(text, DRAW) for text in ("1/2-1/2", "½-½", "1/2 - 1/2", "1/2", "½", "0.5-0.5", ".5-.5", "0,5", "0.5")],
        *[(text, DRAW) for text in ("0,5-0,5", "0.5:0.5", "=", "d", "Draw", "remis", "1/2:1/2")],
        *[(text, "no result") for text in ("", "*", "?", " ", "-", "--")],
        *[(text, "forfeit") for text in ("1-0 forfeit", "1-0F", "1F-0F", "0-1 (ff)", "+/-", "-/+", "+:-", "+-", "-:-")],
        *[(text, "forfeit") for text in ("0-0", "1-0 by default", "w.o.", "bye")],
        *[(text, "unknown result") for text in ("won quickly", "7", "1/2-0", "3:2", "1--0", "½½½")],
        ("1-0 Time forfeit", WIN),
    ],
)  # fmt: skip
def test_texts(text: str, outcome: int | str) -> None:
    assert parse_result(text) == outcome


def test_bytes_and_undecoded_text_are_read_too() -> None:
    latin = "½-½".encode("cp1252")
    counts = {b"1-0": 1, latin: 1, latin.decode("utf-8", "surrogateescape"): 1}
    read = parse_results(counts)
    assert [read[raw] for raw in counts] == [WIN, DRAW, DRAW]


@each(
    "column, expected",
    [
        ({"1": 5, "0": 5}, {"1": WIN, "0": LOSS}),
        ({"1": 5, "0.5": 2, "0": 5}, {"1": WIN, "0.5": DRAW, "0": LOSS}),
        ({"2": 5, "1": 2, "0": 5}, {"2": WIN, "1": DRAW, "0": LOSS}),
        ({"1": 5, "0": 2, "-1": 5}, {"1": WIN, "0": DRAW, "-1": LOSS}),
        ({"1": 5, "0.5": 4, "0": 5, "2": 1}, {"1": WIN, "0.5": DRAW, "0": LOSS, "2": "unknown result"}),
        ({"+": 5, "-": 4, "=": 5}, {"+": WIN, "-": LOSS, "=": DRAW}),
        ({"+": 1, "-": 1, "1": 9, "0": 9}, {"+": "forfeit", "-": "forfeit", "1": WIN, "0": LOSS}),
        ({"-": 1, "1-0": 9}, {"-": "no result", "1-0": WIN}),
        ({"2-0": 1, "1-1": 1, "1-0": 9}, {"2-0": "unknown result", "1-1": "unknown result", "1-0": WIN}),
        ({"2-0": 5, "1-1": 2, "0-2": 5}, {"2-0": WIN, "1-1": DRAW, "0-2": LOSS}),
    ],
)
def test_a_single_column_is_decided_as_a_whole(
    column: dict[str, int], expected: dict[str, int | str]
) -> None:
    assert parse_results(column) == expected


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
    read = parse_results(column, "scores")
    assert [read[pair] for pair in column] == expected


def test_goals_are_compared() -> None:
    column = {("4", "2"): 1, ("0", "0"): 1, ("1", "3"): 1, ("1", "0"): 7, ("", "2"): 1}
    assert parse_results(column, "goals") == {
        ("4", "2"): WIN,
        ("0", "0"): DRAW,
        ("1", "3"): LOSS,
        ("1", "0"): WIN,
        ("", "2"): "no result",
    }


@each(
    "raw, pair",
    [
        *[("400-200", (400, 200)), ("5½:3½", None), ("5.5:3,5", (5.5, 3.5)), (("7", b"3.0"), (7, 3))],
        *[(("½", "0"), (0.5, 0)), ("", None), ("1", None), (("1", ""), None), (("1",), None)],
        *[(("1", "x"), None), (("1", "2", "3"), None)],
    ],
)
def test_pairs_whatever_they_add_up_to(raw: object, pair: tuple[float, float] | None) -> None:
    assert score_pair(raw) == pair  # type: ignore[arg-type]


@each(
    "score, games, expected",
    [
        *[("400", "600", ("400", "200")), (b"5.5", b"9", ("5.5", "3.5")), (" 0 ", " 1 ", ("0", "1"))],
        *[("½", "", ("½", "0.5")), ("123456.5", "250001", ("123456.5", "126544.5")), ("1", " ", ("1", "0"))],
    ],
)
def test_scores_of_matches(score: object, games: object, expected: tuple[str, str]) -> None:
    assert match_scores(score, games) == expected


@each(
    "score, games, reason",
    [
        *[("", "9", "no result"), ("*", "", "no result"), ("+", "", "forfeit"), ("x", "9", "unknown result")],
        *[("10", "9", "unknown result"), ("5", "many", "unknown result")],
    ],
)
def test_scores_that_are_none(score: str, games: str, reason: str) -> None:
    pair = match_scores(score, games)
    assert parse_results({pair: 1}, "scores") == {pair: reason}


def test_a_match_stands_where_there_is_no_result() -> None:
    assert match_result("1-0", "4", "9") == "1-0"
    assert match_result(b" ", b"4", b"9") == "4-5"
    assert match_result("", "", "9") == ""


def test_texts_that_are_scores() -> None:
    assert [text for text in ("1", "0.5", "½", "7,5", "", "-1", "1-0", "x") if is_score(text)] == [
        "1",
        "0.5",
        "½",
        "7,5",
    ]


_MIRRORED = {WIN: LOSS, LOSS: WIN, DRAW: DRAW}
_SCORES = st.sampled_from(["0", "1", "2", "0.5", "½", "1.0", "", "3", "+", "-", "x"])


@given(st.dictionaries(st.tuples(_SCORES, _SCORES), st.integers(1, 9)), st.sampled_from(["scores", "goals"]))
def test_swapping_the_players_mirrors_the_outcome(column: dict[tuple[str, str], int], kind: str) -> None:
    swapped = {(black, white): count for (white, black), count in column.items()}
    straight, mirrored = parse_results(column, kind), parse_results(swapped, kind)  # type: ignore[arg-type]
    for white, black in column:
        outcome = straight[white, black]
        expected = _MIRRORED[outcome] if isinstance(outcome, int) else outcome
        assert mirrored[black, white] == expected


@given(st.lists(st.text(max_size=8) | st.text(alphabet="0123456789.-+/½=:*? ", max_size=8)))
def test_any_column_gets_outcomes_or_reasons(values: list[str]) -> None:
    reasons = {"no result", "forfeit", "unknown result"}
    read = parse_results(dict.fromkeys(values, 1))
    assert read.keys() == set(values)
    assert all(outcome in (LOSS, DRAW, WIN) or outcome in reasons for outcome in read.values())


def test_pairs_of_other_sports_are_goals() -> None:
    played = {"3-1": 1, "0-0": 1, "1 : 2": 2, "1-0": 1, "H": 1, "D": 1, "walkover": 1, "": 1}
    assert parse_results(played, "sport") == {
        "3-1": 2, "0-0": 1, "1 : 2": 0, "1-0": 2, "H": 2, "D": 1, "walkover": "forfeit", "": "no result",
    }  # fmt: skip


def test_winners_have_won_unless_nothing_was_played() -> None:
    found = parse_results({"6-4 6-3": 3, "RET": 1, "": 1, "W/O": 1, "Walkover": 1}, "winners")
    assert found == {"6-4 6-3": 2, "RET": 2, "": 2, "W/O": "forfeit", "Walkover": "forfeit"}
