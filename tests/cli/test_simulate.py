"""`ttt simulate` from the outside."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from click.testing import CliRunner

from ttt_cli.cli.main import group
from ttt_cli.cli.simulate import command
from ttt_cli.errors import ConfigError
from ttt_cli.evaluate.simulate.simulate import Plan

SMALL = ["--players", "20", "--years", "5", "--games", "100"]


def test_defaults_are_those_of_the_plan() -> None:
    options = command.make_context("simulate", []).params
    for name, parameter in inspect.signature(Plan).parameters.items():
        assert options[name] == parameter.default


def test_writes_games_and_the_truth_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(
        command, [*SMALL, "-o", "mine.csv", "--seed", "4"], catch_exceptions=False, **group.context_settings
    )
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "100 games of 20 players: mine.csv, mine.skills.csv, mine.years.csv" in result.stderr
    assert Path("mine.csv").read_text(encoding="utf-8").count("\n") == 101
    assert (
        Path("mine.skills.csv")
        .read_text(encoding="utf-8")
        .startswith("player,period,skill\nPlayer 000001,1850,")
    )
    years = Path("mine.years.csv").read_text(encoding="utf-8").splitlines()
    assert years[0] == "period,draw_margin,newcomers_mean"
    assert len(years) == 6


def test_a_dash_streams_only_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(
        command, [*SMALL, "-o", "-", "--dates", "day"], catch_exceptions=False, **group.context_settings
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "date,white,black,result"
    assert len(lines) == 101
    assert lines[1].startswith("185")
    assert lines[1][4] == "-"
    assert not list(tmp_path.iterdir())


def test_truth_goes_where_asked_and_pgn_carries_moves(tmp_path: Path) -> None:
    games, truth = tmp_path / "g.pgn", tmp_path / "t.csv"
    years = tmp_path / "y.csv"
    arguments = [
        *SMALL,
        "-o",
        str(games),
        "--truth",
        str(truth),
        "--truth-years",
        str(years),
        "--movetext",
        "50",
    ]
    CliRunner().invoke(command, arguments, catch_exceptions=False, **group.context_settings)
    assert games.read_text(encoding="utf-8").count("1. Nf3 Nf6") == 100
    assert {path.name for path in tmp_path.iterdir()} == {"g.pgn", "t.csv", "y.csv"}


def test_what_is_replaced_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = CliRunner().invoke(
        command, [*SMALL, "-o", "mine.csv"], catch_exceptions=False, **group.context_settings
    )
    assert "replaced" not in first.stderr
    Path("mine.csv").unlink()
    again = CliRunner().invoke(
        command, [*SMALL, "-o", "mine.csv"], catch_exceptions=False, **group.context_settings
    )
    assert again.stderr.splitlines()[0] == "mine.skills.csv exists and will be replaced"


@pytest.mark.parametrize("arguments", [["-o", "none/mine.csv"], ["-o", "mine.csv", "--movetext", "9"]])
def test_nothing_is_drawn_for_a_place_that_cannot_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("drawing began")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ttt_cli.evaluate.simulate.simulate.simulate", never)
    with pytest.raises(ConfigError):
        CliRunner().invoke(command, [*SMALL, *arguments], catch_exceptions=False, **group.context_settings)
    assert not list(tmp_path.iterdir())
