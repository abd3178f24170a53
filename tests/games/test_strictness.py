"""How much may be wrong: `data.strict` and `data.max_errors`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.support.errors import DataError

GAME = '[Event "x"]\n[Date "1858"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
UNPLAYED = GAME.replace("1-0", "*")
REPAIRED = GAME.replace("1858", "1858.02.31")


@each(
    "content, message, line, more",
    [
        (GAME + UNPLAYED, "no result: 1858: A - B", 9, ""),
        (GAME + REPAIRED, "bad date: 1858.02.31", 9, ""),
        (GAME + GAME.replace("1. e4 1-0", "1. e4 0-1"), "contradicting result", 9, ""),
        (UNPLAYED + REPAIRED * 2 + GAME, "no result: ", 1, "3 problems in all"),
    ],
)
def test_strict_takes_no_problem(tmp_path: Path, content: str, message: str, line: int, more: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(content)
    assert len(read_games([path])) > 0
    with pytest.raises(DataError, match=message) as caught:
        read_games([path], DataConfig(strict=True))
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.exit_code == 3
    assert more in caught.value.message
    assert ("in all" in caught.value.message) == bool(more)


def test_strict_lets_other_files_lie_about(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(GAME)
    (tmp_path / "README.txt").write_text("x")
    assert len(read_games([tmp_path], DataConfig(strict=True))) == 1
    (tmp_path / "page.pgn").write_text("<html>")
    with pytest.raises(DataError, match="holds no games: is a web page"):
        read_games([tmp_path], DataConfig(strict=True))


@each("limit, passes", [(None, True), (3, True), (2, False), (0, False)])
def test_records_that_may_be_unusable(tmp_path: Path, limit: int | None, passes: bool) -> None:
    (tmp_path / "a.pgn").write_text(GAME + UNPLAYED * 2 + REPAIRED)
    (tmp_path / "b.pgn").write_text(GAME + UNPLAYED)
    (tmp_path / "c.pgn").write_text("<html>")
    data = DataConfig(max_errors=limit)
    paths = [tmp_path / "a.pgn", tmp_path / "b.pgn"]
    if passes:
        assert len(read_games(paths, data)) == 3
        return
    with pytest.raises(
        DataError, match=rf"no result: .*{3 if limit else 2} records so far cannot be used"
    ) as caught:
        read_games([*paths, tmp_path / "c.pgn"], data)  # reading stops before the third
    assert caught.value.where == f"{paths[0]}:9"
    assert caught.value.hint == f"data.max_errors lets {limit} pass"
