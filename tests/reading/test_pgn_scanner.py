"""The PGN scanner against what real files hold: each trap with what is to come out of it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.support.batches import scanned
from tests.support.cases import each
from ttt_cli.reading import pgn_text as pgn_moves
from ttt_cli.reading.batches import Note
from ttt_cli.reading.input import plain_blocks, text_of
from ttt_cli.reading.pgn import TAG_COLUMNS
from ttt_cli.reading.results import parse_result


class Row(NamedTuple):
    line: int
    date: str
    white: str
    black: str
    result: str


def scan(content: str | bytes) -> tuple[list[Row], list[Note]]:
    data = content.encode() if isinstance(content, str) else content
    rows, _, notes = scanned([data])
    return [Row(row[0], *map(text_of, row[1:5])) for row in rows], notes


def tags(white: str = "A", black: str = "B", result: str | None = "1-0", date: str = "1858") -> str:
    lines = [f'[Event "x"]\n[Date "{date}"]\n[White "{white}"]\n[Black "{black}"]\n']
    return "".join(lines + ([f'[Result "{result}"]\n'] if result is not None else []))


A_B = ("1858", "A", "B", "1-0")
C_D = ("1858", "C", "D", "0-1")
SECOND = tags("C", "D", "0-1")


@each(
    "trap, line",
    [
        (tags() + "\n1. e4 e5 1-0\n\n", 9),
        (tags() + '\n1. e4 {\n[Event "y"]\n[White "Z"]\n\n} e5 1-0\n\n', 13),
        (tags() + "\n1. e4 { a\n\n\nb } e5 1-0\n\n", 12),
        (tags() + "\n1. e4 ; { not a comment\ne5 1-0\n\n", 10),
        (tags() + "\n1. e4 {; not a line comment } e5 1-0\n\n", 9),
        (tags() + "\n1. e4\n% { not a comment\ne5 1-0\n\n", 11),
        (tags() + "\n1. e4 {50% [%clk 1:00]} e5 {\n% } 1-0\n\n", 10),
        (tags() + "\n1. e4 { outer { inner } e5 1-0\n\n", 9),
        (tags() + "\n1. e4 } e5 1-0\n\n", 9),
        (tags() + "\n1. e4 [ e5 [?] 1-0\n\n", 9),
        (tags() + "1. e4 e5 1-0\n\n", 8),
        (tags() + "1. e4 e5 1-0\n", 7),
        (tags() + "\n\n\n1. e4 e5 1-0\n\n\n\n", 13),
        (tags() + "\n1. e4 e5\n\n1-0\n\n", 11),
        (tags() + "\n1. e4 e5\n\n1-0\n", 10),
        (tags() + "\n1. e4 e5 1-0 ", 7),
        (tags() + "\n1-0\n\n", 9),
        (tags() + "\n", 7),
        (tags() + "\n\n", 8),
        (tags(), 6),
        (tags().replace("]\n[", "] ["), 2),
        (tags().replace("\n", "\n \t"), 6),
        (tags().replace("[", "[ ").replace(' "', '  "').replace("]", " ]"), 6),
        (tags().replace('x"', 'a \\"b\\" [c] {d} ; % \\\\"'), 6),
        (tags().replace("Event", "event").replace("White", "WHITE").replace("Date", "date"), 6),
        (tags().replace("\n", "\n\n"), 11),
        (tags() + "\n1. e4 (1. d4 (1. c4 *) d5 0-1) e5 1-0\n\n", 9),
        (tags() + "\n1. e4 \u2028 \u0085 \x0b \x0c e5 1-0\n\n", 9),
        ("%evp 0-9\n; remark\n\n" + tags() + "\n1. e4 1-0\n\n", 12),
        ("\n\n  " + tags() + "\n1. e4 1-0\n\n", 11),
    ],
)  # fmt: skip
def test_laid_out_as_real_files_are(trap: str, line: int) -> None:
    start = trap.lower().replace(" ", "").count("\n", 0, trap.lower().replace(" ", "").index("[event")) + 1
    assert scan(trap + SECOND) == ([Row(start, *A_B), Row(line, *C_D)], [])


@each(
    "written, name",
    [
        ('[White ""Learning with fun""]', '"Learning with fun"'),
        ('[White "Fritz 6a (120")"]', 'Fritz 6a (120")'),
        ('[White "A \\"B\\" C"]', 'A "B" C'),
        ("[White \"Analysis\\ Analyse\"]", "Analysis\\ Analyse"),
        ('[White "A\\\\B"]', "A\\B"),
        ('[White "ends\\"]', "ends\\"),
        ('[White "a [b] {c} ; d"]', "a [b] {c} ; d"),
        ('[White "a"] b"]', 'a"] b'),
        ('[White ""]', ""),
        ('[White "Morphy, Paul "]', "Morphy, Paul "),
        ("[White \"\u2028\"]", "\u2028"),
    ],
)  # fmt: skip
def test_values(written: str, name: str) -> None:
    rows, notes = scan(tags().replace('[White "A"]', written) + "\n1. e4 1-0\n\n" + SECOND)
    assert [row[1:] for row in rows] == [("1858", name, "B", "1-0"), C_D]
    assert notes == []


@each(
    "written, name",
    [
        ('[White "Morphy', "Morphy"),
        ('[White "Morphy"', "Morphy"),
        ("[White Morphy]", "Morphy"),
        ('[White "Morphy]', "Morphy"),
        ('[White "Paul\nMorphy"]', "Paul Morphy"),
    ],
)
def test_broken_tags_are_repaired(written: str, name: str) -> None:
    rows, notes = scan(tags().replace('[White "A"]', written) + "\n1. e4 1-0\n\n" + SECOND)
    assert [row[1:] for row in rows] == [("1858", name, "B", "1-0"), C_D]
    assert notes == [Note(3, "malformed tag", f'White "{name}"', "repaired")]


USUAL = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def further(more: str) -> dict[str, bytes]:
    """The further columns of a game with these tags behind the others."""
    (row,), *_ = scanned([(tags() + more + "\n1. e4 1-0\n").encode()])
    return dict(zip(list(TAG_COLUMNS)[4:], row[5:-1], strict=True))  # type: ignore[arg-type]


def test_further_columns_are_the_values_of_their_tags() -> None:
    more = '[Site "London"]\n[Round "2.1"]\n[WhiteFideId "1503014"]\n[blackfideid "4100018"]\n[Variant "Chess960"]\n'
    more += '[TimeControl "300+3"]\n'
    assert further(more) == {
        "event": b"x",
        "site": b"London",
        "round": b"2.1",
        "white_id": b"1503014",
        "black_id": b"4100018",
        "variant": b"Chess960",
        "time_control": b"300+3",
    }
    assert further("") == {
        "event": b"x",
        "site": b"",
        "round": b"",
        "white_id": b"",
        "black_id": b"",
        "variant": b"",
        "time_control": b"",
    }


@each(
    "more, variant",
    [
        ('[SetUp "1"]\n', b"set-up"),
        ('[SetUp "0"]\n', b""),
        ('[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n', b"set-up"),
        (f'[FEN "{USUAL}"]\n', b""),
        (f'[SetUp "1"]\n[FEN "{USUAL}"]\n', b"set-up"),
        (f'[FEN "{USUAL[:-11]} b KQkq - 0 1"]\n', b"set-up"),
        ('[FEN ""]\n', b""),
        ('[FEN "?"]\n', b""),
        ('[Variant "King of the Hill"]\n[FEN "8/8 w"]\n', b"King of the Hill"),
        ('[Variant ""]\n[SetUp "1"]\n', b"set-up"),
    ],
)
def test_games_from_other_positions_are_set_up(more: str, variant: bytes) -> None:
    assert further(more)["variant"] == variant


def test_moves_of_games_that_follow_without_tags_are_their_own() -> None:
    content = tags() + "\n1. e4 1-0\n\n1. d4 0-1\n\n" + tags() + "\n1. e4 1-0\n"
    codes = [row[-1] for row in scanned([content.encode()])[0]]
    assert codes[0] == codes[2] != codes[1] != 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\0\0"])
def test_ends_of_lines_marks_and_nuls(start: str, end: str) -> None:
    content = start + tags() + '\n1. e4 {\n[White "Z"]\n} 1-0\n\n\0' + SECOND + "\x1a"
    blocks = plain_blocks([content.replace("\n", end).encode()], None, "games")
    assert scan(b"".join(blocks)) == ([Row(1, *A_B), Row(11, *C_D)], [])


@each(
    "written, outcome",
    [("1 - 0", 2), ("1:0", 2), ("1/2", 1), ("0.5-0.5", 1), ("½-½", 1), ("0 : 1", 0), ("1/2 - 1/2", 1)],
)
def test_results_as_they_are_written(written: str, outcome: int) -> None:
    rows, notes = scan(tags(result=written) + "\n1. e4 e5\n\n" + SECOND)
    assert parse_result(rows[0].result) == outcome
    assert notes == []


def test_each_value_has_its_own_encoding() -> None:
    content = tags("Löwenthal").encode("cp1252") + b"\n1-0\n\n" + tags("Löwenthal").encode()
    assert [row.white for row in scan(content)[0]] == ["Löwenthal", "Löwenthal"]


def test_byte_order_mark_between_joined_files() -> None:
    assert scan(tags() + "\n1-0\n\ufeff" + SECOND) == ([Row(1, *A_B), Row(8, *C_D)], [])


def test_first_of_duplicate_tags_wins() -> None:
    rows, notes = scan(tags().replace("[Black", '[White "Z"]\n[Black') + "\n1-0\n")
    assert [row[1:] for row in rows] == [A_B]
    assert notes == [Note(4, "duplicate tag", 'White "Z"', "kept")]


@pytest.mark.parametrize("between", ["", "\n"])
def test_tags_only_games(between: str) -> None:
    rows, notes = scan((tags() + between) * 2 + SECOND)
    assert [row[1:] for row in rows] == [A_B, A_B, C_D]
    assert notes == []


def test_tags_only_games_without_events() -> None:
    pairing = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
    assert [row.white for row in scan(pairing * 3)[0]] == ["A"] * 3


@each(
    "tag, end, result, noted",
    [
        (None, "1-0", "1-0", ("result from movetext", "repaired")),
        (None, "1/2-1/2", "1/2-1/2", ("result from movetext", "repaired")),
        ("*", "0-1", "0-1", ("result from movetext", "repaired")),
        ("?", "0-1", "0-1", ("result from movetext", "repaired")),
        ("1-0", "0-1", "1-0", ("contradicting result", "kept")),
        ("+:-", "1-0", "+:-", None),
        ("1-0", "*", "1-0", None),
        ("1-0", "", "1-0", None),
        ("½-½", "1/2-1/2", "½-½", None),
        ("*", "*", "*", None),
        (None, "", "", None),
        (None, "*", "", None),
    ],
)
def test_tag_and_end_of_the_moves(
    tag: str | None, end: str, result: str, noted: tuple[str, str] | None
) -> None:
    rows, notes = scan(tags(result=tag) + f"\n1. e4 e5 {end}\n\n" + SECOND)
    assert [row.result for row in rows] == [result, "0-1"]
    assert [(note.line, note.reason, note.action) for note in notes] == ([(1, *noted)] if noted else [])


@each("end", ["1-0 {resigns}", "1-0 ; at last", "{done}\n\n1-0", "1-0 White resigned"])
def test_the_end_need_not_come_last(end: str) -> None:
    assert [row.result for row in scan(tags(result="*") + f"\n1. e4 e5 {end}\n\n" + SECOND)[0]] == [
        "1-0",
        "0-1",
    ]


@each("rest", ["", "\n", "\n1. e4", "\n1. e4 {cut", "\n1. e4 ; cut", "\n% cut", "1."])
def test_a_last_game_cut_short_is_kept(rest: str) -> None:
    assert [row[1:] for row in scan(SECOND + "\n0-1\n\n" + tags() + rest)[0]] == [C_D, A_B]


def test_a_last_game_cut_within_its_tags() -> None:
    rows, _ = scan(SECOND + '\n0-1\n\n[Event "x"]\n[Date "1858"]\n[White "A"]\n[Bla')
    assert [row[1:] for row in rows] == [C_D, ("1858", "A", "", "")]


@pytest.mark.parametrize("rest", ["more\n0-1\n\n", "more\n\n0-1\n"])
def test_an_unclosed_comment_ends_at_the_next_game_with_comments(rest: str) -> None:
    content = tags() + "\n1. e4 { never closed " + rest + SECOND + "\n1. d4 {closed} 0-1\n\n" + tags()
    rows, notes = scan(content)
    assert [row[1:] for row in rows] == [A_B, C_D, A_B]
    assert {(note.line, note.reason) for note in notes} == {
        (7, "unclosed comment"),
        (1, "contradicting result"),  # what stands behind the brace ends the game
    }


def test_an_unclosed_comment_ends_at_the_next_game_without_any() -> None:
    rows, notes = scan(tags() + "\n1. e4 { never closed\n\n" + SECOND + "\n1. d4 0-1\n\n" + tags())
    assert [row[1:] for row in rows] == [A_B, C_D, A_B]
    assert [(note.line, note.reason, note.action) for note in notes] == [(7, "unclosed comment", "repaired")]


def test_a_comment_longer_than_the_limit_counts_as_unclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_moves, "COMMENT_LIMIT", 200)
    content = tags() + "\n1. e4 {" + "x" * 150 + "\n" + SECOND + "\n1. d4 " + "d5 " * 50 + "} 0-1\n\n"
    assert [row[1:] for row in scan(content)[0]] == [A_B, C_D]


def test_games_without_tags_are_records_too() -> None:
    rows, notes = scan(
        "1. e4 e5 1-0\n\n1. d4 d5\n0-1\n\n" + tags() + "\n1. e4 1-0\n\n1. c4 c5 1/2-1/2\n\n" + SECOND
    )
    assert rows == [
        Row(1, "", "", "", "1-0"),
        Row(3, "", "", "", "0-1"),
        Row(6, *A_B),
        Row(14, "", "", "", "1/2-1/2"),
        Row(16, *C_D),
    ]
    assert notes == []


def test_moves_only() -> None:
    assert scan("1. e4 e5 *\n") == ([Row(1, "", "", "", "*")], [])


def test_text_before_the_first_game_is_told() -> None:
    rows, notes = scan("Games of my life\n\n" + tags())
    assert [row[1:] for row in rows] == [A_B]
    assert notes == [Note(1, "stray text", "Games of my life", "kept")]


def test_a_tag_on_the_line_of_a_result() -> None:
    assert [row[1:] for row in scan(tags() + "\n1. e4 1-0 " + SECOND)[0]] == [A_B, C_D]


def test_moves_on_the_line_of_a_tag() -> None:
    rows, _ = scan(tags(result=None).removesuffix("\n") + " 1. e4 1-0\n" + SECOND)
    assert [row[1:] for row in rows] == [A_B, C_D]


@each("content", ["", "\n", "words", "[", "[[[", "{", "{{{", "}", '[Event "', "[x]", "%", ";"])
def test_next_to_nothing(content: str) -> None:
    assert len(scan(content)[0]) <= 1


def test_many_open_braces_are_read_once() -> None:
    rows, notes = scan(tags() + "\n1. e4 " + "{" * 3_000_000)
    assert [row[1:] for row in rows] == [A_B]
    assert 1 <= len(notes) <= 4
