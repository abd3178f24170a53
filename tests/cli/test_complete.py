"""What there is to choose from, by the placeholder of an option or argument."""

import os
from pathlib import Path

import click
import pytest

from ttt_cli.cli import completion as complete
from ttt_cli.cli import main


def choices(line: str) -> list[str]:
    """Candidates for the last word of a command line."""
    from click.shell_completion import ShellComplete

    *words, typed = line.split(" ")
    found = ShellComplete(main.group, {}, "ttt", "_TTT_COMPLETE").get_completions(words, typed)
    return [item.value for item in found]


@pytest.fixture
def place(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(main.COMPLETING, "bash_complete")
    (here / "games.csv").touch()
    (here / "mine.yaml").touch()
    (here / ".hidden.yaml").touch()
    (here / "runs").mkdir()
    (here / "runs" / "b.ttt").touch()
    return here


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("eviden", ["evidence"]),
        ("top --lea", ["--leaders"]),
        ("top -r ", ["a.ttt", "runs/"]),
        ("top -r runs/", ["runs/b.ttt"]),
        ("top -r nowhere/", []),
        ("fit games.csv -c ttt-d", ["ttt-d-career", "ttt-d"]),
        ("fit games.csv -c m", ["mine.yaml"]),
        ("compare naive mi", ["mine.yaml"]),
        ("fit -s model.prior_m", ["model.prior_mean=", "model.prior_mean_drift="]),
        ("fit -c glicko2 -s model.vola", ["model.volatility=", "model.volatility_change="]),
        ("fit -c nosuch -s model.b", []),
        ("fit -s data.filter.ye", ["data.filter.years="]),
        ("fit -s solver.max", ["solver.max_sweeps="]),
        ("fit --exclude simul,bl", ["simul,blindfold", "simul,blitz"]),
        ("player PAUL", ["Morphy, Paul", "Paulsen, Louis"]),
        ("player anderssen", ["Anderssen, Adolf"]),
        ("player -r runs/b.ttt paul", []),
        ("versus morphy lou", ["Paulsen, Louis"]),
        ("plot loui", ["Paulsen, Louis"]),
        ("tune beta,ta", ["beta,tau"]),
        ("export skills -o ga", ["ga"]),  # the shell's own files
        ("export ga", ["games"]),
        ("top --at 185", ["1857", "1858", "1859"]),
        ("evidence --grid beta,ta", ["beta,tau"]),
    ],
)
def test_what_a_word_may_become(line: str, found: list[str], place: Path) -> None:
    assert choices(line) == found


def test_the_players_are_those_of_the_run_that_is_named(place: Path) -> None:
    from tests.support.handmade import GAPS, put_small_run

    put_small_run(place / "gaps.ttt", records=GAPS)
    os.utime(place / "gaps.ttt", (0, 0))
    assert choices("player -r gaps.ttt d") == ["D"]


def test_every_placeholder_stands_in_some_help() -> None:
    context = click.Context(main.group, **main.group.context_settings)
    commands = [main.group.get_command(context, name) for name in main.COMMANDS]
    assert {complete.placeholder(parameter) for command in commands if command
            for parameter in command.params} >= complete._WHAT.keys()  # fmt: skip
