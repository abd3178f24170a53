"""Values of records: odds (figures of the Edo ratings, December 2023), weights, neutral ground, and what is noted."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.odds import POINTS, is_even, odds_points, odds_words
from ttt_cli.games.read import read_games, read_records
from ttt_cli.games.table import games_of
from ttt_cli.support.errors import DataError

ODDS = """
163 black: pawn and move; Pawn & Move; P+M; odds of pawn and move; pawn and one
219 black: pawn and two; pawn and two moves; P & 2
271 black: Pawn and 3
113 white: pawn for the move
373 white: knight; Queen's Knight; QN odds; mate on a given square
321 white: knight for two moves
479 white: rook; queen's rook
651 black: rook, pawn and move
712 black: rook, pawn and two
695 white: rook and two pawns
747 white: two knights; two pieces
1008 white: the queen
851 white: queen for pawn and move
130 white: the exchange
182 black: exchange and move
24 black: the move
66 black: two moves
87 white: draw odds
"""


@each("line", ODDS.strip().splitlines())
def test_points_and_who_gives(line: str) -> None:
    head, written = line.split(": ")
    points, giver = head.split()
    for odds in written.split("; "):
        assert odds_points(odds) == float(points) * (1 if giver == "black" else -1)


def test_every_entry_of_the_table_is_found_by_its_own_name() -> None:
    assert {odds: abs(odds_points(odds)) for odds in POINTS} == POINTS


@each("odds", ["", " ", "-", "none", "even", "Even", "no odds", "0"])
def test_even_terms(odds: str) -> None:
    assert is_even(odds)
    assert odds_points(odds) == 0


@each("odds", ["?", "pawn", "capped knight", "rook and queen", "something"])
def test_unknown_odds(odds: str) -> None:
    assert not is_even(odds)
    assert math.isnan(odds_points(odds))


def test_a_configured_figure_counts_instead() -> None:
    figures = {
        odds_words(odds): points
        for odds, points in {"P and move": 120.0, "capped knight": 400.0}.items()
    }
    assert odds_points("pawn & move", figures) == 120
    assert odds_points("Capped Knight", figures) == -400
    assert odds_points("rook", figures) == -479


LICHESS = ["mate"] * 3 + ["resign"] * 4 + ["Resign"] + ["outoftime", "draw", ""]


@each(
    "status, detail",
    [
        (["", *LICHESS], "resign 5, mate 3, outoftime 1, draw 1"),
        # the most frequent of many
        (
            [f"w{number}" for number in range(12) for _ in range(12 - number)],
            "w0 12, w1 11, w2 10, w3 9, w4 8, w5 7, w6 6, w7 5, w8 4, w9 3, and 3 more",
        ),
    ],
)
def test_statuses_without_a_weight_are_told_once_with_their_counts(
    status: list[str], detail: str
) -> None:
    """Rows that are dropped do not count, nor those of other files."""
    unused = [game("A", "B", "*", status="mate")]
    records = records_of([*(game("A", "B", status=word) for word in status), *unused], unused)
    assert games_of(records).weight.tolist() == [1] * len(status)
    first = next(line for line, word in enumerate(status, 1) if word)
    told = [
        (p.file, p.line, p.detail, p.action)
        for p in records.problems
        if p.reason == "unknown status"
    ]
    assert told == [("file0", first, f"each counts as 1: {detail}", "kept")]


@each(
    "odds, unknown, data",
    [
        (["2.10", "1.5", "", "1", "0", "2.10", "-"], [], {}),  # numbers are no odds
        (["2.10", "3.25"], [], {"filter": {"exclude": ["odds"]}}),
        (["?", ""], [0], {}),
        (["2.10", "3"], [1], {"odds": {"2.10": 50.0}}),
        # one known text makes it a column of odds
        (["knight", "2.10"], [1], {}),
        (["even", "2.10"], [1], {}),
        (["none", "2.10"], [1], {}),
        (["pawn and move", "2.10"], [1], {}),
    ],
)
def test_columns_of_odds_and_other_columns(
    odds: list[str], unknown: list[int], data: dict[str, object]
) -> None:
    rows = [game("A", "B", odds=text) for text in odds]
    records = records_of(rows, data=DataConfig.model_validate({"filter": {"exclude": []}} | data))
    assert [
        row for row, reason in enumerate(reasons(records)) if reason == "unknown odds"
    ] == unknown
    noted = [p.detail for p in records.problems if p.reason == "odds column ignored"]
    assert bool(noted) == (not unknown)
    if noted:
        assert games_of(records).offset.tolist() == [0] * len(odds)
        assert set(records.odds) == {""}
        assert noted[0].startswith("none is known: 2.10 ")


def test_a_source_without_a_usable_record_is_told_or_refused() -> None:
    table = b"date,white,black,result\n1858,A,?,1-0\n"
    with pytest.raises(DataError, match="none of its 1 records"):
        read_records([io.BytesIO(table)])
    errors: list[DataError] = []
    records = read_records([io.BytesIO(table)], on_unusable=errors.append)
    assert [error.message for error in errors] == ["none of its 1 records can be used: no player 1"]
    assert reasons(records) == ["no player"]
    with pytest.raises(DataError, match="holds no records"):
        read_records([io.BytesIO(table[:24])], on_unusable=errors.append)
    assert len(errors) == 1


def test_neutral_ground_is_told_in_many_ways() -> None:
    yes, no = (
        ["TRUE", "true", "T", "t", "1", "yes", "Y", " Yes "],
        ["FALSE", "False", "f", "0", "no", "N", "", " "],
    )
    bad = ["maybe", "2", "true false", "?"]
    records = records_of(
        [game("A", "B", neutral=text) for text in yes + no + bad], [game("A", "B")]
    )
    assert games_of(records).neutral.tolist() == [True] * len(yes) + [False] * (len(no) + 1)
    assert [(p.line, p.reason) for p in records.problems] == [
        (line, "bad neutral") for line in range(17, 21)
    ]
    never = records_of([game("A", "B", neutral=text) for text in no])
    assert games_of(never).neutral.strides == (0,)


def test_dates_in_the_future_and_wins_by_words_are_used_and_noted() -> None:
    rows = [
        game("A", "B", "win"),
        game("A", "B", "loss", "2190.01.01"),
        game("A", "B", "draw", "1860"),
        game("A", "B", "0-1", "2999"),
    ]
    records = records_of(rows)
    assert games_of(records).outcome.tolist() == [2, 1, 0, 0]
    assert [
        (p.line, p.reason, p.detail.partition(": ")[2], p.action) for p in records.problems
    ] == [
        (1, "wins and losses as words", "win 1, loss 1", "kept"),
        (2, "dates in the future", "2190.01.01 1, 2999 1", "kept"),
    ]
    assert not records_of([game("A", "B")]).problems


@each("written", ["1504210000000", "1504210000000.0", "1.50421E+12", "1.50421e12"])
def test_milliseconds_since_1970(written: str) -> None:
    """As in tables of Lichess, where a column `created_at` holds them."""
    rows = f"id,created_at,winner,white_id,black_id\nx,{written},white,a,b\ny,{written},draw,b,a\n"
    games = read_games([io.BytesIO(rows.encode())])
    assert games.date.astype("datetime64[D]").astype(str).tolist() == ["2017-08-31"] * 2
    assert games.outcome.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.txt", "ID Number      Name                         Fed  Sex Tit  SRtng SGm SK Bday\n"
                     "1503014        Carlsen, Magnus              NOR  M   GM   2830  0   10 1990\n"),
        ("list.csv", "fideid,name,country,title,rating,games,k,birthday\n1503014,Carlsen,NOR,g,2830,0,10,1990\n"),
        ("list.xml", "<?xml version='1.0'?>\n<playerslist>\n<player>\n<fideid>1</fideid><rating>2830</rating>\n"),
    ],
)  # fmt: skip
def test_a_rating_list_is_no_file_of_games(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match="is a rating list, not games") as caught:
        read_games([tmp_path / name])
    assert "--beside" in str(caught.value.hint)


def test_who_gave_known_odds_may_be_unknown() -> None:
    rows = [game("A", "B", odds="rook", odds_giver=giver) for giver in ("A", "B", "C", "")]
    records = records_of(rows, data=DataConfig.model_validate({"filter": {"exclude": []}}))
    assert reasons(records) == [None, None, "unknown odds", None]
    assert games_of(records).offset.tolist() == [-479, 479, -479]


def played(text: str, data: DataConfig | None = None) -> list[str | None]:
    """Why each game of a PGN file is not used: `black | tags | moves` on each line."""
    games = []
    for line in text.strip().splitlines():
        black, tags, moves = (part.strip() for part in line.split("|"))
        named = "\n".join(f"[{tag}]" for tag in tags.split("; ") if tag)
        games.append(f'[Date "1990"]\n[White "A"]\n[Black "{black}"]\n{named}\n\n{moves}\n\n')
    records = read_records([io.BytesIO("".join(games).encode())], data or DataConfig())
    return reasons(records)


UNPLAYED = """
B | Result "1-0"; PlyCount "3" | 1. e4 e5 2. d4 1-0
B | Result "1-0"; PlyCount "0" | 1-0
B | Result "0-1"; PlyCount "0" | 0-1
B | Result "1-0"; Termination "Unplayed" | 1-0
B | Result "1-0"; Termination "unplayed" | 1. e4 1-0
B | Result "0-1"; Termination "forfeit" | 0-1
B | Result "0-1"; Termination "White forfeits" | 0-1
BYE | Result "1-0" | 1-0
Freilos | Result "1-0" | 1-0
"""
PLAYED = """
B | Result "1-0" | 1-0
B | Result "1/2-1/2"; PlyCount "0" | 1/2-1/2
B | Result "1-0"; PlyCount "" | 1-0
B | Result "1-0"; PlyCount "0" | 1. e4 e5 1-0
B | Result "1-0"; PlyCount "30" | 1-0
B | Result "1-0"; Termination "time forfeit" | 1-0
B | Result "1-0"; Termination "Time forfeit" | 1. e4 e5 1-0
B | Result "1-0"; Termination "forfeit" | 1. e4 e5 2. d4 1-0
B | Result "1-0"; Termination "normal" | 1-0
B | Result "1-0"; Termination "player2F won by resignation" | 1. e4 e5 1-0
B | Result "1-0"; Termination "abandoned" | 1. e4 e5 1-0
"""


def test_games_without_play_are_forfeits() -> None:
    assert played(UNPLAYED) == [None, *["forfeit"] * 8]
    assert played(UNPLAYED, DataConfig(drop=[])) == [None] * 9
    assert played(UNPLAYED, DataConfig(drop=["engines"])) == [None] * 9
    assert played(PLAYED) == [None] * 11


def test_where_no_game_has_moves_results_alone_are_games() -> None:
    results = 'B | Result "1-0"; PlyCount "0" | 1-0\n' * 3
    assert played(results) == [None] * 3
    assert played(results + 'B | Result "1-0"; PlyCount "2" | 1. e4 e5 1-0') == [
        *["forfeit"] * 3,
        None,
    ]


def test_games_without_play_in_tables() -> None:
    rows = [
        game("A", "B", termination="normal", ply_count="31"),
        game("A", "B", termination="Unplayed", ply_count=""),
        game("A", "B", termination="", ply_count="0"),
        game("A", "B", result="1/2-1/2", termination="", ply_count="0"),
        game("spielfrei", "B"),
    ]
    assert reasons(records_of(rows)) == [None, "forfeit", "forfeit", None, "forfeit"]
    assert reasons(records_of(rows, data=DataConfig(drop=[]))) == [None] * 5


def test_a_bye_is_no_player_among_many_names() -> None:
    rows = [
        game(f"Player {number}", "BYE" if number % 2 else f"Other {number}")
        for number in range(1200)
    ]
    assert reasons(records_of(rows)) == [None, "forfeit"] * 600


def test_columns_of_tables_that_tell_of_games_without_play_and_of_computers(tmp_path: Path) -> None:
    columns = "date,white,black,result,Termination,PlyCount,WhiteType,BlackType,white_title,BlackTitle,Variant"
    rows = ["1990,A,B,1-0,Normal,20,human,human,GM,,Standard"] * 9
    rows += [
        "1990,A,B,1-0,unplayed,,,,,,",
        "1990,A,C,1-0,,30,human,program,,,",
        "1990,A,D,1-0,,,,,,BOT,",
    ]
    rows += ["1990,A,B,1-0,Normal,20,,,,,Horde"]
    (tmp_path / "a.csv").write_text("\n".join([columns, *rows, ""]))
    report = read_games([tmp_path / "a.csv"]).report
    assert report.dropped == {"engine": 2, "forfeit": 1, "variants": 1}
