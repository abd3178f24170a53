"""All records of files, used or not, and filters from a config to the games."""

from __future__ import annotations

import io
import lzma
import re
from pathlib import Path

import pytest

from tests.support.collected import reasons
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.support.errors import DataError

BROKEN = Path(__file__).parents[2] / "sample_pgn" / "broken"
PGN = b"""[Event "Paris"]
[Site "France"]
[Round "2"]
[Date "1858.06.17"]
[White "Morphy, P."]
[Black "NN"]
[Result "1-0"]

1. e4 e5 1-0

[Event "Blitz"]
[Date "1858"]
[White "Paul Morphy"]
[Black "Morphy, P"]
[Result "0-1"]
[SetUp "1"]

0-1
"""


def test_every_row_of_a_table_has_its_fate() -> None:
    records = read_records([BROKEN / "dirty.csv"])
    assert records.report == read_games([BROKEN / "dirty.csv"]).report
    dropped = {
        int(line): reason for line, reason in zip(records.line, reasons(records), strict=True) if reason
    }
    told = {p.line: p.reason for p in records.problems if p.action == "dropped"}
    assert dropped == told
    assert len(records) == 15
    assert sorted(records.line.tolist()) == records.line.tolist()


def test_records_of_pgn_have_their_tags_and_moves() -> None:
    records = read_records([io.BytesIO(PGN)])
    assert [records.event[row] for row in (0, 1)] == ["Paris", "Blitz"]
    assert [records.site[row] for row in (0, 1)] == ["France", ""]
    assert [records.round[row] for row in (0, 1)] == ["2", ""]
    assert [records.variant[row] for row in (0, 1)] == ["", "set-up"]
    assert (records.moves != 0).tolist() == [True, False]
    assert reasons(records) == ["unnamed player", None]
    assert records.place(0).endswith(":1")


def test_filters_may_leave_no_game_which_only_games_refuse() -> None:
    nothing = DataConfig.model_validate({"filter": {"exclude": ["blitz"]}})
    with pytest.raises(
        DataError, match=r"none of the 2 records is left: blitz 1, unnamed player 1"
    ) as caught:
        read_games([io.BytesIO(PGN)], nothing)
    assert caught.value.exit_code == 3
    assert reasons(read_records([io.BytesIO(PGN)], nothing)) == ["unnamed player", "blitz"]


def test_a_file_without_a_wanted_game_is_no_error_beside_others(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("date,white,black,result\n1858,A,B,1-0\n")
    (tmp_path / "b.csv").write_text("date,white,black,result\n1958,A,B,1-0\n")
    games = read_games(
        [tmp_path / "a.csv", tmp_path / "b.csv"], DataConfig.model_validate({"filter": {"years": 1858}})
    )
    assert [(file.used, file.dropped) for file in games.report.files] == [(1, {}), (0, {"other years": 1})]


def plain_game(text: str) -> tuple[str, str, str, str]:
    """White, Black, result and the moves of a game as text, without what is no move."""
    tag = dict(re.findall(r'^\[(\w+) "(.*)"\]', text, flags=re.MULTILINE))
    moves = re.sub(r"\{[^}]*\}|\d+\.+", " ", text[text.rfind("]\n") + 2 :])
    words = [
        re.sub(r"[+#!?=]", "", word) for word in moves.split() if word not in ("1-0", "0-1", "1/2-1/2", "*")
    ]
    return tag["White"], tag["Black"], tag["Result"], " ".join(words)


@pytest.mark.slow
def test_duplicates_between_players_files(data: Path) -> None:
    """The beginning of a collection in which games recur; all dates that go with the same moves are the same there.

    Of all its 163,493 games 12,932 repeat another, by both ways of looking.
    """
    with lzma.open(data / "pgn" / "players.pgn.xz") as file:
        content = file.read(9_000_000)
    content = content[: content.rindex(b"\n[Event ")]
    found = read_records(
        [io.BytesIO(content)], DataConfig(names="clean", filter=FilterConfig(exclude=[]))
    ).report
    games = re.split(r"\n(?=\[Event )", content.replace(b"\r\n", b"\n").decode("latin-1"))
    usable = [game for game in map(plain_game, games) if "NN" not in game[:2] and game[2] != "*"]
    assert found.used == len(usable)
    assert found.noticed["duplicate"] == len(usable) - len(set(usable)) == 59
