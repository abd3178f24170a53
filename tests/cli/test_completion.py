"""Completion: candidates by the placeholder of an option or argument, and what real shells do with them."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from pandas import DataFrame

from tests.support.cases import each
from tests.support.command_server import Server
from tests.support.commands import Ran
from tests.support.handmade import GAPS, put_small_run
from ttt_cli import fit
from ttt_cli.cli import completion, main


def choices(line: str) -> list[str]:
    """Candidates for the last word of a command line."""
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


@each(
    "line, found",
    [
        ("eviden", ["evidence"]),
        ("top --lea", ["--leaders"]),
        ("top -r ", ["a.ttt", "runs/"]),
        ("top -r runs/", ["runs/b.ttt"]),
        ("top -r nowhere/", []),
        ("fit games.csv -c ttt-d", ["ttt-d-career", "ttt-d"]),
        ("fit games.csv -c mine", ["mine.yaml"]),
        ("compare naive mine", ["mine.yaml"]),
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
    put_small_run(place / "gaps.ttt", records=GAPS)
    os.utime(place / "gaps.ttt", (0, 0))
    assert choices("player -r gaps.ttt d") == ["D"]


def test_events_are_those_of_the_run(place: Path) -> None:
    columns = ["date", "white", "black", "result", "event"]
    games = [
        (1851, "a", "b", "1-0", "London"),
        (1851, "a", "b", "1-0", "London final"),
        (1852, "b", "a", "0-1", "Paris"),
    ]
    fit(DataFrame(games, columns=columns), model="elo", output=place / "events.ttt")
    assert choices("event -r events.ttt lon") == ["London", "London final"]


def test_every_placeholder_stands_in_some_help() -> None:
    context = click.Context(main.group, **main.group.context_settings)
    commands = [main.group.get_command(context, name) for name in main.COMMANDS]
    assert {completion.placeholder(parameter) for command in commands if command
            for parameter in command.params} >= completion._WHAT.keys()  # fmt: skip


@each("shell", completion.SHELLS)
def test_scripts_go_to_stdout_and_their_use_to_stderr(shell: str, ran: Ran) -> None:
    out, err = ran(["completion", shell])
    assert "_TTT_COMPLETE" in out
    assert f"ttt completion {shell} >" in err


CASES = [  # what is typed before the tab, and what the shell makes of it
    ("ttt top --lead", "ttt top --leaders"),
    ("ttt top -r ol", "ttt top -r old.ttt"),
    ("ttt fit gam", "ttt fit games.csv"),
    ("ttt fit games.csv -c ttt-w", "ttt fit games.csv -c ttt-white"),
    ("ttt fit games.csv -c min", "ttt fit games.csv -c mine.yaml"),
    ("ttt fit games.csv -s model.prior_s", "ttt fit games.csv -s model.prior_sd="),
    ("ttt player morp", "ttt player Morphy, Paul"),
    ("ttt versus paul and", "ttt versus paul Anderssen, Adolf"),
    ("ttt tune beta,ta", "ttt tune beta,tau"),
    ("ttt fit games.csv --exclude simul,corr", "ttt fit games.csv --exclude simul,correspondence"),
]
SHELLS = {  # by name, how each begins and what it needs before
    "bash": (["bash", "--norc", "--noprofile", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; "),
}
NEW_LINE = "\x05\x15"  # to the end of the line, and all of it away
END = "told:"
LONGEST = 120.0  # seconds that a shell may take for one answer; it comes in a fraction of one


@pytest.fixture(scope="module")
def shell_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shell")
    for name in ("games.csv", "mine.yaml"):
        (place / name).touch()
    put_small_run(place / "old.ttt")
    return place


def environment(folder: Path, server: Server) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TTT_RUN", "ENV", "BASH_ENV")
    }
    path = f"{server.folder}{os.pathsep}{os.environ['PATH']}"
    return {
        **kept,
        "PATH": path,
        "HOME": str(folder),
        "TERM": "dumb",
        "PS1": "> ",
        "COLUMNS": "200",
    }


class Terminal:
    """A shell that believes it talks to somebody."""

    def __init__(self, folder: Path, server: Server, *command: str) -> None:
        import pty  # Windows has none

        self._here, there = pty.openpty()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment(folder, server), stdin=there, stdout=there, stderr=there,
            start_new_session=True,
        )  # fmt: skip
        os.close(there)

    def types(self, text: str) -> None:
        os.write(self._here, text.encode())

    def until(self, expected: str) -> str:
        """What it shows, without what names are escaped by, until something expected appears in it."""
        shown = ""
        while expected not in shown:
            ready, _, _ = select.select([self._here], [], [], LONGEST)
            assert ready, f"{expected!r} does not come after {shown!r}"
            shown += re.sub(
                r"\x1b\[[0-9;?]*[a-zA-Z]|[\x07\x08\r\\]", "", os.read(self._here, 1 << 16).decode()
            )
        return shown

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._here)


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, shell_folder: Path, server: Server) -> Iterator[Terminal]:
    """A shell that has been told how `ttt` is completed."""
    command, setup = SHELLS[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    terminal = Terminal(shell_folder, server, *command)
    try:
        terminal.types(f'{setup}eval "$(ttt completion {command[0]} -q)"; echo read""y\n')
        terminal.until("ready")
        yield terminal
    finally:
        terminal.end()


@pytest.mark.slow
@each("typed, made", CASES)
def test_a_word_is_completed(shell: Terminal, typed: str, made: str) -> None:
    shell.types(f'{NEW_LINE}echo agai""n\n')
    shell.until("again")
    shell.types(f"{typed}\t")
    head = typed if made.startswith(typed) else typed.rpartition(" ")[0] + " "
    shell.until(made.removeprefix(head))


@pytest.fixture(scope="module")
def told_in_fish(shell_folder: Path, server: Server) -> dict[str, list[str]]:
    """What fish is told for each word, with a description after a tab."""
    if shutil.which("fish") is None:
        pytest.skip("no fish here")
    asked = "".join(f"echo {END}; complete -C '{typed}'; " for typed, _ in CASES)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"ttt completion fish -q | source; {asked}"],
        cwd=shell_folder, env=environment(shell_folder, server), capture_output=True, text=True, check=True,
    )  # fmt: skip
    _, *told = done.stdout.split(f"{END}\n")
    return {typed: found.splitlines() for (typed, _), found in zip(CASES, told, strict=True)}


@pytest.mark.slow
@each("typed, made", CASES)
def test_fish_is_told_the_candidates(
    typed: str, made: str, told_in_fish: dict[str, list[str]]
) -> None:
    word = made.removeprefix(typed.rpartition(" ")[0] + " ")
    assert word in [line.partition("\t")[0] for line in told_in_fish[typed]]
