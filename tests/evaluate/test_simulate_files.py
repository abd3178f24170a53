"""Artificial histories in files: what was drawn, whole or not at all, in places that can be written to."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from ttt_cli.evaluate.simulate import Plan, check_places, save, simulate
from ttt_cli.support.errors import ConfigError, OutputError

PLAN = Plan(players=300, years=40, games=5_000, seed=7)


@pytest.mark.parametrize("dates", ["year", "day"])
def test_csv_and_truth_hold_what_was_drawn(tmp_path: Path, dates: str) -> None:
    moving = PLAN.changed(games=500, draw_margin_drift=0.1, newcomers_slope=2.5)
    simulated = simulate(moving.changed(dates=dates))
    save(simulated, tmp_path / "it's.csv", tmp_path / "truth.csv", tmp_path / "years.csv")
    rows = list(csv.DictReader((tmp_path / "it's.csv").read_text(encoding="utf-8").splitlines()))
    days = np.datetime_as_string(simulated.date.astype("datetime64[D]"), unit="Y" if dates == "year" else "D")
    names = simulated.players
    assert [row["date"] for row in rows] == days.tolist()
    assert [row["white"] for row in rows] == [names[i] for i in simulated.white]
    assert [row["black"] for row in rows] == [names[i] for i in simulated.black]
    assert [row["result"] for row in rows] == [("0-1", "1/2-1/2", "1-0")[code] for code in simulated.outcome]
    truth = list(csv.DictReader((tmp_path / "truth.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["player"], int(row["period"])) for row in truth] == [
        (names[i], year) for i, year in zip(simulated.player, simulated.year, strict=True)
    ]
    assert [float(row["skill"]) for row in truth] == simulated.skill.tolist()
    years = list(csv.DictReader((tmp_path / "years.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["period"]) for row in years] == list(range(1850, 1890))
    assert [float(row["draw_margin"]) for row in years] == simulated.margin.tolist()
    assert [float(row["newcomers_mean"]) for row in years] == simulated.newcomers.tolist()
    assert {path.name for path in tmp_path.iterdir()} == {"it's.csv", "truth.csv", "years.csv"}


def test_pgn_games_are_legal_and_as_long_as_asked(tmp_path: Path) -> None:
    simulated = simulate(PLAN.changed(games=60))
    sizes = []
    for movetext in (0, 700):
        place = tmp_path / f"{movetext}.PGN"
        save(simulated, place, movetext=movetext)
        sizes.append(place.stat().st_size)
    assert 700 <= (sizes[1] - sizes[0]) / 60 < 720
    text = place.read_text(encoding="ascii")
    assert max(map(len, text.split("\n"))) < 80
    stream = io.StringIO(text)
    for code, white, black in zip(simulated.outcome, simulated.white, simulated.black, strict=True):
        game = chess.pgn.read_game(stream)
        assert game is not None
        assert not game.errors
        assert game.end().ply() > 100
        assert game.headers["White"] == simulated.players[white]
        assert game.headers["Black"] == simulated.players[black]
        assert game.headers["Result"] == ("0-1", "1/2-1/2", "1-0")[code]
    assert chess.pgn.read_game(stream) is None


def test_a_csv_takes_no_moves_and_two_tables_need_two_files(tmp_path: Path) -> None:
    simulated = simulate(PLAN.changed(games=5))
    with pytest.raises(ConfigError, match="moves"):
        save(simulated, tmp_path / "games.csv", movetext=100)
    with pytest.raises(ConfigError, match="one file"):
        save(simulated, tmp_path / "games.csv", tmp_path / "games.csv")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_an_error_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"none/games\.csv cannot be written"):
        save(simulate(PLAN.changed(games=5)), tmp_path / "none" / "games.csv")


def test_a_stream_gets_the_games(tmp_path: Path) -> None:
    simulated = simulate(PLAN.changed(games=5))
    stream = io.BytesIO()
    save(simulated, stream)
    save(simulated, tmp_path / "games.csv")
    assert stream.getvalue() == (tmp_path / "games.csv").read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        save(simulate(PLAN.changed(games=5)), pipe)
        assert os.read(reader, 1 << 12).startswith(b"date,white,black,result\n")
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # not on Windows
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            save(simulate(PLAN.changed(games=2000)), tmp_path / "games.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_files_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("ttt_cli.evaluate.simulate._moves", interrupted)
    place = tmp_path / "games.pgn"
    place.write_text('[White "before"]', encoding="ascii")
    with pytest.raises(KeyboardInterrupt):
        save(simulate(PLAN.changed(games=5)), place, tmp_path / "truth.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["games.pgn"]
    assert place.read_text(encoding="ascii") == '[White "before"]'


def test_places_are_checked_without_a_trace_and_those_to_be_replaced_are_named(tmp_path: Path) -> None:
    games, truth = tmp_path / "games.csv", tmp_path / "truth.csv"
    assert check_places(games, truth) == []
    truth.write_text("before,1\n")
    assert check_places(games, truth) == [truth]
    assert check_places(io.BytesIO(), None) == []
    assert [path.name for path in tmp_path.iterdir()] == ["truth.csv"]
    assert truth.read_text() == "before,1\n"


def test_places_that_cannot_be_written_to_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth.csv").write_text("before")
    for place in (".", "none/games.csv", "truth.csv/games.csv"):
        for games, truth in ((Path(place), None), (Path("games.csv"), Path(place))):
            with pytest.raises(OutputError, match=f"^{place} cannot be written"):
                check_places(games, truth)


def test_a_link_is_the_file_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to("games.csv")
    with pytest.raises(ConfigError, match="one file"):
        check_places(tmp_path / "games.csv", tmp_path / "link.csv")
