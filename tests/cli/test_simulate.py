"""`ttt simulate` from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli.main import run
from ttt_cli.evaluate.simulate import Plan

SMALL = "--players 20 --years 5 --games 100"


def test_the_model_and_keys_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults, a config, and keys."""
    plans: list[Plan] = []
    monkeypatch.setattr("ttt_cli.evaluate.simulate.simulate", lambda plan, _: plans.append(plan))
    monkeypatch.setattr("ttt_cli.evaluate.simulated_files.save", lambda *_, **__: None)
    for line in (
        "",
        "-c ttt-career -s model.tau=80 -s simulate.mixing=0.5 --years 1900-1949",
    ):
        assert run(["simulate", "-o", "-", *line.split()]) == 0
    default, career = plans
    assert default == Plan()
    assert (career.tau, career.beta, career.growth, career.mixing) == (80.0, 550.0, 310.0, 0.5)
    assert (career.first_year, career.years) == (1900, 50)


def test_writes_games_and_the_truth_beside_them(folder: Path, ran: Ran) -> None:
    out, err = ran(f"simulate {SMALL} -o mine.csv --seed 4")
    assert out == ""
    assert "100 games of 20 players: mine.csv, mine.skills.csv, mine.years.csv" in err
    games, skills, years = (
        (folder / f"mine{of}.csv").read_text() for of in ("", ".skills", ".years")
    )
    assert games.count("\n") == 101
    assert skills.startswith("player,period,skill\nPlayer 000001,1850,")
    years = years.splitlines()
    assert years[0] == "period,draw_margin,newcomers_mean"
    assert len(years) == 6


def test_a_dash_streams_only_the_games(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(f"simulate {SMALL} -o - --dates day".split()) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "date,white,black,result"
    assert len(lines) == 101
    assert lines[1].startswith("185")
    assert lines[1][4] == "-"
    assert not list(folder.iterdir())


def test_truth_goes_where_asked(tmp_path: Path) -> None:
    games, truth, years = (tmp_path / name for name in ("g.pgn", "t.csv", "y.csv"))
    assert (
        run(f"simulate {SMALL} -o {games} --truth {truth} -s simulate.truth_years={years}".split())
        == 0
    )
    assert {path.name for path in tmp_path.iterdir()} == {"g.pgn", "t.csv", "y.csv"}
