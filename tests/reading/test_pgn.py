"""PGN: each trap of real files with what is to come out of it, games of tags only, limits, and python-chess."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fuzz_truth import pgn_of, truths, wrong_rows
from tests.reference.pgn import PlainScanner
from tests.support.batches import scanned
from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import pgn, pgn_text
from ttt_cli.reading.batches import Note
from ttt_cli.reading.pgn import TAG_COLUMNS, Scanner, read_pgn


class Row(NamedTuple):
    line: int
    date: str
    white: str
    black: str
    result: str


def scan(content: str | bytes) -> tuple[list[Row], list[Note]]:
    data = content.encode() if isinstance(content, str) else content
    rows, _, notes = scanned([data])
    return [Row(*row[:5]) for row in rows], notes


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
        (tags() + "\n1-0\n\ufeff", 8),
        (tags() + "\n1. e4 1-0 ", 7),
    ],
)  # fmt: skip
def test_laid_out_as_real_files_are(trap: str, line: int) -> None:
    start = (
        trap.lower().replace(" ", "").count("\n", 0, trap.lower().replace(" ", "").index("[event"))
        + 1
    )
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
    more += '[TimeControl "300+3"]\n[Termination "Unplayed"]\n[PlyCount "0"]\n[WhiteType "human"]\n'
    more += '[BlackType "program"]\n[WhiteTitle "GM"]\n[BlackTitle "BOT"]\n'
    assert further(more) == {
        "event": "x",
        "site": "London",
        "round": "2.1",
        "white_id": "1503014",
        "black_id": "4100018",
        "variant": "Chess960",
        "time_control": "300+3",
        "termination": "Unplayed",
        "ply_count": "0",
        "white_type": "human",
        "black_type": "program",
        "white_title": "GM",
        "black_title": "BOT",
    }
    assert [value for value in further("").values() if value] == ["x"]
    rows, _ = scan(tags(date="????.??.??") + '[UTCDate "2017.03.31"]\n\n1-0\n')
    assert rows[0].date == "2017.03.31"


@each(
    "more, variant",
    [
        ('[SetUp "1"]\n', "set-up"),
        ('[SetUp "0"]\n', ""),
        ('[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n', "set-up"),
        (f'[FEN "{USUAL}"]\n', ""),
        (f'[SetUp "1"]\n[FEN "{USUAL}"]\n', "set-up"),
        (f'[FEN "{USUAL[:-11]} b KQkq - 0 1"]\n', "set-up"),
        ('[FEN ""]\n', ""),
        ('[FEN "?"]\n', ""),
        ('[Variant "King of the Hill"]\n[FEN "8/8 w"]\n', "King of the Hill"),
        ('[Variant ""]\n[SetUp "1"]\n', "set-up"),
    ],
)
def test_games_from_other_positions_are_set_up(more: str, variant: bytes) -> None:
    assert further(more)["variant"] == variant


def test_moves_of_games_that_follow_without_tags_are_their_own() -> None:
    content = tags() + "\n1. e4 1-0\n\n1. d4 0-1\n\n" + tags() + "\n1. e4 1-0\n"
    codes = [row[-1] for row in scanned([content.encode()])[0]]
    assert codes[0] == codes[2] != codes[1] != 0


def test_each_value_has_its_own_encoding() -> None:
    content = tags("Löwenthal").encode("cp1252") + b"\n1-0\n\n" + tags("Löwenthal").encode()
    assert [row.white for row in scan(content)[0]] == ["Löwenthal", "Löwenthal"]


def test_first_of_duplicate_tags_wins() -> None:
    rows, notes = scan(tags().replace("[Black", '[White "Z"]\n[Black') + "\n1-0\n")
    assert [row[1:] for row in rows] == [A_B]
    assert notes == [Note(4, "duplicate tag", 'White "Z"', "kept")]


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
    assert [(note.line, note.reason, note.action) for note in notes] == (
        [(1, *noted)] if noted else []
    )


@each("end", ["1-0 {resigns}", "1-0 ; at last", "{done}\n\n1-0", "1-0 White resigned"])
def test_the_end_need_not_come_last(end: str) -> None:
    assert [row.result for row in scan(tags(result="*") + f"\n1. e4 e5 {end}\n\n" + SECOND)[0]] == [
        "1-0",
        "0-1",
    ]


@each("rest", ["", "\n", "\n1. e4", "\n1. e4 {cut", "\n1. e4 ; cut", "\n% cut", "1."])
def test_a_last_game_cut_short_is_kept(rest: str) -> None:
    assert [row[1:] for row in scan(SECOND + "\n0-1\n\n" + tags() + rest)[0]] == [C_D, A_B]
    rows, _ = scan(SECOND + '\n0-1\n\n[Event "x"]\n[Date "1858"]\n[White "A"]\n[Bla')
    assert [row[1:] for row in rows] == [C_D, ("1858", "A", "", "")]


@each(
    "text, noted",
    [
        ("more\n0-1\n\n" + SECOND + "\n1. d4 {closed} 0-1\n\n", True),
        ("more\n\n0-1\n" + SECOND + "\n1. d4 {closed} 0-1\n\n", True),
        ("\n\n" + SECOND + "\n1. d4 0-1\n\n", False),
    ],
)
def test_an_unclosed_comment_ends_at_the_next_game(text: str, noted: bool) -> None:
    rows, notes = scan(tags() + "\n1. e4 { never closed " + text + tags())
    assert [row[1:] for row in rows] == [A_B, C_D, A_B]
    other = (
        {(1, "contradicting result", "kept")} if noted else set()
    )  # what is behind the brace ends the game
    assert {(note.line, note.reason, note.action) for note in notes} == other | {
        (7, "unclosed comment", "repaired")
    }


def test_a_comment_longer_than_the_limit_counts_as_unclosed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pgn_text, "COMMENT_LIMIT", 200)
    content = (
        tags() + "\n1. e4 {" + "x" * 150 + "\n" + SECOND + "\n1. d4 " + "d5 " * 50 + "} 0-1\n\n"
    )
    assert [row[1:] for row in scan(content)[0]] == [A_B, C_D]


def test_games_without_tags_are_records_too() -> None:
    rows, notes = scan(
        "1. e4 e5 1-0\n\n1. d4 d5\n0-1\n\n"
        + tags()
        + "\n1. e4 1-0\n\n1. c4 c5 1/2-1/2\n\n"
        + SECOND
    )
    assert rows == [
        Row(1, "", "", "", "1-0"),
        Row(3, "", "", "", "0-1"),
        Row(6, *A_B),
        Row(14, "", "", "", "1/2-1/2"),
        Row(16, *C_D),
    ]
    assert notes == []
    assert scan("1. e4 e5 *\n") == ([Row(1, "", "", "", "*")], [])


def test_text_before_the_first_game_is_told() -> None:
    rows, notes = scan("Games of my life\n\n" + tags())
    assert [row[1:] for row in rows] == [A_B]
    assert notes == [Note(1, "stray text", "Games of my life", "kept")]


def test_many_open_braces_are_read_once() -> None:
    rows, notes = scan(tags() + "\n1. e4 " + "{" * 3_000_000)
    assert [row[1:] for row in rows] == [A_B]
    assert 1 <= len(notes) <= 4


@pytest.mark.parametrize("long", ["\n1. e4 " + "e5 " * 3000, "\n1. e4 " + "e5\n" * 3000])
@pytest.mark.parametrize("size", [100, 700])
def test_a_game_too_long_is_rejected_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch, long: str, size: int
) -> None:
    monkeypatch.setattr(pgn, "GAME_LIMIT", 5000)
    content = (SECOND + "\n0-1\n\n" + tags() + long + "\n\n" + SECOND + "\n0-1\n\n").encode()
    rows, rejects, _ = scanned(
        [content[start : start + size] for start in range(0, len(content), size)]
    )
    assert [(row[0], row[2]) for row in rows] == [(1, "C"), (16 + long.count("\n"), "C")]
    assert [(note.line, note.reason, note.action) for note in rejects] == [
        (9, "too long", "dropped")
    ]


def test_what_follows_a_tag_without_end_may_be_of_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "GAME_LIMIT", 5000)
    long = (
        '[White "Z"]\n[Site "' + "x" * 9000 + '"]\n[White "A"]\n[Black "B"]\n\n' + tags() + SECOND
    )
    content = (long + "\n1-0\n\n" + SECOND).encode()
    rows, rejects, _ = scanned(
        [content[start : start + 700] for start in range(0, len(content), 700)]
    )
    assert [row[2] for row in rows] == ["C"]
    assert [note[:2] for note in rejects] == [
        (1, "too long"),
        (3, "ambiguous tags"),
        (8, "ambiguous tags"),
        (13, "ambiguous tags"),
    ]


def test_a_tag_too_long_rejects_its_game() -> None:
    content = tags("A" * 70_000) + "\n1-0\n\n" + SECOND + "\n0-1\n\n"
    rows, rejects, _ = scanned([content.encode()])
    assert [note[:2] for note in rejects] == [(1, "too long")]
    assert [row[2] for row in rows] == ["C"]


@pytest.mark.large
def test_what_cannot_be_told_apart_is_returned_in_parts() -> None:
    batches = read_pgn(iter([b'[White "A"]\n\n' * 150_000]), DataConfig(), "x").batches
    rejects = [len(batch.rejects) for batch in batches]
    assert sum(rejects) == 150_000
    assert max(rejects) < 60_000


VALUES = {"E": ("Event", "x"), "D": ("Date", "1858"), "S": ("Site", "y"), "C": ("ECO", "C00")}


def written(text: str) -> bytes:
    """Tags by their initials, `A-B` for White and Black, results as they are, `|` for a blank line, `.` for moves."""
    lines = []
    for word in text.split():
        if word in VALUES:
            lines.append('[{} "{}"]'.format(*VALUES[word]))
        elif word[0] in "WB":
            lines.append(f'[{"White" if word[0] == "W" else "Black"} "{word[1:]}"]')
        elif word[0] in "01*":
            lines.append(f'[Result "{word}"]')
        else:
            lines.append("" if word == "|" else "\n1. e4 e5\n")
    return ("\n".join(lines) + "\n").encode()


def said(text: str, scanner: Scanner) -> tuple[list[str], int]:
    """The games as `White-Black:result`, and how many are rejected."""
    rows, rejects, _ = scanned([written(text)], scanner)
    assert all((note.reason, note.action) == ("ambiguous tags", "dropped") for note in rejects)
    return ["{}-{}:{}".format(*row[2:5]) for row in rows], len(rejects)


THREE = ["A-B:1-0", "C-D:0-1", "E-F:1-0"]


@each(
    "text, games, rejects",
    [
        ("1-0 WA BB | 0-1 WC BD | 1-0 WE BF", THREE, 0),
        ("WA BB 1-0 | WC BD 0-1 | WE BF 1-0", THREE, 0),
        ("WA BB 1-0 E | 0-1 E WC BD | E WE 1-0 BF", THREE, 0),
        ("WA BB | 0-1 WC BD | 1-0 WE BF", ["A-B:", *THREE[1:]], 0),
        ("WA BB 1-0 | D WC BD | 1-0 WE BF", [THREE[0], "C-D:", THREE[2]], 0),
        ("E WA | BB 1-0 | E WC | BD 0-1 | E WE | BF 1-0", THREE, 0),
        ("E | WA | BB | 1-0 | E | WC | BD | 0-1 |", THREE[:2], 0),
        ("E D | WA BB 1-0 | C | E D | WC BD 0-1", THREE[:2], 0),
        ("WA BB | 1-0 | WC BD", [], 2),
        ("WA BB | 1-0 | WC BD . WE BF 1-0", [THREE[2]], 2),
        ("WA BB | 1-0 | WC BD 0-1", THREE[:2], 0),
        ("WA BB | 1-0 .", THREE[:1], 0),
        ("WA BB 1-0 WC BD 0-1", THREE[:2], 0),
        ("WA BB 1-0 WC BD", [], 2),
        ("1-0 WA BB E 0-1 WC BD E", THREE[:2], 0),
        ("1-0 E WA BB 0-1 E WC BD 1-0 E WE BF", THREE, 0),
        ("E WA BB 1-0 | E BD 0-1 | E WE BF 1-0", [THREE[0], "-D:0-1", THREE[2]], 0),
        ("E WA BB WC 1-0", [], 2),
        ("WA BB | WC BD 0-1 | WE BF 1-0 | C | 1-0 WG BH", ["A-B:", *THREE[1:], "G-H:1-0"], 0),
        ("WA BB 1-0 | WC BD | D 1-0 | WE BF", THREE[:1], 2),
        ("E WA BB 1-0 | E WC", [THREE[0], "C-:"], 0),
    ],
)
def test_games_without_moves(text: str, games: list[str], rejects: int) -> None:
    for scanner in (Scanner(), PlainScanner()):
        assert said(text, scanner) == (games, rejects)


def test_where_games_begin() -> None:
    rows, *_ = scanned([written("WA BB | 1-0 C | C WC | BD 0-1 | WE | BF |")])
    assert [row[0] for row in rows] == [1, 7, 13]
    _, rejects, _ = scanned([written("E WA BB | 1-0 | WC BD . WE BF")])
    assert [note.line for note in rejects] == [2, 7]


@pytest.mark.parametrize("scanner", [Scanner, PlainScanner])
@given(seed=st.integers(0, 2**32))
def test_no_game_gets_the_result_of_another(scanner: type[Scanner], seed: int) -> None:
    chance = random.Random(seed)
    games = truths(chance)
    rows, rejects, _ = scanned([pgn_of(games, chance).encode()], scanner())
    assert wrong_rows([row[1:5] for row in rows], games) == []
    assert len(rejects) <= len(games)


def test_tags_that_take_too_long_to_tell_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_text, "STRETCH_LIMIT", 500)
    text = "WA BB 1-0 " * 50 + "| WC BD 0-1 | WE BF 1-0"
    for scanner in (Scanner(), PlainScanner()):
        games, rejects = said(text, scanner)
        assert games == THREE[2:]  # the one before may go on in the tags that were rejected
        assert rejects >= 51


PLAIN_NAMES = st.text(alphabet="abcÄß ,.[{;%", min_size=1, max_size=10)
ROUNDS = st.sampled_from(["?", "1", "2.3", "-"])
MORE = st.sampled_from(
    [
        "",
        '[WhiteFideId "1"]\n[BlackFideId "2"]\n',
        '[SetUp "1"]\n[FEN "8/8 w"]\n',
        '[Variant "Chess960"]\n',
    ]
)
HARMLESS = st.sampled_from(["", "{[%clk 1:00]} ", "{\n[White x]\n} ", "{\n\n} "])


@st.composite
def well_formed(draw: st.DrawFn) -> str:
    games = []
    for _ in range(draw(st.integers(0, 5))):
        result = draw(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]))
        games.append(
            f'[Event "?"]\n[Site "{draw(PLAIN_NAMES)}"]\n[Round "{draw(ROUNDS)}"]\n'
            f'[Date "1858.??.??"]\n[White "{draw(PLAIN_NAMES)}"]\n[Black "{draw(PLAIN_NAMES)}"]\n'
            f'[Result "{result}"]\n{draw(MORE)}\n1. e4 {draw(HARMLESS)}e5 {result}\n\n'
        )
    return "".join(games)


def records(blocks: list[bytes], *, by_chess: bool = True) -> list[tuple[object, list[str]]]:
    return [(row[0], list(row[1:-1])) for row in scanned(blocks, by_chess=by_chess)[0]]


@given(well_formed(), st.integers(0, 300))
def test_equal_on_well_formed_files(text: str, place: int) -> None:
    content = text.encode()
    blocks = [content[:place], content[place:]]
    assert records(blocks) == records(blocks, by_chess=False)
